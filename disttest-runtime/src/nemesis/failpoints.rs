//! Failpoints: places in the system under test that fail when they are told to, and count how often they did.
//!
//! A node that has failpoints (those of the crate `fail`, say) listens on the Unix socket whose path it finds in the
//! environment variable `DISTTEST_FAILPOINTS` ([`crate::cluster::Program::failpoints`] sets it). It reads lines and answers
//! each by one line:
//!
//! | line | what the node does | answer |
//! |---|---|---|
//! | `set NAME ACTIONS` | arms the failpoint, in the notation of the crate `fail`: `return(disk on fire)`, `sleep(200)` | `ok`, or `error WHY` |
//! | `off NAME` | disarms it | `ok`, or `error WHY` |
//! | `hits NAME` | nothing | how often it was hit while it was armed, since the node started |
//!
//! A failpoint that is hit while it is armed counts before it acts, so that one which stops the process has counted. The
//! crate does not tell how often a point was hit, so the system counts by itself:
//!
//! ```text
//! fn append(&mut self, record: &[u8]) -> io::Result<()> {
//!     fail::fail_point!("log-append", |why| {
//!         hits::count("log-append");
//!         Err(io::Error::other(why.unwrap_or_default()))
//!     });
//!     self.file.write_all(record)
//! }
//!
//! /// One connection to the control socket.
//! fn serve(stream: UnixStream) -> io::Result<()> {
//!     for line in BufReader::new(stream.try_clone()?).lines() {
//!         let line = line?;
//!         let words: Vec<&str> = line.splitn(3, ' ').collect();
//!         let answer = match words[..] {
//!             ["set", name, actions] => told(fail::cfg(name, actions)),
//!             ["off", name] => told(fail::cfg(name, "off")),
//!             ["hits", name] => hits::of(name).to_string(),
//!             _ => "error what?".to_owned(),
//!         };
//!         writeln!(&stream, "{answer}")?;
//!     }
//!     Ok(())
//! }
//! ```

use super::contract::{at, names};
use super::{BoxFuture, Lacks, Nemesis, Plane};
use crate::base::digest::sha256_hex;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The environment variable that tells a node where its control socket is to be.
pub const FAILPOINTS_VARIABLE: &str = "DISTTEST_FAILPOINTS";

/// How long a node may take to answer a line.
const ANSWER: Duration = Duration::from_secs(1);
/// As [`ANSWER`], where the thread that samples all signals waits.
const SAMPLE: Duration = Duration::from_millis(50);
/// Longest path of a socket, by a margin (unix(7) allows 107 bytes).
const LONGEST: usize = 100;

/// `failpoint`: a failpoint in the code of nodes is armed, and disarmed at the heal. See the [module](self).
///
/// Evidence: `failpoint-hits`, which the node itself counts where it fails. A failpoint that no code passes is armed and
/// does nothing: then nothing has landed.
#[derive(Debug)]
pub struct Failpoint {
    nodes: Vec<String>,
    point: String,
    actions: String,
    armed: Vec<String>,
}

impl Failpoint {
    /// Arms `point` in `nodes` with `actions`, in the notation of the crate `fail`.
    pub fn new<S: Into<String>>(
        nodes: impl IntoIterator<Item = S>,
        point: impl Into<String>,
        actions: impl Into<String>,
    ) -> Failpoint {
        Failpoint { nodes: names(nodes), point: point.into(), actions: actions.into(), armed: Vec::new() }
    }

    fn arm(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        for node in &self.nodes {
            let socket = control_socket(&plane.tools().run_dir, node);
            let before = hits(&socket, &self.point, ANSWER).with_context(|| node.clone())?;
            self.armed.push(node.clone());
            obeyed(&ask(&socket, &format!("set {} {}", self.point, self.actions), ANSWER)?)?;
            let point = self.point.clone();
            // A node that was started again counts from 0: that is a gap, and no negative count.
            let count = move || hits(&socket, &point, SAMPLE).ok().filter(|now| *now >= before).map(|now| now - before);
            plane.tools().meters.follow("failpoint-hits", node, Box::new(count));
        }
        Ok(())
    }

    fn disarm(&mut self, plane: &Plane) -> Result<()> {
        let mut failed = Ok(());
        for node in self.armed.drain(..).filter(|node| plane.nodes().runs(node)) {
            let socket = control_socket(&plane.tools().run_dir, &node);
            let off = ask(&socket, &format!("off {}", self.point), ANSWER).and_then(|answer| obeyed(&answer));
            failed = failed.and(off.with_context(|| node.clone()));
            plane.tools().meters.settle("failpoint-hits", &node);
        }
        failed
    }
}

/// Where the control socket of `node` is: in the folder of the run, or where paths are shorter.
pub(crate) fn control_socket(run_dir: &Path, node: &str) -> PathBuf {
    let near = run_dir.join(format!("{node}.failpoints"));
    if near.as_os_str().len() <= LONGEST {
        return near;
    }
    let run = sha256_hex(run_dir.as_os_str().as_encoded_bytes());
    std::env::temp_dir().join(format!("disttest-{}-{node}", &run[..16]))
}

fn hits(socket: &Path, point: &str, limit: Duration) -> Result<f64> {
    let answer = ask(socket, &format!("hits {point}"), limit)?;
    answer.parse::<u64>().map(|hits| hits as f64).with_context(|| format!("`hits` was answered `{answer}`"))
}

fn obeyed(answer: &str) -> Result<()> {
    if answer != "ok" {
        bail!("the node answered `{answer}`");
    }
    Ok(())
}

/// Sends one line and reads one.
fn ask(socket: &Path, line: &str, limit: Duration) -> Result<String> {
    if line.contains('\n') {
        bail!("a failpoint and its actions stand in one line");
    }
    let stream = UnixStream::connect(socket).map_err(|error| {
        let hint = "Program::failpoints, and a node that listens on the socket named by DISTTEST_FAILPOINTS";
        Lacks::new(format!("a control socket for failpoints at {}: {error}", socket.display()), hint)
    })?;
    stream.set_read_timeout(Some(limit))?;
    writeln!(&stream, "{line}")?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).context("no answer")?;
    Ok(answer.trim_end().to_owned())
}

impl Nemesis for Failpoint {
    fn name(&self) -> &str {
        "failpoint"
    }

    fn detail(&self) -> String {
        format!("{} = {} in {}", self.point, self.actions, self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("failpoint-hits", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.arm(plane) })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.disarm(plane) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_socket_has_a_path_that_a_socket_can_have() {
        let check = |run_dir: &str, near: bool| {
            let socket = control_socket(Path::new(run_dir), "n1");
            assert!(socket.as_os_str().len() <= LONGEST && socket.starts_with(run_dir) == near, "{}", socket.display());
        };
        check("/tmp/run", true);
        check(&format!("/home/{}", "x".repeat(120)), false);
    }
}
