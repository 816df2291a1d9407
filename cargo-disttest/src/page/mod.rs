//! `findings/report.html`: a session as one page for a browser. No script, nothing loaded, nothing of outside unescaped.

mod axis;
mod latency;
mod matrix;
mod rates;
mod scenario;
mod signals;
mod style;
mod swimlanes;
#[cfg(test)]
mod tests;
mod witness;

use crate::check::html::escape;
use disttest_runtime::plan::{Plan, parse};
use disttest_runtime::report::{findings, session_verdict};
use disttest_runtime::session::{Belief, Depth, Layout, PLAN_COPY, disk, recorded};
use disttest_runtime::verdict::{ScenarioRecord, SessionRecord, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What a page is made of.
pub(crate) struct Page<'a> {
    session: &'a SessionRecord,
    plan: Option<&'a Plan>,
    records: &'a [ScenarioRecord],
    /// The session's folder, as files are read from it.
    dir: &'a Path,
    /// The session's folder, as links of the page name it.
    root: &'a str,
}

/// The page of the session in `dir`, whose links begin with `root` (`..` for a page in its folder `findings`). The verdicts
/// are derived from the files, as everywhere. Time linear in the session; memory that of its largest history.
///
/// # Errors
/// `dir` is no session.
pub(crate) fn of_session(dir: &Path, root: &str) -> Result<String, String> {
    let record: Option<SessionRecord> = disk::read_json(&dir.join("session.json"))?;
    let session = record.ok_or_else(|| format!("{} is no session: it has no session.json", dir.display()))?;
    let plan = std::fs::read_to_string(dir.join(PLAN_COPY)).ok().map(|text| parse(&text).0);
    let (layout, home) = (Layout::new(dir.to_path_buf()), PathBuf::from(&session.dir));
    let belief = Belief {
        layout: &layout,
        home: &home,
        plan: plan.as_ref(),
        environment: &session.environment,
        depth: Depth::Files,
    };
    let records = recorded(&belief).map_err(|error| format!("{}: cannot be read: {error}", dir.display()))?;
    Ok(Page { session: &session, plan: plan.as_ref(), records: &records, dir, root }.html())
}

impl Page<'_> {
    fn html(&self) -> String {
        let (verdict, headline) = session_verdict(self.plan, self.records);
        let title = format!("{}: {verdict}", self.session.slug);
        let mut body = String::new();
        self.header(&mut body, verdict.as_str(), &headline);
        self.anomalies(&mut body);
        self.verdicts(&mut body);
        matrix::add(&mut body, self.plan, self.records);
        for record in self.records {
            scenario::add(&mut body, self, record);
        }
        push(
            &mut body,
            format_args!(
                "<footer>Every verdict is derived from the files of this session; whoever controls the machine, the test \
                 binary and the log can lie. <code>cargo disttest verify</code> says whether it follows from them.</footer>\n"
            ),
        );
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style></head>\n\
             <body>\n{body}</body></html>\n",
            escape(&title),
            style::STYLE
        )
    }

    fn header(&self, body: &mut String, verdict: &str, headline: &str) {
        let session = self.session;
        push(
            body,
            format_args!(
                "<header><h1>{} <span class=\"badge {}\">{verdict}</span></h1><p>{}. {} tier, {}; commit {}.</p>\n",
                escape(&session.slug),
                class_of_session(verdict),
                escape(headline),
                session.tier,
                escape(&session.started),
                escape(&session.commit)
            ),
        );
        let link = |path: &str, text: &str| format!("<a href=\"{}/{path}\">{text}</a>", escape(self.root));
        let links = [
            link("findings/report.md", "report"),
            link("findings/report.json", "report.json"),
            link("session-log.md", "session log"),
            link("plan.md", "plan"),
            link("MANIFEST.sha256", "manifest"),
        ];
        push(body, format_args!("<nav aria-label=\"Files\">{}</nav></header>\n", links.join(" · ")));
    }

    /// What was found, first of all.
    fn anomalies(&self, body: &mut String) {
        let mut first = true;
        for record in self.records {
            for finding in findings(self.plan, record) {
                if first {
                    push(body, format_args!("<section><h2>Findings</h2>\n"));
                }
                push(
                    body,
                    format_args!(
                        "<h3>{}</h3><p>{}: {}</p>\n",
                        escape(&finding.title),
                        escape(&finding.scenario),
                        escape(&finding.happened)
                    ),
                );
                if !finding.witness.trim().is_empty() {
                    push(body, format_args!("<pre>{}</pre>\n", escape(finding.witness.trim_end())));
                }
                if first {
                    witness::add(body, self, record);
                }
                push(body, format_args!("<pre>{}</pre>\n", escape(&finding.reproducer)));
                first = false;
            }
        }
        if !first {
            body.push_str("</section>\n");
        }
    }

    fn verdicts(&self, body: &mut String) {
        body.push_str(
            "<section><h2>Scenarios</h2><div class=\"wide\"><table><thead><tr><th>Scenario<th>Verdict<th>Tier met<th>\
             Why</tr></thead><tbody>\n",
        );
        for record in self.records {
            let (id, name) = (&record.declared.id, &record.declared.name);
            let tier = record.tier_met.map_or("—", |tier| tier.as_str());
            push(
                body,
                format_args!(
                    "<tr><td><a href=\"#{}\">{} {}</a><td>{}<td>{tier}<td>{}</tr>\n",
                    anchor(id),
                    escape(id),
                    escape(name),
                    badge(record.verdict),
                    escape(&record.why.headline())
                ),
            );
        }
        body.push_str("</tbody></table></div></section>\n");
    }
}

fn class_of_session(verdict: &str) -> &'static str {
    match verdict {
        "DONE" => "pass",
        "FAIL" => "fail",
        "BLOCKED" => "none",
        _ => "doubt",
    }
}

/// The verdict with its colour; the word says the same.
fn badge(verdict: Verdict) -> String {
    format!("<span class=\"badge {}\">{verdict}</span>", class_of(verdict))
}

fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        _ if verdict.is_pass() => "pass",
        _ if verdict.is_fail() => "fail",
        Verdict::NotRun => "none",
        _ => "doubt",
    }
}

/// An id as the target of links within the page.
fn anchor(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = out.write_fmt(text);
}
