//! The failures of this crate, with their HTTP status, code and details.

use std::error::Error as StdError;
use std::sync::Arc;

use annai_core::{ErrorKind, ToolError};
use serde_json::{Value, json};

use crate::domain::idempotency::KeysExhausted;
use crate::domain::ids::CampaignId;
use crate::domain::limits::MAX_SIGN_INS;
use crate::domain::matching::NoPayer;
use crate::domain::money::Cents;
use crate::domain::service::Unresolved;
use crate::domain::text::{FieldError, in_sentence};

type Source = Arc<dyn StdError + Send + Sync>;

/// Why a use case failed. Its text is for callers; a private cause is only logged.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ServicesError {
    /// A field cannot be accepted (400).
    #[error("{0}")]
    Invalid(#[from] FieldError),
    /// The session token is unknown or has expired (401).
    #[error("the session is unknown or has expired; sign in again")]
    SessionExpired,
    /// The account belongs to somebody who signs in with an identity provider (403).
    #[error(
        "this e-mail address belongs to an account that is entered in another way; sign in with the identity provider that was used first"
    )]
    AccountBound,
    /// There is no such service, campaign or sponsored API (404).
    #[error("no {what} has the {key} `{value}`; {remedy}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// What it was looked for by.
        key: &'static str,
        /// The value that nothing has.
        value: String,
        /// Where to look instead.
        remedy: &'static str,
    },
    /// The state is not what the caller assumed (409).
    #[error("{0}")]
    Conflict(String),
    /// A run under the same idempotency key is not finished (409).
    #[error("a run with this idempotency key is still in progress; ask again in a moment")]
    InProgress,
    /// Too many idempotency keys of a person are stored (429).
    #[error(transparent)]
    KeysExhausted(#[from] KeysExhausted),
    /// Somebody who is not verified has signed in to one account too often (429).
    #[error(
        "this account was signed in to {MAX_SIGN_INS} times within an hour; go on with the session that you have, or try again in an hour"
    )]
    TooManySignIns,
    /// Nobody pays (402).
    #[error(
        "no sponsor pays for `{service}` at present; it costs {price}, and direct payment is not enabled"
    )]
    PaymentRequired {
        /// The service.
        service: String,
        /// What it costs.
        price: Cents,
    },
    /// A sponsor pays after a task (428).
    #[error(
        "`{service}` is sponsored by the campaign “{}” ({campaign_id}) after its task: complete `{}` first",
        in_sentence(campaign_name),
        in_sentence(required_task)
    )]
    TaskRequired {
        /// The service.
        service: String,
        /// The campaign.
        campaign_id: CampaignId,
        /// Its name.
        campaign_name: String,
        /// Its task.
        required_task: String,
    },
    /// The tool behind a service is not served or lacks a setting (503).
    #[error("the tool `{tool}` behind `{service}` cannot be run on this server: {problem}")]
    NotConfigured {
        /// The service.
        service: String,
        /// The tool.
        tool: String,
        /// What is missing.
        problem: String,
    },
    /// The upstream of a service failed (502). What it answered is not repeated.
    #[error("the upstream of `{service}` failed: {problem}; nothing was charged")]
    Upstream {
        /// The service.
        service: String,
        /// The HTTP status of the upstream, if it answered.
        status: Option<u16>,
        /// What went wrong.
        problem: String,
    },
    /// The database cannot be used at present (503). Nothing was changed, unless the text says so.
    #[error("{problem}")]
    Unavailable {
        /// What is wrong with it.
        problem: String,
        /// The private cause.
        source: Source,
    },
    /// Another server, which has the services, refused.
    #[error("{message}")]
    Remote {
        /// Its HTTP status.
        status: u16,
        /// Its error code.
        code: &'static str,
        /// Its message.
        message: String,
        /// Its details.
        details: Option<Value>,
    },
    /// Another server, which has the services, cannot be reached or does not answer as expected (503).
    #[error("the server that has the services cannot be reached at the moment; try again later")]
    BackendUnavailable(#[source] Source),
    /// Another server, which has the services, refuses the key of this one (503).
    #[error(
        "the server that has the services refuses the key of this server; the operator must set services.mcp_internal_api_key (MCP_INTERNAL_API_KEY) to the internal key of that server, which is not its key for GPT actions"
    )]
    BackendKeyRefused,
    /// The caller cancelled before the upstream was called.
    #[error("the run was cancelled before the service was called; nothing was charged")]
    Cancelled,
    /// A bug of this program (500).
    #[error("internal error; the server's log has the cause")]
    Internal(#[source] Source),
    /// The tables are older than this program, which was told to leave them as they are (503).
    #[error(
        "the database needs {}; make a backup, then start the server, which migrates it",
        annai_core::finding::counted(*pending, "migration")
    )]
    NotMigrated {
        /// How many.
        pending: usize,
    },
}

/// A private cause that is only words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);

impl ServicesError {
    /// A bug, described for the log.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        Self::Internal(Arc::new(Cause(cause.into())))
    }

    /// A database that cannot be used.
    pub(crate) fn unavailable(
        problem: impl Into<String>,
        source: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self::Unavailable { problem: problem.into(), source: Arc::new(source) }
    }

    /// Another server that cannot be reached.
    pub(crate) fn backend_unavailable(source: impl StdError + Send + Sync + 'static) -> Self {
        Self::BackendUnavailable(Arc::new(source))
    }

    /// The refusal of another server, whose code may be one of a later version.
    pub(crate) fn remote(status: u16, code: &str, message: String, details: Option<Value>) -> Self {
        let known = REMOTE_CODES.iter().find(|known| **known == code);
        let code = known.copied().unwrap_or_else(|| remote_kind(status).code());
        Self::Remote { status, code, message, details }
    }

    /// A campaign that does not exist.
    pub(crate) fn no_campaign(id: CampaignId) -> Self {
        Self::NotFound {
            what: "campaign",
            key: "id",
            value: id.to_string(),
            remedy: "search for services to find one",
        }
    }

    /// The failure of a run that nobody pays for.
    pub(crate) fn no_payer(service: &str, reason: NoPayer) -> Self {
        let service = service.to_owned();
        match reason {
            NoPayer::PaymentRequired { price } => Self::PaymentRequired { service, price },
            NoPayer::TaskRequired { campaign_id, campaign_name, required_task } => {
                Self::TaskRequired { service, campaign_id, campaign_name, required_task }
            }
        }
    }

    /// The failure of a run whose service cannot be resolved.
    pub(crate) fn unresolved(service: &str, reason: Unresolved) -> Self {
        match reason {
            Unresolved::Unknown => Self::NotFound {
                what: "service",
                key: "key",
                value: service.chars().take(200).collect(),
                remedy: "search for services to find the keys that can be run",
            },
            Unresolved::NotServed { tool } => Self::NotConfigured {
                service: service.to_owned(),
                tool,
                problem: "it is not among the tools that are served; its operator can add it with --toolset or server.tools".to_owned(),
            },
        }
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Invalid(_) => 400,
            Self::SessionExpired => 401,
            Self::PaymentRequired { .. } => 402,
            Self::AccountBound => 403,
            Self::NotFound { .. } => 404,
            Self::Conflict(_) | Self::InProgress => 409,
            Self::TaskRequired { .. } => 428,
            Self::KeysExhausted(_) | Self::TooManySignIns => 429,
            // The caller is gone; nginx established this status for the log.
            Self::Cancelled => 499,
            Self::Internal(_) => 500,
            Self::Upstream { .. } => 502,
            Self::NotConfigured { .. }
            | Self::Unavailable { .. }
            | Self::BackendUnavailable(_)
            | Self::NotMigrated { .. }
            | Self::BackendKeyRefused => 503,
            Self::Remote { status, .. } => *status,
        }
    }

    /// The error code in the JSON body.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "validation_error",
            Self::InProgress => "in_progress",
            Self::Remote { code, .. } => code,
            Self::BackendUnavailable(_) => "backend_unavailable",
            _ => self.kind().code(),
        }
    }

    /// The kind of the tool error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid(_) => ErrorKind::InvalidParameter,
            Self::SessionExpired => ErrorKind::Unauthorized,
            Self::AccountBound => ErrorKind::Forbidden,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Conflict(_) | Self::InProgress => ErrorKind::Conflict,
            Self::PaymentRequired { .. } => ErrorKind::PaymentRequired,
            Self::TaskRequired { .. } => ErrorKind::PreconditionRequired,
            Self::KeysExhausted(_) | Self::TooManySignIns => ErrorKind::RateLimited,
            Self::NotConfigured { .. } | Self::BackendKeyRefused => ErrorKind::NotConfigured,
            Self::Upstream { .. } => ErrorKind::Upstream,
            Self::Unavailable { .. } | Self::BackendUnavailable(_) | Self::NotMigrated { .. } => {
                ErrorKind::Unavailable
            }
            Self::Remote { status, .. } => remote_kind(*status),
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Internal(_) => ErrorKind::Internal,
        }
    }

    /// The text for the operator of this program, who has no other log: with the private causes.
    #[must_use]
    pub fn for_operator(&self) -> String {
        match (self, annai_core::causes(self)) {
            (Self::Internal(_), Some(causes)) => format!("internal error: {causes}"),
            (_, Some(causes)) => format!("{self} ({causes})"),
            (_, None) => self.to_string(),
        }
    }

    /// The details for programs, if there are any.
    #[must_use]
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::Invalid(error) => Some(json!({ "field": error.field })),
            Self::PaymentRequired { service, price } => {
                Some(json!({ "service": service, "price_cents": price }))
            }
            Self::TaskRequired { service, campaign_id, campaign_name, required_task } => Some(json!({
                "service": service,
                "campaign_id": campaign_id,
                "campaign_name": campaign_name,
                "required_task": required_task,
            })),
            Self::NotConfigured { service, tool, .. } => Some(json!({ "service": service, "tool": tool })),
            Self::Upstream { service, status: Some(status), .. } => {
                Some(json!({ "service": service, "status": status }))
            }
            Self::Upstream { service, status: None, .. } => Some(json!({ "service": service })),
            Self::Remote { details, .. } => details.clone(),
            _ => None,
        }
    }
}

/// The codes of the routes that have no kind of their own, or whose kind has another code.
const REMOTE_CODES: [&str; 3] = ["validation_error", "in_progress", "not_configured"];

/// The kind of an error that another server answered with this status.
const fn remote_kind(status: u16) -> ErrorKind {
    match status {
        400 | 413 | 415 => ErrorKind::InvalidParameter,
        401 => ErrorKind::Unauthorized,
        402 => ErrorKind::PaymentRequired,
        403 => ErrorKind::Forbidden,
        404 | 405 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        428 => ErrorKind::PreconditionRequired,
        429 => ErrorKind::RateLimited,
        502 => ErrorKind::Upstream,
        503 => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
}

impl From<ServicesError> for ToolError {
    fn from(error: ServicesError) -> Self {
        let tool_error = Self::new(error.kind(), error.to_string());
        let tool_error = match error.details() {
            Some(details) => tool_error.with_details(details),
            None => tool_error,
        };
        tool_error.because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::Problem;

    #[test]
    fn every_failure_has_its_status_and_code() {
        let campaign_id = CampaignId::random();
        let service = || "scrape".to_owned();
        let task = ServicesError::TaskRequired {
            service: service(),
            campaign_id,
            campaign_name: "C".into(),
            required_task: "survey".into(),
        };
        let price = Cents::parse(105).unwrap();
        let payment = ServicesError::PaymentRequired { service: service(), price };
        for (error, status, code) in [
            (Problem::new("must be a UUID").of("campaign_id").into(), 400, "validation_error"),
            (ServicesError::SessionExpired, 401, "unauthorized"),
            (payment.clone(), 402, "payment_required"),
            (ServicesError::AccountBound, 403, "forbidden"),
            (ServicesError::no_campaign(campaign_id), 404, "not_found"),
            (ServicesError::InProgress, 409, "in_progress"),
            (ServicesError::Conflict("c".into()), 409, "conflict"),
            (task.clone(), 428, "precondition_required"),
            (ServicesError::TooManySignIns, 429, "rate_limited"),
            (ServicesError::internal("secret"), 500, "internal"),
            (
                ServicesError::Upstream { service: service(), status: None, problem: "p".into() },
                502,
                "upstream_error",
            ),
            (ServicesError::unavailable("locked", Cause("secret".into())), 503, "unavailable"),
        ] {
            assert_eq!((error.status(), error.code()), (status, code));
            assert!(!error.to_string().contains("secret"));
        }
        assert_eq!(
            payment.to_string(),
            "no sponsor pays for `scrape` at present; it costs $1.05, and direct payment is not enabled"
        );
        assert_eq!(task.details().unwrap()["required_task"], "survey");
        assert_eq!(ToolError::from(task).kind(), ErrorKind::PreconditionRequired);
    }
}
