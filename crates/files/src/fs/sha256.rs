//! SHA-256 of files, by which callers recognise a version.

use std::fmt;

use ring::digest;
use serde::{Deserialize, Serialize};

/// A file's SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Sha256Hasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Its bytes.
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Whether its hexadecimal form begins with `prefix`, in either case.
    pub fn begins_with(&self, prefix: &str) -> bool {
        let text = self.to_string();
        text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes a hash from bytes that arrive in pieces.
pub struct Sha256Hasher(digest::Context);

impl Sha256Hasher {
    /// A hasher that has seen no bytes yet.
    pub fn new() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes.
    pub fn finish(self) -> Sha256 {
        let mut bytes = [0; 32];
        for (byte, from) in bytes.iter_mut().zip(self.0.finish().as_ref()) {
            *byte = *from;
        }
        Sha256(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_shown_in_hexadecimal_and_compared_by_prefix_in_either_case() {
        let hash = Sha256::of(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(hash.begins_with("BA7816") && hash.begins_with("") && !hash.begins_with("ba7817"));
        assert!(!hash.begins_with(&"b".repeat(65)));
    }

    #[test]
    fn pieces_have_the_hash_of_the_whole() {
        let mut hasher = Sha256Hasher::new();
        [&b"a"[..], b"", b"bc"].iter().for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finish(), Sha256::of(b"abc"));
    }
}
