//! The append-only log of a replica: file format, recovery, group commit.
//!
//! The file is a sequence of batches `length: u32 | crc: u32 | entries`, integers little-endian, `length` counting the
//! entries alone and `crc` being the CRC-32 of ISO 3309 over them. An entry is `1: u8 | boot: u32` (the node started),
//! `2: u8 | key: string | version` or `3: u8 | counter: string | increments` (strings, versions and increments as in
//! [`crate::wire`]). One batch is what one fdatasync makes durable, and nothing in it is acknowledged before that; so a batch cut short by a crash can only be the last
//! one, and dropping it loses nothing that anybody was told. A bad batch with others behind it is corruption: the node
//! refuses to start.

use crate::counting::Increments;
use crate::tag::Version;
use crate::wire::{Body, put_increments, put_text, put_version};
use anyhow::{Context as _, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, TryRecvError};

/// Name of the file in the data folder.
pub const FILE_NAME: &str = "registers.log";
/// Most entries in one batch.
const MAX_BATCH: usize = 1024;
/// What `--bug ack-before-write` keeps in its process before it writes.
const LAZY_BUFFER: usize = 4 << 20;
const HEADER: usize = 8;

/// One fact in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The node started; the number of this start.
    Boot(u32),
    /// The replica took a version.
    Stored {
        /// Of this key.
        key: Arc<str>,
        /// The version.
        version: Version,
    },
    /// The replica took increments.
    Counted {
        /// Of this counter.
        key: Arc<str>,
        /// The increments.
        increments: Arc<Increments>,
    },
}

impl Entry {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Boot(boot) => {
                out.push(1);
                out.extend_from_slice(&boot.to_le_bytes());
            }
            Entry::Stored { key, version } => {
                out.push(2);
                put_text(out, key);
                put_version(out, version);
            }
            Entry::Counted { key, increments } => {
                out.push(3);
                put_text(out, key);
                put_increments(out, increments);
            }
        }
    }

    fn read(body: &mut Body<'_>) -> Option<Entry> {
        Some(match body.u8()? {
            1 => Entry::Boot(body.u32()?),
            2 => Entry::Stored { key: body.text()?, version: body.version()? },
            3 => Entry::Counted { key: body.text()?, increments: body.increments()?.into() },
            _ => return None,
        })
    }
}

/// CRC-32 (reflected polynomial 0xEDB88320), by a table of the 16 values of half a byte.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut index = 0;
        while index < 16 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 4 {
                value = (value >> 1) ^ (if value & 1 == 1 { 0xEDB8_8320 } else { 0 });
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        crc = (crc >> 4) ^ TABLE[(crc & 15) as usize];
        crc = (crc >> 4) ^ TABLE[(crc & 15) as usize];
    }
    !crc
}

/// Writes the header of the batch whose entries stand behind the first [`HEADER`] bytes of `batch`.
fn seal(batch: &mut [u8]) {
    let (header, entries) = batch.split_at_mut(HEADER);
    let length =
        u32::try_from(entries.len()).expect("a batch is far below 4 GiB: 1024 entries of at most 1 MiB frames");
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4..].copy_from_slice(&crc32(entries).to_le_bytes());
}

/// What a log file holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Every entry of the whole batches, in order.
    pub entries: Vec<Entry>,
    /// Length of the whole batches, in bytes.
    pub whole: usize,
    /// Bytes of an unfinished last batch behind them.
    pub torn: usize,
}

/// Reads the bytes of a log. Corruption before the last batch is an error that names the offset.
pub fn recover(bytes: &[u8]) -> Result<Recovered> {
    let mut entries = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        match read_batch(rest) {
            Ok((batch, length)) => {
                entries.extend(batch);
                at += length;
            }
            Err(claimed) if claimed >= rest.len() || rest.iter().all(|byte| *byte == 0) => break,
            Err(_) => bail!("log is corrupt at byte {at} of {}", bytes.len()),
        }
    }
    Ok(Recovered { entries, whole: at, torn: bytes.len() - at })
}

/// Entries and length of the first batch, or how long the bad batch claims to be.
fn read_batch(bytes: &[u8]) -> Result<(Vec<Entry>, usize), usize> {
    let mut body = Body(bytes);
    let (Some(length), Some(crc)) = (body.u32(), body.u32()) else { return Err(bytes.len()) };
    let claimed = HEADER + length as usize;
    let Some(content) = body.0.get(..length as usize) else { return Err(claimed) };
    if length == 0 || crc32(content) != crc {
        return Err(claimed);
    }
    let mut content = Body(content);
    let mut entries = Vec::new();
    while !content.0.is_empty() {
        entries.push(Entry::read(&mut content).ok_or(claimed)?);
    }
    Ok((entries, claimed))
}

/// The log, open at its end.
#[derive(Debug)]
pub struct Log {
    file: File,
}

impl Log {
    /// Opens or creates the log of a data folder, cuts off a torn last batch, and records this start durably. Returns
    /// what was there, and the number of this start.
    pub fn open(folder: &Path) -> Result<(Log, Recovered, u32)> {
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let path = folder.join(FILE_NAME);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.with_context(|| format!("opening {}", path.display()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let recovered = recover(&bytes).with_context(|| path.display().to_string())?;
        file.set_len(recovered.whole as u64)?;
        file.seek(SeekFrom::Start(recovered.whole as u64))?;
        File::open(folder)?.sync_all()?;
        let boots = recovered.entries.iter().filter_map(|e| if let Entry::Boot(n) = e { Some(*n) } else { None });
        let boot = boots.max().unwrap_or(0) + 1;
        let mut log = Log { file };
        let mut batch = vec![0; HEADER];
        Entry::Boot(boot).write(&mut batch);
        log.commit(&mut batch)?;
        Ok((log, recovered, boot))
    }

    /// Seals, appends and syncs one batch.
    fn commit(&mut self, batch: &mut [u8]) -> std::io::Result<()> {
        seal(batch);
        self.file.write_all(batch)?;
        self.file.sync_data()
    }
}

/// An entry on its way into the log.
pub(crate) struct Append {
    pub(crate) entry: Entry,
    /// Called when the entry is durable.
    pub(crate) durable: Durable,
}

/// What follows when an entry is durable; runs on the thread of the log and must not block.
pub(crate) type Durable = Box<dyn FnOnce() + Send>;

/// Takes appends until their sender is gone: all that wait go into one batch and one fdatasync, then they are applied
/// and told. A failed write ends the process: after a failed fsync nobody knows what is durable.
pub(crate) fn group_commit(mut log: Log, queue: &Receiver<Append>, batches: &AtomicU64, apply: impl Fn(Entry)) {
    let mut bytes = Vec::new();
    while let Some(batch) = next_batch(queue) {
        bytes.clear();
        bytes.resize(HEADER, 0);
        for append in &batch {
            append.entry.write(&mut bytes);
        }
        if let Err(error) = log.commit(&mut bytes) {
            crate::say("log", format_args!("cannot write: {error}; stopping"));
            std::process::abort();
        }
        crate::stats::count(batches);
        for append in batch {
            apply(append.entry);
            (append.durable)();
        }
    }
}

fn next_batch(queue: &Receiver<Append>) -> Option<Vec<Append>> {
    let mut batch = vec![queue.recv().ok()?];
    while batch.len() < MAX_BATCH {
        match queue.try_recv() {
            Ok(append) => batch.push(append),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    Some(batch)
}

/// The defect `ack-before-write`: applies and tells at once, and keeps the bytes in this process until there are
/// [`LAZY_BUFFER`] of them or the sender is gone (a graceful stop).
pub(crate) fn lazy_commit(mut log: Log, queue: &Receiver<Append>, apply: impl Fn(Entry)) {
    let mut bytes = vec![0; HEADER];
    let mut flush = |bytes: &mut Vec<u8>| {
        if bytes.len() > HEADER && log.commit(bytes).is_err() {
            std::process::abort();
        }
        bytes.truncate(HEADER);
    };
    while let Ok(append) = queue.recv() {
        append.entry.write(&mut bytes);
        apply(append.entry);
        (append.durable)();
        if bytes.len() > LAZY_BUFFER {
            flush(&mut bytes);
        }
    }
    flush(&mut bytes);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::tag::Tag;

    fn stored(counter: u64) -> Entry {
        let version = Version { tag: Tag { counter, ..Tag::default() }, value: format!("v{counter}").into() };
        Entry::Stored { key: "k".into(), version }
    }

    fn counted(id: &str) -> Entry {
        Entry::Counted { key: "c".into(), increments: Increments::one(id.into(), 7).into() }
    }

    fn batch(entries: &[Entry]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        entries.iter().for_each(|entry| entry.write(&mut bytes));
        seal(&mut bytes);
        bytes
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_log_cut_anywhere_in_its_last_batch_keeps_the_batches_before_it() {
        let first = batch(&[Entry::Boot(1), stored(1), counted("a")]);
        let last = batch(&[stored(2), counted("b"), stored(3)]);
        let bytes = [first.clone(), last].concat();
        let whole = [Entry::Boot(1), stored(1), counted("a"), stored(2), counted("b"), stored(3)];
        assert_eq!(recover(&bytes).unwrap().entries, whole);
        for cut in first.len()..bytes.len() {
            let kept = recover(&bytes[..cut]).unwrap();
            assert_eq!(kept.entries, whole[..3], "cut at {cut}");
            assert_eq!((kept.whole, kept.torn), (first.len(), cut - first.len()));
        }
    }

    #[test]
    fn a_last_batch_that_never_reached_the_disk_is_torn_whether_its_pages_are_zero_or_garbage() {
        let first = batch(&[stored(1)]);
        let mut garbled = batch(&[stored(2), stored(3)]);
        let zeros = vec![0; garbled.len()];
        garbled[HEADER + 3] ^= 1;
        for tail in [garbled, zeros] {
            let kept = recover(&[first.clone(), tail].concat()).unwrap();
            assert_eq!(kept.entries, [stored(1)]);
        }
    }

    #[test]
    fn a_bad_batch_before_the_last_one_is_corruption() {
        let mut bytes = [batch(&[stored(1)]), batch(&[stored(2)])].concat();
        bytes[HEADER + 2] ^= 1;
        assert!(recover(&bytes).unwrap_err().to_string().contains("corrupt at byte 0"));
    }

    #[test]
    fn each_start_of_a_node_has_its_own_number_and_a_torn_tail_is_gone_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let (_, before, boot) = Log::open(folder.path()).unwrap();
        assert_eq!((before.entries.len(), boot), (0, 1));
        let path = folder.path().join(FILE_NAME);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&[9, 0, 0]).unwrap();
        let (_, before, boot) = Log::open(folder.path()).unwrap();
        assert_eq!((before.torn, boot), (3, 2));
        assert_eq!(recover(&std::fs::read(&path).unwrap()).unwrap().entries, [Entry::Boot(1), Entry::Boot(2)]);
    }
}
