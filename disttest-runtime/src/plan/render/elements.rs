//! Claims, the SUT model, hypotheses, techniques, and the closing sections.

use super::super::labels;
use super::super::model::Hypothesis;
use super::super::parse::opens_section;
use super::fields::Fields;
use super::text::{self, heading};
use super::{Page, table};
use crate::base::diagnostic::Spanned;

impl Page<'_> {
    pub(super) fn claims(&mut self) {
        if self.plan.claims.is_empty() {
            return;
        }
        table::head(&mut self.out, table::CLAIMS.iter().copied());
        for claim in &self.plan.claims {
            let id = claim.id.value.to_string();
            let cells = [&*id, &claim.text.value, &claim.category_text.value, &claim.source, &claim.inferred];
            table::row(&mut self.out, cells);
        }
    }

    pub(super) fn missing_claims(&mut self) {
        if !self.plan.missing_claims.is_empty() {
            table::head(&mut self.out, table::MISSING.iter().copied());
        }
        for missing in &self.plan.missing_claims {
            let id = missing.id.value.to_string();
            table::row(&mut self.out, [&*id, &missing.behavior, &missing.evidence, &missing.action]);
        }
        self.blank();
    }

    pub(super) fn sut_model(&mut self) {
        Fields { sets: &[labels::SUT_MODEL], bullet: "- ", level: 0 }.write(&mut self.out, &self.plan.sut_model);
    }

    pub(super) fn hypotheses(&mut self) {
        for hypothesis in &self.plan.hypotheses {
            self.out.push_str(format!("{}. {}", hypothesis.id.value, title_and_text(hypothesis)).trim_end());
            self.out.push('\n');
            let others = hypothesis.other.iter().flat_map(|f| [f.label.as_str(), &f.value.value]);
            let told = [
                Some(&hypothesis.title),
                Some(&hypothesis.text),
                hypothesis.suspected.as_ref(),
                hypothesis.subsystem.as_ref(),
            ];
            let mut told = told.into_iter().flatten().map(String::as_str).chain(others);
            let told = told.any(|text| text.to_ascii_lowercase().contains("could"));
            let ids: Vec<String> = hypothesis.claims.iter().map(|id| id.value.to_string()).collect();
            // Without the line, a sentence of the text would be asked.
            let claims = if ids.is_empty() && told { Some("—".to_owned()) } else { Some(ids.join(", ")) };
            let named = [
                ("Could falsify", claims.filter(|claims| !claims.is_empty())),
                ("Suspected because", hypothesis.suspected.clone()),
                ("Subsystem", hypothesis.subsystem.clone()),
            ];
            for (label, value) in named.into_iter().filter_map(|(label, value)| Some((label, value?))) {
                let mut lines = value.split('\n');
                self.out.push_str(&format!("  - {label}: {}\n", lines.next().unwrap_or("")));
                lines.for_each(|line| text::line(&mut self.out, 4, line));
            }
            let mut other = String::new();
            Fields { sets: &[labels::HYPOTHESIS], bullet: "  - ", level: 0 }.write(&mut other, &hypothesis.other);
            self.out.push_str(&other);
            self.out.push('\n');
        }
    }

    pub(super) fn techniques(&mut self) {
        for technique in &self.plan.techniques {
            self.blank();
            let name = &technique.name.value;
            let as_heading = format!("### {name}");
            if opens_section(&as_heading) || name.trim() != name {
                self.out.push_str(&format!("**{name}**\n\n"));
            } else {
                heading(&mut self.out, 3, name);
            }
            Fields { sets: &[labels::TECHNIQUE], bullet: "- ", level: 0 }.write(&mut self.out, &technique.fields);
        }
    }

    pub(super) fn confidence(&mut self) {
        let confidence = &self.plan.confidence;
        let statement = &confidence.statement.value;
        // Apart, two lines make no table.
        let apart = statement.contains('|');
        for line in statement.split('\n').filter(|line| !line.is_empty()) {
            text::line(&mut self.out, 0, line);
            self.out.push_str(if apart { "\n" } else { "" });
        }
        self.blank();
        table::rows(&mut self.out, &confidence.aspects, table::CONFIDENCE, true);
    }

    pub(super) fn bullets(&mut self, entries: &[Spanned<String>]) {
        for entry in entries {
            let mut lines = entry.value.split('\n');
            text::item(&mut self.out, lines.next().unwrap_or(""));
            lines.for_each(|line| text::line(&mut self.out, 2, line));
        }
    }
}

/// `**Title** — text`; a title with bold in it stays plain.
fn title_and_text(hypothesis: &Hypothesis) -> String {
    let Hypothesis { title, text, .. } = hypothesis;
    let title = if title.contains("**") { title.clone() } else { format!("**{title}**") };
    if text.is_empty() { title } else { format!("{title} — {text}") }
}
