//! End-to-end tests.

mod false_pass;
mod layers;
mod ui;
mod workspace;
