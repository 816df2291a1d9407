//! What `author` would do to one test file: computed from texts alone, executed elsewhere.

use super::frame::{Wanted, render};
use super::prose::one_line;
use super::regions::{self, Pieces};
use super::shadow;

/// What is to happen to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// Nothing: it is what the plan says.
    UpToDate {
        /// Regions still to be filled.
        unfilled: Vec<Unfilled>,
    },
    /// It does not exist.
    Create {
        /// Its text.
        text: String,
    },
    /// The plan changed; people wrote in regions only.
    Update {
        /// The new text.
        text: String,
        /// Filled regions, which were kept.
        kept: Vec<String>,
        /// Regions still to be filled.
        unfilled: Vec<Unfilled>,
    },
    /// It is not ours to rewrite without being told to.
    Conflict {
        /// Why.
        reason: String,
        /// The text if it is rewritten: regions that can be read and belong to this scenario are kept.
        overwrite: String,
        /// The text for a file beside it.
        sibling: String,
    },
}

/// A region that is not filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// Its name; `attribute nemesis` for a field the plan's prose did not yield.
    pub name: String,
    /// Line of its begin marker.
    pub line: usize,
}

/// What `author` does to the file of `wanted`, whose text now is `existing`.
pub(crate) fn file_change(
    wanted: &Wanted,
    existing: Option<&str>,
    format: &dyn Fn(&str) -> Option<String>,
) -> FileChange {
    let Some(existing) = existing else {
        return FileChange::Create { text: render(wanted, format) };
    };
    match ours(wanted, existing) {
        Ok(pieces) => update(wanted, existing, &pieces, format),
        Err(Refusal { reason, pieces }) => {
            let fresh = render(wanted, format);
            let overwrite = pieces.map_or_else(|| fresh.clone(), |pieces| merge(existing, &fresh, &pieces));
            FileChange::Conflict { reason, overwrite, sibling: fresh }
        }
    }
}

/// Why a file must not be rewritten silently.
struct Refusal<'a> {
    reason: String,
    /// Its pieces, when its regions belong to this scenario and may be kept.
    pieces: Option<Pieces<'a>>,
}

/// The pieces of a file that nobody touched outside of its regions.
fn ours<'a>(wanted: &Wanted, existing: &'a str) -> Result<Pieces<'a>, Refusal<'a>> {
    let refuse = |reason: String, pieces: Option<Pieces<'a>>| Err(Refusal { reason, pieces });
    let pieces = match regions::parse(existing) {
        Ok(pieces) => pieces,
        Err(why) => return refuse(format!("its region markers cannot be read: {why}"), None),
    };
    let Some(plan) = pieces.header_line("AUTO-GENERATED from test plan:") else {
        return refuse("it has no AUTO-GENERATED header: it was not written by `author`".to_owned(), None);
    };
    let scenario = pieces.header_line("Scenario:").unwrap_or_default();
    let (id, name) = scenario.split_once(' ').unwrap_or((scenario, ""));
    if id != wanted.attribute.id {
        return refuse(format!("it belongs to scenario `{id}` of {plan}"), None);
    }
    let foreign = |region: &&regions::Region<'_>| !is_ours(region.name);
    if let Some(odd) = pieces.regions.iter().find(foreign) {
        return refuse(format!("line {}: region `{}` is none of ours; it would be lost", odd.line, odd.name), None);
    }
    let lost = match gone(wanted, &pieces).as_slice() {
        [] => None,
        gone => Some(format!("what was written into {} has no place in the plan any more", gone.join(", "))),
    };
    let and_lost = lost.as_ref().map(|lost| format!("; {lost}")).unwrap_or_default();
    if plan != one_line(&wanted.attribute.plan) {
        // The same scenario of a plan that moved keeps its regions; another scenario's oracle must not become ours.
        let moved = name == one_line(&wanted.name);
        return refuse(format!("it was made from another plan, {plan}{and_lost}"), moved.then_some(pieces));
    }
    if let Some(line) = shadow::shadowed(existing) {
        return refuse(format!("line {line}: `disttest_runtime` is made the name of another item"), Some(pieces));
    }
    match pieces.header_line("Frame-SHA256:") {
        None => refuse(format!("its header has no Frame-SHA256: it was edited by hand{and_lost}"), Some(pieces)),
        Some(digest) if digest != pieces.frame_digest() => {
            refuse(format!("it was edited outside of its regions{and_lost}"), Some(pieces))
        }
        Some(_) => match lost {
            Some(lost) => refuse(lost, Some(pieces)),
            None => Ok(pieces),
        },
    }
}

/// The regions of a generated file; those of an arm behind its name.
const REGIONS: [&str; 4] = ["workload", "faults", "oracle", "helpers"];

fn is_ours(region: &str) -> bool {
    let (arm, name) = region.split_once('/').map_or((None, region), |(arm, name)| (Some(arm), name));
    REGIONS.contains(&name) && arm.is_none_or(|_| name != "helpers")
}

/// Regions into which somebody wrote and that `wanted` has no place for: of an arm that left the plan or moved to
/// another file, or of the whole scenario once it was split into arms.
fn gone<'a>(wanted: &Wanted, pieces: &Pieces<'a>) -> Vec<&'a str> {
    let places = wanted.regions();
    let written = |region: &&regions::Region<'a>| {
        let body = regions::squash(region.body);
        !body.is_empty() && !PRISTINE.iter().any(|fresh| body == regions::squash(&fresh.replace("{}", region.name)))
    };
    let lost = pieces.regions.iter().filter(|region| !places.iter().any(|place| place == region.name));
    lost.filter(written).map(|region| region.name).collect()
}

/// What `author` writes into a region.
const PRISTINE: [&str; 3] = [
    "let workload: Workload = disttest_runtime::todo!(\"{}\");",
    "let landed: Landed = disttest_runtime::todo!(\"{}\");",
    "disttest_runtime::todo!(\"{}\")",
];

fn update(wanted: &Wanted, existing: &str, pieces: &Pieces<'_>, format: &dyn Fn(&str) -> Option<String>) -> FileChange {
    let mut unfilled = unfilled(wanted, pieces);
    // Without a formatter first: white space does not count, and starting rustfmt costs more than all the rest.
    let settled = settled(wanted, pieces);
    let same = render(&settled, &|_| None);
    if regions::parse(&same).is_ok_and(|new| new.squashed_frame() == pieces.squashed_frame()) {
        return FileChange::UpToDate { unfilled };
    }
    let text = merge(existing, &render(wanted, format), pieces);
    let merged = regions::parse(&text).expect("a generated file has well-formed markers");
    let comes = merged.regions.iter().filter(|r| !r.is_filled() && pieces.region(r.name).is_none());
    unfilled.extend(comes.map(|region| Unfilled { name: region.name.to_owned(), line: region.line }));
    let kept = pieces.regions.iter().filter(|r| r.is_filled() && !r.body.trim().is_empty());
    let kept = kept.map(|r| r.name.to_owned()).collect();
    FileChange::Update { text, kept, unfilled }
}

/// `wanted` as it was when the file was written, as far as the difference does not matter to the test: an edit
/// elsewhere in the plan, or a newer generator with the same output, is no reason to rewrite a file.
fn settled(wanted: &Wanted, pieces: &Pieces<'_>) -> Wanted {
    let mut settled = wanted.clone();
    if pieces.header_word("Scenario-SHA256:") != Some(wanted.attribute.scenario_sha256.as_str()) {
        return settled;
    }
    if let Some(digest) = pieces.header_word("Plan-SHA256:").filter(|digest| is_digest(digest)) {
        settled.attribute.plan_sha256 = digest.to_owned();
        settled.arms.iter_mut().for_each(|arm| arm.attribute.plan_sha256 = digest.to_owned());
    }
    if let Some(version) = pieces.header_word("Generator: cargo-disttest") {
        settled.generator = format!("cargo-disttest {version}");
    }
    settled
}

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// `fresh` with the bodies that people wrote, byte by byte, and the line ends of `existing`.
fn merge(existing: &str, fresh: &str, old: &Pieces<'_>) -> String {
    let crlf = existing.lines().next().is_some_and(|line| existing[line.len()..].starts_with("\r\n"));
    let fresh = fresh.replace("\r\n", "\n");
    let fresh = if crlf { fresh.replace('\n', "\r\n") } else { fresh };
    let new = regions::parse(&fresh).expect("a generated file has well-formed markers");
    let untouched = |written: &regions::Region<'_>| {
        let digest = format!("{}={}", written.name, regions::body_digest(written.body));
        old.header_line("Skeleton-SHA256:").is_some_and(|line| line.split_whitespace().any(|word| word == digest))
    };
    let text = new.join(|region| match old.region(region.name) {
        Some(written) if untouched(written) => region.body,
        Some(written) if regions::squash(written.body) != regions::squash(region.body) => written.body,
        _ => region.body,
    });
    if existing.starts_with('\u{feff}') { format!("\u{feff}{text}") } else { text }
}

fn unfilled(wanted: &Wanted, pieces: &Pieces<'_>) -> Vec<Unfilled> {
    let own = wanted.attribute.unresolved.iter().filter(|_| wanted.arms.is_empty());
    let fields = own.map(|field| Unfilled { name: format!("attribute {field}"), line: 1 });
    let of_arms = wanted.arms.iter().flat_map(|arm| {
        let line = pieces.region(&format!("{}/workload", arm.name)).map_or(1, |region| region.line);
        let named = |field: &String| format!("{}/attribute {field}", arm.name);
        arm.attribute.unresolved.iter().map(move |field| Unfilled { name: named(field), line })
    });
    let fields = fields.chain(of_arms);
    let regions = pieces.regions.iter().filter(|region| !region.is_filled());
    fields.chain(regions.map(|region| Unfilled { name: region.name.to_owned(), line: region.line })).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{wanted, with_arms};
    use super::*;

    fn change(wanted: &Wanted, existing: &str) -> FileChange {
        file_change(wanted, Some(existing), &|_| None)
    }

    fn fresh() -> String {
        match file_change(&wanted(), None, &|_| None) {
            FileChange::Create { text } => text,
            other => panic!("{other:?}"),
        }
    }

    /// What a person writes into a region: everything that could confuse a reader of markers.
    const BODIES: [(&str, &str); 4] = [
        ("workload", "    let workload = { { run.start() } };\n\n\n    // | not prose\n"),
        ("faults", "    let landed = \"// disttest:end faults\";\r\n    let s = r#\"\n// disttest:end faults\n\"#;\n"),
        ("oracle", "// at the margin\n\t/* /* // disttest:end oracle */ */ run.oracle('\"')  \n"),
        ("helpers", "use abd::{\u{e9}, 日本};\nfn f<'a>() -> &'a str { \"}\" }\n"),
    ];

    fn filled(text: &str) -> String {
        let body =
            |region: &regions::Region<'_>| BODIES.iter().find(|(name, _)| *name == region.name).expect("known").1;
        regions::parse(text).expect("well-formed").join(body)
    }

    fn changed_plan() -> Wanted {
        let mut wanted = wanted();
        wanted.attribute.scenario_sha256 = "c".repeat(64);
        wanted.attribute.plan_sha256 = "d".repeat(64);
        wanted.attribute.checkers.truncate(1);
        wanted.workload = "8 clients\nin two lines".into();
        wanted
    }

    fn assert_bodies(text: &str) {
        let pieces = regions::parse(text).expect("well-formed");
        for (name, body) in BODIES {
            assert_eq!(pieces.region(name).map(|region| region.body), Some(body));
        }
    }

    #[test]
    fn a_second_time_there_is_nothing_to_do() {
        let unfilled: Vec<String> = match change(&wanted(), &fresh()) {
            FileChange::UpToDate { unfilled } => unfilled.into_iter().map(|region| region.name).collect(),
            other => panic!("{other:?}"),
        };
        assert_eq!(unfilled, ["workload", "faults", "oracle"]);
        assert_eq!(change(&wanted(), &filled(&fresh())), FileChange::UpToDate { unfilled: Vec::new() });
    }

    #[test]
    fn filled_regions_survive_a_changed_plan_to_the_byte() {
        let before = filled(&fresh());
        let FileChange::Update { text, kept, unfilled } = change(&changed_plan(), &before) else { panic!("an update") };
        assert_bodies(&text);
        assert_eq!(kept, ["workload", "faults", "oracle", "helpers"]);
        assert_eq!(unfilled, []);
        assert!(text.contains("8 clients in two lines") && !text.contains("16 clients"));
        assert!(!text.contains("no-lost-ack"), "the attribute is the plan's");
        assert_eq!(change(&changed_plan(), &text), FileChange::UpToDate { unfilled: Vec::new() });
    }

    #[test]
    fn a_half_filled_region_is_kept_as_well_and_is_unfilled() {
        let half = fresh().replacen("let workload: Workload =", "let clients = 3;\n    let workload: Workload =", 1);
        let FileChange::Update { text, kept, unfilled } = change(&changed_plan(), &half) else { panic!("an update") };
        assert!(text.contains("let clients = 3;"));
        assert_eq!(kept, Vec::<String>::new());
        assert_eq!(unfilled.len(), 3);
    }

    #[test]
    fn an_edit_elsewhere_in_the_plan_and_a_newer_generator_change_nothing() {
        let mut elsewhere = wanted();
        elsewhere.attribute.plan_sha256 = "d".repeat(64);
        elsewhere.generator = "cargo-disttest 0.1.9".into();
        assert!(matches!(change(&elsewhere, &filled(&fresh())), FileChange::UpToDate { .. }));
    }

    #[test]
    fn line_ends_of_a_checkout_are_no_edit_and_stay() {
        let windows = fresh().replace('\n', "\r\n");
        assert!(matches!(change(&wanted(), &windows), FileChange::UpToDate { .. }));
        let FileChange::Update { text, .. } = change(&changed_plan(), &windows) else { panic!("an update") };
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        let with_mark = format!("\u{feff}{}", fresh());
        assert!(matches!(change(&wanted(), &with_mark), FileChange::UpToDate { .. }));
        let FileChange::Update { text, .. } = change(&changed_plan(), &with_mark) else { panic!("an update") };
        assert!(text.starts_with("\u{feff}//! AUTO"));
    }

    #[test]
    fn what_people_did_outside_of_regions_is_never_rewritten_silently() {
        let conflict = |existing: &str, expect: &str, keeps: bool| {
            for wanted in [wanted(), changed_plan()] {
                let FileChange::Conflict { reason, overwrite, sibling } = change(&wanted, existing) else {
                    panic!("a conflict: {expect}")
                };
                assert!(reason.contains(expect), "{reason}");
                assert_eq!(sibling, render(&wanted, &|_| None));
                if keeps {
                    assert_bodies(&overwrite);
                } else {
                    assert_eq!(overwrite, sibling);
                }
            }
        };
        let ours = filled(&fresh());
        conflict("fn main() {}\n", "no AUTO-GENERATED header", false);
        conflict("", "no AUTO-GENERATED header", false);
        conflict(&ours.replace("\"no-lost-ack\"", ""), "edited outside of its regions", true);
        conflict(&ours.replace("16 clients", "1 client"), "edited outside of its regions", true);
        conflict(&format!("{ours}\nfn mine() {{}}\n"), "edited outside of its regions", true);
        let lines = |drop: &str| ours.split_inclusive('\n').filter(|line| !line.contains(drop)).collect::<String>();
        conflict(
            &format!("{ours}\nmod disttest_runtime {{}}\n"),
            "`disttest_runtime` is made the name of another",
            true,
        );
        conflict(&lines("//! Frame-SHA256"), "no Frame-SHA256", true);
        conflict(&lines("    // disttest:end workload"), "region `faults` begins inside region `workload`", false);
        conflict(&ours.replace("Scenario: S1 ", "Scenario: S2 "), "belongs to scenario `S2`", false);
        conflict(&ours.replace("plan: docs/", "plan: other/"), "made from another plan", true);
        let foreign = ours.replace("plan: docs/", "plan: other/").replace("S1 reads_never", "S1 writes_never");
        conflict(&foreign, "made from another plan", false);
        let odd = format!("{ours}// disttest:begin mine\n// disttest:end mine\n");
        conflict(&odd, "region `mine` is none of ours", false);
    }

    #[test]
    fn an_attribute_weaker_than_the_plan_is_put_right_even_when_its_digest_is_forged() {
        let weak = filled(&fresh()).replace("\"linearizability\" per_key, ", "");
        let digest = regions::parse(&weak).expect("well-formed").frame_digest();
        let old = regions::parse(&weak).expect("well-formed").header_line("Frame-SHA256:").expect("there").to_owned();
        let FileChange::Update { text, .. } = change(&wanted(), &weak.replace(&old, &digest)) else {
            panic!("an update")
        };
        assert_eq!(text, filled(&fresh()));
    }

    #[test]
    fn an_unresolved_field_is_told_as_unfilled() {
        let mut wanted = wanted();
        wanted.attribute.unresolved = vec!["nemesis".into()];
        let FileChange::Create { text } = file_change(&wanted, None, &|_| None) else { panic!("new") };
        let FileChange::UpToDate { unfilled } = change(&wanted, &filled(&text)) else { panic!("up to date") };
        assert_eq!(unfilled, [Unfilled { name: "attribute nemesis".into(), line: 1 }]);
    }

    /// Fills each region that is there with a text of its own.
    fn filled_arms(text: &str) -> String {
        let pieces = regions::parse(text).expect("well-formed");
        let bodies: Vec<String> =
            pieces.regions.iter().map(|region| format!("    /* {} */ // }}\r\n\n", region.name)).collect();
        let mut next = bodies.iter();
        pieces.join(|_| next.next().expect("one for each"))
    }

    fn arms(names: &[&str]) -> Wanted {
        let mut wanted = with_arms();
        let arm = |name: &&str| {
            let mut arm = wanted.arms[0].clone();
            (arm.name, arm.attribute.id) = ((*name).to_owned(), format!("S1/{name}"));
            arm
        };
        wanted.arms = names.iter().map(arm).collect();
        wanted.attribute.scenario_sha256 = names.join("").repeat(64).chars().take(64).collect();
        wanted
    }

    #[test]
    fn an_arm_that_comes_leaves_the_regions_of_the_others_to_the_byte() {
        let before = filled_arms(&render(&arms(&["api", "sdk"]), &|_| None));
        assert_eq!(change(&arms(&["api", "sdk"]), &before), FileChange::UpToDate { unfilled: Vec::new() });
        let FileChange::Update { text, kept, unfilled } = change(&arms(&["admin", "sdk", "api"]), &before) else {
            panic!("an update")
        };
        let (old, new) = (regions::parse(&before).expect("ours"), regions::parse(&text).expect("ours"));
        for region in &old.regions {
            assert_eq!(new.region(region.name).map(|new| new.body), Some(region.body), "{}", region.name);
        }
        assert_eq!(kept.len(), old.regions.len());
        let names: Vec<&str> = unfilled.iter().map(|region| region.name.as_str()).collect();
        assert_eq!(names, ["admin/workload", "admin/faults", "admin/oracle"]);
    }

    #[test]
    fn an_arm_that_goes_is_in_the_way_while_somebody_wrote_into_it() {
        let fresh = render(&arms(&["api", "sdk"]), &|_| None);
        let one = arms(&["api"]);
        // Nobody did.
        assert!(matches!(change(&one, &fresh), FileChange::Update { .. }));
        let half = fresh.replacen(
            "    disttest_runtime::todo!(\"sdk/oracle\")",
            "    // soon\n    disttest_runtime::todo!(\"sdk/oracle\")",
            1,
        );
        let conflict = |wanted: &Wanted, existing: &str, lost: &str, kept: &str| {
            let FileChange::Conflict { reason, overwrite, .. } = change(wanted, existing) else { panic!("{lost}") };
            assert!(reason.contains(&format!("what was written into {lost} has no place")), "{reason}");
            assert!(overwrite.contains(kept), "{overwrite}");
        };
        conflict(&one, &half, "sdk/oracle", "api/oracle");
        let all = filled_arms(&fresh);
        let kept = "/* api/oracle */ // }\r\n";
        conflict(&one, &all, "sdk/workload, sdk/faults, sdk/oracle", kept);
        conflict(
            &one,
            &all.replace("Linear", "Bilinear").replace("16 clients", "1 client"),
            "sdk/workload, sdk/faults, sdk/oracle",
            kept,
        );
        // A scenario that is split, and one that is whole again.
        conflict(&one, &filled(&render(&wanted(), &|_| None)), "workload, faults, oracle", "fn f<'a>()");
        let both = "api/workload, api/faults, api/oracle, sdk/workload, sdk/faults, sdk/oracle";
        conflict(&wanted(), &all, both, "/* helpers */");
        assert!(matches!(change(&wanted(), &fresh), FileChange::Update { .. }));
    }

    #[test]
    fn an_edit_elsewhere_in_the_plan_leaves_a_file_of_arms_and_what_is_open_in_one_is_told() {
        let fresh = render(&with_arms(), &|_| None);
        let mut elsewhere = with_arms();
        elsewhere.attribute.plan_sha256 = "d".repeat(64);
        elsewhere.arms.iter_mut().for_each(|arm| arm.attribute.plan_sha256 = "d".repeat(64));
        assert!(matches!(change(&elsewhere, &filled_arms(&fresh)), FileChange::UpToDate { .. }));
        let mut open = with_arms();
        open.arms[1].attribute.unresolved = vec!["model".into()];
        let FileChange::Create { text } = file_change(&open, None, &|_| None) else { panic!("new") };
        let FileChange::UpToDate { unfilled } = change(&open, &filled_arms(&text)) else { panic!("up to date") };
        assert_eq!(unfilled.iter().map(|u| u.name.as_str()).collect::<Vec<_>>(), ["sdk-v2/attribute model"]);
        assert!(unfilled[0].line > 1);
    }
}
