use super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::history::Effect;
use crate::history::notation::history;

const QUIET: Quiescence = Quiescence { background_work: Some(0), replicas_converged: Some(true) };

/// A counter: increments that surely happened, that may have, and what was read last.
#[derive(Clone, Debug, Default)]
struct Count {
    least: i64,
    most: i64,
    read: Option<i64>,
}

fn count(state: &mut Count, op: &Op) -> Result<(), String> {
    match (op.op_type.as_str(), op.effect()) {
        ("inc", Effect::Acknowledged) => (state.least, state.most) = (state.least + 1, state.most + 1),
        ("inc", Effect::Unknown) => state.most += 1,
        ("read", Effect::Acknowledged) => state.read = Some(op.output.as_i64().ok_or("no number")?),
        ("inc" | "read", _) => {}
        (other, _) => return Err(format!("`{other}` is none of inc, read")),
    }
    Ok(())
}

fn within(state: &Count) -> Rule {
    let Some(read) = state.read else { return Rule::Silent };
    Rule::check((state.least..=state.most).contains(&read), || {
        format!("{read} is not in {}..={}", state.least, state.most)
    })
}

fn last() -> Invariant<Count> {
    Invariant::over_final_state(Count::default(), count).per_key().quiescent(QUIET).rule("within", within)
}

/// Amounts that move between accounts never go below zero.
fn steps() -> Invariant<i64> {
    let fold = |state: &mut i64, op: &Op| {
        *state += op.input.as_i64().filter(|_| op.effect() == Effect::Acknowledged).unwrap_or(0);
        Ok(())
    };
    let never_below = |state: &i64| Rule::check(*state >= 0, || format!("{state} is below zero"));
    Invariant::at_every_step(0, fold).rule("never below zero", never_below)
}

fn check<S: Clone + fmt::Debug + Send + Sync>(invariant: &Invariant<S>, text: &str, expect: &str) {
    let answer = invariant.check(&history(text).expect("a history"), &Unlimited);
    let said = match answer.outcome {
        Outcome::Valid => "valid".to_owned(),
        Outcome::Invalid { violations } => format!("{:?} {}", violations[0].ops, violations[0].explanation),
        Outcome::Unknown { why } => why,
    };
    assert!(if expect == "valid" { said == expect } else { said.contains(expect) }, "{said}, not {expect}, of {text}");
}

#[test]
fn a_final_state_is_judged_when_everything_came_to_rest() {
    check(&last(), "c1 inc k [0..1]\nc1 read k -> 1 [2..3]", "valid");
    check(&last(), "c1 inc k [0..1]\nc2 inc k [0..]\nc1 read k -> 2 [2..3]", "valid");
    check(
        &last(),
        "c1 inc k [0..1]\nc2 inc k !no [0..1]\nc1 read k -> 2 [2..3]",
        "[2] `within` is broken on key \"k\"",
    );
    check(&last(), "c1 inc k [0..1]\nc1 inc k [2..3]\nc1 read k -> 1 [4..5]", "1 is not in 2..=2");
    check(&last(), "c1 inc j [0..1]\nc1 inc k [2..3]\nc1 read k -> 1 [4..5]", "key \"j\" has no final read");
    check(&last(), "c1 inc k [0..4]\nc1 read k -> 1 [2..3]", "no read was answered after everything else");
    check(
        &last(),
        "c1 inc k [0..1]\nc1 inc k [9..]\nc1 read k -> 1 [2..3]",
        "no read was answered after everything else",
    );
    check(&last(), "c1 inc k [0..1]\nc1 read k -> 1 [2..3]\nc2 read k -> 0 [2..3]", "final reads 1 and 2 differ");
    check(&last(), "c1 inc k [0..1]\nc1 read k -> one [2..3]", "operation 1 is not understood: no number");
    check(&last(), "", "the history is empty");
    check(&last(), "c1 inc k [0..]", "none of 1 operations was acknowledged");
}

#[test]
fn quiescence_is_verified_and_not_assumed() {
    let text = "c1 inc k [0..1]\nc1 read k -> 0 [2..3]";
    let with =
        |background_work, replicas_converged| last().quiescent(Quiescence { background_work, replicas_converged });
    check(&with(None, Some(true)), text, "nobody asked for background work");
    check(&with(Some(3), Some(true)), text, "3 pieces of background work");
    check(&with(Some(0), None), text, "nobody looked whether replicas");
    check(&with(Some(0), Some(false)), text, "replicas had not converged");
    check(&with(Some(0), Some(true)), text, "is broken");
}

#[test]
fn a_rule_that_never_fired_is_no_rule_that_holds() {
    let text = "c1 inc k [0..1]\nc1 read k -> 1 [2..3]";
    check(&last().rule("idle", |_| Rule::Silent), text, "the rule `idle` never fired");
    check(&Invariant::over_final_state(0, |_, _| Ok(())).quiescent(QUIET), text, "no rule");
    let fires = last().rule("idle", |_| Rule::Silent).fires(&history(text).expect("a history"), &Unlimited);
    assert_eq!(fires, [("within".to_owned(), 1), ("idle".to_owned(), 0)]);
    // A broken rule stands, whatever another one says.
    check(&last().rule("idle", |_| Rule::Silent), "c1 inc k [0..1]\nc1 read k -> 0 [2..3]", "`within` is broken");
}

#[test]
fn every_step_is_judged_in_the_order_of_completions() {
    check(&steps(), "c1 add k 5 [0..1]\nc1 add k -5 [2..3]", "valid");
    check(&steps(), "c1 add k -5 [2..3]\nc1 add k 5 [0..1]", "valid");
    check(
        &steps(),
        "c1 add k 5 [0..9]\nc2 add k -5 [2..3]",
        "[1] `never below zero` is broken on the whole state after",
    );
    check(&steps(), "c1 add k 5 [0..1]\nc2 add k -9 [2..]", "valid");
    check(&steps().per_key(), "c1 add j 5 [0..1]\nc2 add k -5 [2..3]", "on key \"k\" after operation 1");
    assert_eq!(steps().fires(&history("c1 add k 5 [0..1]\nc1 add k 1 [2..]").expect("ok"), &Unlimited)[0].1, 2);
    assert_eq!((steps().name(), last().name()), ("property-assertion", "invariant-over-final-state"));
}

#[test]
fn planted_faults_are_found_and_nothing_else_is() {
    let mut lost = 0;
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let (mut text, mut value, mut planted) = (String::new(), 0, false);
        for n in 0..5 + rng.below(20) {
            let (fate, counts) = match rng.below(10) {
                0 => (format!("[{}..]", n * 10), rng.chance(1, 2)),
                1 => (format!("!no [{}..{}]", n * 10, n * 10 + 5), false),
                _ => (format!("[{}..{}]", n * 10, n * 10 + rng.below(30)), true),
            };
            value += i64::from(counts);
            text.push_str(&format!("c{n} inc k {fate}\n"));
        }
        let most = text.matches("inc").count() as i64;
        if rng.chance(1, 2) {
            (planted, value) = (true, most + 1);
        }
        text.push_str(&format!("c99 read k -> {value} [1000..1001]"));
        if text.lines().filter(|line| line.contains("inc") && !line.contains("!no") && !line.ends_with("..]")).count()
            > 0
        {
            check(&last(), &text, if planted { "is broken" } else { "valid" });
            lost += u64::from(planted);
        }
    }
    assert!(lost > 500);
}
