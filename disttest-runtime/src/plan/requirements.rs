//! What a scenario requires of its environment (§6b).

use super::{Id, Plan, parse};

impl Plan {
    /// The requirements of §6b that the scenario or arm `id` depends on. A row that names no scenario is for all of them.
    pub fn requirements_of(&self, id: &Id) -> Vec<&str> {
        let uses = |named: &Id| named.number() == id.number() && (named.arm().is_none() || named == id);
        let rows = self.environment.iter().filter(|row| {
            let named = parse::ids_in(row.cell("Used by scenarios"), 'S');
            named.is_empty() || named.iter().any(uses)
        });
        rows.map(|row| row.cell("Requirement")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_requires_what_names_it_and_what_names_nobody() {
        let text = "# Test Plan: x\n\n## 6b. Environment requirements\n\n\
            | Requirement | Version floor | Used by scenarios | Install hint |\n|---|---|---|---|\n\
            | a | — | S1–S3 | — |\n| b | — | S5/api | — |\n| c | — | all | — |\n| d | — | S5 | — |\n";
        let plan = parse(text).0;
        let check = |id: &str, expect: &[&str]| {
            assert_eq!(plan.requirements_of(&Id::parse(id).expect("an id")), expect, "{id}");
        };
        check("S2", &["a", "c"]);
        check("S4", &["c"]);
        check("S5", &["c", "d"]);
        check("S5/api", &["b", "c", "d"]);
        check("S5/sdk", &["c", "d"]);
    }
}
