//! The order of versions of either kind, as edges and as reasons.

use super::graph::{Edges, Rel};
use super::list_order::{Before, ListOrder, possible_writer, seen};
use super::register_order::RegisterOrder;
use crate::txn::{MopKind, Txns};

/// Which version of a key comes after which.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Of lists.
    List(ListOrder),
    /// Of registers.
    Register(RegisterOrder),
}

impl Order {
    pub(super) fn edges(&self, txns: &Txns, edges: &mut Edges) {
        match self {
            Order::List(order) => order.edges(txns, edges),
            Order::Register(order) => order.edges(txns, edges),
        }
    }

    /// Calls `each` with the writers of versions of which one comes right after the other.
    pub(super) fn successions(&self, txns: &Txns, each: impl FnMut(u32, u32)) {
        match self {
            Order::List(order) => order.successions(txns, each),
            Order::Register(order) => order.successions(txns, each),
        }
    }

    /// Which reason counts where a pair has several, as Elle explains them: of lists, the order of appends; of registers,
    /// what was read, since the order of writes is inferred.
    pub(super) fn first_reason(&self) -> Rel {
        match self {
            Order::List(_) => Rel::Ww,
            Order::Register(_) => Rel::Wr,
        }
    }

    pub(super) fn bytes(&self, txns: &Txns) -> u64 {
        let elements = txns.element_count() as u64;
        match self {
            Order::List(_) => elements * 12,
            Order::Register(order) => elements * 20 + txns.mop_count() as u64 * 20 + order.graph.len() as u64 * 8,
        }
    }

    /// Why `a` comes before `b`, in one clause about `a_name` and `b_name`.
    pub(super) fn why(&self, txns: &Txns, a: u32, b: u32, rel: Rel, a_name: &str, b_name: &str) -> Option<String> {
        match rel {
            Rel::Process => Some(format!("process {} ran {a_name} before {b_name}", txns.process_name(a))),
            Rel::Realtime => Some(format!(
                "{a_name} completed (index {}) before {b_name} was invoked (index {})",
                txns.index_of_event(txns.completed(a)),
                txns.index_of_event(txns.invoked(b))
            )),
            Rel::Via | Rel::Must => None,
            _ => match self {
                Order::List(order) => why_list(order, txns, a, b, rel, a_name, b_name),
                Order::Register(order) => why_register(order, txns, a, b, rel, a_name, b_name),
            },
        }
    }
}

fn why_list(order: &ListOrder, txns: &Txns, a: u32, b: u32, rel: Rel, a_name: &str, b_name: &str) -> Option<String> {
    let reads = |txn: u32, key: u32, state: Before| {
        txns.mops(txn).iter().any(|mop| mop.key() == key && seen(txns, *mop) == Some(state))
    };
    txns.mops(b).iter().find_map(|mop| {
        let (key, name) = (mop.key(), txns.key_name(mop.key()));
        match (rel, mop.kind()) {
            (Rel::Ww, MopKind::Append(element)) => match order.before(txns, element)? {
                Before::Element(before) if possible_writer(txns, before) == Some(a) => Some(format!(
                    "{b_name} appended {} to key {name} after {a_name} had appended {}{}",
                    txns.value_name(element),
                    txns.value_name(before),
                    never_read(order, element)
                )),
                _ => None,
            },
            (Rel::Wr, _) => match seen(txns, *mop)? {
                Before::Element(element) if possible_writer(txns, element) == Some(a) => {
                    Some(format!("{b_name} read what {a_name} appended to key {name}: {}", txns.value_name(element)))
                }
                _ => None,
            },
            (Rel::Rw, MopKind::Append(element)) => {
                let state = order.before(txns, element)?;
                reads(a, key, state).then(|| match state {
                    Before::Empty => format!(
                        "{a_name} read key {name} as empty, before {b_name} appended {} to it{}",
                        txns.value_name(element),
                        never_read(order, element)
                    ),
                    Before::Element(last) => format!(
                        "{a_name} read key {name} up to {} and did not see {}, which {b_name} appended next{}",
                        txns.value_name(last),
                        txns.value_name(element),
                        never_read(order, element)
                    ),
                })
            }
            _ => None,
        }
    })
}

fn never_read(order: &ListOrder, element: u32) -> &'static str {
    if order.is_ordered(element) { "" } else { " (nobody read it, so it comes after all that was read)" }
}

fn why_register(
    order: &RegisterOrder,
    txns: &Txns,
    a: u32,
    b: u32,
    rel: Rel,
    a_name: &str,
    b_name: &str,
) -> Option<String> {
    let touches = &order.touches;
    let say = |version: u32| {
        if touches.is_initial(version) { "its initial state".into() } else { txns.value_name(version) }
    };
    touches.by(b).iter().find_map(|of_b| {
        let of_a = touches.by(a).iter().find(|of_a| of_a.key == of_b.key)?;
        let name = txns.key_name(of_a.key);
        match rel {
            Rel::Wr => (of_a.wrote? == of_b.read?).then(|| {
                format!("{b_name} read key {name} as {}, which {a_name} wrote", say(of_a.wrote.unwrap_or_default()))
            }),
            Rel::Ww => order.is_next(of_a.wrote?, of_b.wrote?).then(|| {
                format!(
                    "{a_name} set key {name} to {} before {b_name} set it to {}",
                    say(of_a.wrote.unwrap_or_default()),
                    say(of_b.wrote.unwrap_or_default())
                )
            }),
            Rel::Rw => order.is_next(of_a.read?, of_b.wrote?).then(|| {
                format!(
                    "{a_name} read key {name} as {}, before {b_name} set it to {}",
                    say(of_a.read.unwrap_or_default()),
                    say(of_b.wrote.unwrap_or_default())
                )
            }),
            _ => None,
        }
    })
}
