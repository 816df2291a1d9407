//! Texts written against a parser: each kind at any length. Shared by the tests and by the bench.

/// A kind of hostile text.
pub(crate) struct Kind {
    /// Its name in the bench.
    pub(crate) name: &'static str,
    head: &'static str,
    /// Piece number n of the text.
    piece: fn(usize) -> String,
}

const fn kind(name: &'static str, head: &'static str, piece: fn(usize) -> String) -> Kind {
    Kind { name, head, piece }
}

const CLAIMS: &str =
    "# Test Plan: x\n\n## 1b. C\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n";
const HYPOTHESES: &str = "# Test Plan: x\n\n## 4. H\n\n";
const SCENARIOS: &str = "# Test Plan: x\n\n## 7. S\n\n";
const FIELDS: &str = "# Test Plan: x\n\n## 7. S\n\n### S1: x\n\n";
const BUDGET: &str = "# Test Plan: x\n\n## 7. S\n\n### S1: x\n\n- **Smoke budget:** ";
const TARGET: &str = "# Test Plan: x\n\n## 7. S\n\n### S1: x\n\n- **Target test file:** ";
const FALSIFIES: &str = "# Test Plan: x\n\n## 7. S\n\n### S1: x\n\n- **Falsifies if it FAILs:** ";

fn words(text: &'static str) -> String {
    text.to_owned()
}

/// Every kind.
pub(crate) const KINDS: &[Kind] = &[
    kind("nested_list_on_a_line", FIELDS, |_| words("- ")),
    kind("nested_list", FIELDS, |n| format!("{}- x\n", " ".repeat(2 * (n % 400)))),
    kind("numbered_lists", FIELDS, |n| format!("{n}. x\n")),
    kind("emphasis", FIELDS, |_| words("*a_ **b ")),
    kind("closing_emphasis", FIELDS, |_| words("a** b* c_ ")),
    kind("emphasis_runs", FIELDS, |n| format!("{} ", "*".repeat(n % 97))),
    kind("tildes", FIELDS, |_| words("~~a ~b ")),
    kind("wide_table", CLAIMS, |n| words(if n % 300_000 == 299_999 { "|\n" } else { "| a " })),
    kind("wide_header", "## 1b. C\n\n", |n| match n {
        0..200_000 => words("| a "),
        200_000 => words("|\n"),
        200_001..400_001 => words("|---"),
        400_001 => words("|\n"),
        _ => words("| b "),
    }),
    kind("small_tables", "## 1b. C\n\n", |_| words("| a |\n|---|\n")),
    kind("filler_rows", CLAIMS, |_| words("| ... | ... |\n")),
    kind("rows_without_id", CLAIMS, |_| words("| x | y |\n")),
    kind("claims_backwards", CLAIMS, |n| format!("| C{} | a | safety | b | no |\n", 900_000_000 - n)),
    kind("claims_out_of_order", CLAIMS, |n| format!("| C{} | a | safty | b | no |\n", (n * 7919) % 100_003)),
    kind("claims_the_same", CLAIMS, |_| words("| C1 | a | isolation tenant | b | no |\n")),
    kind("brackets", FIELDS, |_| words("[")),
    kind("images", FIELDS, |_| words("![[")),
    kind("links", FIELDS, |_| words("[a](")),
    kind("links_with_angles", FIELDS, |_| words("[a](<b")),
    kind("reference_links", FIELDS, |n| format!("[a{n}] ")),
    kind("reference_definitions", FIELDS, |n| format!("[a{n}]: b\n")),
    kind("reference_definitions_unclosed", FIELDS, |_| words("[a]: <b\n")),
    kind("closing_brackets", FIELDS, |_| words("]")),
    kind("angles", FIELDS, |_| words("<")),
    kind("tags", FIELDS, |_| words("<a b='")),
    kind("html_blocks", FIELDS, |_| words("<div>\n\n")),
    kind("declarations", FIELDS, |_| words("a <!A ")),
    kind("instructions", FIELDS, |_| words("a <? ")),
    kind("cdata", FIELDS, |_| words("a <![CDATA[ ")),
    kind("comments_unclosed", FIELDS, |_| words("<!-- a ")),
    kind("comments_unclosed_in_text", FIELDS, |_| words("a <!-- b\n")),
    kind("comments", FIELDS, |_| words("a <!-- b --> ")),
    kind("comment_blocks", FIELDS, |_| words("<!-- b -->\n\n")),
    kind("comment_lines_unclosed", FIELDS, |_| words("<!--\n\n")),
    kind("entities", FIELDS, |_| words("&amp; &#35; &a")),
    kind("backticks", FIELDS, |n| format!("{} ", "`".repeat(n % 97 + 1))),
    kind("backticks_growing", FIELDS, |n| format!("{}a", "`".repeat(n % 2999 + 1))),
    kind("one_backtick", FIELDS, |_| words("` a\n\n")),
    kind("backtick_cells", CLAIMS, |_| words("| ` | `` | ``` ")),
    kind("fences_unclosed", FIELDS, |_| words("```a\n~~~\n")),
    kind("fences", FIELDS, |_| words("```\na\n```\n")),
    kind("fences_in_a_list", FIELDS, |_| words("- ```\n  a\n")),
    kind("fences_with_headings", FIELDS, |n| format!("```\n### S{n}: a\n```\n")),
    kind("indented_code", FIELDS, |_| words("\n\n    a\n\n")),
    kind("quotes_deep", FIELDS, |_| words("> ")),
    kind("quotes_nested", FIELDS, |n| format!("{}a\n", "> ".repeat(n % 400))),
    kind("quotes_of_scenarios", SCENARIOS, |n| format!("> ### S{n}: a\n\n")),
    kind("quotes_and_lists", FIELDS, |_| words("> - ")),
    kind("quotes_lazy", FIELDS, |_| words("> a\nb\n")),
    kind("one_long_line", FIELDS, |_| words("a")),
    kind("one_long_word_of_bytes", FIELDS, |_| words("é\u{301}")),
    kind("spaces", FIELDS, |_| words(" ")),
    kind("tabs", FIELDS, |_| words("\t")),
    kind("trailing_spaces", FIELDS, |_| words("a    \n")),
    kind("blank_lines", FIELDS, |_| words("\n")),
    kind("carriage_returns", FIELDS, |_| words("a\r")),
    kind("nul_bytes", FIELDS, |_| words("\0")),
    kind("rules", FIELDS, |_| words("---\n")),
    kind("long_rule", FIELDS, |_| words("- -")),
    kind("setext", FIELDS, |_| words("a\n===\n")),
    kind("hashes", FIELDS, |_| words("#")),
    kind("headings", FIELDS, |n| format!("#### T{n}\n")),
    kind("placeholders", FIELDS, |_| words("{{")),
    kind("placeholders_closed", FIELDS, |_| words("{{a}} ")),
    kind("ranges", FALSIFIES, |_| words("C1..C999999999, ")),
    kind("ranges_long", FALSIFIES, |n| format!("C{}..C{}, ", 300 * n, 300 * n + 200)),
    kind("ids", FALSIFIES, |n| format!("C{n} ")),
    kind("ids_in_parentheses", FALSIFIES, |n| format!("(C{n} ")),
    kind("ids_apart", FALSIFIES, |_| words("C1                                       ")),
    kind("dashes", FALSIFIES, |_| words("C1 - ")),
    kind("falsifies_everywhere", SCENARIOS, |n| format!("### S{n}: a\n- **Falsifies if it FAILs:** C1–C900\n")),
    kind("scenarios", SCENARIOS, |n| format!("### S{n}: a\n")),
    kind("scenarios_backwards", SCENARIOS, |n| format!("### S{}: a\n- **Closes:** H{n}\n", 900_000_000 - n)),
    kind("scenarios_the_same", SCENARIOS, |_| words("### S1: region\n- **Target test file:** a.rs\n")),
    kind("scenarios_without_id", SCENARIOS, |_| words("### Scenario: a\n")),
    kind("scenarios_outside", "# Test Plan: x\n\n", |n| format!("## Scenario S{n}: a\n")),
    kind("scenarios_wrong_level", SCENARIOS, |n| format!("##### S{n}: a\n- **Oracle:** b\n")),
    kind("arms", FIELDS, |n| format!("#### Arm S1/a{n}\n- **Oracle:** b\n")),
    kind("arms_the_same", FIELDS, |_| words("#### Arm S1/a\n##### §7.M\n- **Model:** b\n")),
    kind("model_blocks", FIELDS, |_| words("#### §7.M\n")),
    kind("model_block_lines", FIELDS, |_| words("§7.M: not applicable\n")),
    kind("fields", FIELDS, |_| words("- **Oracle:** a\n")),
    kind("field_of_many_lines", FIELDS, |_| words("  - a\n")),
    kind("unknown_fields", FIELDS, |n| format!("- **L{n}:** a\n")),
    kind("bold_lines", FIELDS, |_| words("**a\n")),
    kind("skeletons", FIELDS, |_| words("- **Skeleton:**\n\n  ```rust\n  a\n  ```\n")),
    kind("hypotheses", HYPOTHESES, |n| format!("H{n}. **a** — b\n  - Could falsify: C{n}\n")),
    kind("hypotheses_of_one_line", HYPOTHESES, |_| words("H1. a could falsify C1 ")),
    kind("hypotheses_inline", HYPOTHESES, |n| format!("- **H{n}.** could\n  falsify\n")),
    kind("hypotheses_unread", HYPOTHESES, |_| words("H1 a\n")),
    kind("techniques", "## 6. T\n\n", |n| format!("### T{n}. a\n")),
    kind("sections", "# Test Plan: x\n\n", |_| words("## 7. S\n")),
    kind("sections_of_claims", "# Test Plan: x\n\n", |_| words("## 1b. S\n")),
    kind("sections_unnumbered", "# Test Plan: x\n\n", |_| words("## Scenarios\n")),
    kind("header_lines", "# Test Plan: x\n\n", |_| words("**SUT:** x\n")),
    kind("titles", "", |_| words("# Test Plan: x\n")),
    kind("budget_factors", BUDGET, |_| words("3 nodes × ")),
    kind("budget_digits", BUDGET, |_| words("9")),
    kind("budget_durations", BUDGET, |_| words("1h")),
    kind("budget_parentheses", BUDGET, |_| words("(")),
    kind("target_paths", TARGET, |_| words("a/b.rs ")),
    kind("categories", "## 1b. C\n\n| ID | Claim | Category |\n|---|---|---|\n| C1 | a | ", |n| format!("w{n}/")),
    kind("bullets", "## 8. N\n\n", |_| words("- a\n")),
    kind("confidence", "## 7d. C\n\n", |_| words("a\n\n")),
    kind("adequacy", "## 7b. A\n\n| Claim | Threat | Scenarios | Why |\n|---|---|---|---|\n", |n| {
        format!("| C1–C60 | (a) | S{n} (a) | x |\n")
    }),
    kind("environment", "## 6b. E\n\n| Requirement | Version | Used by | Install |\n|---|---|---|---|\n", |n| {
        format!("| a | b | S{n} | c |\n")
    }),
    kind("suppressions", FIELDS, |_| words("<!-- disttest:allow(vague-oracle) — x -->\n")),
];

/// About `length` bytes of that kind.
pub(crate) fn text(kind: &Kind, length: usize) -> String {
    let mut text = String::with_capacity(length + 256);
    text.push_str(kind.head);
    for n in 0.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&(kind.piece)(n));
    }
    text
}
