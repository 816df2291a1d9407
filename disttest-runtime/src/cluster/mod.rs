//! (layer place: cluster)
