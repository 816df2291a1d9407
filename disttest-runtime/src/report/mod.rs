//! (layer place: report)
