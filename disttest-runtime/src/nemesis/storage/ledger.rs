//! What a disk has been given and was not yet told to keep: for each file, how to undo every write since its last sync.

use super::wrong::Loss;
use crate::base::rng::Rng;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// The writes of all files that no sync has confirmed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    files: BTreeMap<u64, Vec<Undo>>,
}

#[derive(Debug)]
struct Undo {
    offset: u64,
    /// How many bytes were written; 0 for a change of length.
    length: u64,
    /// What stood there, as far as the file reached.
    old: Vec<u8>,
    old_length: u64,
}

impl Ledger {
    /// `length` bytes are about to be written to the file `ino`.
    pub(super) fn writes(&mut self, ino: u64, file: &File, offset: u64, length: u64) -> io::Result<()> {
        let old_length = file.metadata()?.len();
        let old = read(file, offset, length.min(old_length.saturating_sub(offset)))?;
        self.files.entry(ino).or_default().push(Undo { offset, length, old, old_length });
        Ok(())
    }

    /// The file `ino` is about to be `length` long.
    pub(super) fn resizes(&mut self, ino: u64, file: &File, length: u64) -> io::Result<()> {
        let old_length = file.metadata()?.len();
        let old = read(file, length, old_length.saturating_sub(length))?;
        self.files.entry(ino).or_default().push(Undo { offset: length, length: 0, old, old_length });
        Ok(())
    }

    /// What was written to the file `ino` so far is to be kept.
    pub(super) fn keeps(&mut self, ino: u64) {
        self.files.remove(&ino);
    }

    /// Bytes that were written and that no sync has confirmed.
    pub(super) fn unsynced(&self) -> u64 {
        self.files.values().flatten().map(|undo| undo.length).sum()
    }

    /// Loses all of it. `open` opens a file for reading and writing (`None`: its name is gone, and it with it). With
    /// `tear` the oldest write of each file is kept up to one of the sectors' ends in it.
    pub(super) fn lose(&mut self, open: impl Fn(u64) -> Option<File>, mut tear: Option<&mut Rng>) -> io::Result<Loss> {
        let mut loss = Loss::default();
        for (ino, undos) in std::mem::take(&mut self.files) {
            loss.bytes += undos.iter().map(|undo| undo.length).sum::<u64>();
            let Some(file) = open(ino) else { continue };
            for (n, undo) in undos.iter().enumerate().rev() {
                let cut = tear.as_mut().filter(|_| n == 0).and_then(|rng| undo.sector_end(rng));
                let kept = cut.map(|end| read(&file, undo.offset, end - undo.offset)).transpose()?;
                file.write_all_at(&undo.old, undo.offset)?;
                file.set_len(undo.old_length)?;
                if let Some(kept) = kept {
                    file.write_all_at(&kept, undo.offset)?;
                    loss.bytes -= kept.len() as u64;
                    loss.torn += 1;
                }
            }
        }
        Ok(loss)
    }
}

impl Undo {
    /// The end of a sector inside of what was written, drawn by `rng`.
    fn sector_end(&self, rng: &mut Rng) -> Option<u64> {
        let first = (self.offset / SECTOR + 1) * SECTOR;
        let ends = (self.offset + self.length).checked_sub(first + 1)? / SECTOR + 1;
        Some(first + rng.below(ends) * SECTOR)
    }
}

fn read(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of `content`, and a ledger that watches what is written to it.
    struct Watched {
        file: File,
        ledger: Ledger,
    }

    impl Watched {
        fn new(content: &[u8]) -> Watched {
            let file = tempfile::tempfile().expect("a file");
            file.write_all_at(content, 0).expect("written");
            Watched { file, ledger: Ledger::default() }
        }

        fn write(&mut self, offset: u64, bytes: &[u8]) {
            self.ledger.writes(1, &self.file, offset, bytes.len() as u64).expect("noted");
            self.file.write_all_at(bytes, offset).expect("written");
        }

        fn resize(&mut self, length: u64) {
            self.ledger.resizes(1, &self.file, length).expect("noted");
            self.file.set_len(length).expect("resized");
        }

        fn lose(&mut self, tear: Option<&mut Rng>) -> (Loss, Vec<u8>) {
            let file = &self.file;
            let loss = self.ledger.lose(|_| file.try_clone().ok(), tear).expect("lost");
            let length = file.metadata().expect("there").len();
            (loss, read(file, 0, length).expect("read"))
        }
    }

    #[test]
    fn what_was_not_synced_is_undone_to_the_byte() {
        type Act = fn(&mut Watched);
        let rows: &[(&str, Act, u64, &str)] = &[
            ("an append", |w| w.write(3, b"def"), 3, "abc"),
            ("two appends", |w| (w.write(3, b"d"), w.write(4, b"e")).0, 2, "abc"),
            ("one that was written over", |w| w.write(0, b"XY"), 2, "abc"),
            ("one across the end", |w| w.write(2, b"XYZ"), 3, "abc"),
            ("one behind a hole", |w| w.write(9, b"x"), 1, "abc"),
            ("a shorter file", |w| w.resize(1), 0, "abc"),
            ("an emptied file that was written anew", |w| (w.resize(0), w.write(0, b"new one")).0, 7, "abc"),
            ("a longer file", |w| w.resize(10), 0, "abc"),
            ("what came after a sync", |w| (w.write(3, b"d"), w.ledger.keeps(1), w.write(4, b"e")).0, 1, "abcd"),
            ("nothing after a sync", |w| (w.write(3, b"d"), w.ledger.keeps(1)).0, 0, "abcd"),
        ];
        for (name, act, bytes, left) in rows {
            let mut watched = Watched::new(b"abc");
            act(&mut watched);
            assert_eq!(watched.ledger.unsynced(), *bytes, "{name}");
            let (loss, now) = watched.lose(None);
            assert_eq!((loss.bytes, String::from_utf8_lossy(&now).as_ref()), (*bytes, *left), "{name}");
            assert_eq!(watched.lose(None).0, Loss::default(), "{name}: nothing is left to lose");
        }
    }

    #[test]
    fn a_torn_write_is_there_up_to_the_end_of_a_sector() {
        for seed in 0..20 {
            let mut watched = Watched::new(&[1; 100]);
            watched.write(100, &[2; 2000]);
            watched.write(2100, &[3; 2000]);
            let (loss, now) = watched.lose(Some(&mut Rng::new(seed)));
            assert!(now.len() % 512 == 0 && now.len() > 100 && now.len() < 2100, "{}", now.len());
            assert!(now[..100].iter().all(|b| *b == 1) && now[100..].iter().all(|b| *b == 2));
            assert_eq!(loss, Loss { bytes: 4100 - now.len() as u64, torn: 1 });
        }
        let mut watched = Watched::new(b"");
        watched.write(0, &[2; 512]);
        assert_eq!(
            watched.lose(Some(&mut Rng::new(1))),
            (Loss { bytes: 512, torn: 0 }, Vec::new()),
            "one sector is whole"
        );
    }

    #[test]
    fn a_file_whose_name_is_gone_is_lost_as_a_whole() {
        let mut watched = Watched::new(b"abc");
        watched.write(3, b"def");
        assert_eq!(watched.ledger.lose(|_| None, None).expect("lost").bytes, 3);
    }
}
