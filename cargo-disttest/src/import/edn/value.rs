//! A value of EDN.

use std::fmt;

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Edn {
    /// `nil`.
    Nil,
    /// `true`, `false`.
    Bool(bool),
    /// `42`, `42N` when it fits.
    Int(i64),
    /// An integer beyond 64 bits: sign and digits.
    Big(String),
    /// `1.5`.
    Float(f64),
    /// `1.5M`, with the digits as written.
    Decimal(String),
    /// `1/3`, as written.
    Ratio(String),
    /// `\a`.
    Char(char),
    /// `"a"`.
    Text(String),
    /// `:a`, without the colon.
    Keyword(String),
    /// `a`.
    Symbol(String),
    /// `(…)`.
    List(Vec<Edn>),
    /// `[…]`.
    Vector(Vec<Edn>),
    /// `{…}`, in the order written.
    Map(Vec<(Edn, Edn)>),
    /// `#{…}`, in the order written.
    Set(Vec<Edn>),
    /// `#tag …`.
    Tagged(String, Box<Edn>),
}

impl Edn {
    /// The elements of a list, vector or set.
    pub fn items(&self) -> Option<&[Edn]> {
        match self {
            Edn::List(items) | Edn::Vector(items) | Edn::Set(items) => Some(items),
            _ => None,
        }
    }

    /// The value without tags round it.
    pub fn untagged(self) -> Edn {
        let mut value = self;
        while let Edn::Tagged(_, inner) = value {
            value = *inner;
        }
        value
    }
}

impl fmt::Display for Edn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |f: &mut fmt::Formatter<'_>, open: &str, items: &[Edn], close: &str| {
            f.write_str(open)?;
            for (at, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if at > 0 { " " } else { "" })?;
            }
            f.write_str(close)
        };
        match self {
            Edn::Nil => f.write_str("nil"),
            Edn::Bool(value) => write!(f, "{value}"),
            Edn::Int(value) => write!(f, "{value}"),
            Edn::Big(digits) => write!(f, "{digits}N"),
            Edn::Float(value) if value.is_nan() => f.write_str("##NaN"),
            Edn::Float(value) if value.is_infinite() => write!(f, "##{}Inf", if *value < 0.0 { "-" } else { "" }),
            Edn::Float(value) => write!(f, "{value:?}"),
            Edn::Decimal(digits) => write!(f, "{digits}M"),
            Edn::Ratio(text) => f.write_str(text),
            Edn::Char(c) => match c {
                '\n' => f.write_str("\\newline"),
                ' ' => f.write_str("\\space"),
                '\t' => f.write_str("\\tab"),
                '\r' => f.write_str("\\return"),
                '\u{c}' => f.write_str("\\formfeed"),
                '\u{8}' => f.write_str("\\backspace"),
                c => write!(f, "\\{c}"),
            },
            Edn::Text(text) => write_text(f, text),
            Edn::Keyword(name) => write!(f, ":{name}"),
            Edn::Symbol(name) => f.write_str(name),
            Edn::List(items) => all(f, "(", items, ")"),
            Edn::Vector(items) => all(f, "[", items, "]"),
            Edn::Set(items) => all(f, "#{", items, "}"),
            Edn::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key} {value}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Edn::Tagged(tag, value) => write!(f, "#{tag} {value}"),
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
