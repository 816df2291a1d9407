//! End-to-end tests.

mod arms;
mod cli;
mod contract;
mod false_pass;
mod guards;
mod layers;
mod sessions;
mod systems;
mod tree;
mod ui;
mod wild;
mod workspace;
