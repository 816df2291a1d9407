//! L3: reports: Markdown, JSON, JUnit and terminal lines from records. Pure: records in, text out.
//!
//! Everything that came from a plan, a history, a log or an error message passes [`escape`] on its way out.

mod case;
mod checks;
mod coverage;
mod doc;
pub mod escape;
mod evidence;
mod finding;
mod findings_report;
mod json;
mod junit;
mod scenario;
mod session_log;
pub mod terminal;

pub use case::session_verdict;
pub use finding::{Finding, findings};
pub use findings_report::report_markdown;
pub use json::report_json;
pub use junit::junit_xml;
pub use scenario::scenario_markdown;
pub use session_log::session_log_markdown;

#[cfg(test)]
mod tests;
