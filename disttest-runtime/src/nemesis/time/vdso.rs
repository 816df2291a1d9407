//! The vDSO of a process: the code that the kernel maps into every process, by which clocks are read without a system
//! call (vdso(7)). It is an ELF image in memory; its functions are found by their names.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Type of the section that holds the symbols for dynamic linking (elf(5)).
const SHT_DYNSYM: u32 = 11;

/// The vDSO of one process.
pub(super) struct Vdso {
    base: u64,
    image: Vec<u8>,
}

impl Vdso {
    /// The vDSO of `pid`, read from its memory; `None` when the kernel maps none into it.
    pub(super) fn of(pid: i32, memory: &File) -> Result<Option<Vdso>> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
        let Some(line) = maps.lines().find(|line| line.ends_with("[vdso]")) else { return Ok(None) };
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).context("a line of maps")?;
        let (base, end) = (u64::from_str_radix(start, 16)?, u64::from_str_radix(end, 16)?);
        let mut image = vec![0; usize::try_from(end - base)?];
        memory.read_exact_at(&mut image, base).context("the vDSO cannot be read")?;
        Ok(Some(Vdso { base, image }))
    }

    /// Address of the function `symbol`, and the bytes that belong to it up to the next multiple of 16, to which the
    /// kernel aligns functions.
    pub(super) fn function(&self, symbol: &str) -> Result<Option<(u64, u64)>> {
        if self.image.get(..5) != Some(b"\x7fELF\x02") {
            bail!("the vDSO is no 64-bit ELF image");
        }
        let (sections, size, count) = (self.u64(40)?, u64::from(self.u16(58)?), u64::from(self.u16(60)?));
        for section in (0..count).map(|i| sections + i * size) {
            if self.u32(section + 4)? == SHT_DYNSYM {
                let strings = self.u64(sections + u64::from(self.u32(section + 40)?) * size + 24)?;
                return self.symbol(self.u64(section + 24)?, self.u64(section + 32)?, strings, symbol);
            }
        }
        bail!("the vDSO has no table of symbols")
    }

    fn symbol(&self, table: u64, length: u64, strings: u64, name: &str) -> Result<Option<(u64, u64)>> {
        for entry in (0..length / 24).map(|i| table + i * 24) {
            let at = usize::try_from(strings + u64::from(self.u32(entry)?))?;
            let named = self.image.get(at..at + name.len() + 1);
            if named.is_some_and(|found| found.strip_suffix(b"\0") == Some(name.as_bytes())) {
                let (value, size) = (self.u64(entry + 8)?, self.u64(entry + 16)?);
                return Ok(Some((self.base + value, size.next_multiple_of(16))));
            }
        }
        Ok(None)
    }

    fn u16(&self, at: u64) -> Result<u16> {
        Ok(u16::from_le_bytes(self.bytes(at)?))
    }

    fn u32(&self, at: u64) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes(at)?))
    }

    fn u64(&self, at: u64) -> Result<u64> {
        Ok(u64::from_le_bytes(self.bytes(at)?))
    }

    fn bytes<const N: usize>(&self, at: u64) -> Result<[u8; N]> {
        let at = usize::try_from(at)?;
        let bytes = self.image.get(at..at.saturating_add(N)).context("the vDSO ends in the middle of a header")?;
        Ok(bytes.try_into()?)
    }
}
