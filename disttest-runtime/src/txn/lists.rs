//! The lists that reads saw, without storing each: most are prefixes of the longest list of their key.

use super::intern::{Elements, NONE};
use super::value::Texts;
use std::io::Write;

/// A list that some read saw, and of which other reads saw prefixes.
#[derive(Clone, Debug)]
struct Chain {
    elements: Vec<u32>,
    /// The elements as canonical JSON, separated by commas, so that a read compares by bytes.
    text: Vec<u8>,
    /// Where each element ends in `text`.
    ends: Vec<u32>,
    /// Another list of the same key.
    next: u32,
}

/// Lists by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    chains: Vec<Chain>,
    /// The first chain of each key.
    first: Vec<u32>,
    scratch: Vec<u32>,
}

/// How many lists of one key a read is compared with before it is kept by itself.
const COMPARED: usize = 16;

impl Lists {
    /// The list and the length in it of a read of `key` that shows `text`: what stands between the brackets of a
    /// JSON list of plain values. `None` when it is no such list.
    pub(super) fn read_text(
        &mut self,
        key: u32,
        text: &[u8],
        elements: &mut Elements,
        texts: &mut Texts,
    ) -> Option<(u32, u32)> {
        let chain = self.first_of(key);
        if let Some(found) = self.chains.get_mut(chain as usize) {
            if let Some(len) = found.prefix(text) {
                return Some((chain, len));
            }
            if let Some(rest) = found.rest(text) {
                // Elements come one by one, so that a list that turns out not to be one changes nothing.
                self.scratch.clear();
                tokens(rest, |token| {
                    self.scratch.push(elements.number(key, texts.token(token)?));
                    Some(())
                })?;
                for &element in &self.scratch {
                    found.push(element, elements, texts);
                }
                return Some((chain, found.elements.len() as u32));
            }
        }
        let mut list = std::mem::take(&mut self.scratch);
        list.clear();
        let read = tokens(text, |token| {
            list.push(elements.number(key, texts.token(token)?));
            Some(())
        });
        let place = read.map(|()| self.read(key, &list, elements, texts));
        self.scratch = list;
        place
    }

    /// The list and the length in it of a read of `key` that shows `list`, which is not empty.
    pub(super) fn read(&mut self, key: u32, list: &[u32], elements: &Elements, texts: &Texts) -> (u32, u32) {
        let mut at = self.first_of(key);
        let mut last = NONE;
        for _ in 0..COMPARED {
            let Some(chain) = self.chains.get_mut(at as usize) else { break };
            let common = chain.elements.len().min(list.len());
            if chain.elements[..common] == list[..common] {
                for &element in &list[common..] {
                    chain.push(element, elements, texts);
                }
                return (at, list.len() as u32);
            }
            (last, at) = (at, chain.next);
        }
        let number = self.chains.len() as u32;
        let mut chain = Chain { elements: Vec::new(), text: Vec::new(), ends: Vec::new(), next: NONE };
        for &element in list {
            chain.push(element, elements, texts);
        }
        match self.chains.get_mut(last as usize) {
            Some(last) => chain.next = std::mem::replace(&mut last.next, number),
            None => self.first[key as usize] = number,
        }
        self.chains.push(chain);
        (number, list.len() as u32)
    }

    fn first_of(&mut self, key: u32) -> u32 {
        if self.first.len() <= key as usize {
            self.first.resize(key as usize + 1, NONE);
        }
        self.first[key as usize]
    }

    /// The lists by number, and the longest of each of `keys` keys: the first seen of those equally long.
    pub(super) fn finish(self, keys: usize) -> (Vec<Box<[u32]>>, Vec<u32>) {
        let mut longest = self.first;
        longest.resize(keys, NONE);
        for main in &mut longest {
            let mut at = *main;
            while let Some(chain) = self.chains.get(at as usize) {
                if chain.elements.len() > self.chains[*main as usize].elements.len() {
                    *main = at;
                }
                at = chain.next;
            }
        }
        (self.chains.into_iter().map(|chain| chain.elements.into_boxed_slice()).collect(), longest)
    }
}

impl Chain {
    /// The number of elements that `text` has, if it is a prefix.
    fn prefix(&self, text: &[u8]) -> Option<u32> {
        let end = text.len();
        let fits = self.text.get(..end)? == text && self.text.get(end).is_none_or(|byte| *byte == b',');
        // A comma inside of a string is no end of an element: then the elements are compared one by one.
        let ends = u32::try_from(end).ok().filter(|_| fits)?;
        self.ends.binary_search(&ends).ok().map(|at| at as u32 + 1)
    }

    /// What `text` has more, if it begins with this whole list.
    fn rest<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        text.strip_prefix(&self.text[..])?.strip_prefix(b",")
    }

    fn push(&mut self, element: u32, elements: &Elements, texts: &Texts) {
        if !self.elements.is_empty() {
            self.text.push(b',');
        }
        // Writing to a vector cannot fail.
        let _ = write!(self.text, "{}", texts.show(elements.atoms[element as usize]));
        self.elements.push(element);
        self.ends.push(self.text.len() as u32);
    }
}

/// Calls `each` with the tokens between commas, blanks trimmed; `None` as soon as it says so.
fn tokens(text: &[u8], mut each: impl FnMut(&[u8]) -> Option<()>) -> Option<()> {
    let (mut start, mut at, mut depth) = (0, 0, 0_u32);
    while at < text.len() {
        match text[at] {
            b'"' => {
                at += 1;
                while *text.get(at)? != b'"' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                each(text[start..at].trim_ascii())?;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    each(text[start..].trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reads: &[&str], expect: &[(u32, u32)], longest: u32) {
        let (mut lists, mut elements, mut texts) = (Lists::default(), Elements::default(), Texts::default());
        let places: Vec<(u32, u32)> = reads
            .iter()
            .map(|text| lists.read_text(0, text.as_bytes(), &mut elements, &mut texts).expect("a list"))
            .collect();
        assert_eq!(places, expect, "{reads:?}");
        assert_eq!(lists.finish(1).1, [longest], "{reads:?}");
    }

    #[test]
    fn a_read_is_a_length_in_the_longest_list_and_odd_reads_stand_apart() {
        check(&["1", "1,2", "1,2,3", "1, 2", "1"], &[(0, 1), (0, 2), (0, 3), (0, 2), (0, 1)], 0);
        check(&["1,2", "1,3", "1,3,4", "1,2"], &[(0, 2), (1, 2), (1, 3), (0, 2)], 1);
        check(&["12", "1", "12,3"], &[(0, 1), (1, 1), (0, 2)], 0);
        check(
            &["\"a,b\"", "\"a", "\"a,b\",1"].map(|text| if text == "\"a" { "\"a\"" } else { text }),
            &[(0, 1), (1, 1), (0, 2)],
            0,
        );
    }

    #[test]
    fn what_is_no_list_of_values_is_refused() {
        let (mut lists, mut elements, mut texts) = (Lists::default(), Elements::default(), Texts::default());
        for text in ["1,,2", "1,", ",", "null", "\"a", "x", "1]", "\\"] {
            assert_eq!(lists.read_text(0, text.as_bytes(), &mut elements, &mut texts), None, "{text}");
        }
    }
}
