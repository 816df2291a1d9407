//! Checkers of the plan that a filled oracle does not name: the plan got one more after the region was filled.

use super::operations;
use crate::author::Wanted;
use crate::author::attribute::Attribute;
use crate::author::regions::{self, Pieces};
use serde::Serialize;

/// A checker that is not made where the oracle is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Lacking {
    /// The scenario or arm.
    pub scenario: String,
    /// The region.
    pub region: String,
    /// The line of its begin marker.
    pub line: usize,
    /// The checker, as the plan names it.
    pub checker: String,
    /// What makes it.
    pub code: String,
}

impl Lacking {
    /// In a sentence.
    pub(crate) fn message(&self) -> String {
        let Lacking { scenario, region, checker, code, .. } = self;
        // Some have a body that only a person can write.
        let code = match code.split_once('\n') {
            Some((first, _)) => format!("{first} …"),
            None => code.clone(),
        };
        format!(
            "the region {region} of {scenario} is filled and makes no checker `{checker}`, which the plan names: add \
             `.check({code})`, or the scenario is PARTIAL-surface at best"
        )
    }
}

/// The checkers that the filled oracles in `text`, the file of `wanted`, do not name. A region that calls no `check`
/// leaves the judging to code elsewhere, of which nothing is said.
pub(crate) fn lacking(wanted: &Wanted, text: &str) -> Vec<Lacking> {
    let Ok(pieces) = regions::parse(text) else { return Vec::new() };
    let whole = [(&wanted.attribute, "oracle".to_owned())];
    let arms = wanted.arms.iter().map(|arm| (&arm.attribute, format!("{}/oracle", arm.name)));
    let oracles: Vec<(&Attribute, String)> =
        if wanted.arms.is_empty() { whole.into_iter().collect() } else { arms.collect() };
    oracles.iter().flat_map(|(attribute, region)| in_region(attribute, region, &pieces)).collect()
}

fn in_region(attribute: &Attribute, name: &str, pieces: &Pieces<'_>) -> Vec<Lacking> {
    let Some(region) = pieces.region(name).filter(|region| region.is_filled() && region.body.contains(".check("))
    else {
        return Vec::new();
    };
    let helpers = pieces.region("helpers").map_or("", |helpers| helpers.body);
    let mut lacking = Vec::new();
    for checker in attribute.checkers.iter().filter(|checker| !checker.custom) {
        let model = attribute.model.as_deref();
        let Some(code) = operations::checker(&checker.name, model, checker.per_key) else { continue };
        let made = code.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !region.body.contains(made) && !helpers.contains(made) {
            let (scenario, checker) = (attribute.id.clone(), checker.name.clone());
            lacking.push(Lacking { scenario, region: name.to_owned(), line: region.line, checker, code });
        }
    }
    lacking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::attribute::Checker;
    use crate::author::fixture::wanted;

    #[test]
    fn a_filled_oracle_that_makes_no_checker_of_the_plan_is_told() {
        let checker = |name: &str| Checker { name: name.to_owned(), per_key: true, custom: false };
        let mut wanted = wanted();
        wanted.attribute.model = Some("register".to_owned());
        wanted.attribute.checkers = vec![checker("linearizability"), checker("no-lost-ack"), checker("exactly-once")];
        let check = |oracle: &str, helpers: &str, expect: &[&str]| {
            let text = format!(
                "// disttest:begin oracle — x\n{oracle}\n// disttest:end oracle\n// disttest:begin helpers — x\n\
                 {helpers}\n// disttest:end helpers\n"
            );
            let told: Vec<String> = lacking(&wanted, &text).into_iter().map(|one| one.code).collect();
            assert_eq!(told, expect, "{oracle}");
        };
        let both = "run.oracle(h).check(Linearizability::per_key(Register::new())).check(NoLostAck::overwritable())";
        check(both, "", &[]);
        let one = "run.oracle(h).check(Linearizability::per_key(Register::new()))";
        check(one, "", &["NoLostAck::overwritable()"]);
        check(
            "run.oracle(h).check(durable())",
            "fn durable() -> NoLostAck { NoLostAck::overwritable() }",
            &["Linearizability::per_key(Register::new())"],
        );
        check("support::judge(run, h)", "", &[]);
        check("disttest_runtime::todo!(\"oracle\")", "", &[]);
    }
}
