//! `Faults: none — <reason>`: the explicit way to plan no fault.

/// What a `Faults` field says about there being none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NoFault {
    /// It plans faults.
    Planned,
    /// None, and why.
    Reason(String),
    /// None, without a reason.
    NoReason,
}

/// Emphasis and quotation marks around the word.
const MARKS: [char; 4] = ['*', '`', '_', '"'];

/// Reads the field. Only a leading `none`, `no fault` or `no faults` that a separator or the end follows counts:
/// `None of the nodes is killed; …` plans something.
pub(super) fn read(text: &str) -> NoFault {
    // Nearly every field plans something, and says so with its first letter.
    if !text.trim_start().trim_start_matches(MARKS).starts_with(['n', 'N']) {
        return NoFault::Planned;
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = flat.trim_start_matches(MARKS);
    let lower = bare.to_ascii_lowercase();
    let Some(word) = ["none", "no faults", "no fault"].iter().find(|w| lower.starts_with(**w)) else {
        return NoFault::Planned;
    };
    let rest = bare[word.len()..].trim_start_matches(MARKS);
    let separator = rest.trim_start();
    let follows = |mark: &str| separator.starts_with(mark);
    let ends = separator.is_empty() || ["—", "–", "--", "- ", ":", "(", ".", ";", ","].iter().any(|m| follows(m));
    if !ends {
        return NoFault::Planned;
    }
    let reason = separator.trim_start_matches(['—', '–', '-', ':', '(', '.', ';', ',', ' ']).trim_end();
    let reason = if follows("(") { reason.trim_end_matches('.').trim_end_matches(')') } else { reason };
    let reason = reason.trim().trim_end_matches('.');
    let empty = reason.is_empty() || reason.starts_with('<') || reason.contains("{{");
    if empty { NoFault::NoReason } else { NoFault::Reason(reason.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_none_plans_no_fault() {
        let check = |text: &str, expect: NoFault| assert_eq!(read(text), expect, "{text}");
        let told = |reason: &str| NoFault::Reason(reason.to_owned());
        check("none — the claim is about steady state.", told("the claim is about steady state"));
        check("None (smoke only)", told("smoke only"));
        check("no faults: a baseline\n  run", told("a baseline run"));
        check("`none` -- baseline", told("baseline"));
        check("none", NoFault::NoReason);
        check("None.", NoFault::NoReason);
        check("none — <reason>", NoFault::NoReason);
        check("None of the nodes is killed; `full-partition`", NoFault::Planned);
        check("no fault tolerance is assumed; `hard-kill`", NoFault::Planned);
        check("nonetheless `hard-kill`", NoFault::Planned);
        check("`hard-kill` of two nodes", NoFault::Planned);
        check("", NoFault::Planned);
    }
}
