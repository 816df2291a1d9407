//! End-to-end tests.

mod ui;
