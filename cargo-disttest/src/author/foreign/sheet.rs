//! A test file in another language, cut into what is ours and what is not.

use super::super::language::Language;
use super::super::lex;
use super::super::regions::squash;
use super::{FRAME, GENERATED, assemble};
use disttest_runtime::base::digest::sha256_hex;
use std::ops::Range;

/// A file of ours. Header and marker lines are the frame.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    language: Language,
    /// What must stand before a header: a shebang, an encoding, a pragma.
    pub lead: &'a str,
    /// Comment lines, each with its line end.
    pub header: &'a str,
    /// All that stands behind the header and the blank line below it.
    pub rest: &'a str,
    /// The line on which that begins, from 1.
    pub first_line: usize,
    /// In the order of the file.
    pub regions: Vec<Region>,
}

/// A region, as byte ranges of [`Sheet::rest`]: whole lines, in this order, without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub name: String,
    /// The begin marker and its prose.
    pub begin: Range<usize>,
    pub body: Range<usize>,
    pub end: Range<usize>,
}

impl<'a> Sheet<'a> {
    /// Cuts `text`; `Err` says why it is no file of ours.
    pub(super) fn parse(language: Language, text: &'a str) -> Result<Sheet<'a>, String> {
        let (lead, after) = text.split_at(header_start(language, text));
        let is_comment = |line: &&str| line.trim_start().starts_with(language.comment());
        let length = after.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
        let (header, below) = after.split_at(length);
        if !uncommented(language, header.lines().next().unwrap_or_default()).starts_with(GENERATED) {
            return Err("it has no AUTO-GENERATED header: it was not written by `author`".to_owned());
        }
        let gap = below.split_inclusive('\n').next().filter(|line| line.trim().is_empty()).map_or(0, str::len);
        let rest = &below[gap..];
        let regions = markers(language, rest).map_err(|why| format!("its region markers cannot be read: {why}"))?;
        let regions = regions.into_iter().map(|(region, _)| region).collect();
        let first_line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        Ok(Sheet { language, lead, header, rest, first_line, regions })
    }

    /// What stands behind `label` on the header line that begins with it.
    pub(super) fn line(&self, label: &str) -> Option<&'a str> {
        let mut lines = self.header.lines().map(|line| uncommented(self.language, line));
        lines.find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    /// The word behind `label`, wherever it stands in the header.
    pub(super) fn word(&self, label: &str) -> Option<&'a str> {
        let mut lines = self.header.lines().skip(3).map(|line| uncommented(self.language, line));
        lines.find_map(|line| line.split_once(label)?.1.split_whitespace().next())
    }

    /// Nobody changed header or markers.
    pub(super) fn is_intact(&self) -> bool {
        self.line(FRAME) == Some(frame_digest(self.header, self.language, &self.marker_texts()).as_str())
    }

    /// Header and markers, in which white space does not count.
    pub(super) fn frame(&self) -> String {
        frame_text(self.header, self.language, &self.marker_texts())
    }

    /// The frame if `header` stood over these markers.
    pub(super) fn frame_under(&self, header: &str) -> String {
        frame_text(header, self.language, &self.marker_texts())
    }

    fn marker_texts(&self) -> Markers {
        let text = |region: &Region| {
            let begin = self.rest[region.begin.clone()].to_owned();
            (region.clone(), begin + &self.rest[region.end.clone()])
        };
        self.regions.iter().map(text).collect()
    }

    /// Everything that is not ours.
    pub(super) fn body(&self) -> String {
        let mut body = self.lead.to_owned();
        let mut from = 0;
        for region in &self.regions {
            body.push_str(&self.rest[from..region.begin.start]);
            body.push_str(&self.rest[region.body.clone()]);
            from = region.end.end;
        }
        body + &self.rest[from..]
    }

    /// Digest of [`Sheet::body`].
    pub(super) fn body_digest(&self) -> String {
        sha256_hex(settled(&self.body()).as_bytes())
    }

    /// Line of the byte `at` of [`Sheet::rest`], from 1.
    pub(super) fn line_at(&self, at: usize) -> usize {
        self.first_line + self.rest[..at].matches('\n').count()
    }

    /// The file with another header.
    pub(super) fn with_header(&self, header: &str) -> String {
        assemble(self.lead, header, self.rest)
    }

    /// What stands behind the header, with markers and bodies as `fresh` and `body` give them for each region; `None`
    /// when the regions are not the same. Markers stay as far indented as they are: a formatter may have moved them.
    pub(super) fn rest_with(
        &self,
        fresh: &Sheet<'_>,
        body: impl Fn(&Region, &Region) -> String,
        eol: &str,
    ) -> Option<String> {
        let names = |sheet: &Sheet<'_>| sheet.regions.iter().map(|region| region.name.clone()).collect::<Vec<_>>();
        if names(self) != names(fresh) {
            return None;
        }
        let mut out = String::new();
        let mut from = 0;
        for (old, new) in self.regions.iter().zip(&fresh.regions) {
            out.push_str(&self.rest[from..old.begin.start]);
            let indent = indent(&self.rest[old.begin.clone()]);
            out.push_str(&indented(&fresh.rest[new.begin.clone()], indent).replace('\n', eol));
            out.push_str(&body(old, new));
            out.push_str(&indented(&fresh.rest[new.end.clone()], indent).replace('\n', eol));
            from = old.end.end;
        }
        Some(out + &self.rest[from..])
    }
}

/// The white space that `text` begins with.
fn indent(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

/// Comment lines, each with this indentation.
fn indented(lines: &str, indent: &str) -> String {
    lines.split_inclusive('\n').map(|line| format!("{indent}{}", line.trim_start())).collect()
}

/// Regions with the text of their markers.
pub(super) type Markers = Vec<(Region, String)>;

/// The regions of `rest`.
///
/// # Errors
/// Which marker is wrong.
pub(super) fn markers(language: Language, rest: &str) -> Result<Markers, String> {
    if !rest.contains("disttest:begin") && !rest.contains("disttest:end") {
        return Ok(Vec::new());
    }
    let line_number = |at: usize| rest[..at].matches('\n').count() + 1;
    let scan = lex::scan(language, rest)
        .map_err(|at| format!("in line {} behind the header something is opened and never closed", line_number(at)))?;
    let mut found: Markers = Vec::new();
    let mut open: Option<Region> = None;
    for (line, comment) in scan.alone(rest) {
        let words = uncommented(language, &rest[comment.clone()]);
        let next = rest[comment.end..].find('\n').map_or(rest.len(), |at| comment.end + at + 1);
        let told = format!("line {} behind the header: ", line_number(line));
        if let Some(behind) = words.strip_prefix("disttest:begin ") {
            let name = behind.split_whitespace().next().unwrap_or_default().to_owned();
            if open.is_some() || found.iter().any(|(region, _)| region.name == name) {
                return Err(format!("{told}region `{name}` begins twice or inside of another"));
            }
            open = Some(Region { name, begin: line..next, body: next..next, end: next..next });
        } else if let Some(behind) = words.strip_prefix("disttest:end ") {
            let Some(mut region) = open.take().filter(|region| region.name == behind.trim()) else {
                return Err(format!("{told}region `{}` ends and is not open", behind.trim()));
            };
            region.body.end = line;
            region.end = line..next;
            let text = rest[region.begin.clone()].to_owned() + &rest[region.end.clone()];
            found.push((region, text));
        } else if let Some(region) = &mut open
            && region.begin.end == line
            && words.starts_with('|')
        {
            region.begin.end = next;
            region.body = next..next;
        }
    }
    match open {
        Some(region) => Err(format!("region `{}` is never closed", region.name)),
        None => Ok(found),
    }
}

/// Digest of the frame.
pub(super) fn frame_digest(header: &str, language: Language, markers: &Markers) -> String {
    sha256_hex(frame_text(header, language, markers).as_bytes())
}

fn frame_text(header: &str, language: Language, markers: &Markers) -> String {
    let lines = header.lines().filter(|line| !uncommented(language, line).starts_with(FRAME));
    let markers = markers.iter().map(|(_, text)| text.as_str());
    squash(&lines.chain(markers).collect::<Vec<_>>().join("\n"))
}

/// `text` as far as a checkout may not change it: line ends and white space at the end of lines do not count.
pub(super) fn settled(text: &str) -> String {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// A comment line without its sign.
pub(super) fn uncommented(language: Language, line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix(language.comment()).unwrap_or(line).trim()
}

/// Length of what must stay at the very beginning of a file: a shebang, Python's encoding, a pragma for the runner of
/// TypeScript tests.
pub(super) fn lead_length(language: Language, text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text[mark..].split_inclusive('\n');
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let shebang = if first.starts_with("#!") { first.len() } else { 0 };
    let length = match language {
        Language::Python if is_encoding(second) && first.trim_start().starts_with('#') => first.len() + second.len(),
        Language::Python if is_encoding(first) => first.len(),
        Language::TypeScript => shebang + pragma_length(&text[mark + shebang..]),
        _ => shebang,
    };
    if length == 0 { 0 } else { mark + length }
}

/// Where our header begins, if it does: somebody may have put a licence above it.
fn header_start(language: Language, text: &str) -> usize {
    let lead = lead_length(language, text);
    let mut at = lead;
    for line in text[lead..].split_inclusive('\n') {
        let blank = line.trim().is_empty();
        if !blank && !line.trim_start().starts_with(language.comment()) {
            return lead;
        }
        if !blank && uncommented(language, line).starts_with(GENERATED) {
            return at;
        }
        at += line.len();
    }
    lead
}

/// PEP 263.
fn is_encoding(line: &str) -> bool {
    line.trim_start().starts_with('#') && (line.contains("coding:") || line.contains("coding="))
}

/// A runner reads `@jest-environment` and the like from the first comment of a file, and nowhere else.
fn pragma_length(text: &str) -> usize {
    let blank = text.len() - text.trim_start().len();
    let Some(close) = text.trim_start().strip_prefix("/*").and_then(|comment| comment.find("*/")) else {
        return 0;
    };
    let end = blank + 2 + close + 2;
    let line = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let only_comment = text[end..line].trim().is_empty();
    if text[..end].contains('@') && only_comment { line } else { 0 }
}
