//! Cycles of a commit order that cannot be, as arguments.

use super::line::{Must, Musts};
use super::parts::{Parts, source};
use crate::checker::isolation::Model;
use crate::checker::isolation::effort::{Effort, Stopped};
use crate::checker::isolation::findings::{Finding, Findings, KEPT, list_text, show};
use crate::checker::isolation::graph::{Edges, Graph, Rel};
use crate::checker::isolation::order::Order;
use crate::checker::isolation::scc::components;
use crate::checker::isolation::walk::{Rels, Walk, closed_walk};
use crate::txn::{MopKind, NONE, Txns};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

const ALL: Rels = Rels::of(&[Rel::Ww, Rel::Wr, Rel::Rw, Rel::Process, Rel::Must]);
/// Which relation a witness is looked for with, if there is any of it.
const TELLING: [Rel; 5] = [Rel::Must, Rel::Rw, Rel::Process, Rel::Wr, Rel::Ww];

/// Tells cycles, each transaction at most once.
pub(super) struct Argument<'t> {
    txns: &'t Txns,
    model: &'t Model,
    order: Option<&'t Order>,
    told: Vec<bool>,
}

impl<'t> Argument<'t> {
    pub(super) fn new(txns: &'t Txns, model: &'t Model, order: Option<&'t Order>) -> Argument<'t> {
        Argument { txns, model, order, told: vec![false; txns.len()] }
    }

    /// Adds a finding `name` for each knot of transactions that come before each other; without a name they only count as
    /// told.
    pub(super) fn tell(
        &mut self,
        parts: &Parts,
        musts: &Musts,
        name: Option<&str>,
        findings: &mut Findings,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let graph = graph(parts, musts);
        effort.spend(graph.len() as u64)?;
        let mut count = 0;
        for members in components(&graph, |_, _, _| true).members() {
            let is_news = !members.iter().any(|txn| self.told[*txn as usize]);
            members.iter().for_each(|txn| self.told[*txn as usize] = true);
            let Some(name) = name.filter(|_| is_news) else { continue };
            count += 1;
            let walk = if count <= KEPT { walk(&graph, &members, effort)? } else { None };
            findings.add(name, || self.finding(parts, musts, &walk.unwrap_or_default()));
        }
        Ok(())
    }

    fn finding(&self, parts: &Parts, musts: &Musts, walk: &Walk) -> Finding {
        let mut cast = Cast { txns: walk.iter().map(|(txn, _)| *txn).collect() };
        let mut text = String::new();
        let mut key = None;
        for (at, &(txn, rel)) in walk.iter().enumerate() {
            let (next, _) = walk[(at + 1) % walk.len()];
            let must = musts.before(next).iter().find(|must| must.before == txn && must.reader != NONE);
            let why = match (rel, must) {
                (Rel::Must | Rel::Rw, Some(must)) => {
                    key.get_or_insert(must.key);
                    self.why_must(parts, *must, &mut cast)
                }
                _ => self.why(txn, next, rel, &mut cast),
            };
            let joint = match at {
                0 => "",
                _ if at + 1 == walk.len() => "; however, ",
                _ => "; ",
            };
            text.push_str(&format!("{joint}{} < {}, because {why}", cast.name(txn), cast.name(next)));
        }
        let shown: Vec<String> =
            cast.txns.iter().enumerate().map(|(at, txn)| format!("T{} = {}", at + 1, show(self.txns, *txn))).collect();
        Finding {
            key: key.map(|key| self.txns.key_name(key).into_owned()),
            ops: cast.txns.iter().map(|txn| self.txns.index(*txn)).collect(),
            explanation: format!("Let {}. Then {text}: a contradiction.", shown.join("; ")),
        }
    }

    /// Why `a` comes before `b`, by what was read, by its session or by a known order of versions.
    fn why(&self, a: u32, b: u32, rel: Rel, cast: &mut Cast) -> String {
        let (a_name, b_name) = (cast.name(a), cast.name(b));
        let said = match rel {
            Rel::Wr => self
                .read(b, None, a)
                .map(|(key, shown)| format!("{b_name} read key {key} as {shown}, which {a_name} wrote")),
            Rel::Process => Some(format!("process {} ran {a_name} before {b_name}", self.txns.process_name(a))),
            _ => self.order.and_then(|order| order.why(self.txns, a, b, rel, &a_name, &b_name)),
        };
        said.unwrap_or_else(|| format!("{a_name} comes before {b_name}"))
    }

    /// Why what a read did not see comes before what it saw.
    fn why_must(&self, parts: &Parts, must: Must, cast: &mut Cast) -> String {
        let Must { after, before, reader, key } = must;
        let name = self.txns.key_name(key);
        if reader == before {
            return format!(
                "{} read key {name} in its initial state, before {} wrote it",
                cast.name(reader),
                cast.name(after)
            );
        }
        let shown = self.read(reader, Some(key), after).map_or_else(String::new, |(_, shown)| format!(" as {shown}"));
        let path = path(parts, before, reader);
        let steps: Vec<String> = path
            .windows(2)
            .map(|pair| {
                let is_session = parts.session_before(pair[1]) == pair[0];
                self.why(pair[0], pair[1], if is_session { Rel::Process } else { Rel::Wr }, cast)
            })
            .collect();
        let (reader, before, after) = (cast.name(reader), cast.name(before), cast.name(after));
        format!(
            "{reader} read key {name}{shown}, which {after} wrote, and {before} had written that key and was visible: {}",
            steps.join(", and ")
        )
    }

    /// The first read of `txn` that saw what `from` wrote: its key, and what it shows.
    fn read(&self, txn: u32, key: Option<u32>, from: u32) -> Option<(String, String)> {
        let mops = self.txns.mops(txn).iter().filter(|mop| key.is_none_or(|key| mop.key() == key));
        let mut seen = mops.filter(|mop| source(self.txns, self.model, txn, mop.kind()) == Some(from));
        let mop = seen.next()?;
        let shown = match mop.kind() {
            MopKind::Value(element) => self.txns.value_name(element).into_owned(),
            MopKind::List { chain, len } => list_text(self.txns, &self.txns.chain(chain)[..len as usize]),
            _ => "nothing".to_owned(),
        };
        Some((self.txns.key_name(mop.key()).into_owned(), shown))
    }
}

/// The transactions of an argument, in the order in which it names them.
struct Cast {
    txns: Vec<u32>,
}

impl Cast {
    fn name(&mut self, txn: u32) -> String {
        let at = self.txns.iter().position(|known| *known == txn).unwrap_or_else(|| {
            self.txns.push(txn);
            self.txns.len() - 1
        });
        format!("T{}", at + 1)
    }
}

fn graph(parts: &Parts, musts: &Musts) -> Graph {
    let mut edges = Edges::new(parts.len() as u32);
    for txn in 0..parts.len() as u32 {
        if parts.session_before(txn) != NONE {
            edges.add(parts.session_before(txn), txn, Rel::Process);
        }
        parts.reads(txn).iter().filter(|read| read.from != NONE).for_each(|read| edges.add(read.from, txn, Rel::Wr));
    }
    for must in musts.all() {
        let rel = match must.reader {
            NONE => Rel::Ww,
            reader if reader == must.before => Rel::Rw,
            _ => Rel::Must,
        };
        edges.add(must.before, must.after, rel);
    }
    edges.graph()
}

/// A short cycle among `members` (rising), which all reach each other.
fn walk(graph: &Graph, members: &[u32], effort: &mut Effort<'_>) -> Result<Option<Walk>, Stopped> {
    let mut edges = Edges::new(members.len() as u32);
    let mut has = 0_u8;
    for (at, &txn) in members.iter().enumerate() {
        for (to, rel) in graph.from(txn) {
            if let Ok(to) = members.binary_search(&to) {
                edges.add(at as u32, to as u32, rel);
                has |= 1 << rel as u8;
            }
        }
    }
    let Some(rel) = TELLING.into_iter().find(|rel| has & 1 << *rel as u8 != 0) else { return Ok(None) };
    let walk = closed_walk(&edges.graph(), ALL, &[rel], effort)?;
    Ok(walk.map(|walk| walk.into_iter().map(|(node, rel)| (members[node as usize], rel)).collect()))
}

/// A shortest chain of causes from `before` to `reader`.
fn path(parts: &Parts, before: u32, reader: u32) -> Vec<u32> {
    let mut next: FxHashMap<u32, u32> = FxHashMap::default();
    let mut queue = VecDeque::from([reader]);
    while let Some(txn) = queue.pop_front() {
        if txn == before {
            break;
        }
        for cause in parts.causes(txn) {
            if cause != reader && !next.contains_key(&cause) {
                next.insert(cause, txn);
                queue.push_back(cause);
            }
        }
    }
    let (mut path, mut at) = (vec![before], before);
    while let Some(&to) = next.get(&at) {
        path.push(to);
        at = to;
    }
    path
}
