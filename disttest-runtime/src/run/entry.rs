//! What the runtime must know of a scenario to execute it.

use super::{Judged, Run};
use std::future::Future;
use std::pin::Pin;

/// The body of a scenario, boxed; it need not be `Send`.
pub type ScenarioFuture = Pin<Box<dyn Future<Output = crate::Result<Judged>>>>;

/// A scenario as [`super::execute`] needs it. The harness makes it from what the attribute registered.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the function; the run's threads carry it.
    pub function: &'static str,
    /// Declared model.
    pub model: Option<&'static str>,
    /// Names of the declared checkers.
    pub checkers: &'static [(&'static str, bool)],
    /// Signals declared for the injector's side.
    pub injector: &'static [&'static str],
    /// Signals declared for the victim's side.
    pub victim: &'static [&'static str],
    /// Declared negative controls.
    pub negative_controls: &'static [&'static str],
    /// The body.
    pub body: fn(Run) -> ScenarioFuture,
}
