//! The three TODO comments of a plan's skeleton: `1. Workload — from §7 Workload field` and its two siblings.

/// A part of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Workload,
    Faults,
    Oracle,
}

impl Part {
    pub(super) const ALL: [Part; 3] = [Part::Workload, Part::Faults, Part::Oracle];

    /// The name of its region.
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Workload => "workload",
            Part::Faults => "faults",
            Part::Oracle => "oracle",
        }
    }

    fn number(self) -> &'static str {
        match self {
            Part::Workload => "1",
            Part::Faults => "2",
            Part::Oracle => "3",
        }
    }
}

/// The part that a comment opens: its number or the word TODO, then its name. Words before those, such as `Region`, and
/// our own `disttest:begin` are passed over.
pub(super) fn opened_by(comment: &str) -> Option<Part> {
    let lower = comment.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (at, part) = words().take(8).enumerate().find_map(|(at, word)| {
        let part = match word {
            "workload" => Part::Workload,
            "faults" | "fault" | "nemesis" => Part::Faults,
            "oracle" => Part::Oracle,
            _ => return None,
        };
        Some((at, part))
    })?;
    let before: Vec<&str> = words().take(at).collect();
    let passed = |word: &&str| {
        let mark = word.bytes().all(|b| b.is_ascii_digit()) || word.starts_with('s') && word.len() <= 4;
        mark || matches!(*word, "todo" | "fixme" | "region" | "step" | "fill" | "in" | "the" | "disttest" | "begin")
    };
    let marked = before.contains(&"todo") || before.contains(&"begin") || before.last() == Some(&part.number());
    (marked && before.iter().all(passed)).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_todo_comment_is_known_by_its_number_or_word_and_its_name() {
        let check = |comment: &str, expect: Option<Part>| assert_eq!(opened_by(comment), expect, "{comment}");
        check("// 1. Workload — from §7 Workload field", Some(Part::Workload));
        check("# TODO 2. Faults — from §7 Faults field", Some(Part::Faults));
        check("// TODO(S1): 3) Oracle: compare", Some(Part::Oracle));
        check("# TODO: fill in the workload", Some(Part::Workload));
        check("// TODO Fault", Some(Part::Faults));
        check("// disttest:begin oracle — prose", Some(Part::Oracle));
        check("// the workload starts here", None);
        check("// TODO: rename, then start the workload", None);
        check("// 2. Workload", None);
        check("// workload", None);
        check("", None);
    }
}
