//! The only place that prints. Results go to stdout, everything about the work itself to stderr.

use crate::markdown;
use anstream::{AutoStream, ColorChoice};
use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR or CARGO_TERM_COLOR says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much to say about the work itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Only warnings and errors.
    Quiet,
    /// What is being done.
    Normal,
    /// Commands run and files looked at.
    Verbose,
}

/// Prints, in the colours and at the volume asked for.
#[derive(Debug)]
pub(crate) struct Console {
    choice: ColorChoice,
    verbosity: Verbosity,
}

const BOLD: anstyle::Style = anstyle::Style::new().bold();
const GREEN: anstyle::Style = anstyle::AnsiColor::Green.on_default().bold();
const YELLOW: anstyle::Style = anstyle::AnsiColor::Yellow.on_default().bold();
const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

/// Longer lines of prose are hard to read.
const WIDEST: usize = 100;

impl Console {
    /// A console; `cargo_term_color` is the value of CARGO_TERM_COLOR, which `--color` outranks.
    pub(crate) fn new(color: Option<Color>, cargo_term_color: Option<&str>, verbosity: Verbosity) -> Console {
        let choice = match (color, cargo_term_color) {
            (Some(Color::Always), _) | (None, Some("always")) => ColorChoice::Always,
            (Some(Color::Never), _) | (None, Some("never")) => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
        Console { choice, verbosity }
    }

    /// A line of the result, on stdout.
    pub(crate) fn result(&self, text: impl Display) {
        self.to_stdout(format_args!("{text}\n"));
    }

    /// Text of the result that ends its own lines.
    pub(crate) fn result_text(&self, text: &str) {
        self.to_stdout(format_args!("{text}"));
    }

    /// A page of the result: on a terminal with colours by its looks, otherwise as it is written.
    pub(crate) fn markdown(&self, text: &str) {
        let choice =
            if self.choice == ColorChoice::Auto { AutoStream::choice(&std::io::stdout()) } else { self.choice };
        match choice {
            ColorChoice::Never => self.result_text(text),
            _ => self.result_text(&markdown::styled(text, columns().min(WIDEST))),
        }
    }

    /// A step of the work: a right-aligned verb and what it acts on, as cargo prints it.
    pub(crate) fn status(&self, verb: &str, what: impl Display) {
        self.line(Verbosity::Normal, format_args!("{GREEN}{verb:>12}{GREEN:#} {what}"));
    }

    /// A detail for `-v`.
    pub(crate) fn detail(&self, text: impl Display) {
        self.line(Verbosity::Verbose, format_args!("{text:>12}"));
    }

    /// Something that is probably wrong.
    pub(crate) fn warning(&self, text: impl Display) {
        self.line(Verbosity::Quiet, format_args!("{YELLOW}warning{YELLOW:#}: {text}"));
    }

    /// Something that is wrong.
    pub(crate) fn error(&self, text: impl Display) {
        self.line(Verbosity::Quiet, format_args!("{RED}error{RED:#}: {text}"));
    }

    /// Text for stderr that ends its own lines and is never silenced: diagnostics, diffs that explain a refusal.
    pub(crate) fn message_text(&self, text: &str) {
        self.to_stderr(format_args!("{text}"));
    }

    /// The next command to run.
    pub(crate) fn next(&self, command: impl Display) {
        self.line(Verbosity::Normal, format_args!("{BOLD}next:{BOLD:#} {command}"));
    }

    /// A unified diff, added and removed lines coloured, on stdout.
    pub(crate) fn diff(&self, diff: &str) {
        let mut text = String::with_capacity(diff.len());
        for line in diff.split_inclusive('\n') {
            let style = match line.as_bytes().first() {
                Some(b'+') => anstyle::AnsiColor::Green.on_default(),
                Some(b'-') => anstyle::AnsiColor::Red.on_default(),
                Some(b'@') => anstyle::AnsiColor::Cyan.on_default(),
                _ => anstyle::Style::new(),
            };
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            text.push_str(&format!("{style}{}{style:#}{end}", visible(line)));
        }
        self.to_stdout(format_args!("{text}"));
    }

    /// Somebody can be asked.
    pub(crate) fn is_interactive(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks on the terminal; `None` when stdin or stderr is none, or stdin has ended.
    pub(crate) fn ask(&self, question: &str) -> Option<String> {
        if !self.is_interactive() {
            return None;
        }
        self.to_stderr(format_args!("{BOLD}{question}{BOLD:#} "));
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer).ok()?;
        (read > 0).then(|| answer.trim().to_owned())
    }

    /// Asks for one of `keys` on the terminal and says which was pressed; `None` when nobody is there, or input has
    /// ended.
    pub(crate) fn key(&self, question: &str, keys: &str) -> Option<char> {
        if !self.is_interactive() {
            return None;
        }
        let listening = crate::keys::Keys::listen();
        self.to_stderr(format_args!("{BOLD}{}{BOLD:#} ", visible(question)));
        loop {
            let key = match listening.as_ref().map(crate::keys::Keys::next) {
                Some(crate::keys::Key::Pressed(key)) => key,
                Some(crate::keys::Key::End) => return None,
                None => self.ask("(key, then Enter)")?.chars().next().unwrap_or('\0'),
            };
            if keys.contains(key) {
                self.to_stderr(format_args!("{key}\n"));
                return Some(key);
            }
        }
    }

    fn line(&self, needs: Verbosity, text: std::fmt::Arguments<'_>) {
        if self.verbosity >= needs {
            self.to_stderr(format_args!("{text}\n"));
        }
    }

    // A closed pipe is the reader's wish to hear no more; the exit status still says how it went.
    fn to_stdout(&self, text: std::fmt::Arguments<'_>) {
        let mut stream = AutoStream::new(std::io::stdout().lock(), self.choice);
        let _ = stream.write_fmt(text);
        let _ = stream.flush();
    }

    fn to_stderr(&self, text: std::fmt::Arguments<'_>) {
        let mut stream = AutoStream::new(std::io::stderr().lock(), self.choice);
        let _ = stream.write_fmt(text);
    }
}

/// How wide the terminal on stdout is; the usual width where there is none.
fn columns() -> usize {
    const USUAL: usize = 80;
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).map_or(0, |size| usize::from(size.ws_col));
    #[cfg(not(unix))]
    let columns = 0;
    if columns == 0 { USUAL } else { columns }
}

/// Plans and files are untrusted: control characters must not reach a terminal as such.
pub(crate) fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' => c.to_string(),
            '\r' => "␍".to_owned(),
            c if c.is_control() => format!("\\u{{{:x}}}", c as u32),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_outranks_the_variable() {
        let choice = |color, variable| Console::new(color, variable, Verbosity::Normal).choice;
        assert_eq!(choice(None, None), ColorChoice::Auto);
        assert_eq!(choice(None, Some("never")), ColorChoice::Never);
        assert_eq!(choice(Some(Color::Always), Some("never")), ColorChoice::Always);
        assert_eq!(choice(Some(Color::Auto), Some("always")), ColorChoice::Auto);
    }

    #[test]
    fn a_terminal_never_sees_control_characters_of_a_file() {
        assert_eq!(visible("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb␍\n");
    }
}
