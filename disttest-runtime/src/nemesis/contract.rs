//! What a nemesis is.

use super::{BoxFuture, Composition, Plane};
use anyhow::Result;

/// A fault that can be let loose on a system and taken back.
///
/// Users implement it for their own faults. That `inject` returned `Ok` proves nothing: a fault counts only when a
/// declared signal moved on the injector's side and one on the victims' side, against a quiet baseline.
pub trait Nemesis: Send {
    /// The name a plan and an attribute use, such as `hard-kill`.
    fn name(&self) -> &str;

    /// What it does to whom, for people: `n1 -> n2, n3`.
    fn detail(&self) -> String;

    /// Nodes that suffer: victim-side signals are read there, and they must answer again after the heal.
    fn victims(&self) -> Vec<String>;

    /// Where its injector-side signals are read, as (signal, source): `("process-exit", "n1")`,
    /// `("proxy-dropped-bytes", "link n1->n2")`, or the name of a probe and a node.
    fn injector(&self) -> Vec<(String, String)>;

    /// Chooses whom the fault is for, where that is only known at the moment of the fault: who leads, say. Called once,
    /// with the baseline taken and before anything acts; what the methods above say counts from then on. An error is
    /// recorded as a fault that did not land.
    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        let _ = plane;
        Box::pin(async { Ok(()) })
    }

    /// The nemeses that this one is composed of, for the run to let each loose with evidence of its own. A wrapper hands this
    /// on. `None`: it is one nemesis.
    fn take_parts(&mut self) -> Option<Composition> {
        None
    }

    /// Lets the fault loose. An error is recorded as a fault that did not land; what was done so far must be undone
    /// by [`Nemesis::heal`], which is called in any case.
    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>>;

    /// Takes the fault back. Called once, also after a failed or cancelled injection.
    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>>;
}

impl<N: Nemesis + ?Sized> Nemesis for Box<N> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn detail(&self) -> String {
        (**self).detail()
    }

    fn victims(&self) -> Vec<String> {
        (**self).victims()
    }

    fn injector(&self) -> Vec<(String, String)> {
        (**self).injector()
    }

    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        (**self).prepare(plane)
    }

    fn take_parts(&mut self) -> Option<Composition> {
        (**self).take_parts()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        (**self).inject(plane)
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        (**self).heal(plane)
    }
}

/// Collects names of nodes.
pub(super) fn names<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> Vec<String> {
    nodes.into_iter().map(Into::into).collect()
}

/// `signal` read at each of `sources`.
pub(super) fn at(signal: &str, sources: &[String]) -> Vec<(String, String)> {
    sources.iter().map(|source| (signal.to_owned(), source.clone())).collect()
}
