//! Example system under test: a replicated register store.
