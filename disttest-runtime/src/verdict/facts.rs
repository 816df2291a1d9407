//! What the decision tree looks at, gathered from declarations and records.
