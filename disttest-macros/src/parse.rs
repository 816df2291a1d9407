//! Reads the attribute. A wrong field is reported and skipped, so that the others are still checked.

use crate::ast::{Attribute, Budgets, Checker, Errors, Falsified, Landing, Model, Release, Tier, Word};
use crate::names;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Result, Token, parenthesized};

/// Every field of the attribute, in the order in which they are written.
const FIELDS: [&str; 16] = [
    "id",
    "plan",
    "plan_sha256",
    "scenario_sha256",
    "falsifies",
    "model",
    "checkers",
    "nemesis",
    "no_fault",
    "landing",
    "budget",
    "exit_criteria",
    "surface",
    "negative_controls",
    "unresolved",
    "shares_nothing",
];

/// Dimensions of a tier; all but `operations` are required.
pub(crate) const DIMENSIONS: [&str; 5] = ["nodes", "seconds", "faults", "seeds", "operations"];

pub(crate) fn attribute(tokens: TokenStream, errors: &mut Errors) -> Attribute {
    let mut attribute = Attribute::default();
    for field in split_at_commas(tokens) {
        let parser = |input: ParseStream<'_>| read_field(input, &mut attribute);
        if let Err(error) = parser.parse2(field) {
            attribute.unreadable = true;
            errors.push(error);
        }
    }
    attribute
}

/// Top-level commas separate fields; splitting first lets one bad field leave the others readable.
fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut fields = vec![TokenStream::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => fields.push(TokenStream::new()),
            // A group without delimiters comes from a macro around us; its commas are not ours.
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => last(&mut fields).extend(group.stream()),
            token => last(&mut fields).extend([token]),
        }
    }
    fields.retain(|field| !field.is_empty());
    fields
}

fn last(fields: &mut [TokenStream]) -> &mut TokenStream {
    fields.last_mut().expect("the list starts with one field")
}

fn read_field(input: ParseStream<'_>, attribute: &mut Attribute) -> Result<()> {
    let name = Ident::parse_any(input)?;
    let text = name.to_string();
    if !FIELDS.contains(&text.as_str()) {
        let near = names::nearest(&text, &FIELDS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let known = FIELDS.join(", ");
        // Swallow the rest: one error a field is enough.
        let _: TokenStream = input.parse()?;
        return Err(syn::Error::new(name.span(), format!("unknown field `{text}`{near} Fields: {known}")));
    }
    if attribute.seen.iter().any(|seen| seen.text == text) {
        let _: TokenStream = input.parse()?;
        return Err(syn::Error::new(name.span(), format!("`{text}` is written twice")));
    }
    attribute.seen.push(Word { text: text.clone(), span: name.span() });
    match text.as_str() {
        "id" => attribute.id = Some(text_value(input)?),
        "plan" => attribute.plan = Some(text_value(input)?),
        "plan_sha256" => attribute.plan_sha256 = Some(text_value(input)?),
        "scenario_sha256" => attribute.scenario_sha256 = Some(text_value(input)?),
        "no_fault" => attribute.no_fault = Some(text_value(input)?),
        "exit_criteria" => attribute.exit_criteria = Some(text_value(input)?),
        "surface" => attribute.surface = Some(text_value(input)?),
        "nemesis" => attribute.nemeses = list(input)?,
        "negative_controls" => attribute.negative_controls = list(input)?,
        "unresolved" => attribute.unresolved = list(input)?,
        "falsifies" => attribute.falsifies = list(input)?,
        "checkers" => attribute.checkers = list(input)?,
        "model" => attribute.model = Some(model(input)?),
        "landing" => attribute.landing = Some(landing(input, name.span())?),
        "budget" => attribute.budgets = Some(budgets(input, name.span())?),
        _ => attribute.shares_nothing = true,
    }
    if input.is_empty() { Ok(()) } else { Err(input.error(format!("unexpected tokens behind `{text}`"))) }
}

fn text_value(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `("a", "b")`; also `= "a"`, which is a list of one.
fn list<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        return Ok(vec![input.parse()?]);
    }
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> Result<Word> {
        if input.peek(LitStr) {
            let literal: LitStr = input.parse()?;
            return Ok(Word { text: literal.value(), span: literal.span() });
        }
        let first = Ident::parse_any(input)?;
        let mut text = first.to_string();
        // Words of the format carry hyphens: `performance-SLO`, `membership-table`.
        while input.peek(Token![-]) {
            input.parse::<Token![-]>()?;
            text = format!("{text}-{}", Ident::parse_any(input)?);
        }
        Ok(Word { text, span: first.span() })
    }
}

impl Parse for Falsified {
    fn parse(input: ParseStream<'_>) -> Result<Falsified> {
        let claim: LitStr = input.parse()?;
        if !input.peek(Token![:]) {
            let example = format!("a claim carries its category: `\"{}\": safety`", claim.value());
            return Err(syn::Error::new(claim.span(), example));
        }
        input.parse::<Token![:]>()?;
        let categories = if input.peek(syn::token::Paren) { list(input)? } else { vec![input.parse()?] };
        Ok(Falsified { claim, categories })
    }
}

impl Parse for Checker {
    fn parse(input: ParseStream<'_>) -> Result<Checker> {
        let custom = input.peek(Ident);
        let name = if custom {
            let word: Ident = input.parse()?;
            if word != "custom" {
                let message =
                    format!("a checker is written as a string (`\"{word}\"`), one of your own as `custom(\"{word}\")`");
                return Err(syn::Error::new(word.span(), message));
            }
            let content;
            parenthesized!(content in input);
            content.parse()?
        } else {
            input.parse()?
        };
        let per_key = input.peek(Ident);
        if per_key {
            let scope: Ident = input.parse()?;
            if scope != "per_key" {
                return Err(syn::Error::new(
                    scope.span(),
                    "the only scope is `per_key`; without it the whole history is checked",
                ));
            }
        }
        Ok(Checker { name, custom, per_key })
    }
}

fn model(input: ParseStream<'_>) -> Result<Model> {
    input.parse::<Token![=]>()?;
    let name: Word = input.parse()?;
    if name.text == "other" && input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in input);
        return Ok(Model { name: content.parse()?, other: true });
    }
    Ok(Model { name, other: false })
}

fn landing(input: ParseStream<'_>, span: Span) -> Result<Landing> {
    let content;
    parenthesized!(content in input);
    let mut landing = Landing { injector: Vec::new(), victim: Vec::new(), span };
    while !content.is_empty() {
        let side: Ident = content.parse()?;
        let signals = list(&content)?;
        match side.to_string().as_str() {
            "injector" => landing.injector = signals,
            "victim" => landing.victim = signals,
            other => {
                let message =
                    format!("`{other}` is no side of a fault: landing evidence is `injector(…)` and `victim(…)`");
                return Err(syn::Error::new(side.span(), message));
            }
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(landing)
}

fn budgets(input: ParseStream<'_>, span: Span) -> Result<Budgets> {
    let content;
    parenthesized!(content in input);
    let mut budgets = Budgets { smoke: None, hardening: None, release: None, span };
    while !content.is_empty() {
        let tier: Ident = content.parse()?;
        match tier.to_string().as_str() {
            "smoke" => budgets.smoke = Some(numbers(&content, tier.span())?),
            "hardening" => budgets.hardening = Some(numbers(&content, tier.span())?),
            "release" if content.peek(Token![=]) => budgets.release = Some(Release::NotProvided(text_value(&content)?)),
            "release" => budgets.release = Some(Release::Budget(numbers(&content, tier.span())?)),
            other => {
                let message = format!("`{other}` is no tier: a budget has `smoke(…)`, `hardening(…)` and `release`");
                return Err(syn::Error::new(tier.span(), message));
            }
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(budgets)
}

fn numbers(input: ParseStream<'_>, span: Span) -> Result<Tier> {
    let content;
    parenthesized!(content in input);
    let mut tier = Tier { numbers: Vec::new(), span };
    while !content.is_empty() {
        let name: Ident = content.parse()?;
        if !DIMENSIONS.iter().any(|known| name == known) {
            let message = format!("`{name}` is no dimension of a budget; they are {}", DIMENSIONS.join(", "));
            return Err(syn::Error::new(name.span(), message));
        }
        if tier.get(&name.to_string()).is_some() {
            return Err(syn::Error::new(name.span(), format!("`{name}` is written twice")));
        }
        content.parse::<Token![=]>()?;
        let number: LitInt = content.parse()?;
        tier.numbers.push((Word { text: name.to_string(), span: name.span() }, number.base10_parse()?));
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(tier)
}
