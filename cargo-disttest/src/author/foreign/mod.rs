//! Test files in other languages than Rust: the plan's own skeleton, a header above it, and region markers around the
//! three TODO comments in it. Only header and markers are ours; everything else belongs to people once it is written.

mod change;
mod insert;
mod layout;
mod open;
mod sheet;

use super::frame::{Wanted, expand};
use super::language::Language;
use super::prose::one_line;
use disttest_runtime::base::digest::sha256_hex;
use sheet::Sheet;

const HEADER: &str = include_str!("../../../../templates/author/header.txt");
/// What the first line of the header says, behind the sign of a comment.
const GENERATED: &str = "AUTO-GENERATED from test plan:";
const FRAME: &str = "Frame-SHA256:";
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The header lines that a skeleton must carry (format §2).
pub(crate) const MANDATORY: [&str; 4] =
    [GENERATED, "Scenario:", "Falsifies:", "REVIEW BEFORE TREATING AS A PERMANENT REGRESSION:"];

/// A test file in another language.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Foreign {
    /// What the plan says of the scenario.
    pub wanted: Wanted,
    /// Its language.
    pub language: Language,
    skeleton: String,
}

impl Foreign {
    /// The file of `wanted` with the plan's `skeleton`.
    ///
    /// # Errors
    /// Why this skeleton is refused: what is wrong, and what to write.
    pub(crate) fn new(wanted: Wanted, language: Language, skeleton: &str) -> Result<Foreign, (String, String)> {
        let skeleton = skeleton.trim_start_matches('\u{feff}');
        if let Some(c) = skeleton.chars().find(|c| is_treacherous(*c)) {
            let message = format!("its skeleton has the character U+{:04X}, which hides or reorders code", c as u32);
            return Err((message, "write the skeleton without it".to_owned()));
        }
        if !has_line(language, skeleton, GENERATED) {
            let message = "its skeleton lacks the AUTO-GENERATED header".to_owned();
            return Err((message, format!("begin the skeleton with:\n{}", mandatory_header(&wanted, language))));
        }
        let foreign = Foreign { wanted, language, skeleton: with_newline(skeleton) };
        let help = "write the three TODO comments alone, without markers; `author` puts its own";
        insert::markers(&foreign).map_err(|why| (format!("its skeleton {why}"), help.to_owned()))?;
        let text = foreign.text(&|_| None);
        match Sheet::parse(language, &text) {
            Ok(sheet) if sheet.is_intact() => Ok(foreign),
            _ => Err(("its header cannot be read back from the file".to_owned(), help.to_owned())),
        }
    }

    /// The lines of the mandatory header that the skeleton does not have itself; ours has them all.
    pub(crate) fn missing_lines(&self) -> Vec<&'static str> {
        MANDATORY.into_iter().filter(|line| !has_line(self.language, &self.skeleton, line)).collect()
    }

    /// True when there are regions to fill.
    pub(crate) fn has_regions(&self) -> bool {
        Sheet::parse(self.language, &self.text(&|_| None)).is_ok_and(|sheet| !sheet.regions.is_empty())
    }

    /// The file as it is first written. `format` may change the layout only ([`is_same`]), else the file stays without.
    pub(crate) fn text(&self, format: &dyn Fn(&str) -> Option<String>) -> String {
        let (lead, rest) = self.skeleton.split_at(sheet::lead_length(self.language, &self.skeleton));
        let marked = insert::markers(self).map_or_else(|_| rest.to_owned(), |text| text[lead.len()..].to_owned());
        let plain = assemble(lead, &self.header(NO_DIGEST, &marked), &marked);
        let text = format(&plain).filter(|text| is_same(self.language, &plain, text)).unwrap_or(plain);
        match Sheet::parse(self.language, &text) {
            Ok(sheet) => sheet.with_header(&self.header(&sheet.body_digest(), sheet.rest)),
            Err(_) => text,
        }
    }

    /// The header over a file whose text behind the header is `rest`.
    fn header(&self, body: &str, rest: &str) -> String {
        let markers = sheet::markers(self.language, rest).unwrap_or_default();
        let frame = sheet::frame_digest(&self.header_with(body, NO_DIGEST), self.language, &markers);
        self.header_with(body, &frame)
    }

    fn header_with(&self, body: &str, frame: &str) -> String {
        let attribute = &self.wanted.attribute;
        let claims: Vec<String> = attribute.falsifies.iter().map(|(claim, _)| claim.clone()).collect();
        expand(HEADER, |key| match key {
            "c" => self.language.comment().to_owned(),
            "plan" => self.value(&attribute.plan),
            "id" => self.value(&attribute.id),
            "name" => self.value(&self.wanted.name),
            "claims" => self.value(&claims.join(", ")),
            "plan_sha256" => self.value(&attribute.plan_sha256),
            "scenario_sha256" => self.value(&attribute.scenario_sha256),
            "generator" => self.value(&self.wanted.generator),
            "skeleton_sha256" => sha256_hex(sheet::settled(&self.skeleton).as_bytes()),
            "body_sha256" => body.to_owned(),
            "frame_sha256" => frame.to_owned(),
            "language" => self.language.as_str().to_owned(),
            key => unreachable!("the template has no key {key}"),
        })
    }

    /// A text of the plan on a header line. Python takes `coding:` on one of the first two lines for an encoding.
    fn value(&self, text: &str) -> String {
        let line = one_line(text);
        match self.language {
            Language::Python => line.replace("coding:", "coding :").replace("coding=", "coding ="),
            _ => line,
        }
    }
}

pub(crate) use change::foreign_change;
pub(crate) use layout::is_same;
pub(crate) use open::{Open, Part, Written, open_regions, written};

/// Our lines of `text`, in which white space does not count; `None` when it is no file of ours.
pub(crate) fn frame_of(language: Language, text: &str) -> Option<String> {
    Sheet::parse(language, text).ok().map(|sheet| sheet.frame())
}

/// A file from what stands before the header, the header, and what stands behind it and a blank line.
fn assemble(lead: &str, header: &str, rest: &str) -> String {
    let gap = if lead.is_empty() || lead.ends_with('\n') { "" } else { "\n" };
    format!("{lead}{gap}{header}\n{rest}")
}

fn with_newline(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Characters that no source code of a plan needs: control characters, and those that show code in another order.
pub(super) fn is_treacherous(c: char) -> bool {
    let blank = matches!(c, '\n' | '\r' | '\t' | '\u{c}');
    c.is_control() && !blank || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A comment line of `text` begins with `words`.
fn has_line(language: Language, text: &str, words: &str) -> bool {
    let stars =
        |line: &str| line.trim_start().trim_start_matches(['/', '*', '#', '!', ';', '-']).trim_start().to_owned();
    let comment = |line: &str| {
        let line = line.trim_start();
        line.starts_with(language.comment()) || line.starts_with('*') || line.starts_with("/*")
    };
    text.lines().filter(|line| comment(line)).any(|line| stars(line).starts_with(words))
}

fn mandatory_header(wanted: &Wanted, language: Language) -> String {
    let claims: Vec<String> = wanted.attribute.falsifies.iter().map(|(claim, _)| one_line(claim)).collect();
    let behind = [
        one_line(&wanted.attribute.plan),
        format!("{} {}", one_line(&wanted.attribute.id), one_line(&wanted.name)),
        format!("{} (see §1b of the plan for full text)", claims.join(", ")),
        "read the oracle first.".to_owned(),
    ];
    let lines = MANDATORY.iter().zip(behind).map(|(label, text)| format!("{} {label} {text}", language.comment()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
