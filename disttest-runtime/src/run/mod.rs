//! L4: what a scenario is given, and the tokens it must earn in order: workload, landing, oracle.

/// Handle of one execution of one seed.
#[derive(Debug)]
pub struct Run {
    _private: (),
}

/// Proof that an oracle judged. Only the oracle of a run makes one.
#[derive(Debug)]
pub struct Judged {
    _private: (),
}
