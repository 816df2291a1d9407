//! For tests of models: operations one after the other, and the states they leave.

use super::{Atoms, Model, Step};
use crate::history::notation::history;

/// Runs `text` (operations in the notation of histories without client and time, separated by ` | `; an operation that
/// begins with `cN` is of that client) and compares the shown states: one word an operation, up to `illegal`, or to
/// `refused: ` and a part of the sentence that says why.
pub(super) fn run<M: Model>(model: M, text: &str, expect: &str) {
    let mut atoms = Atoms::default();
    let mut state = model.start(&mut atoms);
    let mut shown = Vec::new();
    for (at, op) in text.split(" | ").enumerate() {
        let has_client = op.strip_prefix('c').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let line = format!("{}{op} [{}..{}]", if has_client { "" } else { "c1 " }, 2 * at, 2 * at + 1);
        let history = history(&line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let call = match model.call(&history.ops()[0], &mut atoms) {
            Ok(call) => call,
            Err(why) => {
                let part = expect.strip_prefix("refused: ").unwrap_or_else(|| panic!("{line} is refused: {why}"));
                return assert!(why.contains(part), "{line}: {why}");
            }
        };
        match model.step(&state, &call) {
            Step::Illegal => {
                assert!(model.observes(&call), "{line} is illegal and yet said to observe nothing");
                shown.push("illegal".to_owned());
                break;
            }
            Step::Unchanged => {}
            Step::To(next) => {
                assert!(!model.only_reads(&call), "{line} is said to only read and yet changes the state");
                state = next;
            }
        }
        shown.push(model.show(&state, &atoms));
    }
    assert_eq!(shown.join(" "), expect, "{text}");
}
