//! Skeletons of arms: a block of its own in an arm, or one of the scenario with a test function for each. All that stand
//! in one file share its helpers.

use super::super::frame::{Wanted, arm_function};
use super::items::{Helper, Slots};
use super::{Note, Read, Remark, Seeds, bare, leaves_its_regions, notes, on_its_own_stack, read, stays_inside};
use disttest_runtime::base::diagnostic::Spanned;
use disttest_runtime::plan::{Arm, Scenario};

/// The skeletons that a plan has for the arms of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmSkeletons<'p> {
    /// That of the scenario, when it is in Rust.
    scenario: Option<&'p Spanned<String>>,
    /// Names of all arms of the scenario.
    all: Vec<String>,
    /// Those of the arms in the file, in order.
    own: Vec<Option<&'p Spanned<String>>>,
}

impl<'p> ArmSkeletons<'p> {
    /// Those for `arms` of `scenario`, which stand in one file.
    pub(crate) fn of(scenario: &'p Scenario, arms: &[&'p Arm]) -> ArmSkeletons<'p> {
        let rust = scenario.skeleton_language.as_ref().is_none_or(|language| language.value == "rust");
        let name = |arm: &Arm| arm.id.value.arm().unwrap_or_default().to_owned();
        ArmSkeletons {
            scenario: scenario.skeleton.as_ref().filter(|_| rust),
            all: scenario.arms.iter().map(name).collect(),
            own: arms.iter().map(|arm| arm.skeleton.as_ref()).collect(),
        }
    }

    /// True when there is one.
    pub(crate) fn any(&self) -> bool {
        self.scenario.is_some() || self.own.iter().any(Option::is_some)
    }
}

/// What one skeleton gives: seeds for arms by their place in the file.
struct Gift<'p> {
    id: String,
    skeleton: &'p Spanned<String>,
    seeds: Vec<(usize, Seeds)>,
    helpers: Vec<Helper>,
    remarks: Vec<Remark>,
}

/// `wanted` with what the plan's skeletons say of its arms, and what there is to tell about them. A skeleton that cannot
/// be used leaves its arms as they are.
pub(crate) fn plant_arms(mut wanted: Wanted, plan: &str, skeletons: &ArmSkeletons<'_>) -> (Wanted, Vec<Note>) {
    let mut told = Vec::new();
    let mut kept: Vec<Helper> = Vec::new();
    for mut gift in gifts(&wanted, skeletons) {
        let helpers = [kept.clone(), fresh(&kept, &mut gift)].concat();
        let mut planted = wanted.clone();
        planted.seeds.helpers = Helper::join(&helpers);
        gift.seeds.iter().for_each(|(arm, seeds)| planted.arms[*arm].seeds = seeds.clone());
        let inside = planted == wanted || on_its_own_stack(|| stays_inside(&wanted, &planted)).unwrap_or(false);
        if inside {
            (wanted, kept) = (planted, helpers);
        } else {
            gift.remarks.push(leaves_its_regions());
        }
        told.extend(notes(gift.remarks, &gift.id, plan, gift.skeleton.span));
    }
    (wanted, told)
}

/// Helpers of `gift` that `kept` does not have; another item of a name that is taken is left out and told.
fn fresh(kept: &[Helper], gift: &mut Gift<'_>) -> Vec<Helper> {
    let mut fresh: Vec<Helper> = Vec::new();
    for helper in std::mem::take(&mut gift.helpers) {
        if kept.iter().any(|other| other.tokens == helper.tokens) {
            continue;
        }
        let taken = helper.names.iter().find(|name| kept.iter().any(|other| other.names.contains(name)));
        match taken {
            Some(name) => {
                let message =
                    format!("left out of its skeleton: `{name}`, which the skeleton of another arm has otherwise");
                let help = "give it another name, or write it alike in both".to_owned();
                gift.remarks.push((helper.line, message, help));
            }
            None => fresh.push(helper),
        }
    }
    fresh
}

fn gifts<'p>(wanted: &Wanted, skeletons: &ArmSkeletons<'p>) -> Vec<Gift<'p>> {
    let function = |arm: &str| arm_function(&wanted.name, arm);
    let mut all = Vec::new();
    if let Some(skeleton) = skeletons.scenario {
        let without_own = |place: &usize| skeletons.own.get(*place).is_none_or(Option::is_none);
        let places: Vec<usize> = (0..wanted.arms.len()).filter(without_own).collect();
        let named = |arm: &str| (function(arm), arm.to_owned());
        let here: Vec<_> = places.iter().map(|place| named(&wanted.arms[*place].name)).collect();
        let elsewhere = skeletons.all.iter().map(|arm| named(arm)).filter(|arm| !here.contains(arm)).collect();
        if !here.is_empty() {
            let found = gift(&wanted.attribute.id, skeleton, &Slots::Arms { here, elsewhere }, &places);
            all.push(found);
        }
    }
    for (place, (arm, own)) in wanted.arms.iter().zip(&skeletons.own).enumerate() {
        if let Some(skeleton) = own {
            all.push(gift(&arm.attribute.id, skeleton, &Slots::One(function(&arm.name)), &[place]));
        }
    }
    all
}

fn gift<'p>(id: &str, skeleton: &'p Spanned<String>, slots: &Slots, places: &[usize]) -> Gift<'p> {
    let found = on_its_own_stack(|| read(bare(skeleton), slots));
    let Read { seeds, helpers, remarks } = found.unwrap_or_else(|| {
        let remark = (1, "its skeleton cannot be used: reading it failed".to_owned(), super::UNUSED.to_owned());
        Read { seeds: Vec::new(), helpers: Vec::new(), remarks: vec![remark] }
    });
    let seeds: Vec<(usize, Seeds)> = places.iter().copied().zip(seeds).filter(|(_, seeds)| !seeds.is_empty()).collect();
    // Helpers of no test help nobody.
    let helpers = if seeds.is_empty() && matches!(slots, Slots::Arms { .. }) { Vec::new() } else { helpers };
    Gift { id: id.to_owned(), skeleton, seeds, helpers, remarks }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::with_arms;
    use super::super::super::frame::render;
    use super::super::super::regions;
    use super::*;
    use disttest_runtime::base::diagnostic::Span;

    /// The function of an arm is `…__api` or `…__sdk_v2`.
    const BOTH: &str = "use std::time::Duration;\n\nconst WAIT: Duration = Duration::from_secs(1);\n\n\
        #[test]\nfn api() {\n    // 1. Workload\n    let api = 1;\n    // 2. Faults\n    // 3. Oracle\n    check(api);\n}\n\n\
        #[tokio::test]\nasync fn SDK_v2() {\n    // 1. Workload\n    let sdk = WAIT;\n    // 2. Faults\n    kill();\n    // 3. Oracle\n}\n";

    fn one(body: &str, helpers: &str) -> String {
        format!(
            "{helpers}#[test]\nfn whatever() {{\n    // 1. Workload\n    {body}\n    // 2. Faults\n    // 3. Oracle\n}}\n"
        )
    }

    /// Each region with something of a skeleton in it, as `name: code`, and what is told.
    fn planted(scenario: Option<&str>, own: [Option<&str>; 2]) -> (Vec<String>, Vec<String>) {
        let block = |text: &str| Spanned::new(text.to_owned(), Span::new(0, 0));
        let (whole, own) = (scenario.map(block), own.map(|text| text.map(block)));
        let skeletons = ArmSkeletons {
            scenario: whole.as_ref(),
            all: ["api", "sdk-v2", "admin"].map(str::to_owned).to_vec(),
            own: own.iter().map(Option::as_ref).collect(),
        };
        let (wanted, told) = plant_arms(with_arms(), "", &skeletons);
        let text = render(&wanted, &|_| None);
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let pieces = regions::parse(&text).expect("well-formed");
        assert_eq!(pieces.header_line("Frame-SHA256:"), Some(pieces.frame_digest().as_str()));
        assert!(pieces.regions.iter().all(|region| region.name == "helpers" || !region.is_filled()), "{text}");
        let code = |body: &str| {
            let ours = |line: &&str| !line.contains("disttest_runtime::todo!");
            body.lines().filter(ours).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
        };
        let bodies = pieces.regions.iter().map(|region| (region.name, code(region.body)));
        let found = bodies.filter(|(_, code)| !code.is_empty()).map(|(name, code)| format!("{name}: {code}"));
        (found.collect(), told.into_iter().map(|note| note.message).collect())
    }

    #[track_caller]
    fn check(scenario: Option<&str>, own: [Option<&str>; 2], regions: &[&str], told: &[&str]) {
        let (found, messages) = planted(scenario, own);
        assert_eq!(found, regions);
        assert_eq!(messages.len(), told.len(), "{messages:?}");
        for (message, expect) in messages.iter().zip(told) {
            assert!(message.contains(expect), "{message} has no {expect}");
        }
    }

    const WAIT: &str = "helpers: use std::time::Duration; const WAIT: Duration = Duration::from_secs(1);";

    #[test]
    fn each_arm_gets_its_own_block_or_its_test_of_the_scenarios_skeleton() {
        let of_both = [
            "api/workload: let api = 1;",
            "api/oracle: check(api);",
            "sdk-v2/workload: let sdk = WAIT;",
            "sdk-v2/faults: kill();",
        ];
        check(Some(BOTH), [None, None], &[of_both[0], of_both[1], of_both[2], of_both[3], WAIT], &[]);
        let own = one("let own = 2;", "");
        check(None, [Some(&own), None], &["api/workload: let own = 2;"], &[]);
        check(Some(BOTH), [Some(&own), None], &["api/workload: let own = 2;", of_both[2], of_both[3], WAIT], &[]);
        check(None, [None, None], &[], &[]);
        // The test of an arm of another file is its own matter; one of no arm is told.
        let with = |name: &str| BOTH.replace("SDK_v2", name);
        check(Some(&with("admin")), [None, None], &[of_both[0], of_both[1], WAIT], &[]);
        check(
            Some(&with("export")),
            [None, None],
            &[of_both[0], of_both[1], WAIT],
            &["`export`, which is called after none"],
        );
        check(Some(&one("let x = 1;", "")), [None, None], &[], &["no test function of an arm", "`whatever`, which"]);
    }

    #[test]
    fn helpers_of_several_arms_are_written_once_and_another_item_of_a_name_is_told() {
        let (a, b) = (one("f(1);", "use std::fmt;\nfn f(_: u8) {}\n"), one("f(2);", "use std::fmt;\nfn f(_: u8) {}\n"));
        let bodies = ["api/workload: f(1);", "sdk-v2/workload: f(2);"];
        check(None, [Some(&a), Some(&b)], &[bodies[0], bodies[1], "helpers: use std::fmt; fn f(_: u8) {}"], &[]);
        let other = b.replace("(_: u8)", "(_: u16)");
        let told = ["S1/sdk-v2: left out of its skeleton: `f`, which the skeleton of another arm has otherwise"];
        check(None, [Some(&a), Some(&other)], &[bodies[0], bodies[1], "helpers: use std::fmt; fn f(_: u8) {}"], &told);
    }

    #[test]
    fn a_skeleton_that_cannot_be_used_is_told_and_spoils_no_other_arm() {
        let good = one("let good = 1;", "");
        for (bad, why) in [
            ("fn (", "cannot be used"),
            ("#[test]\nfn t() { // 1. Workload\nlet x = 1; }\n", "no three TODO comments"),
            ("struct Run;\n#[test]\nfn t() {}\n", "`Run`, a name that the test has already"),
            ("unsafe fn x() {}\n#[test]\nfn t() {}\n", "`unsafe` code"),
        ] {
            let (found, told) = planted(None, [Some(bad), Some(&good)]);
            assert!(found.contains(&"sdk-v2/workload: let good = 1;".to_owned()), "{bad}: {found:?}");
            assert!(
                told.iter().any(|message| message.starts_with("S1/api: ") && message.contains(why)),
                "{bad}: {told:?}"
            );
        }
    }
}
