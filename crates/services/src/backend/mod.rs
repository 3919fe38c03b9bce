//! Where the tools find the services: in this process, or on another server that has them.

mod remote;

use std::sync::Arc;

use annai_core::{Call, Registry};

pub use remote::{BackendTransport, RemoteServices};

use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::{CampaignId, SessionToken};
use crate::domain::preferences::{NewPreferences, PreferencesReport, PreferencesSaved};
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::task::{CompletionReport, TaskDetails, TaskSubmission};
use crate::domain::text::{Input, Name};
use crate::domain::user::{SignIn, SignInReport, UserStatus, VerifiedSubject};
use crate::error::ServicesError;
use crate::runs::{RunReport, RunRequest};
use crate::services::Services;

/// The services of the tools. Both kinds behave the same.
pub enum Backend {
    /// In this process, with its own database.
    Local(Services),
    /// On another server, through its REST routes.
    Remote(RemoteServices),
}

impl Backend {
    /// Registers or recognizes a person, whom the issuer of their token has verified.
    pub async fn sign_in(
        &self,
        sign_in: SignIn,
        subject: VerifiedSubject,
    ) -> Result<SignInReport, ServicesError> {
        match self {
            Self::Local(services) => services.store().sign_in(sign_in, Some(subject)).await,
            Self::Remote(remote) => remote.sign_in(&sign_in, &subject).await,
        }
    }

    /// Searches for services.
    pub async fn search(
        &self,
        registry: &Registry,
        query: SearchQuery,
        session: Option<SessionToken>,
    ) -> Result<SearchReport, ServicesError> {
        match self {
            Self::Local(services) => {
                let tools = services.tool_offers(registry);
                services.store().search(query, session, tools).await
            }
            Self::Remote(remote) => remote.search(&query, session).await,
        }
    }

    /// The task of a campaign.
    pub async fn task_details(
        &self,
        session: SessionToken,
        campaign: CampaignId,
    ) -> Result<TaskDetails, ServicesError> {
        match self {
            Self::Local(services) => services.store().task_details(session, campaign).await,
            Self::Remote(remote) => remote.task_details(session, campaign).await,
        }
    }

    /// Completes a task.
    pub async fn complete_task(
        &self,
        session: SessionToken,
        campaign: CampaignId,
        submission: TaskSubmission,
    ) -> Result<CompletionReport, ServicesError> {
        match self {
            Self::Local(services) => {
                Ok(services.store().complete_task(session, campaign, submission).await?.report)
            }
            Self::Remote(remote) => remote.complete_task(session, campaign, &submission).await,
        }
    }

    /// Runs a service that a sponsor pays for.
    pub async fn run(
        &self,
        call: &Call,
        session: SessionToken,
        service: Name,
        input: Input,
        key: Option<IdempotencyKey>,
    ) -> Result<RunReport, ServicesError> {
        match self {
            Self::Local(services) => {
                let request = RunRequest {
                    session,
                    service,
                    input,
                    key,
                    registry: registry(call)?,
                    identity: call.identity().clone(),
                    request_id: call.request_id.clone(),
                };
                services.runs().run(request).await
            }
            Self::Remote(remote) => remote.run(session, &service, &input, key, call.deadline).await,
        }
    }

    /// What a person has completed and can run.
    pub async fn user_status(&self, call: &Call, session: SessionToken) -> Result<UserStatus, ServicesError> {
        match self {
            Self::Local(services) => services.user_status(session, &*registry(call)?).await,
            Self::Remote(remote) => remote.user_status(session).await,
        }
    }

    /// The task preferences of a person.
    pub async fn preferences(&self, session: SessionToken) -> Result<PreferencesReport, ServicesError> {
        match self {
            Self::Local(services) => services.store().preferences(session).await,
            Self::Remote(remote) => remote.preferences(session).await,
        }
    }

    /// Replaces the task preferences of a person.
    pub async fn set_preferences(
        &self,
        session: SessionToken,
        preferences: NewPreferences,
    ) -> Result<PreferencesSaved, ServicesError> {
        match self {
            Self::Local(services) => services.store().set_preferences(session, preferences).await,
            Self::Remote(remote) => remote.set_preferences(session, &preferences).await,
        }
    }
}

/// The tools that the caller sees, of which services may be made.
pub fn registry(call: &Call) -> Result<Arc<Registry>, ServicesError> {
    call.registry().ok_or_else(|| ServicesError::internal("the registry is gone while a call runs"))
}
