//! A static token, as the token file stores it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};

/// What every static token begins with. It tells a static token from an OAuth token, and lets scanners find leaked ones.
pub const TOKEN_PREFIX: &str = "annai_";
/// The issuer of the people that static tokens identify.
pub const TOKEN_ISSUER: &str = "annai:token";
/// The number of random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// The number of random bytes of a token's id: unique in a file, and short enough to type.
const ID_BYTES: usize = 4;

/// The system has no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the system provides no random numbers")]
pub struct NoRandomNumbers;

/// A static token as the token file stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// Identifies the token in lists and logs.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// The SHA-256 digest of the token, in hexadecimal digits.
    pub sha256: String,
    /// The scopes that it grants.
    pub scopes: BTreeSet<String>,
    /// When it was made, in seconds since 1970.
    pub created_at: u64,
    /// When it expires, in seconds since 1970; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

impl TokenRecord {
    /// Makes a token, and its record.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn create(
        name: &str,
        scopes: BTreeSet<String>,
        created_at: u64,
        expires_at: Option<u64>,
    ) -> Result<(Self, String), NoRandomNumbers> {
        let mut random = [0; TOKEN_BYTES + ID_BYTES];
        SystemRandom::new().fill(&mut random).map_err(|_| NoRandomNumbers)?;
        let (secret, id) = random.split_at(TOKEN_BYTES);
        let token = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
        let sha256 = digest_of(&token);
        Ok((Self { id: hex(id), name: name.to_owned(), sha256, scopes, created_at, expires_at }, token))
    }

    /// Whether it has expired at this time, in seconds since 1970.
    #[must_use]
    pub fn has_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// The digest of a token, as its record has it.
pub fn digest_of(token: &str) -> String {
    hex(digest(&SHA256, token.as_bytes()).as_ref())
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
