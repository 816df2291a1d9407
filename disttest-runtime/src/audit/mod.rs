//! L3: audits: whether the evidence of a run can carry its verdict. Pure.

pub mod damage;
