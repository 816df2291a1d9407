//! `verify`: whether what a session says follows from its files.

use super::{Context, shorter};
use crate::cli::VerifyArgs;
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use disttest_runtime::run::CheckLimits;
use disttest_runtime::verify::{Means, Standing, Verification, Verified, verify};
use serde::Serialize;

/// `disttest.verify/1`.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    found: &'a Verification,
    standing: Standing,
    exit_status: u8,
}

/// Verifies it.
pub(super) fn run(context: &Context, args: &VerifyArgs) -> Outcome {
    let console = &context.console;
    let means = Means {
        limits: CheckLimits { time: args.timeout, bytes: args.memory },
        say: &|what| console.status("Verifying", visible(&what)),
    };
    let found = verify(&args.session, args.expect.as_deref(), &means);
    let found = found.map_err(|message| Failure::new(End::Unreadable, message))?;
    let end = end(found.standing());
    if context.json() {
        let exit_status = end.exit_code().number();
        let document = Document { schema: "disttest.verify/1", found: &found, standing: found.standing(), exit_status };
        let json =
            serde_json::to_string_pretty(&document).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        console.result(json);
        return Ok(end);
    }
    console.result_text(&visible(&text(&found)));
    if let Some(hash) = &found.manifest_sha256 {
        let shown = shorter(&found.dir);
        console.result(format_args!("{hash}  {}/MANIFEST.sha256", shown.display()));
    }
    if args.expect.is_none() && end == End::Clean {
        let note = "whether this is the session that `run` left is told by --expect with the hash that it printed last";
        console.status("Note", note);
    }
    Ok(end)
}

fn end(standing: Standing) -> End {
    match standing {
        Standing::Stands => End::Clean,
        Standing::Unfinished | Standing::NotRederivable => End::NothingConcluded,
        Standing::Contradicted => End::Contradicted,
    }
}

fn text(found: &Verification) -> String {
    let mut text = String::new();
    for scenario in &found.scenarios {
        text += &format!("{}\n", line(scenario));
        scenario.reasons.iter().for_each(|reason| text += &format!("    {reason}\n"));
    }
    found.contradictions.iter().for_each(|what| text += &format!("{what}\n"));
    if !found.unfinished.is_empty() {
        text += &format!(
            "partial: the run was cut off during {}; findings/report.* and session-log.md are of before and not verified\n",
            found.unfinished.join(", ")
        );
    }
    let verdict = found.verdict;
    text += &match found.standing() {
        Standing::Stands => format!("Session: {verdict} stands\n"),
        Standing::Unfinished => format!("Session: {verdict} so far; what had ended stands\n"),
        Standing::NotRederivable if !found.unfinished.is_empty() => {
            format!("Session: {verdict} so far, not all of it re-derivable\n")
        }
        Standing::NotRederivable => format!("Session: {verdict}, not all of it re-derivable\n"),
        Standing::Contradicted => format!("Session: does not stand; its files come to {verdict}\n"),
    };
    text
}

fn line(scenario: &Verified) -> String {
    let Verified { id, name, verdict, derived, executions, checks, .. } = scenario;
    let work = format!("{executions} executions read, {checks} checks made again");
    let says = match scenario.standing {
        Standing::Stands => format!("{verdict} stands ({work})"),
        Standing::Unfinished => format!("unfinished: nothing is claimed of it but {derived}"),
        Standing::NotRederivable => format!("{verdict} is not re-derivable ({work})"),
        Standing::Contradicted if verdict == derived => format!("{verdict} does not stand ({work})"),
        Standing::Contradicted => format!("{verdict} does not stand: its files come to {derived} ({work})"),
    };
    if name.is_empty() { format!("{id}: {says}") } else { format!("{id} {name}: {says}") }
}
