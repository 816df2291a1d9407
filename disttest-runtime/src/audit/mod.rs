//! L3: audits: what a PASS must survive. Damaged histories that a checker must reject stand in [`damage`]; the lists
//! themselves are evaluated with the facts of a verdict ([`crate::verdict::checklist`]), and here stands what the
//! callers of a verdict prepare for them.

pub mod damage;
pub mod logs;

pub use crate::verdict::checklist::{AuditItem, AuditState, Checklist};
