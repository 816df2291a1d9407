//! L4: sessions on disk: which run a process belongs to, where its files go, and the report rebuilt from them.
//!
//! A session is one folder for one plan and one run (`cargo test`, one nextest run, one `cargo disttest run`), shared
//! by every process of that run. Whoever comes first creates it under a file lock; each scenario owns its own folder
//! inside it; after each scenario the reports and the manifest are rebuilt from what is on disk, so that a killed run
//! leaves a true, if partial, report behind.

mod attribute;
mod believed;
mod commit;
pub mod disk;
mod evidence;
mod join;
mod key;
mod layout;
mod list;
mod lock;
mod manifest;
mod plan_file;
mod prune;
mod rebuild;
mod root;
mod scenario;
mod toolbox;

pub use attribute::{edited_fields, planned};
pub use believed::{Belief, Depth, REJECTED, rejected};
pub use commit::{changes_under_test, commit_under_test};
pub use evidence::{read_run, settle_run};
pub use join::{ABSENT, PLAN_COPY, SESSION_SCHEMA, Session, SessionSpec};
pub use key::{Key, KeyInputs, ProcessStamp};
pub use layout::{Attempt, Layout, path_safe};
pub use list::sessions;
pub use lock::{Held, is_free, lock, lock_holder, try_lock};
pub use manifest::{Contents, MANIFEST, contents, write_manifest};
pub use plan_file::{PlanFile, drift_of};
pub use rebuild::{recorded, render};
pub use root::{create_root, session_root, workspace_root};
pub use scenario::{judge, not_run, test_is_ok};
pub use toolbox::discover_toolbox;

#[cfg(test)]
mod tests;
