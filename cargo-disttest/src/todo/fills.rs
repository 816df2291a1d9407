//! What a region of a scenario could hold: the whole region, made for this scenario and this package.

use super::operations::{self, Operations};
use super::snippets::{self, Helper};
use super::support::{Program, Support};
use super::transactions::{self, Transactions};
use crate::author::frame::function_name;
use disttest_runtime::plan::names::{parts_of, signal_mentions};
use disttest_runtime::plan::{Fault, Resolved};
use serde::Serialize;

/// Code for a region, and what it needs in the region `helpers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fill {
    /// The region's text.
    pub code: String,
    /// To be pasted into the region `helpers`, unless it stands there. Written as names: an item has each code once.
    #[serde(serialize_with = "names")]
    pub helpers: Vec<Helper>,
}

fn names<S: serde::Serializer>(helpers: &[Helper], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(helpers.iter().map(|helper| &helper.name))
}

/// What is known of a scenario, as far as its fills go.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    /// What its prose yields.
    pub resolved: &'a Resolved,
    /// What §7.M says of model and checker.
    pub judged: String,
    /// The Workload field.
    pub workload: &'a str,
    /// Where a node's program comes from.
    pub program: &'a Program,
    /// The package's helper module.
    pub support: Option<&'a Support>,
    /// The arm whose region it is: its file may hold other arms with clients of their own.
    pub arm: Option<&'a str>,
    /// Its negative controls.
    pub controls: Vec<String>,
}

/// What clients do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Operations of a model.
    Operations(&'static Operations),
    /// Transactions.
    Transactions(Transactions),
}

/// A region's fill, or why there is none.
pub(crate) type Filled = Result<Fill, String>;

impl Known<'_> {
    /// The fill of the region of this name; `None` for a region that has none.
    pub(crate) fn fill(&self, region: &str) -> Option<Filled> {
        match region.rsplit('/').next() {
            Some("workload") => Some(Ok(self.workload(self.work()))),
            Some("faults") => Some(self.faults()),
            Some("oracle") => Some(self.oracle()),
            _ => None,
        }
    }

    /// What its clients do.
    pub(crate) fn work(&self) -> Work {
        let transactions = Transactions::of(self.resolved, &self.judged).map(Work::Transactions);
        transactions.unwrap_or_else(|| Work::Operations(operations::of(self.resolved.model.as_deref())))
    }

    /// How a test makes the checker `name`; `None` where it is not for the model.
    pub(crate) fn checker(&self, name: &str, per_key: bool) -> Option<String> {
        let model = self.resolved.model.as_deref();
        match self.work() {
            Work::Transactions(work) if name == "serializability" && model.is_some_and(transactions::fits) => {
                Some(work.checker())
            }
            _ => operations::checker(name, model, per_key),
        }
    }

    /// A workload of clients that do this.
    pub(crate) fn workload(&self, work: Work) -> Fill {
        let mut helpers = Vec::new();
        let (program, own) = self.program();
        let mut module = own;
        let mut probes = Vec::new();
        for metric in self.metrics() {
            match self.support.and_then(|support| support.probe(&metric)) {
                Some(call) => {
                    module = true;
                    probes.push(call);
                }
                None => {
                    let (call, helper) = snippets::probe(&metric, &probes);
                    probes.push(call);
                    helpers.push(helper);
                }
            }
        }
        let (clients, session) = self.clients(work);
        if module || session {
            helpers.extend(self.support.map(snippets::module));
        }
        helpers.extend(snippets::program(self.program).filter(|_| !own));
        helpers.push(clients);
        let count = number_before(self.workload, "client").filter(|count| *count <= 10_000);
        Fill { code: snippets::workload(&program, count, &probes, &self.function("work")), helpers }
    }

    /// The faults of the plan.
    fn faults(&self) -> Filled {
        match &self.resolved.fault {
            Fault::NoFault { reason } => Ok(Fill { code: snippets::no_fault(reason), helpers: Vec::new() }),
            Fault::Unresolved => Err("the plan names no nemesis with its landing signals".to_owned()),
            Fault::Planned { nemeses, .. } => {
                let mut all = nemeses.iter().flat_map(|name| parts_of(name));
                if let Some(other) = all.find(|name| snippets::nemesis(name).is_none()) {
                    return Err(format!("the runtime has no nemesis `{other}` yet: write one with `impl Nemesis`"));
                }
                let planned: Vec<&str> = nemeses.iter().map(String::as_str).collect();
                Ok(Fill { code: snippets::faults(&planned, &self.signals()), helpers: Vec::new() })
            }
        }
    }

    /// Faults by one nemesis.
    pub(crate) fn nemesis(&self, name: &'static str) -> Fill {
        Fill { code: snippets::faults(&[name], ""), helpers: Vec::new() }
    }

    /// The oracle of the plan.
    fn oracle(&self) -> Filled {
        let model = self.resolved.model.as_deref();
        if self.resolved.checkers.is_empty() {
            let mut fill = self.judged_by(&["PlanOracle".to_owned()], self.work());
            fill.helpers.push(snippets::own_oracle(&self.resolved.name));
            return Ok(fill);
        }
        let mut checkers = Vec::new();
        for (name, per_key) in &self.resolved.checkers {
            let Some(checker) = self.checker(name, *per_key) else {
                return Err(no_checker(name, model));
            };
            checkers.push(checker);
        }
        Ok(self.judged_by(&checkers, self.work()))
    }

    /// An oracle of these checkers, which are expressions, over what clients did.
    pub(crate) fn judged_by(&self, checkers: &[String], work: Work) -> Fill {
        let (helper, session) = self.clients(work);
        let module = self.support.filter(|_| session).map(snippets::module);
        let reads = self.function("read_everything");
        Fill { code: snippets::oracle(checkers, &reads), helpers: module.into_iter().chain([helper]).collect() }
    }

    /// The expression of the program, and whether it is the helper module's.
    fn program(&self) -> (String, bool) {
        match (self.support.and_then(|support| Some((&support.module, support.program.as_ref()?))), self.program) {
            (Some((module, function)), _) => (format!("{module}::{function}()"), true),
            (None, Program::Helper(call)) => (call.clone(), false),
            (None, _) => ("program()".to_owned(), false),
        }
    }

    /// What clients do, and whether they do it with the session of the helper module.
    fn clients(&self, work: Work) -> (Helper, bool) {
        let keys = number_before(self.workload, "key").filter(|keys| (1..=100_000).contains(keys)).unwrap_or(20);
        let session = self.support.and_then(|support| Some((&support.module, support.session.as_ref()?)));
        let up = if self.arm.is_some() { "super::" } else { "" };
        let (clients, session) = match (work, session) {
            (Work::Operations(operations), Some((module, session))) if operations.model == "register" => {
                (snippets::session(&format!("{up}{module}::{session}"), keys), true)
            }
            (Work::Operations(operations), _) => (snippets::client(operations, keys), false),
            (Work::Transactions(work), _) => (work.clients(keys), false),
        };
        match self.module() {
            Some(module) => (snippets::in_module(&clients, &module), session),
            None => (clients, session),
        }
    }

    /// The module of an arm's clients.
    fn module(&self) -> Option<String> {
        self.arm.map(|arm| format!("{}_clients", function_name(&format!("arm {arm}"))))
    }

    /// A function of the clients.
    fn function(&self, name: &str) -> String {
        self.module().map_or_else(|| name.to_owned(), |module| format!("{module}::{name}"))
    }

    /// Names behind `metric:` among the declared victim signals.
    pub(crate) fn metrics(&self) -> Vec<String> {
        let Fault::Planned { victim, .. } = &self.resolved.fault else { return Vec::new() };
        victim.iter().filter_map(|signal| signal.strip_prefix("metric:")).map(str::to_owned).collect()
    }

    fn signals(&self) -> String {
        let Fault::Planned { injector, victim, .. } = &self.resolved.fault else { return String::new() };
        format!("{} on the injector's side, {} at a victim.", injector.join(" or "), victim.join(" or "))
    }
}

/// Why there is no code for a checker.
pub(crate) fn no_checker(name: &str, model: Option<&str>) -> String {
    match (operations::CHECKERS.contains(&name), model) {
        (false, _) => format!("the runtime has no checker `{name}` yet: write one with `impl Checker`"),
        (true, None) => format!("the plan names no model for `{name}`"),
        (true, Some(model)) if name != "linearizability" => {
            let article = if model.starts_with('o') { "an" } else { "a" };
            format!("`{name}` is not for {article} {model}")
        }
        (true, Some(model)) => {
            format!("the runtime has no model `{model}` for `{name}` yet: write one with `impl Model`")
        }
    }
}

/// True when the runtime reads this signal by itself.
pub(crate) fn read_by_the_runtime(signal: &str) -> bool {
    !signal.starts_with("metric:") && !signal_mentions(&format!("`{signal}`")).is_empty()
}

/// The number in front of the first `word` (or its plural) of a text: `25 clients`.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |at: usize| {
        let bare = words[at].trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        bare == word || bare == format!("{word}s")
    };
    (1..words.len()).filter(|at| is_word(*at)).find_map(|at| words[at - 1].parse().ok()).filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::Id;

    fn resolved(model: Option<&str>, checkers: &[&str], fault: Fault) -> Resolved {
        Resolved {
            id: Id::parse("S1").expect("an id"),
            name: "every node serves".to_owned(),
            falsifies: Vec::new(),
            model: model.map(str::to_owned),
            checkers: checkers.iter().map(|name| ((*name).to_owned(), true)).collect(),
            fault,
            budgets: None,
        }
    }

    fn planned(nemeses: &[&str]) -> Fault {
        Fault::Planned {
            nemeses: nemeses.iter().map(|name| (*name).to_owned()).collect(),
            injector: vec!["process-exit".to_owned()],
            victim: vec!["client-timeouts".to_owned(), "metric:peer-timeouts".to_owned()],
        }
    }

    fn fill(resolved: &Resolved, region: &str) -> Filled {
        let program = Program::Binary { name: "node".to_owned(), others: Vec::new() };
        let arm = region.split_once('/').map(|(arm, _)| arm);
        let controls = Vec::new();
        let known = Known {
            resolved,
            judged: String::new(),
            workload: "25 clients on 4 keys",
            program: &program,
            support: None,
            arm,
            controls,
        };
        known.fill(region).expect("a region with a fill")
    }

    #[test]
    fn a_region_is_made_for_its_scenario() {
        let scenario = resolved(Some("log"), &["linearizability", "no-lost-ack"], planned(&["hard-kill"]));
        let workload = fill(&scenario, "workload").expect("there is one");
        assert!(workload.code.contains(".clients(25)") && workload.code.contains(".probe(probe_peer_timeouts())"));
        let names: Vec<&str> = workload.helpers.iter().map(|helper| helper.name.as_str()).collect();
        assert_eq!(names, ["probe peer-timeouts", "program", "clients of a log"]);
        assert!(workload.helpers[2].code.contains("const KEYS: u64 = 4;"));
        let oracle = fill(&scenario, "api/oracle").expect("there is one").code;
        assert!(
            oracle.contains(".check(Linearizability::per_key(Log::new()))\n        .check(NoLostAck::append_only())")
        );
        assert!(oracle.contains("workload.stop(arm_api_clients::read_everything)"), "{oracle}");
        let faults = fill(&scenario, "faults").expect("there is one").code;
        assert!(
            faults
                .contains("// Must move: process-exit on the injector's side, client-timeouts or metric:peer-timeouts")
        );
    }

    #[test]
    fn a_checker_of_isolation_has_clients_with_transactions() {
        for (model, checker, client) in [
            ("map", "serializability", "clients of list-append transactions"),
            ("other(list-append)", "serializability", "clients of list-append transactions"),
            ("register", "serializability", "clients of rw-register transactions"),
            ("map", "long-fork", "clients of inserting transactions"),
            ("map", "linearizability", "clients of a map"),
        ] {
            let scenario = resolved(Some(model), &[checker], planned(&["hard-kill"]));
            for region in ["workload", "oracle"] {
                let fill = fill(&scenario, region).expect("there is one");
                assert!(fill.helpers.iter().any(|helper| helper.name == client), "{model}; {checker}; {region}");
            }
        }
    }

    #[test]
    fn what_the_runtime_does_not_have_is_said_and_not_made_up() {
        let check = |model: Option<&str>, checker: &str, nemesis: &str, region: &str, expect: &str| {
            let scenario = resolved(model, &[checker], planned(&[nemesis]));
            let why = fill(&scenario, region).expect_err("there is none");
            assert!(why.contains(expect), "{why}");
        };
        check(Some("queue"), "no-lost-ack", "pause", "oracle", "`no-lost-ack` is not for a queue");
        check(None, "linearizability", "pause", "oracle", "names no model");
        check(Some("map"), "linearizability", "of-our-own", "faults", "no nemesis `of-our-own`");
        let open = resolved(Some("map"), &["linearizability"], Fault::Unresolved);
        assert!(fill(&open, "faults").is_err());
    }

    #[test]
    fn an_oracle_of_the_plans_own_is_left_to_be_written() {
        let own = fill(&resolved(None, &[], Fault::NoFault { reason: "healthy".to_owned() }), "oracle");
        let own = own.expect("there is one");
        assert!(own.code.contains(".check(PlanOracle)"));
        assert!(own.helpers.iter().any(|helper| helper.code.contains("\"every-node-serves\"")));
    }

    #[test]
    fn numbers_are_read_only_where_they_stand_before_the_word() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(number_before(text, "client"), expect, "{text}");
        check("closed loop, 25 clients spread", Some(25));
        check("one client", None);
        check("each client, 4 clients.", Some(4));
        check("0 clients", None);
        check("clients", None);
        check("70% of clients", None);
    }
}
