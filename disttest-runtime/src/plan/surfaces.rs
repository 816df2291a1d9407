//! Surfaces that §7.M.S lists, and what tests each of them: an arm of its own, what the plan collapses it into, or nothing.
//!
//! The list is prose. Where it can be read in two ways it is read so that more surfaces are left without an arm: one too
//! many named as untested is a nuisance, one too few is a false claim.

use super::model::{Arm, Scenario};
use super::{Id, arms};
use std::collections::BTreeSet;

/// Label in §7.M.S of the list of surfaces.
const LIST: &str = "Surfaces";

/// A surface that the plan lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    /// As the list names it.
    pub(crate) name: String,
    /// What tests it; `None` when nothing does.
    pub(crate) tested_by: Option<Tester>,
}

/// What tests a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tester {
    /// An arm of its own, or the scenario when this is its one surface.
    Own(Id),
    /// What the plan collapses it into, with a reason.
    Collapsed(Id),
}

impl Tester {
    /// The id of the arm or scenario.
    pub(crate) fn id(&self) -> &Id {
        match self {
            Tester::Own(id) | Tester::Collapsed(id) => id,
        }
    }
}

/// An arm that may be the one of a surface.
struct Candidate {
    tester: Tester,
    /// What it may be called in the list.
    names: Vec<BTreeSet<String>>,
}

impl Scenario {
    /// Every surface that §7.M.S lists, in order, with what tests it. Quadratic in their number.
    pub(crate) fn listed_surfaces(&self) -> Vec<Surface> {
        let fields = self.surfaces.iter().flatten().filter(|field| field.label == LIST);
        let names: Vec<String> = fields.flat_map(|field| entries(&field.value.value)).collect();
        let testers = match self.arm_ids().is_empty() {
            true => vec![self.tested_whole(names.len()); names.len()],
            false => matched(&names, &self.candidates()),
        };
        names.into_iter().zip(testers).map(|(name, tested_by)| Surface { name, tested_by }).collect()
    }

    /// Without arms the scenario tests its one surface, or several that the plan says to be collapsed.
    fn tested_whole(&self, surfaces: usize) -> Option<Tester> {
        let id = self.id.value.clone();
        let lists = || self.surfaces.iter().flatten().filter(|field| field.label == arms::LIST);
        match surfaces {
            1 => Some(Tester::Own(id)),
            _ => lists().any(|list| all_collapsed(&list.value.value)).then_some(Tester::Collapsed(id)),
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let own = self.arm_ids().into_iter().map(|id| {
            let names = names(&id, self.arm(&id));
            Candidate { tester: Tester::Own(id), names }
        });
        let collapsed = self.collapsed_arms().into_iter().map(|(id, into)| {
            let names = names(&id, None);
            Candidate { tester: Tester::Collapsed(into), names }
        });
        own.chain(collapsed).collect()
    }
}

/// The part of an id behind the slash, the name of the arm, and each surface that the name lists.
fn names(id: &Id, arm: Option<&Arm>) -> Vec<BTreeSet<String>> {
    let named = arm.and_then(|arm| arm.name.as_deref()).unwrap_or_default();
    let mut names = vec![words(id.arm().unwrap_or_default()), words(named)];
    names.extend(entries(named).iter().map(|name| words(name)));
    names.retain(|name| !name.is_empty());
    names
}

/// An arm is that of every surface it is called after, word for word; then of the one surface whose name holds its own
/// or is held by it, if neither has a second such partner.
fn matched(surfaces: &[String], candidates: &[Candidate]) -> Vec<Option<Tester>> {
    let wanted: Vec<BTreeSet<String>> = surfaces.iter().map(|name| words(name)).collect();
    let same = |at: usize, one: &Candidate| one.names.contains(&wanted[at]);
    let exact = |at: usize| candidates.iter().find(|one| same(at, one)).map(|one| one.tester.clone());
    let mut found: Vec<Option<Tester>> = (0..surfaces.len()).map(exact).collect();
    let open: Vec<usize> = (0..surfaces.len()).filter(|at| found[*at].is_none()).collect();
    let free = || candidates.iter().filter(|one| !(0..surfaces.len()).any(|at| same(at, one)));
    // `CLI/SDK` may be two surfaces: an arm of one of them is not that of both.
    let near = |at: usize, one: &Candidate| {
        let (wanted, several) = (&wanted[at], surfaces[at].contains('/'));
        one.names.iter().any(|name| wanted.is_subset(name) || (!several && name.is_subset(wanted)))
    };
    for at in &open {
        let partners: Vec<&Candidate> = free().filter(|one| near(*at, one)).collect();
        if let [one] = partners[..]
            && open.iter().filter(|other| near(**other, one)).count() == 1
        {
            found[*at] = Some(one.tester.clone());
        }
    }
    found
}

/// `one; collapsed, because all share one queue`: the whole list says so, with a reason of three words.
fn all_collapsed(list: &str) -> bool {
    const WORD: &str = "collapsed";
    const DENIED: [&str; 4] = ["not", "never", "nothing", "none is"];
    let list = list.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let Some((before, reason)) = list.split_once(WORD) else { return false };
    let denied = DENIED.iter().any(|word| before.trim_end().ends_with(word));
    !denied && words_of(reason).count() >= 3
}

/// The surfaces of a list: its bullets, else what commas, semicolons, `and`, `+` and full stops part. What stands in
/// parentheses, or behind a dash or a colon, tells of a surface and is none.
fn entries(list: &str) -> Vec<String> {
    let bullet = |line: &str| ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned);
    let bulleted = list.lines().filter(|line| bullet(line.trim_start()).is_some()).count() > 1;
    let mut items: Vec<String> = Vec::new();
    for line in list.lines().map(str::trim) {
        match (bullet(line), items.last_mut()) {
            (Some(item), _) if bulleted => items.push(item),
            (_, Some(last)) => *last = format!("{last} {line}"),
            (_, None) => items.push(line.to_owned()),
        }
    }
    // In a bullet all that is behind the mark is about it; in a line each comma may begin another surface.
    let heads = items.iter().map(|item| outside_parentheses(item)).map(|item| match bulleted {
        true => head(&item).to_owned(),
        false => item,
    });
    let parts = heads.flat_map(|item| parts(&item));
    let names =
        parts.map(|part| head(&part).trim_matches(|c: char| c.is_whitespace() || ".`*\"".contains(c)).to_owned());
    names.filter(|name| is_surface(name)).collect()
}

fn strip_marks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['`', '*'], "")
}

fn outside_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in strip_marks(text).chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    // An open parenthesis hides nothing.
    if depth == 0 { out } else { strip_marks(text) }
}

fn head(text: &str) -> &str {
    const MARKS: [&str; 6] = [" — ", " – ", " -- ", " - ", ": ", " because "];
    let cut = MARKS.iter().filter_map(|mark| text.find(mark)).min();
    &text[..cut.unwrap_or(text.len())]
}

fn parts(text: &str) -> Vec<String> {
    const BETWEEN: [&str; 5] = [";", " and ", " + ", " & ", ". "];
    let commas = BETWEEN.iter().fold(text.to_owned(), |text, mark| text.replace(mark, ","));
    commas.split(',').map(|part| part.trim().trim_start_matches("and ").to_owned()).collect()
}

/// Not a clause that goes on, nor a word for nothing.
fn is_surface(name: &str) -> bool {
    const GOES_ON: [&str; 5] = ["because", "since", "which", "so that", "whose"];
    const NOTHING: [&str; 4] = ["none", "n/a", "nothing", "—"];
    let lower = name.to_lowercase();
    let goes_on = GOES_ON.iter().any(|word| lower.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')));
    lower.contains(char::is_alphanumeric) && !goes_on && !NOTHING.contains(&lower.as_str())
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// In lower case and singular: `Exports` and `export` are one name.
fn words(name: &str) -> BTreeSet<String> {
    let singular = |word: &str| match word.strip_suffix('s') {
        Some(one) if one.len() > 2 && !one.ends_with('s') => one.to_owned(),
        _ => word.to_owned(),
    };
    words_of(name).map(|word| singular(&word.to_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use crate::plan::parse;

    /// `surface=arm`, `surface~arm` when collapsed, `surface` alone when nothing tests it.
    #[track_caller]
    fn check(surfaces: &str, arms: &str, blocks: &[&str], expect: &[&str]) {
        let blocks: String = blocks.iter().map(|block| format!("#### Arm {block}\n- **Oracle:** o\n\n")).collect();
        let text = format!(
            "# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S5: a\n- **Oracle:** o\n\n#### §7.M.S\n\
             - **Surfaces:** {surfaces}\n- **Scenario arms:** {arms}\n\n{blocks}"
        );
        let (plan, _) = parse(&text);
        let told = plan.scenarios[0].listed_surfaces().into_iter().map(|one| match one.tested_by {
            Some(super::Tester::Own(id)) => format!("{}={id}", one.name),
            Some(super::Tester::Collapsed(id)) => format!("{}~{id}", one.name),
            None => one.name,
        });
        assert_eq!(told.collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn a_surface_is_tested_by_the_arm_that_is_called_after_it() {
        let two = ["S5/api: public API", "S5/sdk"];
        check("public API, SDK", "S5/api, S5/sdk", &two, &["public API=S5/api", "SDK=S5/sdk"]);
        check("api and the SDKs", "", &two, &["api=S5/api", "the SDKs=S5/sdk"]);
        check("SDK, `api` (v1, v2)", "", &two, &["SDK=S5/sdk", "api=S5/api"]);
        check("api\n  and sdk", "", &two, &["api=S5/api", "sdk=S5/sdk"]);
        check(
            "TypeScript SDK, hourly export",
            "S5/sdk, S5/export",
            &[],
            &["TypeScript SDK=S5/sdk", "hourly export=S5/export"],
        );
        check(
            "api, sdk, cli",
            "",
            &["S5/clients: API, SDK and CLI"],
            &["api=S5/clients", "sdk=S5/clients", "cli=S5/clients"],
        );
        check("one", "none", &[], &["one=S5"]);
        check("none", "none", &[], &[]);
    }

    #[test]
    fn a_surface_without_an_arm_is_tested_by_nothing() {
        let one = ["S5/api: public API"];
        check("public API, SDK", "S5/api", &one, &["public API=S5/api", "SDK"]);
        check("public API + admin console", "S5/api", &one, &["public API=S5/api", "admin console"]);
        check("public API. SDK", "S5/api", &one, &["public API=S5/api", "SDK"]);
        check("api — the way in, sdk — a client, since it is there", "", &one, &["api=S5/api", "sdk"]);
        check("\n  - api: read, write\n  - sdk, cli: read", "", &one, &["api=S5/api", "sdk", "cli"]);
        check("api (the way in, sdk", "", &one, &["api (the way in=S5/api", "sdk"]);
        // Which of two is meant, or whether it is one, is not clear.
        check("read API, write API", "S5/api", &["S5/api"], &["read API", "write API"]);
        check("SDK/API", "S5/api", &["S5/api"], &["SDK/API"]);
        check("api", "", &["S5/api-v1", "S5/api-v2"], &["api"]);
        check("read, write", "one; it is simpler", &[], &["read", "write"]);
    }

    #[test]
    fn a_surface_that_is_collapsed_with_a_reason_is_tested_where_the_plan_says() {
        let one = ["S5/api: public API"];
        let check = |arms: &str, blocks: &[&str], expect: &[&str]| check("api, sdk", arms, blocks, expect);
        check("S5/sdk collapsed into S5/api — one code path", &one, &["api=S5/api", "sdk~S5/api"]);
        check("S5/api, S5/sdk collapsed into S5/api", &one, &["api=S5/api", "sdk=S5/sdk"]);
        check("none; collapsed, because both share a queue", &[], &["api~S5", "sdk~S5"]);
        check("collapsed", &[], &["api", "sdk"]);
        check("not collapsed, they are two things", &[], &["api", "sdk"]);
    }
}
