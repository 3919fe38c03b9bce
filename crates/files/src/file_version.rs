//! A version of a file: what was read of one version says nothing about another.

use crate::fs::Sha256;

/// A version of a file of a manual or of the vault.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileVersion {
    /// The manual; none for the vault.
    pub manual_id: Option<String>,
    /// The stored path.
    pub path: String,
    /// The SHA-256 of the file.
    pub sha256: [u8; 32],
}

impl FileVersion {
    /// A version of a file.
    pub fn new(manual_id: Option<&str>, path: &str, sha256: &Sha256) -> Self {
        Self { manual_id: manual_id.map(str::to_owned), path: path.to_owned(), sha256: sha256.bytes() }
    }
}
