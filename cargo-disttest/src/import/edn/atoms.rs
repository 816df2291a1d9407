//! From a token to a value that holds no others.

use super::Edn;

/// Number, keyword, symbol, `nil` or boolean.
pub(super) fn atom(token: &str) -> Result<Edn, String> {
    let digits = token.strip_prefix(['+', '-']).unwrap_or(token);
    match token.as_bytes().first() {
        _ if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            number(token).ok_or_else(|| format!("`{token}` is no number"))
        }
        Some(b':') => keyword(token).ok_or_else(|| format!("`{token}` is no keyword")),
        _ => match token {
            "nil" => Ok(Edn::Nil),
            "true" => Ok(Edn::Bool(true)),
            "false" => Ok(Edn::Bool(false)),
            _ if token.chars().all(is_part) && !token.ends_with(':') => Ok(Edn::Symbol(token.to_owned())),
            _ => Err(format!("`{token}` is no symbol")),
        },
    }
}

/// What stands behind `##`.
pub(super) fn symbolic(token: &str) -> Result<Edn, String> {
    match token {
        "Inf" => Ok(Edn::Float(f64::INFINITY)),
        "-Inf" => Ok(Edn::Float(f64::NEG_INFINITY)),
        "NaN" => Err("##NaN equals nothing, itself included: no answer can be compared with it".to_owned()),
        _ => Err(format!("`##{token}` is no value")),
    }
}

/// What stands behind a backslash.
pub(super) fn character(name: &str) -> Option<char> {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Some(c),
        _ => match name {
            "newline" => Some('\n'),
            "space" => Some(' '),
            "tab" => Some('\t'),
            "return" => Some('\r'),
            "backspace" => Some('\u{8}'),
            "formfeed" => Some('\u{c}'),
            _ => {
                let digits = name.strip_prefix('u').filter(|digits| digits.len() == 4)?;
                u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
            }
        },
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || ".*+!-_?$%&=<>:#/'|".contains(c)
}

/// What keys of a map may be qualified with: a symbol that is read as one wherever it stands, and has no namespace itself.
pub(super) fn is_namespace(token: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || "_*!$%&=<>?".contains(c);
    token.starts_with(begins) && token.chars().all(|c| is_part(c) && !"/#:".contains(c))
}

fn keyword(token: &str) -> Option<Edn> {
    let name = token.strip_prefix(':')?;
    let sane = !name.is_empty() && !name.starts_with(':') && !name.ends_with(':') && name.chars().all(is_part);
    sane.then(|| Edn::Keyword(name.to_owned()))
}

fn number(token: &str) -> Option<Edn> {
    let plain = token.strip_prefix('+').unwrap_or(token);
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = |text: &str| all_digits(text.strip_prefix('-').unwrap_or(text));
    let (sign, magnitude) = plain.strip_prefix('-').map_or(("", plain), |rest| ("-", rest));
    if let Some(digits) = magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        let digits = digits.strip_suffix('N').unwrap_or(digits);
        let hexadecimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        // What is longer than 128 bits is no number that a history holds.
        let value = u128::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?;
        return Some(integer(&format!("{sign}{value}")));
    }
    if let Some((above, below)) = plain.split_once('/') {
        let zero = below.bytes().all(|byte| byte == b'0');
        return (unsigned(above) && all_digits(below) && !zero).then(|| Edn::Ratio(plain.to_owned()));
    }
    if let Some(digits) = plain.strip_suffix('N') {
        return unsigned(digits).then(|| integer(digits));
    }
    if let Some(digits) = plain.strip_suffix('M') {
        return (is_decimal(digits) || unsigned(digits)).then(|| Edn::Decimal(digits.to_owned()));
    }
    if unsigned(plain) {
        return Some(integer(plain));
    }
    let float: f64 = is_decimal(plain).then(|| plain.parse().ok())??;
    float.is_finite().then_some(Edn::Float(float))
}

fn integer(digits: &str) -> Edn {
    digits.parse().map_or_else(|_| Edn::Big(shortest(digits)), Edn::Int)
}

/// Without zeros in front, so that equal numbers are equal.
fn shortest(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    format!("{sign}{}", digits.trim_start_matches('0'))
}

/// `1.5`, `1e9`, `1.5e-3`, `1.`: digits first, and only what belongs to such a number.
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let plain = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !plain.is_empty() && digits(plain)
    });
    !whole.is_empty() && digits(whole) && digits(part) && exponent_fits
}
