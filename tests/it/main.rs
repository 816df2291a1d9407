//! End-to-end tests.

mod cli;
mod contract;
mod guards;
mod layers;
mod sessions;
mod tree;
mod ui;
mod workspace;
