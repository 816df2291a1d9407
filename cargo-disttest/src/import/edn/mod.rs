//! Extensible data notation, as Clojure's tools write it: a streaming reader.
//!
//! All of the notation but metadata: nil, booleans, numbers with their suffixes `N` and `M`, ratios, `##Inf`,
//! characters, strings, keywords, symbols, lists, vectors, maps (with a namespace too), sets, tags, comments, `#_`.
//! What is refused: more than [`DEEPEST`] values inside of each other, a map with a key twice, a set with an element
//! twice, `##NaN` (it equals nothing, itself included).

mod atoms;
mod bytes;
mod reader;
#[cfg(test)]
mod tests;
mod value;

pub use bytes::Place;
pub use reader::{Bad, Reader};
pub use value::Edn;

/// Values inside of each other, at most.
pub const DEEPEST: usize = 128;

/// Every value of `text`.
///
/// # Errors
/// The first place that is no EDN.
pub fn read_all(text: &[u8]) -> Result<Vec<Edn>, Bad> {
    let mut reader = Reader::new(text);
    let mut all = Vec::new();
    while let Some((value, _)) = reader.value()? {
        all.push(value);
    }
    Ok(all)
}
