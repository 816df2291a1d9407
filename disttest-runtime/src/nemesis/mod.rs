//! (layer place: nemesis)

pub mod proxy;
