//! `catalog` and `explain`: what the runtime and the format offer, by kind and by name.

use super::Context;
use crate::cli::{CatalogArgs, ExplainArgs};
use crate::exit_code::{End, Failure, Outcome};
use crate::reference::{Entry, Kind, entries, find, nearest};
use serde_json::json;

/// Lists everything of a kind, or the kinds.
pub(super) fn catalog(context: &Context, args: &CatalogArgs) -> Outcome {
    let kinds: Vec<Kind> = args.kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
    let all: Vec<Entry> = kinds.iter().flat_map(|kind| entries(*kind)).collect();
    if context.json() {
        print_json(context, "disttest.catalog/1", &all)?;
        return Ok(End::Clean);
    }
    let width = all.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    for kind in kinds {
        context.console.result(kind.words().0);
        for entry in all.iter().filter(|entry| entry.kind == kind) {
            let missing = if entry.available == Some(false) { "  (not in this runtime yet)" } else { "" };
            context.console.result(format_args!("  {:<width$}  {}{missing}", entry.name, entry.what));
        }
        context.console.result("");
    }
    context.console.next("cargo disttest explain NAME");
    Ok(End::Clean)
}

/// Prints the pages of a name.
pub(super) fn explain(context: &Context, args: &ExplainArgs) -> Outcome {
    let found = find(&args.name);
    if found.is_empty() {
        let near = nearest(&args.name);
        let near = if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(", ")) };
        let message = format!("nothing is called `{}`{near} (`cargo disttest catalog` lists all names)", args.name);
        return Err(Failure::new(End::WrongUsage, message));
    }
    if context.json() {
        print_json(context, "disttest.explain/1", &found)?;
        return Ok(End::Clean);
    }
    for (i, entry) in found.iter().enumerate() {
        if i > 0 {
            context.console.result("");
        }
        context.console.markdown(&text(entry));
    }
    Ok(End::Clean)
}

fn print_json(context: &Context, schema: &str, entries: &[Entry]) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(&json!({ "schema": schema, "entries": entries }));
    context.console.result(json.map_err(|error| Failure::new(End::Bug, error.to_string()))?);
    Ok(())
}

fn text(entry: &Entry) -> String {
    let head = format!("# {} ({})\n\n", entry.name, entry.kind.words().1);
    // A page that brings its own heading keeps it.
    let page = entry.page.trim_end();
    let body = page.strip_prefix(&format!("# {}\n", entry.name)).unwrap_or(page).trim_start();
    let aliases =
        if entry.aliases.is_empty() { String::new() } else { format!("\nAlso: {}.\n", entry.aliases.join(", ")) };
    format!("{head}{body}\n{aliases}")
}
