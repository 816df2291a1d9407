//! Pages as people see them.

use super::*;
use disttest_runtime::base::rng::Rng;

fn told(message: &str, span: Range<usize>) -> Diagnostic {
    let span = Span::new(span.start, span.end);
    let (rule, message) = ("missing-oracle".to_owned(), message.to_owned());
    Diagnostic { rule, severity: Severity::Error, message, span, help: Some("write one".to_owned()), edits: Vec::new() }
}

/// The page for one diagnostic at `what` in `text`.
fn page(text: &str, what: &str, edits: &[(&str, &str)]) -> String {
    let place = |what: &str| {
        let at = text.find(what).expect("it is there");
        at..at + what.len()
    };
    let mut diagnostic = told("S1 has no oracle", place(what));
    for (from, to) in edits {
        let range = place(from);
        diagnostic = diagnostic.with_edit(Span::new(range.start, range.end), *to);
    }
    render("plans/x.md", text, &[diagnostic], false)
}

#[test]
fn a_diagnostic_shows_place_line_underline_and_help() {
    let expect = "\
error[missing-oracle]: S1 has no oracle
 --> plans/x.md:3:14
  |
3 | ### Scenario S1: é
  |              ^^
  |
  = help: write one
";
    assert_eq!(page("# Test Plan: x\n\n### Scenario S1: é\n- **Closes:** H1\n", "S1", &[]), expect);
}

#[test]
fn tabs_wide_characters_byte_order_marks_and_line_breaks_move_no_underline() {
    let expect = "\
error[missing-oracle]: S1 has no oracle
 --> plans/x.md:1:5
  |
1 |     漢字 S1: x
  |          ^^
  |
  = help: write one
";
    assert_eq!(page("\t漢字 S1: x\r\nnext\r\n", "S1", &[]), expect);
    assert_eq!(page("\u{feff}\t漢字 S1: x\n", "S1", &[]), expect);
}

#[test]
fn what_mends_it_is_shown_as_it_will_be() {
    let text = "a line\n- **Checker:** `linearizabilty` per key\nS1\n";
    let expect = "\
error[missing-oracle]: S1 has no oracle
 --> plans/x.md:2:17
  |
2 | - **Checker:** `linearizabilty` per key
  |                 ^^^^^^^^^^^^^^
  |
help: write one
  |
2 | - **Checker:** `linearizability` per key
  |                             +
";
    assert_eq!(page(text, "linearizabilty", &[("linearizabilty", "linearizability")]), expect);
    let expect = "\
error[missing-oracle]: S1 has no oracle
 --> plans/x.md:3:1
  |
3 | S1
  | ^^
  |
help: write one
  |
1 - a line
1 + two lines
  |
3 ~ S1
4 + more
  |
";
    assert_eq!(page(text, "S1", &[("a line", "two lines"), ("S1", "S1\r\nmore")]), expect);
}

#[test]
fn a_long_line_is_trimmed_and_an_endless_one_is_quoted() {
    let text = format!("{} S1 {}\n", "x".repeat(1000), "y".repeat(1000));
    let shown = page(&text, "S1", &[]);
    assert!(shown.contains("plans/x.md:1:1002") && shown.contains("^^"), "{shown}");
    assert!(shown.lines().all(|line| line.len() < 200), "{shown}");
    let text = format!("{} S1 \u{1b}[2J{}\n", "é".repeat(100_000), "y".repeat(100_000));
    let shown = page(&text, "S1", &[("S1", "S2")]);
    assert!(shown.contains("plans/x.md:1:100002") && shown.contains("`S1 \\u{1b}[2Jyyy"), "{shown}");
    assert!(shown.len() < 1000, "{shown}");
}

#[test]
fn long_spans_odd_offsets_and_control_characters_do_no_harm() {
    let text = "ab\u{1b}[31m é\r\nsecond\n";
    for span in [0..text.len(), 9..10, 500..900, 3..3, text.len()..text.len()] {
        let odd = Span::new(span.start, span.end);
        let edited = told("m", span.clone()).with_edit(odd, "\u{1b}[2J\u{202e}");
        for diagnostic in [told("a\u{1b}[2Jb\nc", span), edited] {
            let shown = render("x\u{1b}.md", text, &[diagnostic], false);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        }
    }
    assert!(render("x", text, &[told("m", 0..1)], true).contains("\u{1b}["));
    assert_eq!(render("x", text, &[], false), "");
}

#[test]
fn a_rule_that_is_broken_over_and_over_is_shown_some_times_and_counted() {
    let text = "line\n".repeat(30);
    let mut diags: Vec<Diagnostic> = (0..25).map(|n| told("m", n * 5..n * 5 + 4)).collect();
    diags.push(Diagnostic { rule: "other".to_owned(), ..told("m", 5..6) });
    let shown = render_most("x.md", &text, &diags, false, MOST);
    assert_eq!((shown.matches("error[missing-oracle]").count(), shown.matches("error[other]").count()), (20, 1));
    assert!(shown.ends_with("\n\n… and 5 more of rule missing-oracle (`--all` shows them)\n"), "{shown}");
    assert_eq!(render("x.md", &text, &diags, false).matches("error[").count(), 26);
}

#[test]
fn ten_thousand_diagnostics_on_one_line_cost_no_more_than_on_many() {
    let text = "word ".repeat(200_000);
    let diags: Vec<Diagnostic> = (0..10_000).map(|n| told("m", n * 100..n * 100 + 4)).collect();
    let shown = render("x.md", &text, &diags, false);
    assert_eq!(shown.matches("error[").count(), 10_000);
    assert!(shown.len() < 10_000 * 400, "{}", shown.len());
}

#[test]
fn counts_are_words() {
    let warning = Diagnostic { severity: Severity::Warning, ..told("m", 0..1) };
    assert_eq!(count(&[told("m", 0..1), told("m", 0..1), warning]), "2 errors, 1 warning");
    assert_eq!(count(&[]), "");
}

#[test]
fn any_span_and_any_edit_of_any_text_can_be_shown() {
    const PIECES: [&str; 10] = ["a", "\n", "\r\n", "\t", "漢", "😀", "\u{feff}", "\u{1b}", "\r", " "];
    let mut rng = Rng::new(7);
    for _ in 0..3000 {
        let mut some = |most: usize| -> String {
            let count = rng.below(most as u64);
            (0..count).map(|_| PIECES[rng.below(PIECES.len() as u64) as usize]).collect()
        };
        let (text, replacements) = (some(30), [some(5), some(5), some(5)]);
        // Mostly spans that are some, so that most edits are ones that can be shown.
        let odd = rng.chance(1, 8);
        let mut span = || {
            let (a, b) = (rng.below(text.len() as u64 + 3) as usize, rng.below(text.len() as u64 + 3) as usize);
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 4));
            if odd { Span::new(a, b) } else { Span::new(text.floor_char_boundary(a), text.floor_char_boundary(b)) }
        };
        let mut diagnostic = Diagnostic { span: span(), ..told("m", 0..0) };
        for replacement in &replacements {
            diagnostic = diagnostic.with_edit(span(), replacement.as_str());
        }
        let shown = render("x.md", &text, &[diagnostic], false);
        assert!(shown.starts_with("error[missing-oracle]: m\n"), "{text:?}");
        assert!(!shown.contains('\u{1b}'), "{text:?}");
    }
}
