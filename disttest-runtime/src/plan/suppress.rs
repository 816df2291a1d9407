//! Suppressions: what the author of a plan has seen, and does not want to hear of again.
//!
//! An HTML comment `<!-- disttest:allow(rule-name) — reason -->` (also `--`, `-`, `:` before the reason; several rules
//! with commas between them). It covers the scenario that it stands in or directly above; before the first section,
//! the whole plan; elsewhere, the section that it stands in. It changes what is told of a plan and nothing else: no
//! test, no attribute, no verdict.

mod apply;
mod comments;
mod scope;

pub use apply::{Suppressed, suppress};

use super::model::Plan;
use super::rules::{RULES, report, rule};
use crate::base::diagnostic::{Diagnostic, Span};
use crate::base::nearest::nearest;
use comments::Comment;

/// What every such comment starts with.
const MARK: &str = "disttest:";

/// One rule that a comment suppresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Its name.
    pub rule: String,
    /// Why it may be passed over, on one line.
    pub reason: String,
    /// The comment.
    pub span: Span,
    /// Where it holds: a diagnostic is covered if it starts here.
    pub covers: Span,
    /// How far that is.
    pub scope: Scope,
}

/// How far a suppression reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One scenario.
    Scenario,
    /// One section.
    Section,
    /// The whole plan.
    Plan,
}

/// True for a rule whose findings may be suppressed in a plan, or told as less than an error.
pub fn may_be_suppressed(name: &str) -> bool {
    rule(name).is_none_or(|rule| !rule.never_allowed)
}

/// The suppressions of a plan, in the order of the text (`plan` is what [`super::parse`] made of `text`), and what is
/// wrong with those that do not count: no reason, no such rule, a rule that a run relies on. Time linear in the text.
pub fn suppressions(plan: &Plan, text: &str) -> (Vec<Suppression>, Vec<Diagnostic>) {
    // Hardly any plan has one: the text is read by the Markdown library only where it may.
    if !text.contains(MARK) {
        return (Vec::new(), Vec::new());
    }
    let comments = comments::read(text);
    let scopes = scope::Scopes::new(plan, text, &comments);
    let mut found = Found::default();
    for (index, comment) in comments.iter().enumerate() {
        if let Some(body) = comment.body(text).trim_start().strip_prefix(MARK) {
            found.read(comment, body, scopes.of(index));
        }
    }
    (found.suppressions, found.diagnostics)
}

#[derive(Default)]
struct Found {
    suppressions: Vec<Suppression>,
    diagnostics: Vec<Diagnostic>,
}

impl Found {
    fn read(&mut self, comment: &Comment, body: &str, (scope, covers): (Scope, Span)) {
        let span = comment.span;
        let Some((names, rest)) = allowed(body) else {
            let message = "this comment starts like a suppression, and is none";
            return self.tell("unknown-suppression", span, message, &format!("write `{}`", example("rule-name")));
        };
        let names: Vec<&str> = names.split(',').map(bare).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            let help = format!("write `{}`", example("rule-name"));
            return self.tell("unknown-suppression", span, "this suppression names no rule", &help);
        }
        let reason = reason(rest);
        if reason.is_none() {
            let message = format!("this suppression of `{}` has no reason, and suppresses nothing", names.join("`, `"));
            let help = format!("say why it may be passed over: `{}`", example(&names.join(", ")));
            self.tell("suppression-without-reason", span, &message, &help);
        }
        for name in names {
            match (self.known(name, span), &reason) {
                (Some(name), Some(reason)) => {
                    let (rule, reason) = (name.to_owned(), reason.clone());
                    self.suppressions.push(Suppression { rule, reason, span, covers, scope });
                }
                _ => continue,
            }
        }
    }

    /// The rule of this name, if it is one that can be suppressed.
    fn known(&mut self, name: &str, span: Span) -> Option<&'static str> {
        let Some(rule) = rule(name) else {
            let help = match nearest(name, RULES.iter().map(|rule| rule.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "every rule has its name in the brackets behind `error` or `warning`".to_owned(),
            };
            self.tell("unknown-suppression", span, &format!("there is no rule `{name}`"), &help);
            return None;
        };
        if !may_be_suppressed(rule.name) {
            let message = format!("`{}` cannot be suppressed: a run relies on it", rule.name);
            self.tell("suppression-refused", span, &message, "mend what the rule found, and delete the suppression");
            return None;
        }
        Some(rule.name)
    }

    fn tell(&mut self, rule: &'static str, span: Span, message: &str, help: &str) {
        self.diagnostics.push(report(rule, span, message, help));
    }
}

fn example(rules: &str) -> String {
    format!("<!-- disttest:allow({rules}) — why it may be passed over -->")
}

/// The list between the parentheses of `allow(…)`, and what follows it.
fn allowed(body: &str) -> Option<(&str, &str)> {
    let list = body.trim_start().strip_prefix("allow")?.trim_start().strip_prefix('(')?;
    list.split_once(')')
}

fn bare(name: &str) -> &str {
    name.trim().trim_matches('`')
}

/// The reason behind the list, on one line; `None` for a text that says nothing.
fn reason(rest: &str) -> Option<String> {
    const NOTHING: [&str; 7] = ["tbd", "tba", "todo", "fixme", "reason", "why it may be passed over", "n/a"];
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "—–-:".contains(c));
    let reason = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = reason.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let says = words.chars().filter(|c| c.is_alphanumeric()).count() >= 2 && !NOTHING.contains(&words.as_str());
    says.then_some(reason)
}

#[cfg(test)]
mod tests;
