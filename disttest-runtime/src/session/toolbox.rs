//! The toolbox: what the workspace already has for testing, found by name before the first scenario. Read-only, bounded.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Folders deeper than this are not looked into.
const MAX_DEPTH: usize = 6;
/// After so many directory entries the search stops.
const MAX_ENTRIES: usize = 20_000;
/// More tools than this are not listed.
const MAX_TOOLS: usize = 100;
/// So much of a CI file is searched for fault words.
const MAX_CI_BYTES: u64 = 64 * 1024;

/// Folders that hold no tools: build output, version control, dependencies, our own sessions.
const SKIPPED: [&str; 6] = ["target", ".git", ".jj", "node_modules", "vendor", "test-sessions"];
/// Words by which a CI file shows that it injects faults.
const FAULT_WORDS: [&str; 10] =
    ["chaos", "fault", "jepsen", "toxiproxy", "netem", "partition", "kill -9", "crash", "failover", "disttest"];

/// (path below `workspace`, role) of each tool, sorted by path.
pub fn discover_toolbox(workspace: &Path) -> Vec<(String, String)> {
    let mut search = Search { workspace, left: MAX_ENTRIES, found: Vec::new() };
    search.folder(workspace, 0);
    search.found.sort();
    search.found.truncate(MAX_TOOLS);
    search.found
}

struct Search<'a> {
    workspace: &'a Path,
    left: usize,
    found: Vec<(String, String)>,
}

impl Search<'_> {
    fn folder(&mut self, dir: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        // Sorted, so that a search that hits its bound finds the same things again.
        let mut entries: Vec<_> = entries.flatten().take(self.left).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&name.as_str()) => {
                    self.folder(&path, depth + 1);
                }
                Ok(kind) if kind.is_file() => self.file(&path),
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &Path) {
        let Ok(below) = path.strip_prefix(self.workspace) else { return };
        let below = below.to_string_lossy().replace('\\', "/");
        let Some(role) = role(&below) else { return };
        let role = match role {
            Role::Ci if mentions_faults(path) => "CI, mentions faults",
            Role::Ci => return,
            Role::Named(role) => role,
        };
        self.found.push((below, role.to_owned()));
    }
}

enum Role {
    Named(&'static str),
    Ci,
}

/// What a file is by its path below the workspace.
fn role(path: &str) -> Option<Role> {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let in_folder = |wanted: &str| folders.split('/').any(|folder| folder == wanted);
    let is_ci = in_folder(".ci")
        || folders.ends_with(".github/workflows")
        || in_folder(".circleci")
        || in_folder(".buildkite")
        || ["jenkinsfile", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml"].contains(&name);
    let has_suffix = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    match () {
        () if is_ci => Some(Role::Ci),
        // A package may itself stand below a folder `tests`: its sources are no tests.
        () if folders.split('/').rfind(|f| ["tests", "src"].contains(f)) == Some("tests") && has_suffix(&[".rs"]) => {
            Some(Role::Named("existing test"))
        }
        () if in_folder("benches") && has_suffix(&[".rs"]) => Some(Role::Named("benchmark")),
        () if in_folder("fuzz_targets") && has_suffix(&[".rs"]) => Some(Role::Named("fuzz target")),
        () if ["runbook", "playbook"].iter().any(|word| lower.contains(word)) => Some(Role::Named("runbook")),
        () if has_suffix(&[".sh", ".bash"]) || ["makefile", "justfile"].contains(&name) => Some(Role::Named("script")),
        () if name.starts_with("docker-compose") || name.starts_with("compose.") => Some(Role::Named("cluster recipe")),
        () => None,
    }
}

fn mentions_faults(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_CI_BYTES).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    read.is_ok() && FAULT_WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_name_and_ci_only_when_it_mentions_faults() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        file("tests/store.rs", "");
        file("src/main.rs", "");
        file("target/tests/built.rs", "");
        file("scripts/kill.sh", "");
        file("docs/runbooks/restore.md", "");
        file(".github/workflows/chaos.yml", "run: toxiproxy-server");
        file(".github/workflows/fmt.yml", "run: cargo fmt");
        let found = discover_toolbox(dir.path());
        let found: Vec<(&str, &str)> = found.iter().map(|(path, role)| (path.as_str(), role.as_str())).collect();
        assert_eq!(
            found,
            [
                (".github/workflows/chaos.yml", "CI, mentions faults"),
                ("docs/runbooks/restore.md", "runbook"),
                ("scripts/kill.sh", "script"),
                ("tests/store.rs", "existing test"),
            ]
        );
    }
}
