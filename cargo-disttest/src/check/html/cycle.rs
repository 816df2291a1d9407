//! A cycle of transactions: each before the next, with the reason, and the last before the first.

use super::{escape, label, push, shortened};
use disttest_runtime::checker::Violation;
use disttest_runtime::history::Op;

/// Width of the picture, in pixels.
const WIDTH: usize = 900;
/// Where boxes begin, in pixels: the edge back runs left of them.
const LEFT: usize = 60;
/// Height of a box, in pixels.
const BOX: usize = 30;
/// Height of a line of text, in pixels.
const LINE: usize = 17;
/// Characters in a line.
const WIDEST: usize = 104;
/// Transactions of a cycle that is drawn, at most: larger ones are read in the argument.
const LARGEST: usize = 12;

/// Transactions in the order of a cycle, and why each is before the next.
pub(super) struct Cycle<'h> {
    steps: Vec<(&'h Op, String)>,
}

impl<'h> Cycle<'h> {
    /// The cycle that `violation` argues with (`T1 < T2, because …`), if it does.
    pub(super) fn of(violation: &Violation, witness: &'h [Op]) -> Option<Cycle<'h>> {
        let reasons = reasons(&violation.explanation, violation.ops.len())?;
        let op = |id: &u64| witness.iter().find(|op| op.op_id == *id);
        let ops: Option<Vec<&Op>> = violation.ops.iter().map(op).collect();
        Some(Cycle { steps: ops?.into_iter().zip(reasons).collect() })
    }

    /// As a picture.
    pub(super) fn svg(&self) -> String {
        let mut boxes = String::new();
        let mut y = 12;
        let mut middles = Vec::new();
        for (at, (op, why)) in self.steps.iter().enumerate() {
            middles.push(y + BOX / 2);
            let said = shortened(format!("T{} {}", at + 1, label(op)), WIDEST);
            push(
                &mut boxes,
                format_args!(
                    "<rect class=\"op witness\" x=\"{LEFT}\" y=\"{y}\" width=\"{}\" height=\"{BOX}\" rx=\"4\"/>\
                     <text x=\"{}\" y=\"{}\">{}</text>",
                    WIDTH - LEFT - 20,
                    LEFT + 10,
                    y + 20,
                    escape(&said)
                ),
            );
            y += BOX;
            let last = at + 1 == self.steps.len();
            let next = if last { 1 } else { at + 2 };
            let lines = wrapped(&format!("T{} before T{next}: {why}", at + 1));
            for (line, text) in lines.iter().enumerate() {
                let x = LEFT + 40;
                push(
                    &mut boxes,
                    format_args!(
                        "<text class=\"why\" x=\"{x}\" y=\"{}\">{}</text>",
                        y + 20 + line * LINE,
                        escape(text)
                    ),
                );
            }
            let end = y + 18 + lines.len() * LINE;
            if !last {
                arrow_down(&mut boxes, y, end);
            }
            y = end;
        }
        if let [first, .., last] = middles.as_slice() {
            arrow_back(&mut boxes, *first, *last);
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\" role=\"img\" \
             aria-label=\"cycle of transactions\">{boxes}</svg>"
        )
    }
}

fn arrow_down(out: &mut String, from: usize, to: usize) {
    let x = LEFT + 20;
    push(
        out,
        format_args!(
            "<path class=\"edge\" d=\"M{x} {from}V{}\"/><path class=\"head\" d=\"M{} {}L{x} {to}L{} {}Z\"/>",
            to - 8,
            x - 5,
            to - 9,
            x + 5,
            to - 9
        ),
    );
}

/// From the last box to the first, left of all.
fn arrow_back(out: &mut String, first: usize, last: usize) {
    let (left, tip) = (18, LEFT);
    push(
        out,
        format_args!(
            "<path class=\"edge\" d=\"M{LEFT} {last}C{left} {last} {left} {first} {} {first}\"/>\
             <path class=\"head\" d=\"M{} {}L{tip} {first}L{} {}Z\"/>",
            tip - 8,
            tip - 9,
            first - 5,
            tip - 9,
            first + 5
        ),
    );
}

/// Why each of `count` transactions is before the next, as the argument tells it.
fn reasons(argument: &str, count: usize) -> Option<Vec<String>> {
    if !(2..=LARGEST).contains(&count) {
        return None;
    }
    let (_, mut rest) = argument.split_once(". Then ")?;
    let mut reasons = Vec::new();
    for at in 0..count {
        let next = (at + 1) % count;
        rest = rest.strip_prefix(&format!("T{} < T{}, because ", at + 1, next + 1))?;
        let until = match at + 1 {
            last if last == count => ": a contradiction.".to_owned(),
            last if last + 1 == count => format!("; however, T{} < T1, because ", last + 1),
            middle => format!("; T{} < T{}, because ", middle + 1, middle + 2),
        };
        let end = rest.find(&until)?;
        reasons.push(rest[..end].to_owned());
        let joint = if until.starts_with("; however, ") { "; however, ".len() } else { "; ".len() };
        rest = rest.get(end + joint..).unwrap_or_default();
    }
    Some(reasons)
}

/// In lines, broken at blanks where there are any.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("there is one");
            let held = line.chars().count();
            if held == 0 && word.len() > WIDEST {
                line.extend(word.drain(..WIDEST));
            } else if held > 0 && held + 1 + word.len() > WIDEST {
                lines.push(String::new());
            } else {
                line.push_str(if held > 0 { " " } else { "" });
                line.extend(word);
                break;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_taken_apart_into_its_steps() {
        let two = "Let T1 = a; T2 = b. Then T1 < T2, because x; y; however, T2 < T1, because z: a contradiction.";
        assert_eq!(reasons(two, 2), Some(vec!["x; y".to_owned(), "z".to_owned()]));
        let three =
            "Let T1 = a. Then T1 < T2, because p; T2 < T3, because q; however, T3 < T1, because r: a contradiction.";
        assert_eq!(reasons(three, 3), Some(["p", "q", "r"].map(str::to_owned).to_vec()));
        for (text, count) in [("", 2), (two, 3), (three, 2), (two, 1), ("transaction 3 contradicts itself", 1)] {
            assert_eq!(reasons(text, count), None, "{text}");
        }
    }

    #[test]
    fn lines_are_no_longer_than_they_may_be_and_lose_nothing() {
        let text = format!("{} {} c", "a ".repeat(100).trim(), "b".repeat(250));
        let lines = wrapped(&text);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDEST), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }
}
