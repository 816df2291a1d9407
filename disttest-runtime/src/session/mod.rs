//! (layer place: session)
