//! Idempotency keys: which request a key stands for, and what a second request under it gets.

use std::fmt;

use ring::digest::{Context, SHA256};

use super::ids::{SessionToken, TxHash, hex};
use super::limits::{MAX_KEY_CHARS, MAX_KEYS, MAX_STORED_OUTPUT_BYTES};
use super::reservation::ReservationState;
use super::text::{FieldError, Problem};

/// A caller's key for running something at most once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key, if it can be one.
    ///
    /// # Errors
    ///
    /// It is empty, too long, or contains other characters than printable ASCII.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let is_printable = |byte: u8| (b' '..=b'~').contains(&byte);
        if (1..=MAX_KEY_CHARS).contains(&text.len()) && text.bytes().all(is_printable) {
            return Ok(Self(text.to_owned()));
        }
        let problem = format!("must have 1 to {MAX_KEY_CHARS} printable ASCII characters");
        Err(Problem::new(problem).of("Idempotency-Key"))
    }

    /// A new random key.
    #[must_use]
    pub fn random() -> Self {
        Self(TxHash::random().as_str().to_owned())
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a key stands for: a SHA-256 of all that the request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHash(String);

impl RequestHash {
    /// The hash of several parts, which cannot be confused with other parts of the same concatenation.
    #[must_use]
    pub fn of(parts: &[&str]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        Self(hex(context.finish().as_ref()))
    }

    /// One that a store has kept.
    #[must_use]
    pub const fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hash by which a store recognizes the session that used a key, without keeping the session itself.
#[must_use]
pub fn session_hash(session: SessionToken) -> String {
    RequestHash::of(&["session", &session.expose()]).to_string()
}

/// What a store knows about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// What it stands for.
    pub request_hash: RequestHash,
    /// The payment of all attempts under it.
    pub tx_hash: TxHash,
    /// Whether its time is over.
    pub is_expired: bool,
    /// The state of the newest attempt.
    pub newest_attempt: Option<ReservationState>,
    /// Whether a result is stored.
    pub has_result: bool,
    /// Whether it was used by the session that asks, or by any session of the same verified person.
    pub is_own: bool,
}

/// What the living keys of a person take up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse {
    /// How many there are.
    pub keys: u64,
    /// The size of the outputs that are stored under them in bytes.
    pub output_bytes: u64,
}

impl KeyUse {
    /// Whether there is room for one more.
    ///
    /// # Errors
    ///
    /// There is none until the oldest keys expire.
    pub const fn check(self) -> Result<(), KeysExhausted> {
        if self.keys < MAX_KEYS && self.output_bytes < MAX_STORED_OUTPUT_BYTES {
            return Ok(());
        }
        Err(KeysExhausted(self))
    }
}

/// A person has used too many keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} idempotency keys with {} bytes of results are stored for you, and the limits are {MAX_KEYS} and {MAX_STORED_OUTPUT_BYTES}; run the service without a key, or wait until the oldest of them expire a day after their use",
    .0.keys, .0.output_bytes
)]
pub struct KeysExhausted(KeyUse);

/// What a request under a key gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyDecision {
    /// It runs as the first under the key.
    First,
    /// It runs again, with the payment of the earlier attempts.
    Again(TxHash),
    /// It gets the stored result.
    Replay,
    /// The first one is still running (409).
    InProgress,
    /// The key stands for another request (409).
    Conflict,
    /// The key was used by another session of a person who is not verified (409).
    OtherSession,
}

/// Decides what a request under a key gets.
#[must_use]
pub fn decide(stored: Option<StoredKey>, request: &RequestHash) -> KeyDecision {
    let Some(stored) = stored else { return KeyDecision::First };
    let is_running = stored.newest_attempt == Some(ReservationState::Reserved);
    // A running attempt keeps its key alive: a clock that jumps a day ahead must not run it twice.
    if stored.is_expired && !is_running {
        KeyDecision::First
    } else if !stored.is_own {
        // Whoever knows an e-mail address can begin a session for it, and must not read what another one was given.
        KeyDecision::OtherSession
    } else if stored.request_hash != *request {
        KeyDecision::Conflict
    } else if stored.has_result {
        KeyDecision::Replay
    } else if is_running {
        KeyDecision::InProgress
    } else {
        KeyDecision::Again(stored.tx_hash)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_printable_ascii() {
        for right in ["a", "~ !", &"k".repeat(255)] {
            assert!(IdempotencyKey::parse(right).is_ok(), "{right}");
        }
        for wrong in ["", "鍵", "a\n", "a\0", "\u{7f}", &"k".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(wrong).unwrap_err().field, "Idempotency-Key", "{wrong:?}");
        }
    }

    #[test]
    fn a_key_means_one_request_for_a_day() {
        let (request, other) = (RequestHash::of(&["s", "i"]), RequestHash::of(&["s", "j"]));
        let tx_hash = TxHash::random();
        let stored = |is_expired, newest_attempt, has_result| {
            Some(StoredKey {
                request_hash: request.clone(),
                tx_hash: tx_hash.clone(),
                is_expired,
                newest_attempt,
                has_result,
                is_own: true,
            })
        };
        use ReservationState::{Released, Reserved, Settled};
        for (stored, same, different) in [
            (None, KeyDecision::First, KeyDecision::First),
            (stored(false, Some(Settled), true), KeyDecision::Replay, KeyDecision::Conflict),
            // A late result that nobody could pay for is replayed like any other.
            (stored(false, Some(Released), true), KeyDecision::Replay, KeyDecision::Conflict),
            (stored(false, Some(Reserved), false), KeyDecision::InProgress, KeyDecision::Conflict),
            (
                stored(false, Some(Released), false),
                KeyDecision::Again(tx_hash.clone()),
                KeyDecision::Conflict,
            ),
            (stored(true, Some(Settled), true), KeyDecision::First, KeyDecision::First),
            (stored(true, Some(Released), false), KeyDecision::First, KeyDecision::First),
            (stored(true, Some(Reserved), false), KeyDecision::InProgress, KeyDecision::Conflict),
        ] {
            assert_eq!(decide(stored.clone(), &request), same, "{stored:?}");
            assert_eq!(decide(stored.clone(), &other), different, "{stored:?}");
            let Some(stored) = stored else { continue };
            let decision = decide(Some(StoredKey { is_own: false, ..stored.clone() }), &request);
            let expected = if same == KeyDecision::First { same } else { KeyDecision::OtherSession };
            assert_eq!(decision, expected, "{stored:?}");
        }
    }

    proptest! {
        #[test]
        fn different_requests_have_different_hashes(a: (String, String), b: (String, String)) {
            let hash = |(service, input): &(String, String)| RequestHash::of(&[service, input]);
            prop_assert_eq!(hash(&a) == hash(&b), a == b);
            // Moving a character between the parts makes another request.
            prop_assert_ne!(hash(&(format!("{}x", a.0), a.1.clone())), hash(&(a.0.clone(), format!("x{}", a.1))));
        }
    }
}
