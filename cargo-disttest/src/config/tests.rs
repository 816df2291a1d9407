//! What is read of a configuration, and what is said about the rest.

use super::*;
use crate::diagnostics::levels::Level;
use crate::diagnostics::render;

fn read(text: &str) -> Result<Config, (String, String)> {
    Config { shown: PLACE.to_owned(), text: text.to_owned(), ..Config::default() }.read()
}

#[test]
fn levels_are_read_however_the_table_is_written() {
    let check = |text: &str| {
        let config = read(text).expect("it is TOML");
        assert_eq!(config.diagnostics, [], "{text}");
        let levels: Vec<(&str, Level)> = config.lint.iter().map(|(rule, s)| (rule.as_str(), s.level)).collect();
        assert_eq!(levels, [("missing-header", Level::Allow), ("several-targets", Level::Deny)], "{text}");
    };
    check("[lint]\nmissing-header = \"allow\"\nseveral-targets = \"deny\"\n");
    check("lint = { missing-header = \"allow\", several-targets = 'deny' }\n");
    check("lint.missing-header = \"allow\"\nlint.several-targets = \"deny\"\n");
    assert!(read("").expect("it is TOML").lint.is_empty());
}

#[test]
fn a_level_knows_where_it_was_given() {
    let config = read("[lint]\n# why\nmissing-header = \"allow\"\n").expect("it is TOML");
    assert_eq!(config.lint["missing-header"].by, ".config/disttest.toml:3");
}

#[test]
fn what_has_no_effect_is_told_with_its_place_and_the_nearest_name() {
    let text = "\
[lints]
missing-header = \"allow\"

[lint]
missing-headr = \"allow\"
several-targets = \"denny\"
sut-model-bullet = \"error\"
row-shape = 3
missing-oracle = \"warn\"
undefined-id = \"allow\"
vague-oracle = \"deny\"
";
    let config = read(text).expect("it is TOML");
    assert_eq!(config.lint.keys().collect::<Vec<_>>(), ["vague-oracle"], "only what may be so");
    let expect = r#"warning[config]: there is no setting `lints`
 --> .config/disttest.toml:1:2
  |
1 | [lints]
  |  ^^^^^
  |
  = help: did you mean `lint`?

warning[config]: there is no rule `missing-headr`
 --> .config/disttest.toml:5:1
  |
5 | missing-headr = "allow"
  | ^^^^^^^^^^^^^
  |
  = help: did you mean `missing-header`? `cargo disttest catalog rules` lists them all

warning[config]: `several-targets` has no such level
 --> .config/disttest.toml:6:19
  |
6 | several-targets = "denny"
  |                   ^^^^^^^
  |
  = help: did you mean `"deny"`? The levels are "allow", "warn" and "deny"

warning[config]: `sut-model-bullet` has no such level
 --> .config/disttest.toml:7:20
  |
7 | sut-model-bullet = "error"
  |                    ^^^^^^^
  |
  = help: did you mean `"deny"`? The levels are "allow", "warn" and "deny"

warning[config]: `row-shape` has no such level
 --> .config/disttest.toml:8:13
  |
8 | row-shape = 3
  |             ^
  |
  = help: the levels are "allow", "warn" and "deny"

warning[config]: `missing-oracle` stays an error: a run relies on it
 --> .config/disttest.toml:9:1
  |
9 | missing-oracle = "warn"
  | ^^^^^^^^^^^^^^
  |
  = help: delete the line, or write `missing-oracle = "deny"`

warning[config]: `undefined-id` stays an error: a run relies on it
  --> .config/disttest.toml:10:1
   |
10 | undefined-id = "allow"
   | ^^^^^^^^^^^^
   |
   = help: delete the line, or write `undefined-id = "deny"`
"#;
    assert_eq!(render(PLACE, text, &config.diagnostics, false), expect);
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let (at, why) = read("[lint]\nmissing-header = allow\n").expect_err("no value");
    assert_eq!(at, "2:18", "{why}");
    let (at, _) = read("[lint]\na = \"warn\"\na = \"warn\"\n").expect_err("given twice");
    assert!(at.starts_with("3:"), "{at}");
    assert!(read("lint = 3\n").expect("it is TOML").diagnostics[0].message.contains("is a table"));
}
