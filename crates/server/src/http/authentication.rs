//! Authentication: who sent a request. A token in the `Authorization` header decides; without one, a request that fulfils the
//! conditions of loopback trust is the owner's, and every other one is anonymous.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::{Identity, PeerAddress};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use super::oauth::{OAuth, TokenRefusal, VerifiedToken};
use super::trust::LoopbackTrust;
use crate::tokens::StaticTokens;

/// Finds out who sent a request.
pub struct Authenticator {
    /// Which requests without a token are the owner's.
    pub trust: LoopbackTrust,
    /// Verifies access tokens of an issuer, if there is one.
    pub oauth: Option<Arc<OAuth>>,
    /// Verifies static tokens, if there is a file for them.
    pub static_tokens: Option<StaticTokens>,
}

/// The hash of a token that identifies nobody, in the extensions of its request. It differs from run to run.
#[derive(Debug, Clone, Copy)]
pub struct UnknownToken(pub u64);

static TOKEN_HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The sender of a request.
pub struct Caller {
    /// Who it is.
    pub identity: Identity,
    /// The access token, with which the issuer can be asked for an e-mail address.
    access_token: Option<(VerifiedToken, String)>,
}

impl Authenticator {
    /// The sender of a request whose tokens are not read: the owner, or somebody anonymous.
    pub fn without_token(&self, parts: &Parts) -> Identity {
        if self.trust.trusts(parts) { Identity::Owner } else { Identity::Anonymous }
    }

    /// The sender of a request. The token is removed from the headers, so that nothing behind this sees it.
    ///
    /// # Errors
    ///
    /// The request has a token that identifies nobody.
    pub async fn identify(&self, parts: &mut Parts) -> Result<Caller, TokenRefusal> {
        let identified = self.verify(parts).await;
        if let Err(refusal) = &identified {
            let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0.ip().to_string());
            tracing::warn!(cause = %refusal, peer, "a token was refused");
        }
        identified
    }

    async fn verify(&self, parts: &mut Parts) -> Result<Caller, TokenRefusal> {
        let token = bearer_token(&parts.headers)?;
        parts.headers.remove(AUTHORIZATION);
        let Some(token) = token else {
            return Ok(Caller { identity: self.without_token(parts), access_token: None });
        };
        let caller = self.owner_of(token).await;
        caller.map_err(|(refusal, token)| {
            parts.extensions.insert(UnknownToken(TOKEN_HASHES.hash_one(token)));
            refusal
        })
    }

    /// Whom a token identifies; the token, if nobody.
    async fn owner_of(&self, token: String) -> Result<Caller, (TokenRefusal, String)> {
        if let Some(static_tokens) = self.static_tokens.as_ref().filter(|_| StaticTokens::is_static(&token)) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let person = match static_tokens.verify(&token, now) {
                Ok(person) => person,
                Err(reason) => return Err((TokenRefusal::Invalid(reason), token)),
            };
            return Ok(Caller { identity: Identity::Person(person), access_token: None });
        }
        let Some(oauth) = &self.oauth else {
            let reason = "the token is unknown, and this server has no OAuth issuer";
            return Err((TokenRefusal::Invalid(reason), token));
        };
        let verified = match oauth.verify(&token).await {
            Ok(verified) => verified,
            Err(refusal) => return Err((refusal, token)),
        };
        let identity = Identity::Person(verified.person.clone());
        Ok(Caller { identity, access_token: Some((verified, token)) })
    }

    /// The sender with an e-mail address, if the issuer knows a verified one that the token does not contain.
    pub async fn with_email(&self, caller: &Caller) -> Identity {
        match (&self.oauth, &caller.access_token) {
            (Some(oauth), Some((verified, token))) => {
                Identity::Person(oauth.with_email(verified, token).await)
            }
            _ => caller.identity.clone(),
        }
    }
}

/// The bearer token of a request; `None` if it has none. Other schemes are not meant for this server and do not count.
fn bearer_token(headers: &HeaderMap) -> Result<Option<String>, TokenRefusal> {
    let all = headers.get_all(AUTHORIZATION);
    let token = all.iter().find_map(after_bearer);
    // Another program in between may read the other one, so none counts.
    if token.is_some() && all.iter().nth(1).is_some() {
        return Err(TokenRefusal::Invalid("the request has several Authorization headers"));
    }
    match token.map(|token| std::str::from_utf8(token).map(str::trim)) {
        None => Ok(None),
        Some(Ok(token)) if !token.is_empty() => Ok(Some(token.to_owned())),
        Some(_) => Err(TokenRefusal::Invalid("the Authorization header contains no token")),
    }
}

/// What follows the scheme `Bearer`, whose case does not matter.
fn after_bearer(header: &HeaderValue) -> Option<&[u8]> {
    let (scheme, rest) = header.as_bytes().split_at_checked(6)?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer") && rest.first().is_none_or(|byte| *byte == b' ');
    is_bearer.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(values: &[&'static str]) -> Result<Option<String>, TokenRefusal> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer_token(&headers)
    }

    #[test]
    fn one_bearer_token_is_read_and_other_schemes_are_ignored() {
        let some = |token: &str| Ok(Some(token.to_owned()));
        assert_eq!(token(&["Bearer abc"]), some("abc"));
        assert_eq!(token(&["bearer   abc "]), some("abc"));
        assert_eq!(token(&["BEARER abc"]), some("abc"));
        for none in [&[][..], &["Basic dTpw"], &["Bearerabc"], &["abc"]] {
            assert_eq!(token(none), Ok(None), "{none:?}");
        }
        for refused in
            [&["Bearer a", "Bearer b"][..], &["Basic dTpw", "Bearer a"], &["Bearer"], &["Bearer  "]]
        {
            assert!(token(refused).is_err(), "{refused:?}");
        }
    }
}
