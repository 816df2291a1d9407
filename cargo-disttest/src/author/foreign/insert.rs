//! Puts region markers around the three TODO comments of a skeleton.

use super::super::lex::{self, Scan};
use super::super::parts::{Part, opened_by};
use super::super::prose;
use super::{Foreign, sheet};

const WIDTH: usize = 110;

/// The skeleton with its markers; as it is when it has no three TODO comments in order, or when a marker would stand
/// inside of a string.
///
/// # Errors
/// It has markers of its own that are not those of the three regions.
pub(super) fn markers(foreign: &Foreign) -> Result<String, String> {
    let (language, skeleton) = (foreign.language, foreign.skeleton.as_str());
    let own =
        sheet::markers(language, skeleton).map_err(|why| format!("has region markers that cannot be read: {why}"))?;
    let Ok(scan) = lex::scan(language, skeleton) else {
        return Ok(skeleton.to_owned());
    };
    if !own.is_empty() {
        let names = own.iter().map(|(region, _)| region.name.as_str());
        let ours = names.eq(Part::ALL.iter().map(|part| part.name()));
        return if ours { Ok(skeleton.to_owned()) } else { Err("has region markers of another kind".to_owned()) };
    }
    Ok(blocks(&scan, skeleton, language).map_or_else(|| skeleton.to_owned(), |blocks| insert(foreign, &blocks)))
}

/// The lines of a part: from its TODO comment on.
struct Block {
    part: Part,
    start: usize,
    end: usize,
    indent: String,
}

fn blocks(scan: &Scan, text: &str, language: super::Language) -> Option<Vec<Block>> {
    let header = sheet::lead_length(language, text);
    let opened = scan.alone(text).filter(|(line, _)| *line >= header);
    let opened: Vec<(usize, usize, Part)> =
        opened.filter_map(|(line, c)| Some((line, c.start, opened_by(&text[c])?))).collect();
    if !opened.iter().map(|(.., part)| *part).eq(Part::ALL) {
        return None;
    }
    let limits = opened.iter().skip(1).map(|(line, ..)| *line).chain([text.len()]);
    let block = |((line, comment, part), limit): (&(usize, usize, Part), usize)| {
        let indent = text[*line..*comment].to_owned();
        let end = end_of_block(scan, text, *line, limit, indent.chars().count());
        (!scan.is_inside(end)).then_some(Block { part: *part, start: *line, end, indent })
    };
    opened.iter().zip(limits).map(block).collect()
}

/// Behind the last line that is not blank before `limit` or before a line that is indented less.
fn end_of_block(scan: &Scan, text: &str, start: usize, limit: usize, indent: usize) -> usize {
    let mut end = start;
    let mut at = start;
    for line in text[start..limit].split_inclusive('\n') {
        let inside = scan.is_inside(at);
        let depth = line.chars().take_while(|c| matches!(c, ' ' | '\t')).count();
        let blank = line.trim().is_empty();
        if !inside && !blank && depth < indent {
            break;
        }
        at += line.len();
        if inside || !blank {
            end = at;
        }
    }
    end
}

fn insert(foreign: &Foreign, blocks: &[Block]) -> String {
    let (text, sign) = (foreign.skeleton.as_str(), foreign.language.comment());
    let mut out = String::new();
    let mut from = 0;
    for Block { part, start, end, indent } in blocks {
        let prose = match part {
            Part::Workload => &foreign.wanted.workload,
            Part::Faults => &foreign.wanted.faults,
            Part::Oracle => &foreign.wanted.oracle,
        };
        let first = format!("{indent}{sign} disttest:begin {} —", part.name());
        let lines = prose::comment(&first, &format!("{indent}{sign} |"), prose, WIDTH);
        let body = super::with_newline(&text[*start..*end]);
        out.push_str(&format!("{}{}\n{body}", &text[from..*start], lines.join("\n")));
        out.push_str(&format!("{indent}{sign} disttest:end {}\n", part.name()));
        from = *end;
    }
    out + &text[from..]
}
