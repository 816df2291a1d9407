//! (layer place: nemesis)
