//! Nemeses composed of others, which act in one window: at once, or one after the other while those before it act.

use super::{BoxFuture, Nemesis, Plane, Trigger};
use crate::fault::TOGETHER;
use anyhow::{Result, bail};
use std::fmt;

/// Several nemeses let loose at once. Named `a + b` after its parts, as a plan names it.
///
/// Each part keeps its victims and its evidence: the window landed only if each part did, by readings that are its own. So
/// no two parts may act at one place or have the same node as their only victim: what moved there would prove neither, and
/// such a composition is refused (then let one loose while the other acts: [`InTurn`]). When the injection of a part
/// fails, the others are taken back in reverse order. They are healed in reverse order too.
///
/// ```
/// use disttest_runtime::prelude::*;
///
/// let both = Together::new(FullPartition::new(["n1"], ["n2", "n3"]), HardKill::new(["n3"]));
/// assert_eq!(both.name(), "full-partition + hard-kill");
/// ```
#[derive(Debug, Default)]
pub struct Together(Composition);

/// One nemesis, then another while the first still acts. Named `a + b` after its parts, as [`Together`] is.
///
/// The second waits until the first has acted for 1.2 s at least: that stretch shows what the first one does, and is the
/// baseline of the second. So they may have the same victim, if the second makes a signal move that the first did not.
///
/// ```
/// use disttest_runtime::prelude::*;
///
/// let cut = FullPartition::new(["n1"], ["n2", "n3"]);
/// let elected = Trigger::log("n2", "became leader");
/// let both = InTurn::new(cut, HardKill::new(["n2"])).when(elected);
/// assert_eq!(both.victims(), ["n1", "n2"]);
/// ```
#[derive(Debug, Default)]
pub struct InTurn(Composition);

/// The parts of a composed nemesis, by turns: those of one turn are let loose at once. Opaque: the run takes it apart.
#[derive(Default)]
pub struct Composition {
    name: String,
    pub(crate) turns: Vec<Turn>,
}

/// What is let loose at once.
#[derive(Default)]
pub(crate) struct Turn {
    /// Events that this turn waits for, one after the other, once the turn before acts.
    pub(crate) when: Vec<Trigger>,
    pub(crate) parts: Vec<Box<dyn Nemesis>>,
}

impl Together {
    /// `a` and `b`.
    pub fn new(a: impl Nemesis + 'static, b: impl Nemesis + 'static) -> Together {
        Together::default().and(a).and(b)
    }

    /// And `nemesis`. A sequence goes on beside the others: its first turn is let loose with theirs, and so on.
    #[must_use]
    pub fn and(mut self, nemesis: impl Nemesis + 'static) -> Together {
        for (index, turn) in turns_of(nemesis).into_iter().enumerate() {
            if self.0.turns.len() == index {
                self.0.turns.push(Turn::default());
            }
            self.0.turns[index].when.extend(turn.when);
            self.0.turns[index].parts.extend(turn.parts);
        }
        self.0.name_after_parts();
        self
    }
}

impl InTurn {
    /// `first`, then `second`.
    pub fn new(first: impl Nemesis + 'static, second: impl Nemesis + 'static) -> InTurn {
        InTurn::default().then(first).then(second)
    }

    /// Then `nemesis`.
    #[must_use]
    pub fn then(mut self, nemesis: impl Nemesis + 'static) -> InTurn {
        self.0.turns.extend(turns_of(nemesis));
        self.0.name_after_parts();
        self
    }

    /// The nemesis named last waits for `trigger` too, once the one before it acts. Not seen: it is not let loose, and what
    /// acts is taken back.
    #[must_use]
    pub fn when(mut self, trigger: Trigger) -> InTurn {
        if let Some(last) = self.0.turns.last_mut() {
            last.when.push(trigger);
        }
        self
    }
}

fn turns_of(mut nemesis: impl Nemesis + 'static) -> Vec<Turn> {
    match nemesis.take_parts() {
        Some(composition) => composition.turns,
        None => vec![Turn { when: Vec::new(), parts: vec![Box::new(nemesis)] }],
    }
}

impl Composition {
    fn parts(&self) -> impl Iterator<Item = &dyn Nemesis> {
        self.turns.iter().flat_map(|turn| turn.parts.iter().map(|part| &**part))
    }

    fn name_after_parts(&mut self) {
        self.name = self.parts().map(|part| part.name()).collect::<Vec<_>>().join(TOGETHER);
    }

    fn detail(&self) -> String {
        let at_once = |turn: &Turn| turn.parts.iter().map(|part| part.detail()).collect::<Vec<_>>().join(" and ");
        let waits = |turn: &Turn| turn.when.iter().map(|trigger| format!("once {trigger}, ")).collect::<String>();
        let turns = self.turns.iter().map(|turn| format!("{}{}", waits(turn), at_once(turn)));
        turns.collect::<Vec<_>>().join(", then ")
    }

    /// Victims of all parts, each once.
    fn victims(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for victim in self.parts().flat_map(|part| part.victims()) {
            if !all.contains(&victim) {
                all.push(victim);
            }
        }
        all
    }
}

impl fmt::Debug for Composition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Composition").field("detail", &self.detail()).finish()
    }
}

macro_rules! composed {
    ($name:ident) => {
        impl Nemesis for $name {
            fn name(&self) -> &str {
                &self.0.name
            }

            fn detail(&self) -> String {
                self.0.detail()
            }

            fn victims(&self) -> Vec<String> {
                self.0.victims()
            }

            fn injector(&self) -> Vec<(String, String)> {
                self.0.parts().flat_map(|part| part.injector()).collect()
            }

            fn take_parts(&mut self) -> Option<Composition> {
                Some(std::mem::take(&mut self.0))
            }

            fn inject<'a>(&'a mut self, _: &'a Plane) -> BoxFuture<'a, Result<()>> {
                // As one nemesis, nothing would keep the evidence of its parts apart.
                Box::pin(async { bail!("a composed nemesis in a wrapper that does not hand on `take_parts`") })
            }

            fn heal<'a>(&'a mut self, _: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(async { Ok(()) })
            }
        }
    };
}

composed!(Together);
composed!(InTurn);
