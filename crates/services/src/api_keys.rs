//! The keys of the REST routes: who a request comes from, by the key that it presents.

use annai_core::Identity;
use annai_core::config::Secret;
use ring::hmac;
use ring::rand::SystemRandom;

use crate::config::ServicesSection;

/// The field that an error about a key names in its details.
pub const AUTHORIZATION_FIELD: &str = "authorization";

/// The key that a request presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyClass {
    /// None, or none that is right: a public route, or the owner of a machine without keys.
    None,
    /// The key of the GPT actions.
    Gpt,
    /// The key of another Annai server, where it differs from that of the GPT actions.
    Internal,
    /// The key of the sponsors.
    Sponsor,
}

impl KeyClass {
    /// Whether the key belongs to another Annai server: it may name identities, and its requests are not counted.
    #[must_use]
    pub const fn is_internal(self) -> bool {
        matches!(self, Self::Internal)
    }
}

/// Why a key was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// There is none (401).
    #[error("this route needs the header Authorization: Bearer with an API key")]
    Missing,
    /// It is another one (403).
    #[error("the API key is wrong")]
    Wrong,
    /// This server has no key that would open the route to this caller (403).
    #[error("this route is open only to the owner of the machine, because the setting {0} is not set")]
    NotConfigured(&'static str),
}

/// The keys that open the routes.
pub struct ApiKeys {
    gpt: Option<ApiKey>,
    internal: Option<ApiKey>,
    /// Whether the internal key says more than the key of the GPT actions.
    is_internal_distinct: bool,
    sponsor: Option<ApiKey>,
}

impl ApiKeys {
    /// The keys of the settings. A blank one is not a key.
    #[must_use]
    pub fn new(settings: &ServicesSection) -> Self {
        let (gpt, internal) = (text(&settings.gpt_actions_api_key), text(&settings.mcp_internal_api_key));
        Self {
            is_internal_distinct: gpt != internal,
            gpt: gpt.map(ApiKey::new),
            internal: internal.map(ApiKey::new),
            sponsor: text(&settings.sponsor_api_key).map(ApiKey::new),
        }
    }

    /// Whether a key opens the routes of the GPT actions.
    #[must_use]
    pub const fn has_gpt_key(&self) -> bool {
        self.gpt.is_some() || self.internal.is_some()
    }

    /// Who calls a route of the GPT actions. Without a key on this server, only its owner may.
    ///
    /// # Errors
    ///
    /// The key is missing or wrong.
    pub fn gpt_caller(&self, presented: Option<&str>, caller: &Identity) -> Result<KeyClass, KeyRefusal> {
        if self.gpt.is_none() && self.internal.is_none() {
            return owner_only(caller, "services.gpt_actions_api_key");
        }
        let presented = presented.ok_or(KeyRefusal::Missing)?;
        // Both keys are always compared, so that the time does not tell which one is set.
        let is_gpt = matches(self.gpt.as_ref(), presented);
        let is_internal = matches(self.internal.as_ref(), presented);
        match (is_gpt, is_internal) {
            (_, true) if self.is_internal_distinct => Ok(KeyClass::Internal),
            (false, false) => Err(KeyRefusal::Wrong),
            _ => Ok(KeyClass::Gpt),
        }
    }

    /// Who calls a route of the sponsors. Without a key on this server, only its owner may.
    ///
    /// # Errors
    ///
    /// The key is missing or wrong.
    pub fn sponsor_caller(&self, presented: Option<&str>, caller: &Identity) -> Result<KeyClass, KeyRefusal> {
        if self.sponsor.is_none() {
            return owner_only(caller, "services.sponsor_api_key");
        }
        let presented = presented.ok_or(KeyRefusal::Missing)?;
        if matches(self.sponsor.as_ref(), presented) { Ok(KeyClass::Sponsor) } else { Err(KeyRefusal::Wrong) }
    }
}

fn text(key: &Option<Secret>) -> Option<&str> {
    key.as_ref().map(|key| key.expose().trim()).filter(|key| !key.is_empty())
}

fn matches(key: Option<&ApiKey>, presented: &str) -> bool {
    key.is_some_and(|key| key.matches(presented))
}

fn owner_only(caller: &Identity, setting: &'static str) -> Result<KeyClass, KeyRefusal> {
    if *caller == Identity::Owner { Ok(KeyClass::None) } else { Err(KeyRefusal::NotConfigured(setting)) }
}

/// A key, kept as a keyed hash under a random key. Comparing hashes takes the same time whatever was presented.
struct ApiKey {
    hash_key: hmac::Key,
    hash: hmac::Tag,
}

impl ApiKey {
    #[expect(
        clippy::expect_used,
        reason = "a system without random numbers cannot give out session tokens at all"
    )]
    fn new(key: &str) -> Self {
        let hash_key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        let hash_key = hash_key.expect("the operating system has random numbers");
        let hash = hmac::sign(&hash_key, key.as_bytes());
        Self { hash_key, hash }
    }

    fn matches(&self, presented: &str) -> bool {
        hmac::verify(&self.hash_key, presented.as_bytes(), self.hash.as_ref()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(gpt: Option<&str>, internal: Option<&str>, sponsor: Option<&str>) -> ApiKeys {
        ApiKeys::new(&ServicesSection {
            gpt_actions_api_key: gpt.map(Secret::new),
            mcp_internal_api_key: internal.map(Secret::new),
            sponsor_api_key: sponsor.map(Secret::new),
            ..ServicesSection::default()
        })
    }

    #[test]
    fn only_an_internal_key_of_its_own_is_internal() {
        let owner = &Identity::Owner;
        for (gpt, internal, presented, expected) in [
            (Some("g"), Some("i"), Some("g"), Ok(KeyClass::Gpt)),
            (Some("g"), Some("i"), Some("i"), Ok(KeyClass::Internal)),
            (Some("g"), Some("g"), Some("g"), Ok(KeyClass::Gpt)),
            (Some("g"), None, Some("g"), Ok(KeyClass::Gpt)),
            (None, Some("i"), Some("i"), Ok(KeyClass::Internal)),
            (Some("g"), Some("i"), Some("x"), Err(KeyRefusal::Wrong)),
            (Some("g"), Some("i"), Some("gi"), Err(KeyRefusal::Wrong)),
            (Some("g"), Some("i"), None, Err(KeyRefusal::Missing)),
            (None, None, None, Ok(KeyClass::None)),
            (Some(" "), None, Some(" "), Ok(KeyClass::None)),
        ] {
            assert_eq!(
                keys(gpt, internal, None).gpt_caller(presented, owner),
                expected,
                "{gpt:?} {internal:?}"
            );
        }
    }

    #[test]
    fn without_a_key_only_the_owner_is_let_in() {
        let (open, stranger) = (keys(None, None, None), &Identity::Anonymous);
        let refused = |setting| Err(KeyRefusal::NotConfigured(setting));
        assert_eq!(open.gpt_caller(Some("x"), stranger), refused("services.gpt_actions_api_key"));
        assert_eq!(open.sponsor_caller(None, stranger), refused("services.sponsor_api_key"));
        assert_eq!(open.sponsor_caller(None, &Identity::Owner), Ok(KeyClass::None));
        let keyed = keys(Some("g"), None, Some("s"));
        assert_eq!(keyed.sponsor_caller(None, &Identity::Owner), Err(KeyRefusal::Missing));
        assert_eq!(keyed.sponsor_caller(Some("g"), &Identity::Owner), Err(KeyRefusal::Wrong));
        assert_eq!(keyed.sponsor_caller(Some("s"), stranger), Ok(KeyClass::Sponsor));
    }
}
