//! The people who call tools: who they are, and the sessions in which they use the services.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{BoundedStore, Call, ErrorKind, Identity, StoreLimits, ToolError};

use crate::backend::Backend;
use crate::clock::Clock;
use crate::domain::email::Email;
use crate::domain::ids::{SessionToken, UserId};
use crate::domain::text::{List, Name, Problem};
use crate::domain::user::{AUTO_REGION, SignIn, SignInReport, VerifiedSubject};
use crate::error::ServicesError;
use crate::rate_limit::{RateClient, RateLimiter};

/// The issuer of the development user.
const DEVELOPMENT_ISSUER: &str = "annai:dev";
/// How many sessions are kept, and for how long: a day, which is well within their thirty. A person whose session is
/// forgotten gets a new one with the next call.
const SESSION_CACHE: StoreLimits =
    StoreLimits { entries: 10_000, bytes: 4 << 20, time_to_live: Duration::from_secs(24 * 60 * 60) };
/// About the size of an entry of the cache in bytes.
const SESSION_BYTES: usize = 256;

/// Identifies the callers of tools, keeps their sessions, and counts their calls.
pub struct People {
    options: PeopleOptions,
    sessions: BoundedStore<(String, String), Session>,
}

/// What decides who the callers are and how often they may call.
pub struct PeopleOptions {
    /// The e-mail address of the development user.
    pub development_user: Option<String>,
    /// Whether people sign in with OAuth, which turns the development user off.
    pub has_issuer: bool,
    /// Counts the calls, together with the requests to the routes.
    pub limiter: Arc<RateLimiter>,
    /// The clocks.
    pub clock: Arc<dyn Clock>,
}

#[derive(Clone, Copy)]
struct Session {
    token: SessionToken,
    user: UserId,
}

/// Somebody whose e-mail address is verified.
pub struct VerifiedPerson {
    /// Their address.
    pub email: Email,
    /// Who they are by their issuer's word.
    pub subject: VerifiedSubject,
}

impl People {
    /// Nobody yet.
    pub fn new(options: PeopleOptions) -> Self {
        Self { options, sessions: BoundedStore::new(SESSION_CACHE) }
    }

    /// Who calls.
    ///
    /// # Errors
    ///
    /// The caller is nobody in particular, or has no verified e-mail address.
    pub fn identify(&self, call: &Call) -> Result<VerifiedPerson, ToolError> {
        let (email, issuer, subject) = match call.identity() {
            Identity::Person(person) => {
                let email = person.email.as_deref().ok_or_else(|| {
                    ToolError::new(
                        ErrorKind::Forbidden,
                        "your sign-in contains no verified e-mail address, which services need; verify it with your identity provider, or ask its operator to include the claims email and email_verified",
                    )
                })?;
                (email, person.issuer.as_str(), person.subject.as_str())
            }
            Identity::Owner => {
                let email = self.development_user()?;
                (email, DEVELOPMENT_ISSUER, email)
            }
            Identity::Anonymous => {
                return Err(ToolError::new(ErrorKind::Unauthorized, "sign in first"));
            }
        };
        let name = |field: &'static str, text: &str| Name::parse(text).map_err(|problem| problem.of(field));
        let verified = || -> Result<_, ServicesError> {
            let email = Email::parse(email).map_err(|problem| problem.of("email"))?;
            let subject = VerifiedSubject { issuer: name("iss", issuer)?, subject: name("sub", subject)? };
            Ok(VerifiedPerson { email, subject })
        };
        Ok(verified()?)
    }

    fn development_user(&self) -> Result<&str, ToolError> {
        let refuse = |message: &str| Err(ToolError::new(ErrorKind::NotConfigured, message));
        match &self.options.development_user {
            _ if self.options.has_issuer => refuse(
                "people sign in with OAuth on this server (OAUTH_ISSUER), so there is no development user; connect over HTTP and sign in",
            ),
            Some(email) if Email::parse(email).is_err() => {
                refuse("ANNAI_DEV_USER must be an e-mail address such as you@example.com")
            }
            Some(email) => Ok(email),
            None => refuse(
                "services need to know who you are: set ANNAI_DEV_USER to your e-mail address to use them on this machine, or OAUTH_ISSUER to let people sign in",
            ),
        }
    }

    /// Signs a person in with what they say about themselves, and remembers the session.
    ///
    /// # Errors
    ///
    /// The account belongs to somebody else, or the services cannot be used.
    pub async fn sign_in(
        &self,
        backend: &Backend,
        person: &VerifiedPerson,
        region: Name,
        roles: List<Name>,
        tools_used: List<Name>,
    ) -> Result<SignInReport, ToolError> {
        // Somebody who has called too often must not change anything either.
        let known = self.sessions.get(&key(person), self.options.clock.instant());
        if let Some(session) = known {
            self.count(session.user)?;
        }
        let sign_in = SignIn { email: person.email.clone(), region, roles, tools_used };
        let report = backend.sign_in(sign_in, person.subject.clone()).await?;
        let session = Session { token: report.session_token, user: report.user_id };
        self.sessions.put(key(person), session, SESSION_BYTES, self.options.clock.instant());
        if known.is_none() {
            self.count(session.user)?;
        }
        Ok(report)
    }

    /// Does something in the session of the caller, which is found or made. If the session has ended meanwhile, it is done
    /// once more in a new one.
    ///
    /// # Errors
    ///
    /// The caller cannot be identified, has called too often, or the error of `work`.
    pub async fn in_session<T, W>(
        &self,
        backend: &Backend,
        call: &Call,
        work: impl Fn(SessionToken) -> W,
    ) -> Result<T, ToolError>
    where
        W: Future<Output = Result<T, ServicesError>>,
    {
        let person = self.identify(call)?;
        let known = self.sessions.get(&key(&person), self.options.clock.instant());
        if let Some(session) = known {
            self.count(session.user)?;
            match work(session.token).await {
                Err(ServicesError::SessionExpired) => {}
                result => return Ok(result?),
            }
        }
        let region =
            Name::parse(AUTO_REGION).map_err(|problem: Problem| ServicesError::from(problem.of("region")))?;
        let session = self.sign_in(backend, &person, region, List::default(), List::default()).await?;
        Ok(work(session.session_token).await?)
    }

    fn count(&self, user: UserId) -> Result<(), ToolError> {
        let counted = self.options.limiter.count(RateClient::User(user), self.options.clock.instant());
        counted.map_err(|limited| ToolError::new(ErrorKind::RateLimited, limited.to_string()))
    }
}

fn key(person: &VerifiedPerson) -> (String, String) {
    (person.subject.issuer.to_string(), person.subject.subject.to_string())
}
