//! (layer place: audit)
