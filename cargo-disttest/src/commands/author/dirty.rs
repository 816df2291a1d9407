//! A dirty work tree is respected: what git has no copy of is not rewritten without being asked.

use super::files::File;
use crate::author::FileChange;
use crate::git;

/// Turns an update that would rewrite lines which were changed since they were last staged into a conflict, and says
/// of a conflict that git could not bring the file back.
pub(super) fn respect(file: &mut File<'_>) {
    let path = file.placed.path();
    let Some(before) = &file.before else {
        return;
    };
    match &mut file.change {
        FileChange::Conflict { reason, .. } if git::is_uncommitted(&path) => {
            reason.push_str(" (and git has no commit of it as it is)");
        }
        FileChange::Update { text, .. } => {
            let text = text.clone();
            let Some(staged) = git::index_text(&path) else {
                return;
            };
            if file.frame_of(&staged) != file.frame_of(before) {
                let reason = "it has changes outside of its regions that are not staged (--allow-dirty)".to_owned();
                file.change = FileChange::Conflict { reason, overwrite: text.clone(), sibling: text };
            }
        }
        _ => {}
    }
}
