//! A test file as pieces: the frame, which `author` writes, and the regions, which people write.
//!
//! A region stands between `// disttest:begin NAME — prose` and `// disttest:end NAME`, each alone on its line.
//! Lines `// | …` directly below the begin marker carry more of the prose and belong to the frame.

use super::comments::line_comments;
use disttest_runtime::base::digest::sha256_hex;

/// What a region holds while nobody has filled it.
const UNFILLED: &str = "disttest_runtime::todo!";
/// The region that may stay empty.
const HELPERS: &str = "helpers";
/// What the line with the frame's digest starts with.
pub(crate) const FRAME_DIGEST: &str = "//! Frame-SHA256:";
/// What the line with the digests of the plan's skeleton, region by region, starts with.
pub(crate) const SEED_DIGESTS: &str = "//! Skeleton-SHA256:";
const BEGIN: &str = "// disttest:begin ";
const END: &str = "// disttest:end ";
const PROSE: &str = "// |";

/// A file cut into pieces. Joining the frame and the bodies in order gives the text back, byte by byte.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pieces<'a> {
    /// One more than there are regions.
    frame: Vec<&'a str>,
    /// In the order of the file.
    pub regions: Vec<Region<'a>>,
}

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region<'a> {
    /// `workload`, `faults`, `oracle`, `helpers`.
    pub name: &'a str,
    /// Whole lines between the prose and the end marker.
    pub body: &'a str,
    /// Line of the begin marker, from 1.
    pub line: usize,
    /// Byte offset of the body.
    start: usize,
}

impl Region<'_> {
    /// Line of the end marker in `text`, which the region was cut from.
    pub(crate) fn end_line(&self, text: &str) -> usize {
        line_number(text, self.start + self.body.len())
    }

    /// First and last line of what may be written anew in `text`, which the region was cut from: what stands between
    /// prose and end marker. Of an empty region the last one is that before the first.
    pub(crate) fn lines(&self, text: &str) -> (usize, usize) {
        (line_number(text, self.start), self.end_line(text) - 1)
    }

    /// True when nothing in it says that it is still to be filled. Only a test without helpers has nothing to say there.
    pub(crate) fn is_filled(&self) -> bool {
        let squashed = squash(self.body);
        if squashed.is_empty() && self.name != HELPERS {
            return false;
        }
        // std's own `todo!` panics at run time: no less unfilled.
        !(squashed.contains(UNFILLED) || squashed.contains("todo!("))
    }
}

/// Cuts `text`; `Err` says which marker is wrong, and where.
pub(crate) fn parse(text: &str) -> Result<Pieces<'_>, String> {
    let comments = line_comments(text).map_err(|at| {
        format!("line {}: a string or block comment is opened here and never closed", line_number(text, at))
    })?;
    let mut regions: Vec<Region<'_>> = Vec::new();
    let mut open: Option<Region<'_>> = None;
    for comment in comments {
        let line_start = text[..comment.start].rfind('\n').map_or(0, |at| at + 1);
        if !text[line_start..comment.start].trim().is_empty() {
            continue;
        }
        let (words, line) = (&text[comment.clone()], line_number(text, comment.start));
        let next_line = text[comment.end..].find('\n').map_or(text.len(), |at| comment.end + at + 1);
        if let Some(rest) = words.strip_prefix(BEGIN) {
            let name = rest.split_whitespace().next().unwrap_or_default();
            if let Some(outer) = open {
                return Err(format!("line {line}: region `{name}` begins inside region `{}`", outer.name));
            }
            if regions.iter().any(|region| region.name == name) {
                return Err(format!("line {line}: there are two regions `{name}`"));
            }
            open = Some(Region { name, body: "", line, start: next_line });
        } else if let Some(rest) = words.strip_prefix(END) {
            let name = rest.trim();
            match open.take() {
                Some(region) if region.name == name => {
                    regions.push(Region { body: &text[region.start..line_start], ..region });
                }
                Some(region) => {
                    return Err(format!("line {line}: region `{}` is closed as `{name}`", region.name));
                }
                None => return Err(format!("line {line}: region `{name}` ends and never began")),
            }
        } else if let Some(region) = &mut open
            && words.starts_with(PROSE)
            && region.start == line_start
        {
            region.start = next_line;
        }
    }
    match open {
        Some(region) => Err(format!("line {}: region `{}` is never closed", region.line, region.name)),
        None => Ok(Pieces { frame: frame(text, &regions), regions }),
    }
}

fn frame<'a>(text: &'a str, regions: &[Region<'a>]) -> Vec<&'a str> {
    let mut pieces = Vec::with_capacity(regions.len() + 1);
    let mut from = 0;
    for region in regions {
        pieces.push(&text[from..region.start]);
        from = region.start + region.body.len();
    }
    pieces.push(&text[from..]);
    pieces
}

impl<'a> Pieces<'a> {
    /// The region with this name.
    pub(crate) fn region(&self, name: &str) -> Option<&Region<'a>> {
        self.regions.iter().find(|region| region.name == name)
    }

    /// The text again, with the body of each region as `body` gives it.
    pub(crate) fn join<'b>(&'b self, mut body: impl FnMut(&Region<'a>) -> &'b str) -> String {
        let mut text = String::new();
        for (index, frame) in self.frame.iter().enumerate() {
            text.push_str(frame);
            text.push_str(self.regions.get(index).map_or("", &mut body));
        }
        text
    }

    /// What stands behind `label` on the header line that begins with it.
    pub(crate) fn header_line(&self, label: &str) -> Option<&'a str> {
        let head = self.frame.first()?;
        let head = head.strip_prefix('\u{feff}').unwrap_or(head);
        let mut doc = head.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        doc.find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    /// The word behind `label` on the header line of digests.
    pub(crate) fn header_word(&self, label: &str) -> Option<&'a str> {
        const FIRST: &str = "Plan-SHA256:";
        let line = self.header_line(FIRST)?;
        let behind = if label == FIRST { line } else { line.split_once(label)?.1 };
        behind.split_whitespace().next()
    }

    /// The frame without white space and without the line of its own digest: what a formatter or a checkout with
    /// other line ends changes is no edit by hand.
    pub(crate) fn squashed_frame(&self) -> String {
        let lines = self.frame.iter().flat_map(|piece| piece.lines());
        let kept: Vec<&str> = lines.filter(|line| !line.starts_with(FRAME_DIGEST)).collect();
        squash(&kept.join("\n"))
    }

    /// Digest of [`Pieces::squashed_frame`].
    pub(crate) fn frame_digest(&self) -> String {
        sha256_hex(self.squashed_frame().as_bytes())
    }
}

/// The first half of the digest of a region's body: enough to tell whether somebody has changed it.
pub(crate) fn body_digest(body: &str) -> String {
    sha256_hex(squash(body).as_bytes())[..32].to_owned()
}

/// `text` without white space, byte-order mark and the commas that a formatter adds before a closing bracket.
pub(crate) fn squash(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}') {
        if matches!(c, ')' | '>' | ']') && out.ends_with(',') {
            out.pop();
        }
        out.push(c);
    }
    out
}

fn line_number(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "frame\n  // disttest:begin a — prose\n  // | more\n  body();\n  // disttest:end a\ntail\n";

    #[test]
    fn pieces_join_to_the_same_bytes() {
        for text in [FILE.to_owned(), FILE.replace('\n', "\r\n"), "no region".to_owned(), String::new()] {
            let pieces = parse(&text).expect("well-formed");
            assert_eq!(pieces.join(|region| region.body), text);
        }
    }

    #[test]
    fn a_body_is_what_stands_between_prose_and_end() {
        let check = |inside: &str, expect: &str| {
            let text = format!("x\n// disttest:begin a — p\n{inside}// disttest:end a\n");
            let region = parse(&text).expect("well-formed").regions[0];
            assert_eq!(region.body, expect, "{inside}");
            assert!(text.lines().nth(region.end_line(&text) - 1).is_some_and(|line| line == "// disttest:end a"));
            let (first, last) = region.lines(&text);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            assert_eq!(lines[first - 1..last].concat(), expect, "{inside}");
        };
        check("", "");
        check("body\n", "body\n");
        check("// | prose\n// mine\nbody\n", "// mine\nbody\n");
        check("// mine\n// | mine too\n", "// mine\n// | mine too\n");
        check("let s = r\"\n// disttest:end a\n\";\n", "let s = r\"\n// disttest:end a\n\";\n");
        check("f(); // disttest:end a\n", "f(); // disttest:end a\n");
        check("/*\n// disttest:end a\n*/\n", "/*\n// disttest:end a\n*/\n");
        check("{ { } }\r\n日本\r\n", "{ { } }\r\n日本\r\n");
    }

    #[test]
    fn broken_markers_are_told_with_their_line() {
        let check = |text: &str, expect: &str| assert_eq!(parse(text).expect_err(text), expect);
        check("// disttest:begin a\n", "line 1: region `a` is never closed");
        check("\n// disttest:end a\n", "line 2: region `a` ends and never began");
        check("// disttest:begin a\n// disttest:end b\n", "line 2: region `a` is closed as `b`");
        check("// disttest:begin a\n// disttest:begin b\n", "line 2: region `b` begins inside region `a`");
        let twice = "// disttest:begin a\n// disttest:end a\n".repeat(2);
        check(&twice, "line 3: there are two regions `a`");
        check("let a = \"", "line 1: a string or block comment is opened here and never closed");
    }

    #[test]
    fn a_frame_has_the_same_digest_whatever_a_formatter_does() {
        let digest = |text: &str| parse(text).expect("well-formed").frame_digest();
        assert_eq!(digest(FILE), digest(&FILE.replace("  ", "\t").replace('\n', "\r\n")));
        assert_eq!(digest("f(a)"), digest("f(\n    a,\n)"));
        assert_eq!(digest(FILE), digest(&FILE.replace("body();", "other(); body();")));
        assert_ne!(digest(FILE), digest(&FILE.replace("more", "less")));
        assert_ne!(digest(FILE), digest(&FILE.replace("tail", "")));
    }

    #[test]
    fn a_region_is_filled_when_no_todo_is_left_in_it() {
        let check = |body: &str, expect: bool| {
            assert_eq!(Region { name: "a", body, line: 1, start: 0 }.is_filled(), expect, "{body}");
        };
        check("let w = disttest_runtime::todo!(\"a\");\n", false);
        check("let w = disttest_runtime :: todo ! (\"a\");\n", false);
        check("let w = todo!(\"a\");\n", false);
        check("f(1);\n", true);
        check("// as planned\n", true);
        check("", false);
        check("\n  \t\n", false);
        assert!(Region { name: "helpers", body: "\n", line: 1, start: 0 }.is_filled());
    }
}
