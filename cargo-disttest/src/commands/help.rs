//! `help`: the help of a verb, or of a topic.

use super::Context;
use crate::cli::{Cargo, HelpArgs};
use crate::exit_code::{End, Failure, Outcome};
use clap::CommandFactory;

const EXIT_CODES: &str = include_str!("../../../templates/help/exit-codes.txt");

/// Prints it.
pub(super) fn run(context: &Context, args: &HelpArgs) -> Outcome {
    let topic = args.topic.as_deref();
    if topic == Some("exit-codes") {
        context.console.result_text(EXIT_CODES);
        return Ok(End::Clean);
    }
    let mut cargo = Cargo::command();
    cargo.build();
    let disttest = cargo.find_subcommand_mut("disttest").expect("the one subcommand of cargo that we are");
    let verbs: Vec<String> = disttest.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let command = match topic {
        None => disttest,
        Some(verb) => disttest.find_subcommand_mut(verb).ok_or_else(|| {
            let topics = verbs.join(", ");
            Failure::new(End::WrongUsage, format!("there is no help on `{verb}`; topics: {topics}, exit-codes"))
        })?,
    };
    context.console.result_text(&command.render_long_help().ansi().to_string());
    Ok(End::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_code::ExitCode;

    #[test]
    fn every_exit_status_is_explained() {
        for code in ExitCode::ALL {
            let line = format!("{:>4}  ", code.number());
            assert!(EXIT_CODES.lines().any(|text| text.starts_with(&line)), "{code:?}");
        }
    }
}
