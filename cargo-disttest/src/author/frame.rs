//! The text of a whole test file whose regions are empty.

use super::attribute::Attribute;
use super::prose::{comment, one_line};
use super::regions;
use super::skeleton::Seeds;

const TEMPLATE: &str = include_str!("../../../templates/author/scenario.rs.txt");
const ARMS: &str = include_str!("../../../templates/author/arms.rs.txt");
const ARM: &str = include_str!("../../../templates/author/arm.rs.txt");
const WIDTH: usize = 110;

/// One Rust scenario to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The scenario's name in the plan.
    pub name: String,
    /// What the attribute declares.
    pub attribute: Attribute,
    /// `cargo-disttest <version>`.
    pub generator: String,
    /// The plan's Workload field.
    pub workload: String,
    /// The plan's Faults field.
    pub faults: String,
    /// The plan's Oracle field.
    pub oracle: String,
    /// What the plan's own skeleton puts into the regions; of a file of arms only the helpers.
    pub seeds: Seeds,
    /// Its arms in this file, in plan order, each a function; the scenario itself then has none. Empty for a scenario
    /// that is one function.
    pub arms: Vec<Arm>,
}

/// One arm of a scenario in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    /// The part of its id behind the slash.
    pub name: String,
    /// What its attribute declares.
    pub attribute: Attribute,
    /// Its Workload field, or that of the scenario.
    pub workload: String,
    /// Its Faults field, or that of the scenario.
    pub faults: String,
    /// Its own Oracle field.
    pub oracle: String,
    /// What a skeleton of the plan puts into its regions; its helpers are those of the file.
    pub seeds: Seeds,
}

impl Wanted {
    /// Each function of the file: what its attribute declares, and its name.
    pub(crate) fn functions(&self) -> Vec<(&Attribute, String)> {
        if self.arms.is_empty() {
            return vec![(&self.attribute, function_name(&self.name))];
        }
        self.arms.iter().map(|arm| (&arm.attribute, arm_function(&self.name, &arm.name))).collect()
    }

    /// Names of the regions of the file.
    pub(crate) fn regions(&self) -> Vec<String> {
        let of = |prefix: &str| ["workload", "faults", "oracle"].map(|region| format!("{prefix}{region}"));
        let mut names: Vec<String> = match self.arms.is_empty() {
            true => of("").to_vec(),
            false => self.arms.iter().flat_map(|arm| of(&format!("{}/", arm.name))).collect(),
        };
        names.push("helpers".to_owned());
        names
    }
}

/// The file, with its frame's digest in the header. `format` is rustfmt, or what stands in for it: it may move white
/// space only, and anything else that it does is refused.
pub(crate) fn render(wanted: &Wanted, format: &dyn Fn(&str) -> Option<String>) -> String {
    let text = fill(wanted);
    let text = match format(&text) {
        Some(formatted) if regions::squash(&formatted) == regions::squash(&text) => formatted,
        _ => text,
    };
    let text = with_seed_digests(text);
    let digest = regions::parse(&text).map(|pieces| pieces.frame_digest()).unwrap_or_default();
    let line = |digest: &str| format!("\n{} {digest}\n", regions::FRAME_DIGEST);
    text.replacen(&line(NO_DIGEST), &line(&digest), 1)
}

/// Tells later whether a region still is what the plan's skeleton said.
fn with_seed_digests(text: String) -> String {
    let line = |digests: &str| format!("\n{} {digests}\n", regions::SEED_DIGESTS);
    let Ok(pieces) = regions::parse(&text) else {
        return text;
    };
    let digests = pieces.regions.iter().map(|region| format!("{}={}", region.name, regions::body_digest(region.body)));
    text.replacen(&line(NO_DIGEST), &line(&digests.collect::<Vec<_>>().join(" ")), 1)
}

const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The beginning of a region: its marker with the plan's prose, and the code it starts with.
fn region(name: &str, text: &str, seed: &str) -> String {
    let prose = comment(&format!("    // disttest:begin {name} —"), "    // |", text, WIDTH).join("\n");
    format!("{prose}\n{seed}").trim_end_matches('\n').to_owned()
}

fn fill(wanted: &Wanted) -> String {
    let attribute = &wanted.attribute;
    let claims: Vec<String> = attribute.falsifies.iter().map(|(claim, _)| one_line(claim)).collect();
    let seeds = &wanted.seeds;
    let value = |key: &str| match key {
        "plan" => one_line(&attribute.plan),
        "id" => one_line(&attribute.id),
        "name" => one_line(&wanted.name),
        "claims" => claims.join(", "),
        "plan_sha256" => one_line(&attribute.plan_sha256),
        "scenario_sha256" => one_line(&attribute.scenario_sha256),
        "generator" if seeds.is_empty() && wanted.arms.iter().all(|arm| arm.seeds.is_empty()) => {
            one_line(&wanted.generator)
        }
        "generator" => format!("{}\n{} {NO_DIGEST}", one_line(&wanted.generator), regions::SEED_DIGESTS),
        "frame_sha256" => NO_DIGEST.to_owned(),
        "attribute" => attribute.text(),
        "function" => function_name(&wanted.name),
        "workload" => region("workload", &wanted.workload, &seeds.workload),
        "faults" => region("faults", &wanted.faults, &seeds.faults),
        "oracle" => region("oracle", &wanted.oracle, &seeds.oracle),
        "helpers" => seeds.helpers.clone(),
        "arms" => wanted.arms.iter().map(|arm| one_line(&arm.attribute.id)).collect::<Vec<_>>().join(", "),
        "functions" => wanted.arms.iter().map(|arm| fill_arm(&wanted.name, arm)).collect::<Vec<_>>().join("\n"),
        key => unreachable!("the template has no key {key}"),
    };
    expand(if wanted.arms.is_empty() { TEMPLATE } else { ARMS }, value)
}

fn fill_arm(scenario: &str, arm: &Arm) -> String {
    let value = |key: &str| match key {
        "attribute" => arm.attribute.text(),
        "function" => arm_function(scenario, &arm.name),
        "arm" => arm.name.clone(),
        "workload" => region(&format!("{}/workload", arm.name), &arm.workload, &arm.seeds.workload),
        "faults" => region(&format!("{}/faults", arm.name), &arm.faults, &arm.seeds.faults),
        "oracle" => region(&format!("{}/oracle", arm.name), &arm.oracle, &arm.seeds.oracle),
        key => unreachable!("the template has no key {key}"),
    };
    expand(ARM, value)
}

/// Replaces each `{{key}}` of `template`. Values are not looked at again, so a plan cannot name a key.
pub(crate) fn expand(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, tail) = after.split_once("}}").expect("a key of a template is closed");
        out.push_str(before);
        out.push_str(&value(key));
        rest = tail;
    }
    out + rest
}

/// The scenario's name as a Rust function name.
pub(crate) fn function_name(name: &str) -> String {
    let out = slug(name);
    match out.as_bytes().first() {
        None => "scenario".to_owned(),
        Some(first) if first.is_ascii_digit() || is_keyword(&out) || out == "main" => format!("scenario_{out}"),
        Some(_) => out,
    }
}

/// The function of an arm: `tenants_stay_apart__api` (D4). A slug has no two `_` in a row, so that it can be told where
/// the arm begins.
pub(crate) fn arm_function(scenario: &str, arm: &str) -> String {
    format!("{}__{}", function_name(scenario), slug(arm))
}

/// Letters and digits in lower case, whatever is between them as one `_`; empty when there is none.
pub(crate) fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &str = " abstract as async await become box break const continue crate do dyn else enum extern \
        false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self static \
        struct super trait true try type typeof unsafe unsized use virtual where while yield ";
    KEYWORDS.contains(&format!(" {word} "))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{wanted, with_arms};
    use super::*;

    #[test]
    fn a_scenario_name_becomes_a_function_name() {
        let check = |name: &str, expect: &str| assert_eq!(function_name(name), expect);
        check("linearizable_append_under_partition", "linearizable_append_under_partition");
        check("Reads never go back", "reads_never_go_back");
        check("3 nodes", "scenario_3_nodes");
        check("async", "scenario_async");
        check("x(){} fn evil", "x_fn_evil");
        check("日本", "scenario");
        check("main", "scenario_main");
    }

    #[test]
    fn a_value_is_never_expanded_again() {
        assert_eq!(expand("a {{x}} b", |_| "{{y}}".to_owned()), "a {{y}} b");
    }

    fn raw(wanted: &Wanted) -> String {
        render(wanted, &|_| None)
    }

    #[test]
    fn a_file_is_what_its_snapshot_says() {
        let text = raw(&wanted());
        let digest = regions::parse(&text).expect("well-formed").frame_digest();
        let expect = include_str!("../../tests/it/snapshots/scenario.rs.txt").replace("<frame>", &digest);
        assert_eq!(text, expect);
    }

    #[test]
    fn a_file_of_arms_is_what_its_snapshot_says() {
        let text = raw(&with_arms());
        let digest = regions::parse(&text).expect("well-formed").frame_digest();
        let expect = include_str!("../../tests/it/snapshots/arms.rs.txt").replace("<frame>", &digest);
        assert!(text == expect, "it is now:\n{text}");
        let regions: Vec<String> = with_arms().regions();
        let found = regions::parse(&text).expect("well-formed").regions;
        assert_eq!(found.iter().map(|region| region.name).collect::<Vec<_>>(), regions);
        assert_eq!(syn::parse_file(&text).expect("it parses").items.len(), 4, "use, two functions, main!");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let format = |text: &str| super::super::rustfmt::format(text, folder.path(), cargo_metadata::Edition::E2024);
        assert_eq!(format(&text).unwrap_or_else(|| text.clone()), text, "rustfmt leaves it as it is");
    }

    #[test]
    fn an_arm_is_a_function_of_its_scenario() {
        let check = |scenario: &str, arm: &str, expect: &str| assert_eq!(arm_function(scenario, arm), expect);
        check("tenants_stay_apart", "api", "tenants_stay_apart__api");
        check("tenants  stay__apart", "SDK--v2_", "tenants_stay_apart__sdk_v2");
        check("2 tenants", "3", "scenario_2_tenants__3");
        check("async", "-", "scenario_async__");
    }

    #[test]
    fn nothing_in_a_plan_breaks_out_of_comments_or_strings() {
        let clean = syn::parse_file(&raw(&wanted())).expect("the file parses");
        for evil in [
            "\nfn evil() {}",
            "\r\nfn evil() {}",
            "*/ fn evil() {} /*",
            "\")] fn evil() {} #[x(\"",
            "\\\")] fn evil() {}",
            "\u{2028}fn evil() {}\u{202e}",
            "{{attribute}} {{oracle}}",
            "x\n// disttest:end workload\nfn evil() {}\n// disttest:begin workload",
            "x\n    // disttest:begin evil",
            "//! Frame-SHA256: 0",
            "\u{0}\u{1b}[31m",
        ] {
            let mut wanted = wanted();
            for text in [&mut wanted.workload, &mut wanted.faults, &mut wanted.oracle, &mut wanted.name] {
                *text = format!("a{evil}");
            }
            wanted.attribute.plan = format!("a{evil}");
            wanted.attribute.id = format!("a{evil}");
            wanted.attribute.falsifies[0].0 = format!("a{evil}");
            wanted.attribute.model = Some(format!("a{evil}"));
            wanted.attribute.unresolved = vec![evil.to_owned()];
            let text = raw(&wanted);
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{evil:?}: {error}\n{text}"));
            assert_eq!(file.items.len(), clean.items.len(), "{evil:?}\n{text}");
            let pieces = regions::parse(&text).expect(evil);
            let names: Vec<&str> = pieces.regions.iter().map(|region| region.name).collect();
            assert_eq!(names, ["workload", "faults", "oracle", "helpers"], "{evil:?}");
            assert_eq!(pieces.header_line("Frame-SHA256:"), Some(pieces.frame_digest().as_str()), "{evil:?}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{evil:?}");
        }
    }

    #[test]
    fn rustfmt_leaves_a_file_as_it_is() {
        let text = raw(&wanted());
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Where there is no rustfmt there is nothing to compare.
        let format = |text: &str| super::super::rustfmt::format(text, folder.path(), cargo_metadata::Edition::E2024);
        if let Some(formatted) = format(&text) {
            assert_eq!(formatted, text);
        }
    }

    #[test]
    fn a_formatter_that_changes_more_than_white_space_is_not_followed() {
        let text = raw(&wanted());
        assert_eq!(render(&wanted(), &|text| Some(text.replace("per_key", ""))), text);
        assert_ne!(render(&wanted(), &|text| Some(text.replace("    ", "  "))), text);
    }

    #[test]
    fn fields_that_the_plan_does_not_yield_are_named_and_left_out() {
        let mut wanted = wanted();
        wanted.attribute.model = None;
        wanted.attribute.checkers = Vec::new();
        wanted.attribute.budgets = None;
        wanted.attribute.exit_criteria = Some("all pass".into());
        wanted.attribute.fault =
            crate::author::attribute::Fault::Planned { nemeses: vec![], injector: vec![], victim: vec!["x".into()] };
        wanted.attribute.unresolved = vec!["model".into(), "nemesis".into()];
        let text = wanted.attribute.text();
        assert!(text.ends_with(
            "    landing(victim(\"x\")),\n    exit_criteria = \"all pass\",\n    unresolved(\"model\", \"nemesis\"),\n)]"
        ));
        assert!(!text.contains("model =") && !text.contains("checkers(") && !text.contains("nemesis("));
    }
}
