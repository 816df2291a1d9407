//! From what the attribute registered to what the runtime executes.

use super::Registration;
use crate::run::Entry;

impl From<&'static Registration> for Entry {
    fn from(registration: &'static Registration) -> Entry {
        Entry {
            function: registration.function,
            model: registration.model,
            checkers: registration.checkers,
            injector: registration.landing.injector,
            victim: registration.landing.victim,
            negative_controls: registration.negative_controls,
            body: registration.body,
        }
    }
}
