//! When each token was last used. It is kept apart from the tokens, so that the server never has to change those, and it is
//! written at most once a minute for each token.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::file::{TokenFile, UnusableFile};
use super::record::TokenRecord;

/// How long a use is not written again, in seconds.
pub const WRITE_INTERVAL: u64 = 60;

impl TokenFile {
    /// When each token was last used, by id, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn last_uses(&self) -> Result<BTreeMap<String, u64>, UnusableFile> {
        Ok(self.read_json(&self.last_use_path())?.unwrap_or_default())
    }

    /// Stores that a token was used, and forgets tokens that no longer exist.
    pub(super) fn store_use(&self, id: &str, now: u64, tokens: &[TokenRecord]) -> Result<(), UnusableFile> {
        let _lock = self.lock()?;
        // A file that somebody damaged is begun anew: it only informs.
        let mut uses = self.last_uses().unwrap_or_default();
        uses.retain(|id, _| tokens.iter().any(|token| token.id == *id));
        let latest = uses.entry(id.to_owned()).or_default();
        *latest = now.max(*latest);
        self.replace(&self.last_use_path(), &uses)
    }

    fn last_use_path(&self) -> PathBuf {
        self.path().with_extension("last-use.json")
    }
}
