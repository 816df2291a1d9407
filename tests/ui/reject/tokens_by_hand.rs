//! What proves that faults were assessed and that an oracle judged has no public way to be made.

use disttest_runtime::prelude::*;

fn made_by_hand() -> Judged {
    Judged { run_id: String::new() }
}

fn landed_by_hand() -> Landed {
    Landed { run_id: String::new() }
}

fn main() {}
