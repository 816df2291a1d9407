//! Weak levels against trying all commit orders, and small histories with known answers.

mod reference;
mod table;
