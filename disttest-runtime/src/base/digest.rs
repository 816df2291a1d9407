//! SHA-256 in the lower-case hexadecimal that `sha256sum` prints.

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes`, as 64 lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of everything `read` yields, in constant memory.
pub fn sha256_hex_of(mut read: impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match read.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// A SHA-256 that is fed piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Running(Sha256);

impl Running {
    /// Adds `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything added so far, as 64 lower-case hexadecimal digits.
    pub fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_what_sha256sum_prints() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let mut running = Running::default();
        running.add(b"a");
        running.add(b"bc");
        assert_eq!(running.hex(), sha256_hex(b"abc"));
    }
}
