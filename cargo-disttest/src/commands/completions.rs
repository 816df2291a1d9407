//! `completions` and `man`: what shells and manuals want, made from the command line's own description.

use super::{Context, failed};
use crate::author::write::{self, Edit};
use crate::cli::{Cargo, CompletionsArgs, ManArgs};
use crate::exit_code::{End, Failure, Outcome};
use clap::{Command, CommandFactory};

/// Name of the binary, which completions complete; `cargo disttest` is completed by cargo's own scripts.
const BINARY: &str = "cargo-disttest";

/// Prints the completion script of a shell.
pub(super) fn completions(context: &Context, args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut disttest(), BINARY, &mut script);
    context.console.result_text(&text(script)?);
    Ok(End::Clean)
}

/// Prints a manual page, or writes all of them.
pub(super) fn man(context: &Context, args: &ManArgs) -> Outcome {
    let mut disttest = disttest();
    // The flags of every verb are handed down when the command is built.
    disttest.build();
    if let Some(folder) = &args.output {
        let edits = pages(&disttest)?.into_iter().map(|(name, after)| {
            let path = folder.join(format!("{name}.1"));
            Ok(Edit { before: write::read(&path)?, path, after })
        });
        let edits = edits.collect::<Result<Vec<Edit>, String>>().map_err(failed(End::Unreadable))?;
        write::write_all(&edits).map_err(failed(End::Unwritable))?;
        edits.iter().for_each(|edit| context.console.status("Wrote", edit.path.display()));
        return Ok(End::Clean);
    }
    let page = match args.verb.as_deref() {
        None => page(disttest, BINARY)?,
        Some(verb) => {
            let found = disttest.find_subcommand(verb).cloned();
            let verbs = || disttest.get_subcommands().map(|c| c.get_name().to_owned()).collect::<Vec<_>>().join(", ");
            let found = found.ok_or_else(|| {
                Failure::new(End::WrongUsage, format!("there is no verb `{verb}`; the verbs are {}", verbs()))
            })?;
            page(found, &format!("{BINARY}-{verb}"))?
        }
    };
    context.console.result_text(&page);
    Ok(End::Clean)
}

/// The subcommand of cargo as a program of its own, not built yet: names of verbs come from the name it has then.
fn disttest() -> Command {
    let disttest = Cargo::command().find_subcommand("disttest").cloned();
    let disttest = disttest.expect("the one subcommand of cargo that we are");
    disttest.name(BINARY).bin_name(BINARY).display_name(BINARY)
}

/// Every page: of the program, then of each verb.
fn pages(disttest: &Command) -> Result<Vec<(String, String)>, Failure> {
    let mut pages = vec![(BINARY.to_owned(), page(disttest.clone(), BINARY)?)];
    for verb in disttest.get_subcommands() {
        let name = format!("{BINARY}-{}", verb.get_name());
        pages.push((name.clone(), page(verb.clone(), &name)?));
    }
    Ok(pages)
}

fn page(command: Command, name: &str) -> Result<String, Failure> {
    let man = clap_mangen::Man::new(command.display_name(name.to_owned())).title(name);
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
    text(page)
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| Failure::new(End::Bug, error.to_string()))
}
