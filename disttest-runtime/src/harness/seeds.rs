//! Seeds of a scenario: the same ones on every machine and every day, and others for another scenario.

use super::budget::wanted;
use super::options::SeedChoice;
use crate::base::rng::Rng;
use crate::plan::{Budget, Tier};
use crate::verdict::Declared;

/// What the harness executes of a scenario when `tier`, and exactly this `seed` or a `count` of seeds, is asked for: the
/// budget of each execution, and the seeds in order. After a violation the seeds that are left are not run.
pub fn executions(declared: &Declared, tier: Tier, seed: Option<u64>, count: Option<u64>) -> (Budget, Vec<u64>) {
    let choice = match (seed, count) {
        (Some(seed), _) => SeedChoice::Exactly(seed),
        (None, Some(count)) => SeedChoice::Count(count),
        (None, None) => SeedChoice::Budget,
    };
    let budget = wanted(declared.budgets.as_ref(), tier);
    (budget, of_declared(choice, &budget, declared))
}

/// The seeds of a scenario whose executions have this budget.
pub(super) fn of_declared(choice: SeedChoice, budget: &Budget, declared: &Declared) -> Vec<u64> {
    seeds(choice, budget.seeds, &format!("{} {}", declared.id, declared.name))
}

/// The seeds to run, in order. Seed number *k* of a scenario (from 1) is the upper half of the first output of the
/// stream of *k* named by the scenario's id and name, so more seeds never change the earlier ones; 32 bits, so that
/// every JSON reader keeps them exact. Two equal ones in a row of drawings are drawn again.
fn seeds(choice: SeedChoice, of_budget: u64, scenario: &str) -> Vec<u64> {
    let count = match choice {
        SeedChoice::Exactly(seed) => return vec![seed],
        SeedChoice::Count(count) => count,
        SeedChoice::Budget => of_budget.max(1),
    };
    let mut seeds = Vec::new();
    for k in 1..=count {
        let mut stream = Rng::stream(k, scenario);
        let mut seed = stream.next_u64() >> 32;
        while seeds.contains(&seed) {
            seed = stream.next_u64() >> 32;
        }
        seeds.push(seed);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_seeds_keep_the_first_ones_and_scenarios_have_their_own() {
        let three = seeds(SeedChoice::Budget, 3, "S1 name");
        assert_eq!(three.len(), 3);
        assert_eq!(seeds(SeedChoice::Count(5), 3, "S1 name")[..3], three);
        assert_ne!(seeds(SeedChoice::Budget, 3, "S2 name"), three);
        assert_eq!(seeds(SeedChoice::Exactly(9), 3, "S1 name"), [9]);
        assert_eq!(seeds(SeedChoice::Budget, 0, "S1 name").len(), 1);
    }
}
