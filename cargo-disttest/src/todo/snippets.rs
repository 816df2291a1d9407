//! Code to start from, made of the templates under `templates/snippets/`. Whatever comes from a plan goes through
//! [`prose`] first; what only a person can know is left as `disttest_runtime::todo!`, which keeps a scenario NOT-RUN.

use super::operations::Operations;
use super::support::{Program, Support};
use crate::author::prose;
use crate::new::template::fill;
use disttest_runtime::plan::names::parts_of;

/// Code that a region needs in the region `helpers`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Helper {
    /// What it is: equal names are equal code, to be pasted once.
    pub name: String,
    /// The code.
    pub code: String,
}

/// Each nemesis of the runtime as an expression over `minority` and `rest`.
pub(crate) const NEMESES: &[(&str, &str)] = &[
    ("hard-kill", include_str!("../../../templates/snippets/nemesis/hard-kill.rs.txt")),
    ("graceful-stop", include_str!("../../../templates/snippets/nemesis/graceful-stop.rs.txt")),
    ("pause", include_str!("../../../templates/snippets/nemesis/pause.rs.txt")),
    ("container-restart", include_str!("../../../templates/snippets/nemesis/container-restart.rs.txt")),
    ("full-partition", include_str!("../../../templates/snippets/nemesis/full-partition.rs.txt")),
    ("asymmetric-partition", include_str!("../../../templates/snippets/nemesis/asymmetric-partition.rs.txt")),
    ("packet-loss", include_str!("../../../templates/snippets/nemesis/packet-loss.rs.txt")),
    ("latency", include_str!("../../../templates/snippets/nemesis/latency.rs.txt")),
    ("bandwidth-cap", include_str!("../../../templates/snippets/nemesis/bandwidth-cap.rs.txt")),
    ("minority-side-partition", include_str!("../../../templates/snippets/nemesis/minority-side-partition.rs.txt")),
    ("majority-side-partition", include_str!("../../../templates/snippets/nemesis/majority-side-partition.rs.txt")),
    ("leader-isolation", include_str!("../../../templates/snippets/nemesis/leader-isolation.rs.txt")),
    ("packet-duplication", include_str!("../../../templates/snippets/nemesis/packet-duplication.rs.txt")),
    ("packet-reordering", include_str!("../../../templates/snippets/nemesis/packet-reordering.rs.txt")),
    ("metadata-store-outage", include_str!("../../../templates/snippets/nemesis/metadata-store-outage.rs.txt")),
    ("disk-full", include_str!("../../../templates/snippets/nemesis/disk-full.rs.txt")),
    ("power-loss", include_str!("../../../templates/snippets/nemesis/power-loss.rs.txt")),
    ("slow-disk", include_str!("../../../templates/snippets/nemesis/slow-disk.rs.txt")),
    ("bit-flip", include_str!("../../../templates/snippets/nemesis/bit-flip.rs.txt")),
    ("fsync-failure", include_str!("../../../templates/snippets/nemesis/fsync-failure.rs.txt")),
    ("storage-corruption", include_str!("../../../templates/snippets/nemesis/storage-corruption.rs.txt")),
    ("backup-restore-race", include_str!("../../../templates/snippets/nemesis/backup-restore-race.rs.txt")),
    ("clock-skew", include_str!("../../../templates/snippets/nemesis/clock-skew.rs.txt")),
    ("slow-clock", include_str!("../../../templates/snippets/nemesis/slow-clock.rs.txt")),
    ("rolling-restart", include_str!("../../../templates/snippets/nemesis/rolling-restart.rs.txt")),
    ("split-brain", include_str!("../../../templates/snippets/nemesis/split-brain.rs.txt")),
    ("slow-follower", include_str!("../../../templates/snippets/nemesis/slow-follower.rs.txt")),
    ("mixed-version-cluster", include_str!("../../../templates/snippets/nemesis/mixed-version-cluster.rs.txt")),
    ("rolling-upgrade", include_str!("../../../templates/snippets/nemesis/rolling-upgrade.rs.txt")),
    ("config-divergence", include_str!("../../../templates/snippets/nemesis/config-divergence.rs.txt")),
    ("credential-divergence", include_str!("../../../templates/snippets/nemesis/credential-divergence.rs.txt")),
    ("compaction-during-reads", include_str!("../../../templates/snippets/nemesis/compaction-during-reads.rs.txt")),
    ("rebalancing-during-writes", include_str!("../../../templates/snippets/nemesis/rebalancing-during-writes.rs.txt")),
    ("asymmetric-data-cut", include_str!("../../../templates/snippets/nemesis/asymmetric-data-cut.rs.txt")),
    ("connection-loss", include_str!("../../../templates/snippets/nemesis/connection-loss.rs.txt")),
    ("bridge-partition", include_str!("../../../templates/snippets/nemesis/bridge-partition.rs.txt")),
    ("ring-partition", include_str!("../../../templates/snippets/nemesis/ring-partition.rs.txt")),
    ("packet-corruption", include_str!("../../../templates/snippets/nemesis/packet-corruption.rs.txt")),
    ("restart", include_str!("../../../templates/snippets/nemesis/restart.rs.txt")),
    ("clock-jump", include_str!("../../../templates/snippets/nemesis/clock-jump.rs.txt")),
    ("cgroup-freeze", include_str!("../../../templates/snippets/nemesis/cgroup-freeze.rs.txt")),
    ("cpu-throttle", include_str!("../../../templates/snippets/nemesis/cpu-throttle.rs.txt")),
    ("memory-limit", include_str!("../../../templates/snippets/nemesis/memory-limit.rs.txt")),
    ("write-failure", include_str!("../../../templates/snippets/nemesis/write-failure.rs.txt")),
    ("container-kill", include_str!("../../../templates/snippets/nemesis/container-kill.rs.txt")),
    ("container-pause", include_str!("../../../templates/snippets/nemesis/container-pause.rs.txt")),
    ("container-disconnect", include_str!("../../../templates/snippets/nemesis/container-disconnect.rs.txt")),
    ("pod-delete", include_str!("../../../templates/snippets/nemesis/pod-delete.rs.txt")),
    ("scale-down", include_str!("../../../templates/snippets/nemesis/scale-down.rs.txt")),
    ("cordon", include_str!("../../../templates/snippets/nemesis/cordon.rs.txt")),
    ("failpoint", include_str!("../../../templates/snippets/nemesis/failpoint.rs.txt")),
];

/// The expression of a nemesis; `None` when the runtime has no such nemesis.
pub(crate) fn nemesis(name: &str) -> Option<&'static str> {
    NEMESES.iter().find(|(known, _)| *known == name).map(|(_, code)| code.trim())
}

/// The region `workload`: `clients` of them (none: the runtime's default) that do `work`, and a probe for each of
/// `probes`, which are expressions.
pub(crate) fn workload(program: &str, clients: Option<u64>, probes: &[String], work: &str) -> String {
    let clients = clients.map(|count| format!("        .clients({count})\n")).unwrap_or_default();
    let probes: String = probes.iter().map(|probe| format!("        .probe({probe})\n")).collect();
    fill(include_str!("../../../templates/snippets/workload.rs.txt"), |key| match key {
        "program" => program.to_owned(),
        "work" => work.to_owned(),
        _ => format!("{clients}{probes}"),
    })
}

/// The expression of `name`, which may join several: the first of them acts on the minority, then the others on the rest.
fn expression(name: &str) -> Option<String> {
    let codes: Vec<&str> = parts_of(name).map(nemesis).collect::<Option<_>>()?;
    let (first, others) = codes.split_first()?;
    if others.is_empty() {
        return Some((*first).to_owned());
    }
    let on = |code: &str, minority: &str, rest: &str| {
        let words = code.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_'));
        let named = words.map(|word| match word.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_')) {
            side @ "minority" => word.replacen(side, minority, 1),
            side @ "rest" => word.replacen(side, rest, 1),
            _ => word.to_owned(),
        });
        named.collect::<String>()
    };
    let mut code = format!("InTurn::default().then({})", on(first, "minority.clone()", "rest.clone()"));
    for other in others {
        code += &format!(".then({})", on(other, "rest[..1].to_vec()", "rest[1..].to_vec()"));
    }
    Some(code)
}

/// The region `faults` with these nemeses (names of [`NEMESES`], or several joined), one window after another, in turn;
/// `signals` is said in a comment.
pub(crate) fn faults(nemeses: &[&str], signals: &str) -> String {
    let codes: Vec<String> = nemeses.iter().filter_map(|name| expression(name)).collect();
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    // A leader is found by asking, and no side is drawn for it.
    let words = |code: &str, side: &str| code.split(|c: char| !c.is_alphanumeric()).any(|word| word == side);
    let names = |side: &str| codes.iter().any(|code| words(code, side));
    let sides = match (names("minority"), names("rest")) {
        (true, true) => "minority, rest",
        (true, false) => "minority, _",
        (false, true) => "_, rest",
        (false, false) => "",
    };
    let window = if sides.is_empty() && codes.len() < 2 { "_" } else { "window" };
    let fault = match codes.as_slice() {
        [only] => format!("            let fault = {only};\n"),
        several => {
            let arm = |(n, code): (usize, &&str)| {
                let pattern = if n + 1 == several.len() { "_".to_owned() } else { n.to_string() };
                format!("                {pattern} => Box::new({code}),\n")
            };
            let arms: String = several.iter().enumerate().map(arm).collect();
            let count = several.len();
            format!("            let fault: Box<dyn Nemesis> = match window % {count} {{\n{arms}            }};\n")
        }
    };
    let signals = match signals {
        "" => String::new(),
        signals => prose::comment("    // Must move:", "    //", signals, 110).join("\n") + "\n",
    };
    fill(include_str!("../../../templates/snippets/faults.rs.txt"), |key| match key {
        "signals" => signals.clone(),
        "window" => window.to_owned(),
        "sides" if sides.is_empty() => String::new(),
        "sides" => format!("            let ({sides}) = run.minority(&format!(\"window {{window}}\"));\n"),
        _ => fault.clone(),
    })
}

/// The region `faults` of a scenario without a fault.
pub(crate) fn no_fault(reason: &str) -> String {
    fill(include_str!("../../../templates/snippets/faults-none.rs.txt"), |_| prose::literal(reason))
}

/// The region `oracle` with these checkers, which are expressions, after the final reads `reads`.
pub(crate) fn oracle(checkers: &[String], reads: &str) -> String {
    let checks: String = checkers.iter().map(|checker| format!("        .check({checker})\n")).collect();
    fill(include_str!("../../../templates/snippets/oracle.rs.txt"), |key| match key {
        "reads" => reads.to_owned(),
        _ => checks.clone(),
    })
}

/// The declaration of the module with the package's own helpers.
pub(crate) fn module(support: &Support) -> Helper {
    let code = fill(include_str!("../../../templates/snippets/support.rs.txt"), |key| match key {
        "path" => prose::literal(&support.path),
        _ => support.module.clone(),
    });
    Helper { name: format!("module {}", support.module), code }
}

/// What a node runs, where the package says so nowhere.
pub(crate) fn program(program: &Program) -> Option<Helper> {
    let code = match program {
        Program::Helper(_) => return None,
        Program::Unknown => include_str!("../../../templates/snippets/program-unknown.rs.txt").to_owned(),
        Program::Binary { name, others } => {
            let others = match others.as_slice() {
                [] => String::new(),
                others => {
                    let others = format!("the package has {} as well", others.join(", "));
                    prose::comment("    //", "    //", &others, 110).join("\n") + "\n"
                }
            };
            fill(include_str!("../../../templates/snippets/program.rs.txt"), |key| match key {
                "binary" => format!("env!({})", prose::literal(&format!("CARGO_BIN_EXE_{name}"))),
                _ => others.clone(),
            })
        }
    };
    Some(Helper { name: "program".to_owned(), code })
}

/// A probe for `metric`, the name behind `metric:`; `taken` are calls of probes that there are already.
pub(crate) fn probe(metric: &str, taken: &[String]) -> (String, Helper) {
    let mut function = format!("probe_{}", crate::author::frame::function_name(metric));
    while taken.contains(&format!("{function}()")) {
        function.push_str("_too");
    }
    let code = fill(include_str!("../../../templates/snippets/probe.rs.txt"), |key| match key {
        "doc" => format!("`metric:{}`", prose::one_line(metric).replace('`', "'")),
        "name" => prose::literal(metric),
        _ => function.clone(),
    });
    (format!("{function}()"), Helper { name: format!("probe {metric}"), code })
}

/// What clients do to the system, where the package has no client that records.
pub(crate) fn client(operations: &Operations, keys: u64) -> Helper {
    let quoted: Vec<String> = operations.kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
    let mut inputs: String =
        operations.inputs.iter().map(|(pattern, value)| format!("        {pattern} => {value},\n")).collect();
    inputs.push_str("        // No two are alike, so that an answer tells which one it saw.\n");
    inputs.push_str("        _ => json!(format!(\"{}-{count}\", client.id())),\n");
    let code = fill(include_str!("../../../templates/snippets/client.rs.txt"), |key| match key {
        "keys" => keys.to_string(),
        "count" => quoted.len().to_string(),
        "operations" => quoted.join(", "),
        "inputs" => inputs.clone(),
        "answers" => operations.answers.to_owned(),
        _ => operations.read.to_owned(),
    });
    Helper { name: format!("clients of a {}", operations.model), code }
}

/// What clients do with the package's own session.
pub(crate) fn session(session: &str, keys: u64) -> Helper {
    let code = fill(include_str!("../../../templates/snippets/session.rs.txt"), |key| match key {
        "keys" => keys.to_string(),
        _ => session.to_owned(),
    });
    Helper { name: "clients with a session".to_owned(), code }
}

/// `clients` in a module of its own: arms that share a file have clients of different kinds.
pub(crate) fn in_module(clients: &Helper, module: &str) -> Helper {
    let mut code = format!("mod {module} {{\n    use disttest_runtime::prelude::*;\n");
    for line in clients.code.lines() {
        let public = ["async fn work(", "async fn read_everything("].iter().any(|start| line.starts_with(start));
        let line = if public { format!("pub(super) {line}") } else { line.to_owned() };
        code.push_str(format!("    {line}").trim_end());
        code.push('\n');
    }
    code.push_str("}\n");
    Helper { name: format!("module {module}"), code }
}

/// An oracle that the plan describes and the catalogue does not have.
pub(crate) fn own_oracle(name: &str) -> Helper {
    let name = prose::literal(&crate::author::frame::function_name(name).replace('_', "-"));
    let code = fill(include_str!("../../../templates/snippets/own-oracle.rs.txt"), |_| name.clone());
    Helper { name: "oracle of the plan".to_owned(), code }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::names;

    /// A region, parsed as the body of a scenario.
    fn parses(region: &str) -> bool {
        syn::parse_str::<syn::Block>(&format!("{{ {region} }}")).is_ok()
    }

    #[test]
    fn every_nemesis_that_the_runtime_has_is_here() {
        let has = |nemesis: &&names::Nemesis| !nemesis.signals.is_empty();
        let known: Vec<&str> = names::NEMESES.iter().filter(has).map(|nemesis| nemesis.name.id).collect();
        assert_eq!(NEMESES.iter().map(|(name, _)| *name).collect::<Vec<&str>>(), known);
        assert!(NEMESES.iter().all(|(_, code)| syn::parse_str::<syn::Expr>(code).is_ok()));
    }

    #[test]
    fn a_plan_cannot_break_out_of_a_snippet() {
        for evil in ["\"); evil(", "\n fn evil() {}", "*/ evil", "\\", "\u{202e}\u{1b}[31m", "<<keys>>", "`"] {
            let (call, helper) = probe(evil, &[]);
            assert!(syn::parse_str::<syn::Expr>(&call).is_ok(), "{call}");
            for (code, items) in [(helper.code, 1), (own_oracle(evil).code, 4)] {
                let file = syn::parse_file(&code).unwrap_or_else(|error| panic!("{error}: {code}"));
                assert_eq!(file.items.len(), items, "{code}");
            }
            for region in [no_fault(evil), faults(&["pause"], evil)] {
                assert!(parses(&region) && !region.contains('\u{202e}'), "{region}");
                assert!(!region.lines().any(|line| line.trim_start().starts_with("fn evil")), "{region}");
            }
        }
    }

    #[test]
    fn two_metrics_never_share_a_function() {
        let (first, _) = probe("peer-timeouts", &[]);
        assert_eq!(first, "probe_peer_timeouts()");
        assert_eq!(probe("peer_timeouts", &[first]).0, "probe_peer_timeouts_too()");
    }

    #[test]
    fn several_nemeses_take_turns() {
        let region = faults(&["hard-kill", "full-partition"], "`process-exit`");
        assert!(parses(&region), "{region}");
        assert!(region.contains("\n    // Must move: `process-exit`\n    let landed: Landed = {"), "{region}");
        assert!(region.contains("match window % 2 {\n                0 => Box::new(HardKill::new(minority)),\n"));
        assert!(region.contains("                _ => Box::new(FullPartition::new(minority, rest)),\n"));
        assert!(faults(&["pause"], "").contains("let (minority, _) ="));
        let region = faults(&["full-partition + hard-kill"], "");
        let both = "InTurn::default().then(FullPartition::new(minority.clone(), rest.clone())).then(HardKill::new(rest[..1].to_vec()))";
        assert!(region.contains("let (minority, rest) =") && region.contains(both), "{region}");
        let region = faults(&["leader-isolation"], "");
        assert!(parses(&region) && region.contains("for _ in ") && !region.contains("minority"), "{region}");
    }

    #[test]
    fn every_client_parses() {
        for operations in &super::super::operations::ALL {
            let code = client(operations, 4).code;
            syn::parse_file(&code).unwrap_or_else(|error| panic!("{error}: {code}"));
            let module = in_module(&client(operations, 4), "api_clients").code;
            assert_eq!(syn::parse_file(&module).expect("Rust").items.len(), 1, "{module}");
            assert_eq!(module.matches("pub(super) async fn").count(), 2, "{module}");
        }
    }
}
