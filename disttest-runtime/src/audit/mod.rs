//! L3: audits: what a PASS must survive. The lists themselves are evaluated with the facts of a verdict
//! ([`crate::verdict::checklist`]); here stands what the callers of a verdict prepare for them. Pure.

pub mod damage;
pub mod logs;
pub mod weight;

pub use crate::verdict::checklist::{AuditItem, AuditState, Checklist};
