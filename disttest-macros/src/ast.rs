//! What was written between the parentheses of `#[scenario(…)]`, with the tokens to blame.

use proc_macro2::{Span, TokenStream};
use syn::LitStr;

/// All errors of one attribute, reported in one pass.
#[derive(Default)]
pub(crate) struct Errors {
    combined: Option<syn::Error>,
}

impl Errors {
    pub(crate) fn add(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.combined {
            Some(combined) => combined.combine(error),
            None => self.combined = Some(error),
        }
    }

    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.combined.map(syn::Error::into_compile_error)
    }
}

/// A word with its place: an identifier, several joined by `-`, or a string.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// `"C1": safety` or `"C1": (safety, ordering)`.
pub(crate) struct Falsified {
    pub(crate) claim: LitStr,
    pub(crate) categories: Vec<Word>,
}

/// `"linearizability" per_key` or `custom("name")`.
pub(crate) struct Checker {
    pub(crate) name: LitStr,
    pub(crate) custom: bool,
    pub(crate) per_key: bool,
}

/// `register` or `other("name")`.
pub(crate) struct Model {
    pub(crate) name: Word,
    pub(crate) other: bool,
}

/// Signals of a planned fault.
pub(crate) struct Landing {
    pub(crate) injector: Vec<LitStr>,
    pub(crate) victim: Vec<LitStr>,
    pub(crate) span: Span,
}

/// Numbers of one tier.
pub(crate) struct Tier {
    pub(crate) numbers: Vec<(Word, u64)>,
    pub(crate) span: Span,
}

impl Tier {
    pub(crate) fn get(&self, dimension: &str) -> Option<u64> {
        self.numbers.iter().find(|(name, _)| name.text == dimension).map(|(_, number)| *number)
    }
}

/// `release(…)` or `release = "not provided — …"`.
pub(crate) enum Release {
    Budget(Tier),
    NotProvided(LitStr),
}

/// `budget(…)`.
pub(crate) struct Budgets {
    pub(crate) smoke: Option<Tier>,
    pub(crate) hardening: Option<Tier>,
    pub(crate) release: Option<Release>,
    pub(crate) span: Span,
}

/// The attribute; a field that was not written is `None` or empty.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) id: Option<LitStr>,
    pub(crate) plan: Option<LitStr>,
    pub(crate) plan_sha256: Option<LitStr>,
    pub(crate) scenario_sha256: Option<LitStr>,
    pub(crate) falsifies: Vec<Falsified>,
    pub(crate) model: Option<Model>,
    pub(crate) checkers: Vec<Checker>,
    pub(crate) nemeses: Vec<LitStr>,
    pub(crate) no_fault: Option<LitStr>,
    pub(crate) landing: Option<Landing>,
    pub(crate) budgets: Option<Budgets>,
    pub(crate) exit_criteria: Option<LitStr>,
    pub(crate) surface: Option<LitStr>,
    pub(crate) negative_controls: Vec<LitStr>,
    pub(crate) unresolved: Vec<LitStr>,
    pub(crate) shares_nothing: bool,
    /// A field could not be read; that it is empty is then no news.
    pub(crate) unreadable: bool,
    /// Fields seen, to refuse a second one and to tell "written but wrong" from "missing".
    pub(crate) seen: Vec<Word>,
}

impl Attribute {
    /// The field was written (whatever was wrong with it), or `author` said that it could not be resolved.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.seen.iter().any(|word| word.text == field) || self.is_unresolved(field)
    }

    pub(crate) fn is_unresolved(&self, field: &str) -> bool {
        self.unresolved.iter().any(|name| name.value() == field)
    }
}
