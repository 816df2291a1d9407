//! (recorder)
