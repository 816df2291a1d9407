//! Damage to files at rest.

use crate::base::rng::Rng;
use crate::nemesis::contract::{at, names};
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Which files are damaged, by their path relative to the node's folder.
type Choice = Box<dyn Fn(&Path) -> bool + Send>;

/// `storage-corruption`: files in the folders of nodes are damaged: single bits flipped, or their ends cut off.
///
/// Mechanism: bytes are written in place, behind the node's back. Evidence: `disk-corrupted-bytes`, counted when a byte
/// reads back damaged through the node's own root (`/proc/<pid>/root`), which is the way that the node itself reads.
/// The heal puts back what still reads as it was damaged; what the node has written over meanwhile is its own.
///
/// With [`StorageCorruption::while_down`] the node is killed first, started again on damaged files, and stopped once
/// more for the heal. A node that refuses to start on damaged files ends by itself: allow that by
/// [`crate::cluster::Program::allow_exit`] if it is what the node should do.
pub struct StorageCorruption {
    nodes: Vec<String>,
    chosen: Choice,
    damage: Damage,
    seed: u64,
    while_down: bool,
    done: Vec<Wound>,
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// So many single bits, each in a byte of its own.
    Bits(u32),
    /// The last bytes of each file, so many.
    Tail(u64),
}

/// Bytes of one file that are not what they were.
#[derive(Debug)]
struct Wound {
    node: String,
    file: PathBuf,
    offset: u64,
    was: Vec<u8>,
    /// What stands there now; empty when the file ends there.
    is: Vec<u8>,
}

impl StorageCorruption {
    /// Flips `bits` single bits, drawn by `seed`, in the files of each of `nodes`.
    pub fn bits<S: Into<String>>(nodes: impl IntoIterator<Item = S>, bits: u32, seed: u64) -> StorageCorruption {
        StorageCorruption::of(names(nodes), Damage::Bits(bits), seed)
    }

    /// Cuts the last `bytes` off one file of each of `nodes`, drawn by `seed`.
    pub fn tail<S: Into<String>>(nodes: impl IntoIterator<Item = S>, bytes: u64, seed: u64) -> StorageCorruption {
        StorageCorruption::of(names(nodes), Damage::Tail(bytes), seed)
    }

    fn of(nodes: Vec<String>, damage: Damage, seed: u64) -> StorageCorruption {
        StorageCorruption { nodes, chosen: Box::new(|_| true), damage, seed, while_down: false, done: Vec::new() }
    }

    /// Damages only files whose path, relative to the node's folder, is `chosen`. Default: all that are not empty.
    #[must_use]
    pub fn files(mut self, chosen: impl Fn(&Path) -> bool + Send + 'static) -> StorageCorruption {
        self.chosen = Box::new(chosen);
        self
    }

    /// Damages while the node is down: it reads the damage when it starts.
    #[must_use]
    pub fn while_down(mut self) -> StorageCorruption {
        self.while_down = true;
        self
    }

    async fn strike(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        for node in self.nodes.clone() {
            if self.while_down {
                plane.nodes().kill(&node).await?;
            }
            let struck = self.strike_node(&node, plane).with_context(|| node.clone());
            if self.while_down {
                // That it does not come up is what the fault does to it; how it ended stands in the record.
                drop(plane.nodes().start(&node).await);
            }
            struck?;
        }
        Ok(())
    }

    fn strike_node(&mut self, node: &str, plane: &Plane) -> Result<()> {
        let root = plane.nodes().data_dir(node)?;
        let mut rng = Rng::stream(self.seed, &format!("storage-corruption {node}"));
        let files = files_under(&root, &self.chosen)?;
        if files.is_empty() {
            bail!("no file with content is chosen in {}", root.display());
        }
        let mut seen = 0;
        for _ in 0..self.damage.times() {
            let Some(file) = rng.pick(&files) else { break };
            let Some(wound) = self.damage.inflict(node, file, &mut rng)? else { continue };
            let shows = wound.shows(&seen_by(node, file, plane))?;
            seen += if shows { wound.was.len() } else { 0 };
            self.done.push(wound);
        }
        if seen == 0 {
            bail!("nothing reads back damaged in {}", root.display());
        }
        plane.tools().meters.add("disk-corrupted-bytes", node, seen as f64);
        Ok(())
    }

    async fn undo(&mut self, plane: &Plane) -> Result<()> {
        let mut failed = Ok(());
        for node in &self.nodes {
            if self.while_down && plane.nodes().runs(node) {
                failed = failed.and(plane.nodes().kill(node).await.map(drop));
            }
            // The latest first: two may have struck one byte.
            for wound in self.done.iter().rev().filter(|wound| wound.node == *node) {
                failed = failed.and(wound.mend());
            }
            if !plane.nodes().runs(node) {
                failed = failed.and(plane.nodes().start(node).await);
            }
        }
        self.done.clear();
        failed
    }
}

impl Damage {
    fn times(self) -> u32 {
        match self {
            Damage::Bits(bits) => bits,
            Damage::Tail(_) => 1,
        }
    }

    /// Damages `file`; `None` when it has become empty.
    fn inflict(self, node: &str, file: &Path, rng: &mut Rng) -> Result<Option<Wound>> {
        let opened = OpenOptions::new().read(true).write(true).open(file);
        let opened = opened.with_context(|| format!("{}", file.display()))?;
        let length = opened.metadata()?.len();
        if length == 0 {
            return Ok(None);
        }
        let (offset, was, is) = match self {
            Damage::Bits(_) => {
                let offset = rng.below(length);
                let was = read_at(&opened, offset, 1)?;
                let is = was.iter().map(|byte| byte ^ (1 << rng.below(8))).collect::<Vec<u8>>();
                opened.write_all_at(&is, offset)?;
                (offset, was, is)
            }
            Damage::Tail(bytes) => {
                let offset = length.saturating_sub(bytes.max(1));
                let was = read_at(&opened, offset, length - offset)?;
                opened.set_len(offset)?;
                (offset, was, Vec::new())
            }
        };
        // Readers that go around the cache of the kernel must see it too.
        opened.sync_data()?;
        Ok(Some(Wound { node: node.to_owned(), file: file.to_owned(), offset, was, is }))
    }
}

impl Wound {
    /// The damage is what `file` reads as.
    fn shows(&self, file: &Path) -> Result<bool> {
        let file = File::open(file).with_context(|| format!("{}", file.display()))?;
        Ok(read_at(&file, self.offset, self.was.len() as u64)? == self.is)
    }

    /// Puts back what was there, unless something else has come there since.
    fn mend(&self) -> Result<()> {
        if !self.file.exists() || !self.shows(&self.file)? {
            return Ok(());
        }
        let file = OpenOptions::new().write(true).open(&self.file)?;
        file.write_all_at(&self.was, self.offset)?;
        file.sync_data()?;
        if self.shows(&self.file)? {
            bail!("{} still reads damaged at {}", self.file.display(), self.offset);
        }
        Ok(())
    }
}

/// At most `length` bytes from `offset` on; fewer where the file ends.
fn read_at(file: &File, offset: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => break,
            n => filled += n,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// `file` as the node's process reaches it; as we do when it does not run.
fn seen_by(node: &str, file: &Path, plane: &Plane) -> PathBuf {
    match plane.nodes().process(node) {
        Ok(who) => PathBuf::from(format!("/proc/{}/root{}", who.pid, file.display())),
        Err(_) => file.to_owned(),
    }
}

/// The regular files below `root` that hold something and are chosen, in order.
fn files_under(root: &Path, chosen: &Choice) -> Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            let Ok(meta) = path.symlink_metadata() else { continue };
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_file() && meta.len() > 0 && path.strip_prefix(root).is_ok_and(chosen) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

impl Nemesis for StorageCorruption {
    fn name(&self) -> &str {
        "storage-corruption"
    }

    fn detail(&self) -> String {
        let what = match self.damage {
            Damage::Bits(bits) => format!("{bits} bits flipped in files"),
            Damage::Tail(bytes) => format!("{bytes} bytes cut off a file"),
        };
        let when = if self.while_down { ", while it is down" } else { "" };
        format!("{what} of {}{when} (seed {})", self.nodes.join(", "), self.seed)
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("disk-corrupted-bytes", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.strike(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.undo(plane))
    }
}

impl fmt::Debug for StorageCorruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageCorruption").field("detail", &self.detail()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of 1000 bytes, damaged; what it was.
    fn damaged(damage: Damage) -> (tempfile::TempDir, Wound, Vec<u8>) {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("log");
        let was: Vec<u8> = (0..1000_u32).map(|i| (i % 251) as u8).collect();
        fs::write(&file, &was).expect("written");
        let wound = damage.inflict("n1", &file, &mut Rng::new(7)).expect("it can be damaged").expect("it is not empty");
        (dir, wound, was)
    }

    #[test]
    fn one_bit_is_another_and_is_put_back() {
        let (_dir, wound, was) = damaged(Damage::Bits(1));
        let is = fs::read(&wound.file).expect("read");
        let bits: u32 = was.iter().zip(&is).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert_eq!((is.len(), bits), (1000, 1));
        wound.mend().expect("mended");
        assert_eq!(fs::read(&wound.file).expect("read"), was);
    }

    #[test]
    fn an_end_is_gone_and_is_put_back() {
        let (_dir, wound, was) = damaged(Damage::Tail(100));
        assert_eq!(fs::read(&wound.file).expect("read"), was[..900]);
        wound.mend().expect("mended");
        assert_eq!(fs::read(&wound.file).expect("read"), was);
    }

    #[test]
    fn what_was_written_over_the_damage_stays() {
        for damage in [Damage::Bits(1), Damage::Tail(100)] {
            let (_dir, wound, _) = damaged(damage);
            let file = OpenOptions::new().write(true).open(&wound.file).expect("opened");
            file.write_all_at(&[wound.is.first().map_or(1, |byte| !byte)], wound.offset).expect("written");
            let theirs = fs::read(&wound.file).expect("read");
            wound.mend().expect("nothing to do");
            assert_eq!(fs::read(&wound.file).expect("read"), theirs);
            fs::remove_file(&wound.file).expect("removed");
            wound.mend().expect("a file that is gone needs nothing");
        }
    }

    #[test]
    fn only_chosen_files_with_content_are_damaged() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("wal")).expect("made");
        for (name, text) in [("wal/1", "x"), ("wal/2", ""), ("lock", "x")] {
            fs::write(dir.path().join(name), text).expect("written");
        }
        let chosen: Choice = Box::new(|path| path.starts_with("wal"));
        assert_eq!(files_under(dir.path(), &chosen).expect("read"), [dir.path().join("wal/1")]);
    }
}
