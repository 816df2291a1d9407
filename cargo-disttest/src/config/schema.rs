//! The published JSON schema of the file is what the file's readers accept.

use super::{PLACE, TABLES};
use crate::diagnostics::levels::Level;
use disttest_runtime::plan::{RULES, may_be_suppressed};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The schema, made of what is accepted.
fn schema() -> Value {
    let rules: Map<String, Value> = RULES
        .iter()
        .map(|rule| {
            let levels = Level::ALL.iter().filter(|(_, level)| *level == Level::Deny || may_be_suppressed(rule.name));
            let levels: Vec<&str> = levels.map(|(name, _)| *name).collect();
            (rule.name.to_owned(), json!({ "description": rule.what, "enum": levels }))
        })
        .collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": format!("{}/blob/main/templates/schema/disttest.config.json", env!("CARGO_PKG_REPOSITORY")),
        "title": format!("{PLACE} of cargo disttest"),
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "lint": {
                "description": "The level that each rule of a plan is told at. Rules that a run relies on stay errors.",
                "type": "object",
                "additionalProperties": false,
                "properties": rules,
            },
        },
    })
}

#[test]
fn the_published_schema_says_what_is_accepted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates/schema/disttest.config.json");
    let expect = format!("{:#}\n", schema());
    if std::env::var_os("DISTTEST_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("made");
        std::fs::write(&path, &expect).expect("written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == expect, "templates/schema/disttest.config.json: DISTTEST_BLESS=1 writes it anew");
    let tables: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
    let properties = schema()["properties"].as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(properties, tables, "every table is in the schema");
}
