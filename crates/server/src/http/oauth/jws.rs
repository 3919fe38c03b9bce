//! Signed tokens: a compact JWS (RFC 7515) is split, and its signature is verified. The header is only allowed to choose
//! among the keys of the issuer; what it says about keys (`jku`, `x5u`, `jwk`) is never read.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::keys::{Algorithm, VerificationKey};

/// The maximum length of a token in bytes. Access tokens have one to four kilobytes; a longer one is not parsed.
const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// The values of `typ` that an access token may have (RFC 9068; `JWT` is what most issuers write).
const ACCESS_TOKEN_TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// A token whose signature is not verified yet.
pub struct UnverifiedToken<'a> {
    /// The id of the key that is said to have signed it.
    pub kid: String,
    algorithm: Algorithm,
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Whether there are extensions that a reader must understand. None are understood here.
    #[serde(default, deserialize_with = "is_present")]
    crit: bool,
}

/// True for a member that is there, whatever its value, also `null`.
pub fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|IgnoredAny| true)
}

impl<'a> UnverifiedToken<'a> {
    /// Splits a token and reads its header.
    ///
    /// # Errors
    ///
    /// Why it cannot be an access token.
    pub fn parse(token: &'a str) -> Result<Self, &'static str> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err("the token is too long");
        }
        let malformed = "the token is not a signed JWT";
        let (signed, signature) = token.rsplit_once('.').ok_or(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(malformed)?;
        if payload.contains('.') {
            return Err(malformed);
        }
        let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| malformed)?;
        // As text first: serde does not look at the bytes of members that it ignores.
        let header = String::from_utf8(header).map_err(|_| malformed)?;
        let header: TokenHeader = serde_json::from_str(&header).map_err(|_| malformed)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed)?;
        let algorithm =
            Algorithm::of_name(&header.alg).ok_or("the signature algorithm of the token is not accepted")?;
        if header.crit {
            return Err("the token requires an extension that is not supported");
        }
        if header.typ.is_some_and(|typ| !ACCESS_TOKEN_TYPES.contains(&typ.to_ascii_lowercase().as_str())) {
            return Err("the token is not an access token");
        }
        let kid = header.kid.ok_or("the token does not name its key")?;
        Ok(Self { kid, algorithm, signed, payload, signature })
    }

    /// The payload, if one of these keys has signed it.
    ///
    /// # Errors
    ///
    /// The signature is not valid.
    pub fn verify(&self, keys: &[VerificationKey]) -> Result<String, &'static str> {
        let message = self.signed.as_bytes();
        if !keys.iter().any(|key| key.verifies(self.algorithm, message, &self.signature)) {
            return Err("the signature of the token is not valid");
        }
        self.unverified_payload().ok_or("the token is not a signed JWT")
    }

    /// What the token says, whoever has written it.
    pub fn unverified_payload(&self) -> Option<String> {
        let payload = URL_SAFE_NO_PAD.decode(self.payload).ok()?;
        String::from_utf8(payload).ok()
    }
}
