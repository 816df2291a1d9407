//! Text in numeric character references, which stand for characters and never for structure: `&#60;` is a `<` that
//! opens no comment, to Markdown as to the parser of plans.
//!
//! A value is read as what its references stand for if it starts with one and everything in it but letters, digits and
//! spaces is one. Any other text, `5 &#60; 6` too, is taken as it is written.

use std::borrow::Cow;

/// `text` with a reference for its first character and for each that is no letter, digit or single space between two
/// words. [`decoded`] makes `text` of it, whatever that is.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut last = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let between = c == ' ' && last.is_some_and(|last| last != ' ') && rest.peek().is_some();
        if last.is_some() && (c.is_alphanumeric() || between) {
            out.push(c);
        } else {
            out.push_str(&format!("&#{};", u32::from(c)));
        }
        last = Some(c);
    }
    out
}

/// What `text` stands for. Linear.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.starts_with("&#") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_alphanumeric() || c == ' ' {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let Some((c, behind)) = reference(rest) else { return Cow::Borrowed(text) };
        out.push(c);
        rest = behind;
    }
    Cow::Owned(out)
}

/// Makes of `text` what it stands for.
pub(super) fn decode(text: &mut String) {
    if let Cow::Owned(plain) = decoded(text) {
        *text = plain;
    }
}

/// The character of the reference at the head of `text`, and what stands behind it.
fn reference(text: &str) -> Option<(char, &str)> {
    let digits = text.strip_prefix("&#")?;
    let width = digits.bytes().take(8).take_while(u8::is_ascii_digit).count();
    let behind = digits[width..].strip_prefix(';').filter(|_| (1..=7).contains(&width))?;
    Some((char::from_u32(digits[..width].parse().ok()?)?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_a_text_that_is_all_references_and_words_is_decoded() {
        let check = |text: &str, expect: &str| assert_eq!(decoded(text), expect, "{text:?}");
        check("&#60;div&#62; x", "<div> x");
        check("&#49;", "1");
        check("&#0049;", "1");
        check("", "");
        for taken_as_written in
            ["5 &#60; 6", "&#60;div>", "&#60", "&#;", "&#x3c;", "&lt;", "&#1114112;", "&#55296;", "&#00000060;", "&#"]
        {
            check(taken_as_written, taken_as_written);
        }
        assert_eq!(encoded("<b> no  way "), "&#60;b&#62; no &#32;way&#32;");
        assert_eq!(encoded("&#60;"), "&#38;&#35;60&#59;");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded_to_itself_and_is_one_line_of_words(text in any::<String>()) {
            let written = encoded(&text);
            prop_assert_eq!(decoded(&written), text);
            let word = |c: char| c.is_alphanumeric() || "&#; ".contains(c);
            prop_assert!(written.chars().all(word) && !written.contains("  ") && written.trim() == written);
        }
    }
}
