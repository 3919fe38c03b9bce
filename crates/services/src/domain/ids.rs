//! Identifiers as types of their own, so that none can be passed for another.

use std::fmt;

use ring::rand::{SecureRandom as _, SystemRandom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::text::Problem;

/// Random bytes from the operating system.
#[expect(
    clippy::expect_used,
    reason = "a system without random numbers cannot give out session tokens at all"
)]
fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the operating system has random numbers");
    bytes
}

fn random_uuid() -> Uuid {
    uuid::Builder::from_random_bytes(random_bytes()).into_uuid()
}

macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(!try_from, !into, with = "String", extend("format" = "uuid"))]
        pub struct $name(Uuid);

        impl $name {
            /// A new random id.
            #[must_use]
            pub fn random() -> Self {
                Self(random_uuid())
            }

            /// The id that a UUID names.
            ///
            /// # Errors
            ///
            /// The text is not a UUID.
            pub fn parse(text: &str) -> Result<Self, Problem> {
                let uuid = Uuid::try_parse(text).map_err(|_| Problem::new("must be a UUID"))?;
                Ok(Self(uuid))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Problem;

            fn try_from(text: String) -> Result<Self, Problem> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.hyphenated().to_string()
            }
        }
    };
}

macro_rules! public_id {
    ($(#[$meta:meta])* $name:ident) => {
        id_type!($(#[$meta])* $name);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

public_id!(
    /// A person.
    UserId
);
public_id!(
    /// A sponsor's campaign.
    CampaignId
);
public_id!(
    /// A sponsored API.
    SponsoredApiId
);
public_id!(
    /// A completed task.
    CompletionId
);
public_id!(
    /// One attempt of a run: the amount that is reserved for it.
    ReservationId
);
id_type!(
    /// The secret that stands for a signed-in person. It has no `Display`, so that no log or message can contain it.
    SessionToken
);

impl SessionToken {
    /// The token in the clear, for the reply that hands it out and for the store.
    #[must_use]
    pub fn expose(&self) -> String {
        self.0.hyphenated().to_string()
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(***)")
    }
}

/// The id of a payment. All attempts under one idempotency key share it, and the upstream receives it as its own
/// idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct TxHash(String);

impl TxHash {
    /// A new random one: `0x` and 64 hexadecimal digits.
    #[must_use]
    pub fn random() -> Self {
        Self(format!("0x{}", hex(&random_bytes::<32>())))
    }

    /// One that a store has kept.
    #[must_use]
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TxHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_print_in_one_form() {
        let id = UserId::random();
        assert_eq!(UserId::parse(&id.to_string().to_uppercase()), Ok(id));
        for wrong in ["", "1", "'; drop table users; --", "6f9619ff-8b86-d011-b42d-00cf4fc964f"] {
            assert_eq!(UserId::parse(wrong).unwrap_err().to_string(), "must be a UUID", "{wrong}");
        }
        assert_ne!(UserId::random(), id);
    }

    #[test]
    fn session_tokens_do_not_print() {
        assert_eq!(format!("{:?}", SessionToken::random()), "SessionToken(***)");
    }

    #[test]
    fn transaction_hashes_are_random() {
        let hash = TxHash::random();
        assert_eq!(hash.as_str().len(), 66);
        assert_ne!(hash, TxHash::random());
    }
}
