//! (layer place: model)
