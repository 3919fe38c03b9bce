//! The gate of the routes for GPT actions and other servers: it checks the key, and makes sure that every request is
//! counted for its client, which is the user of its session where it has one.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annai_core::{Identity, Person};
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;

use super::error::ApiError;
use super::origin::RequestOrigin;
use super::state::RestState;
use crate::api_keys::KeyClass;
use crate::domain::ids::{SessionToken, UserId};
use crate::error::ServicesError;
use crate::rate_limit::RateClient;
use crate::services::Services;

/// The issuer of identities that only a session proves.
const SESSION_ISSUER: &str = "annai:session";

/// The caller of a route behind the gate. Its methods are the way to the services, and count the request.
pub struct GptCaller {
    /// What the routes share.
    pub state: RestState,
    /// The key that the request presented.
    pub key: KeyClass,
    address: IpAddr,
    is_counted: AtomicBool,
}

/// A caller with a valid session.
pub struct SignedIn<'a> {
    /// The services.
    pub services: &'a Services,
    /// The person.
    pub user: UserId,
}

impl SignedIn<'_> {
    /// The identity of the person, for tools that are run for them. It has no scopes: what they may run was paid for.
    pub fn identity(&self) -> Identity {
        Identity::Person(Arc::new(Person {
            issuer: SESSION_ISSUER.to_owned(),
            subject: self.user.to_string(),
            email: None,
            scopes: Default::default(),
        }))
    }
}

impl GptCaller {
    /// Lets a person in, and counts the request as theirs.
    pub async fn sign_in(&self, session: SessionToken) -> Result<SignedIn<'_>, ApiError> {
        let services = self.state.open().await?;
        let user = self.state.config().user_of(services, session).await?;
        self.count(RateClient::User(user))?;
        Ok(SignedIn { services, user })
    }

    /// Lets a request without a session in, and counts it for its key and address.
    pub async fn without_session(&self) -> Result<&Services, ApiError> {
        self.count(self.peer())?;
        self.state.open().await
    }

    fn peer(&self) -> RateClient {
        RateClient::peer(self.key, self.address)
    }

    fn count(&self, client: RateClient) -> Result<(), ApiError> {
        self.is_counted.store(true, Ordering::Relaxed);
        if !self.key.is_internal() {
            let config = self.state.config();
            config.limiter.count(client, config.clock.instant())?;
        }
        Ok(())
    }
}

/// The caller behind the gate, for handlers.
pub struct Gpt(pub Arc<GptCaller>);

impl<S: Send + Sync> FromRequestParts<S> for Gpt {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Arc<GptCaller>>().cloned();
        let missing = || ServicesError::internal("a route of the GPT actions is not behind their gate");
        Ok(Self(caller.ok_or_else(missing)?))
    }
}

/// Checks the key of a request. A request that fails before its handler has counted it, because of its key, its body or an
/// unknown session, is counted for its key and address.
pub async fn pass(State(state): State<RestState>, mut request: Request, next: Next) -> Response {
    let config = state.config();
    let origin = RequestOrigin::of(request.headers(), request.extensions(), &config.section.trusted_proxies);
    let key = config.keys.gpt_caller(origin.key.as_deref(), &origin.identity);
    let caller = Arc::new(GptCaller {
        key: key.unwrap_or(KeyClass::None),
        address: origin.address,
        is_counted: AtomicBool::new(false),
        state,
    });
    let response = match key {
        Ok(_) => {
            request.extensions_mut().insert(caller.clone());
            next.run(request).await
        }
        Err(refusal) => ApiError::from(refusal).into_response(),
    };
    let is_uncounted = response.status().is_client_error() && !caller.is_counted.load(Ordering::Relaxed);
    match is_uncounted.then(|| caller.count(caller.peer())) {
        Some(Err(limited)) => limited.into_response(),
        _ => response,
    }
}
