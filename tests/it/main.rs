//! End-to-end tests.

mod layers;
mod ui;
mod workspace;
