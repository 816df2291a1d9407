//! The record of a run is sealed by the harness in the process of the run: code of the scenario, which writes where it
//! likes and may end the process when it likes, cannot leave a record of its own in its place.

use crate::base::digest::sha256_hex;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The seal of `run.json`, beside it; gone once its supervisor has looked at it.
const SEAL: &str = "run.seal";

static SECRET: OnceLock<String> = OnceLock::new();

/// A new secret.
pub(crate) fn secret() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Keys of the operating system's generator, new for each state.
    (0..4).map(|i| format!("{:016x}", RandomState::new().hash_one(i))).collect()
}

/// Records that this process writes from now on are sealed with `secret`. The first one counts.
pub(crate) fn hold(secret: String) {
    let _ = SECRET.set(secret);
}

/// The secret of this process; `None` when it is no child of a supervisor.
pub(crate) fn held() -> Option<&'static str> {
    SECRET.get().map(String::as_str)
}

/// Seals `text`, which is about to be written to `run.json` in `run_dir`.
pub(super) fn seal(run_dir: &Path, text: &[u8]) -> io::Result<()> {
    SECRET.get().map_or(Ok(()), |secret| fs::write(run_dir.join(SEAL), of(secret, text)))
}

/// Once the process that was given `secret` has ended: why the `run.json` in `run_dir` is not that of its harness, and
/// was moved aside; `None` when it is, and when there is none.
pub(crate) fn unsealed(run_dir: &Path, secret: &str) -> io::Result<Option<String>> {
    const ASIDE: &str = "run.json.unsealed";
    let (record, seal) = (run_dir.join("run.json"), run_dir.join(SEAL));
    let found = fs::read_to_string(&seal).unwrap_or_default();
    if seal.exists() {
        fs::remove_file(&seal)?;
    }
    match fs::read(&record) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(text) if found == of(secret, &text) => Ok(None),
        _ => {
            fs::rename(&record, run_dir.join(ASIDE))?;
            Ok(Some(format!("its run.json was not written by the harness ({ASIDE})")))
        }
    }
}

fn of(secret: &str, text: &[u8]) -> String {
    sha256_hex(&[secret.as_bytes(), text, secret.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_holder_of_the_secret_wrote_is_a_record() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let check = |record: Option<&str>, seal: Option<String>, accepted: bool| {
            let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
            record.iter().for_each(|text| write("run.json", text));
            seal.iter().for_each(|text| write(SEAL, text));
            let why = unsealed(dir.path(), "s").expect("looked at");
            assert_eq!(why.is_none(), accepted, "{record:?} {seal:?}");
            assert_eq!(dir.path().join("run.json").exists(), accepted && record.is_some());
            assert!(!dir.path().join(SEAL).exists());
            let _ = fs::remove_file(dir.path().join("run.json"));
        };
        check(None, None, true);
        check(Some("{}"), Some(of("s", b"{}")), true);
        check(Some("{}"), None, false);
        check(Some("{ }"), Some(of("s", b"{}")), false);
        check(Some("{}"), Some(of("t", b"{}")), false);
        check(Some("{}"), Some(sha256_hex(b"{}")), false);
        assert!(secret() != secret() && secret().len() == 64);
    }
}
