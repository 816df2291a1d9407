//! Claims → hypotheses → scenarios as a picture: Mermaid and Graphviz's DOT.

use super::{falsifying, has};
use crate::diagnostics::plain;
use disttest_runtime::plan::{Id, Plan};

/// What draws the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Drawing {
    /// Mermaid, which code hosts draw inside of Markdown
    Mermaid,
    /// Graphviz
    Dot,
    /// One after the other, each as a block of Markdown
    Both,
}

/// The picture.
pub(crate) fn draw(plan: &Plan, drawing: Drawing) -> String {
    match drawing {
        Drawing::Mermaid => mermaid(plan),
        Drawing::Dot => dot(plan),
        Drawing::Both => format!("```mermaid\n{}```\n\n```dot\n{}```\n", mermaid(plan), dot(plan)),
    }
}

/// A box of the picture.
struct Node {
    name: String,
    label: String,
    kind: &'static str,
    /// Nothing tests it.
    gap: bool,
}

/// An arrow from one name to another.
struct Edge {
    from: String,
    to: String,
}

fn nodes(plan: &Plan) -> Vec<Node> {
    let node = |id: &Id, text: &str, kind: &'static str, gap: bool| Node {
        name: id.to_string().replace('/', "_"),
        label: format!("{} {}", id.written(), shortened(text)),
        kind,
        gap,
    };
    let claims = plan
        .claims
        .iter()
        .map(|c| node(&c.id.value, &c.text.value, "claim", falsifying(plan, &c.id.value).next().is_none()));
    let hypotheses = plan.hypotheses.iter().map(|h| {
        node(&h.id.value, &h.title, "hypothesis", !plan.scenarios.iter().any(|s| has(&s.closes, &h.id.value)))
    });
    let scenarios = plan.scenarios.iter().map(|s| {
        let kind = if s.is_serious(plan) { "serious" } else { "scenario" };
        node(&s.id.value, &s.name.value, kind, s.falsifies.is_empty() || s.closes.is_empty())
    });
    claims.chain(hypotheses).chain(scenarios).collect()
}

/// A claim leads to what threatens it, a hypothesis to what closes it; a claim that a scenario falsifies through no
/// hypothesis of its own leads there straight. Names that the plan does not define have no box and no arrow.
fn edges(plan: &Plan) -> Vec<Edge> {
    let edge = |from: &Id, to: &Id| Edge { from: from.to_string(), to: to.to_string() };
    let mut edges = Vec::new();
    for claim in &plan.claims {
        let id = &claim.id.value;
        let threats: Vec<_> = plan.hypotheses.iter().filter(|h| has(&h.claims, id)).collect();
        edges.extend(threats.iter().map(|h| edge(id, &h.id.value)));
        let straight = falsifying(plan, id).filter(|s| !threats.iter().any(|h| has(&s.closes, &h.id.value)));
        edges.extend(straight.map(|s| edge(id, &s.id.value)));
    }
    for hypothesis in &plan.hypotheses {
        let id = &hypothesis.id.value;
        edges.extend(plan.scenarios.iter().filter(|s| has(&s.closes, id)).map(|s| edge(id, &s.id.value)));
    }
    edges
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let text = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        None => text,
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
    }
}

fn mermaid(plan: &Plan) -> String {
    let mut out = "flowchart LR\n".to_owned();
    for Node { name, label, kind, gap } in nodes(plan) {
        let (open, close) = match kind {
            "claim" => ("[", "]"),
            "hypothesis" => ("{{", "}}"),
            _ => ("([", "])"),
        };
        let class = if gap { "gap" } else { kind };
        out.push_str(&format!("  {name}{open}\"{}\"{close}:::{class}\n", mermaid_text(&label)));
    }
    for Edge { from, to } in edges(plan) {
        out.push_str(&format!("  {from} --> {to}\n"));
    }
    out.push_str("  classDef gap stroke:#c00,stroke-width:3px,stroke-dasharray:5 3\n");
    out.push_str("  classDef serious stroke-width:3px\n");
    out
}

/// Text of a Mermaid label: every character that could end it or start markup becomes an entity code.
fn mermaid_text(text: &str) -> String {
    let code = |c: char| match c {
        '"' | '#' | ';' | '<' | '>' | '&' | '`' | '\\' | '[' | ']' | '{' | '}' | '(' | ')' | '|' | '%' => {
            format!("#{};", c as u32)
        }
        c => c.to_string(),
    };
    text.chars().map(code).collect()
}

fn dot(plan: &Plan) -> String {
    let mut out = "digraph plan {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n".to_owned();
    for Node { name, label, kind, gap } in nodes(plan) {
        let shape = match kind {
            "claim" => "box",
            "hypothesis" => "hexagon",
            _ => "ellipse",
        };
        let width = if kind == "serious" { ", penwidth=3" } else { "" };
        let gap = if gap { ", color=red, style=dashed, penwidth=3" } else { width };
        out.push_str(&format!("  {name} [shape={shape}, label=\"{}\"{gap}];\n", dot_text(&label)));
    }
    for Edge { from, to } in edges(plan) {
        out.push_str(&format!("  {from} -> {to};\n"));
    }
    out.push_str("}\n");
    out
}

/// Text of a quoted DOT string.
fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::parse;

    const PLAN: &str = "# Test Plan: x\n\n## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n\
        |---|---|---|---|---|\n| C1 | says \"a\" \\| b | safety | d | no |\n| C2 | b | liveness | d | no |\n\n\
        ## 4. Failure-mode hypotheses\n\nH1. **lost** — s.\n  - Could falsify: C1\n\n## 7. Scenarios\n\n\
        ### Scenario S1: kept\n\n- **Falsifies if it FAILs:** C1, C9\n- **Closes:** H1\n";

    #[test]
    fn the_graph_is_what_its_texts_say() {
        let plan = parse(PLAN).0;
        let expect = "flowchart LR\n  C1[\"C1 says #34;a#34; #124; b\"]:::claim\n  C2[\"C2 b\"]:::gap\n  \
            H1{{\"H1 lost\"}}:::hypothesis\n  S1([\"S1 kept\"]):::serious\n  C1 --> H1\n  H1 --> S1\n  \
            classDef gap stroke:#c00,stroke-width:3px,stroke-dasharray:5 3\n  classDef serious stroke-width:3px\n";
        assert_eq!(draw(&plan, Drawing::Mermaid), expect);
        let expect = "digraph plan {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n  \
            C1 [shape=box, label=\"C1 says \\\"a\\\" | b\"];\n  \
            C2 [shape=box, label=\"C2 b\", color=red, style=dashed, penwidth=3];\n  \
            H1 [shape=hexagon, label=\"H1 lost\"];\n  S1 [shape=ellipse, label=\"S1 kept\", penwidth=3];\n  \
            C1 -> H1;\n  H1 -> S1;\n}\n";
        assert_eq!(draw(&plan, Drawing::Dot), expect);
        let both = draw(&plan, Drawing::Both);
        assert!(both.starts_with("```mermaid\nflowchart") && both.contains("```dot\ndigraph"));
    }

    #[test]
    fn text_of_a_plan_never_ends_a_label() {
        let evil = "x\"]; evil --> y; %% <script> \\\" `";
        assert!(!mermaid_text(evil).contains(['"', '<', '>', '`', '%', '\\']));
        assert_eq!(dot_text("a\\\"; b"), "a\\\\\\\"; b");
    }
}
