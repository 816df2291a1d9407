//! `[lint]`: `rule-name = "allow" | "warn" | "deny"`.

use super::{Config, key_span};
use crate::diagnostics::levels::{Level, Setting, refusal, where_rules_are};
use disttest_runtime::base::diagnostic::Span;
use disttest_runtime::base::nearest::nearest;
use disttest_runtime::plan::rule;
use toml_edit::{Item, TableLike};

/// Reads the table.
pub(super) fn read(config: &mut Config, table: &dyn TableLike) {
    for (name, item) in table.iter() {
        let key = key_span(table, name);
        if rule(name).is_none() {
            config.tell(key, format!("there is no rule `{name}`"), where_rules_are(name));
            continue;
        }
        let Some(level) = item.as_str().and_then(Level::parse) else {
            let span = item.span().map_or(key, |span| Span::new(span.start, span.end));
            config.tell(span, format!("`{name}` has no such level"), help(item));
            continue;
        };
        if let Some(why) = refusal(name, level) {
            config.tell(key, why, format!("delete the line, or write `{name} = \"deny\"`"));
            continue;
        }
        let by = config.place(key);
        config.lint.insert(name.to_owned(), Setting { level, by });
    }
}

/// What to write in place of `item`.
fn help(item: &Item) -> String {
    // Words of other linters.
    const OTHERS: [(&str, &str); 7] = [
        ("error", "deny"),
        ("forbid", "deny"),
        ("on", "deny"),
        ("off", "allow"),
        ("ignore", "allow"),
        ("note", "warn"),
        ("info", "warn"),
    ];
    let written = item.as_str().unwrap_or_default().to_lowercase();
    let other = OTHERS.iter().find(|(word, _)| *word == written).map(|(_, level)| *level);
    match other.or_else(|| nearest(&written, Level::ALL.map(|(name, _)| name))) {
        Some(near) => format!("did you mean `\"{near}\"`? The levels are \"allow\", \"warn\" and \"deny\""),
        None => "the levels are \"allow\", \"warn\" and \"deny\"".to_owned(),
    }
}
