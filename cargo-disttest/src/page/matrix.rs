//! Claims × scenarios: what each scenario says of each claim that it could falsify.

use super::{anchor, class_of, push};
use crate::check::html::escape;
use disttest_runtime::plan::{Id, Plan};
use disttest_runtime::verdict::{ScenarioRecord, root_of};

/// Adds the matrix; without the plan nobody knows the claims.
pub(super) fn add(body: &mut String, plan: Option<&Plan>, records: &[ScenarioRecord]) {
    let Some(plan) = plan else { return };
    push(body, format_args!("<section><h2>Claims</h2><div class=\"wide\"><table><thead><tr><th>Claim"));
    for record in records {
        push(
            body,
            format_args!("<th><a href=\"#{}\">{}</a>", anchor(&record.declared.id), escape(&record.declared.id)),
        );
    }
    body.push_str("</tr></thead><tbody>\n");
    for claim in &plan.claims {
        let id = &claim.id.value;
        push(
            body,
            format_args!("<tr><th scope=\"row\">{id} <span class=\"soft\">{}</span>", escape(&claim.text.value)),
        );
        for record in records {
            let falsifies = record.declared.falsifies.iter().any(|(claim, _)| Id::parse(claim).as_ref() == Some(id));
            match falsifies {
                true => push(body, format_args!("<td class=\"{}\">{}", class_of(record.verdict), record.verdict)),
                false => body.push_str("<td class=\"soft\">·"),
            }
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
    let planned = plan.scenarios.iter().map(|scenario| scenario.id.value.to_string());
    let absent: Vec<String> =
        planned.filter(|id| !records.iter().any(|record| root_of(&record.declared.id) == id)).collect();
    if !absent.is_empty() {
        push(body, format_args!("<p>Of the plan, not in this session: {}.</p>\n", escape(&absent.join(", "))));
    }
    body.push_str("</section>\n");
}
