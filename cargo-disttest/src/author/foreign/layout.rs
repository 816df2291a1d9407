//! Whether a formatter changed the layout of a test file and nothing else.

use super::super::language::Language;
use super::sheet::Sheet;

/// `after` says the same as `before`, laid out differently: header and markers are the same, every region has the same
/// words in the same order, and the rest has the same words (imports may be sorted). Formatters change quotes, brackets,
/// commas and semicolons, which are no words.
pub(crate) fn is_same(language: Language, before: &str, after: &str) -> bool {
    let (Ok(before), Ok(after)) = (Sheet::parse(language, before), Sheet::parse(language, after)) else {
        return false;
    };
    let regions = |sheet: &Sheet<'_>| -> Vec<_> {
        sheet.regions.iter().map(|region| words(&sheet.rest[region.body.clone()])).collect()
    };
    let all = |sheet: &Sheet<'_>| {
        let mut words = words(&sheet.body());
        words.sort();
        words
    };
    after.is_intact()
        && before.frame() == after.frame()
        && regions(&before) == regions(&after)
        && all(&before) == all(&after)
}

/// The words of a text. Formatters write the letters of numbers small.
pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
