//! The verification of access tokens, and what the issuer is asked about the people of valid ones.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annai_core::{BoundedStore, Finding, Person, StoreLimits};
use ring::digest;

use super::claims::{self, Accepted, Expected};
use super::email::{self, EmailClaim};
use super::issuer::Issuer;
use super::jws::UnverifiedToken;
use super::key_cache::{IssuerKeys, KeyCache, KeysUnavailable};
use crate::http::web_origin::BadUrl;

/// The e-mail addresses that the issuer was asked for: a thousand people, for ten minutes each, or until their token expires.
const EMAIL_CACHE: StoreLimits =
    StoreLimits { entries: 1000, bytes: 1 << 20, time_to_live: Duration::from_secs(600) };

/// Why an access token does not identify anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// The token is not valid, for this reason.
    #[error("{0}")]
    Invalid(&'static str),
    /// The token cannot be verified now, because the issuer's keys cannot be fetched.
    #[error("the keys of the OAuth issuer cannot be fetched at the moment; try again later")]
    IssuerUnavailable,
}

/// Verifies the access tokens of one issuer.
pub struct OAuth {
    pub(super) issuer: Arc<Issuer>,
    audiences: Vec<String>,
    keys: Arc<KeyCache>,
    emails: BoundedStore<[u8; 32], Option<String>>,
}

/// A verified access token.
pub struct VerifiedToken {
    /// The person.
    pub person: Arc<Person>,
    /// Whether the issuer may be asked for an e-mail address that the token does not contain.
    may_ask_for_email: bool,
}

impl OAuth {
    /// A verifier of tokens that `issuer` has issued for one of the audiences.
    ///
    /// # Errors
    ///
    /// The issuer is not a URL that is accepted.
    pub fn new(issuer: &str, audiences: Vec<String>) -> Result<Self, BadUrl> {
        let issuer = Arc::new(Issuer::new(issuer)?);
        let source = issuer.clone();
        let fetch = move || {
            let source = source.clone();
            let fetched: futures_util::future::BoxFuture<'static, Result<IssuerKeys, String>> =
                Box::pin(async move { source.fetch_keys().await });
            fetched
        };
        let keys = Arc::new(KeyCache::new(Arc::new(fetch)));
        Ok(Self { issuer, audiences, keys, emails: BoundedStore::new(EMAIL_CACHE) })
    }

    /// The issuer's URL, as the operator wrote it.
    pub fn issuer_url(&self) -> &str {
        self.issuer.name()
    }

    /// Verifies an access token.
    ///
    /// # Errors
    ///
    /// Why it does not identify anybody.
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken, TokenRefusal> {
        let unverified = UnverifiedToken::parse(token).map_err(TokenRefusal::Invalid)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let check = |payload: &str, keys: &IssuerKeys| {
            claims::check(payload, &Expected { issuer: &keys.issuer, audiences: &self.audiences, now })
        };
        let unknown_key = TokenRefusal::Invalid("the issuer does not know the key of the token");
        if let Some(keys) = self.keys.cached()
            && keys.keys.get(&unverified.kid).is_none()
            && unverified.unverified_payload().is_none_or(|payload| check(&payload, &keys).is_err())
        {
            // Whoever has signed such a token, it would be refused, so it is no reason to ask the issuer for its key.
            return Err(unknown_key);
        }
        let keys = self.keys.with_key(&unverified.kid).await;
        let keys = keys.map_err(|KeysUnavailable| TokenRefusal::IssuerUnavailable)?;
        let candidates = keys.keys.get(&unverified.kid).ok_or(unknown_key)?;
        let payload = unverified.verify(candidates).map_err(TokenRefusal::Invalid)?;
        let Accepted { person, email } = check(&payload, &keys).map_err(TokenRefusal::Invalid)?;
        Ok(VerifiedToken { person: Arc::new(person), may_ask_for_email: email == EmailClaim::Absent })
    }

    /// The person with the e-mail address that the issuer knows, for tools that need one and tokens that contain none.
    pub async fn with_email(&self, verified: &VerifiedToken, token: &str) -> Arc<Person> {
        if !verified.may_ask_for_email {
            return verified.person.clone();
        }
        let mut key = [0; 32];
        key.copy_from_slice(digest::digest(&digest::SHA256, token.as_bytes()).as_ref());
        let email = match self.emails.get(&key, Instant::now()) {
            Some(email) => email,
            None => {
                let Some(email) = self.ask_for_email(&verified.person, token).await else {
                    return verified.person.clone();
                };
                self.emails.put(key, email.clone(), 128, Instant::now());
                email
            }
        };
        Arc::new(Person { email, ..(*verified.person).clone() })
    }

    /// The verified address of a person in the issuer's userinfo; `None` when the issuer cannot be asked, so that the next
    /// call asks again.
    async fn ask_for_email(&self, person: &Person, token: &str) -> Option<Option<String>> {
        // The keys are cached, because the token has just been verified with one of them.
        let keys = self.keys.cached()?;
        let url = keys.userinfo.as_ref()?;
        match self.issuer.fetch_userinfo(url, token).await {
            Ok(info) if info.get("sub").and_then(|sub| sub.as_str()) == Some(person.subject.as_str()) => {
                Some(email::in_claims(&info).verified().map(str::to_owned))
            }
            // The userinfo of another subject says nothing about this person.
            Ok(_) => Some(None),
            Err(cause) => {
                tracing::warn!(cause, "the userinfo of the OAuth issuer cannot be fetched");
                None
            }
        }
    }

    /// Checks that the issuer can be reached, for `annai doctor`.
    pub async fn check(&self) -> Finding {
        let url = self.issuer.name();
        match self.issuer.fetch_keys().await {
            Ok(keys) if keys.keys.len() > 0 => {
                Finding::good(format!("oauth: {url} publishes {} usable keys", keys.keys.len()))
            }
            Ok(_) => Finding::bad(
                format!("oauth: {url} publishes no key that is accepted"),
                "let the issuer sign its access tokens with RS256, PS256, ES256 or EdDSA",
            ),
            Err(problem) => Finding::bad(
                format!("oauth: the keys of {url} cannot be fetched: {problem}"),
                "correct OAUTH_ISSUER (or AUTH0_DOMAIN), or make the issuer reachable from this machine",
            ),
        }
    }
}
