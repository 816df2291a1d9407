//! Recorded histories with known answers: a folder with a `manifest.csv` of file, model and expected answer.

use disttest_runtime::checker::{Checker, Linearizability};
use disttest_runtime::history::{Effect, History, jsonl};
use disttest_runtime::model::{CasRegister, Kv, Model, MultiRegister, Mutex, Queue, Register};
use serde_json::Value;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A line of the manifest.
pub(crate) struct Case {
    /// The file, as it is named there.
    pub(crate) file: String,
    /// Its model.
    pub(crate) model: String,
    /// `linearizable` or `not-linearizable`.
    pub(crate) expected: String,
    init: String,
    constrain: bool,
    folder: PathBuf,
}

/// The cases of `folder`.
pub(crate) fn cases(folder: &Path) -> Vec<Case> {
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let case = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [file, model, expected, init] = [0, 1, 2, 9].map(|at| fields[at].to_owned());
        Case { file, model, expected, init, constrain: fields[10] == "constrain", folder: folder.to_owned() }
    };
    manifest.lines().skip(1).map(case).collect()
}

impl Case {
    /// Its history.
    pub(crate) fn history(&self) -> History {
        let history = read(&self.folder.join(&self.file));
        if self.constrain { failed_cas_observe(history) } else { history }
    }

    /// Its checker; `None` for models that are not ours.
    pub(crate) fn checker(&self) -> Option<Box<dyn Checker>> {
        checker(&self.model, &self.init)
    }
}

/// Reads a recorded history.
pub(crate) fn read(path: &Path) -> History {
    let file = BufReader::new(std::fs::File::open(path).unwrap());
    jsonl::read_foreign(file, &path.display().to_string()).unwrap().history
}

/// A failed `cas` of these files saw another value: take away the error, so that its answer `false` counts.
fn failed_cas_observe(history: History) -> History {
    let mut ops = history.into_ops();
    for op in ops.iter_mut().filter(|op| op.op_type == "cas" && op.effect() == Effect::Failed) {
        op.error = None;
    }
    History::new(ops).unwrap()
}

/// The checker of a line of the manifest.
fn checker(model: &str, init: &str) -> Option<Box<dyn Checker>> {
    let start: Value = serde_json::from_str(init.trim_matches('"')).unwrap_or(Value::Null);
    fn whole<M: Model + 'static>(model: M) -> Option<Box<dyn Checker>> {
        Some(Box::new(Linearizability::whole(model)))
    }
    match model {
        "etcd" | "register" => whole(Register::new()),
        "cas-register" if start.is_null() => whole(CasRegister::new()),
        "cas-register" => whole(CasRegister::starting_at(start)),
        "kv" => whole(Kv::new()),
        "mutex" => whole(Mutex::new()),
        "queue" => whole(Queue::new()),
        "multi-register" => whole(MultiRegister::starting_at(start)),
        _ => None,
    }
}
