//! The errors of the services for the documentation (`annai docs errors`). Status, code and details come from the errors.

use annai_core::ErrorKind;

use crate::domain::ids::CampaignId;
use crate::domain::matching::NoPayer;
use crate::domain::money::Cents;
use crate::domain::service::Unresolved;
use crate::domain::text::Problem;
use crate::error::ServicesError;

/// An error of the services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// The HTTP status of the REST routes.
    pub status: u16,
    /// The error code.
    pub code: &'static str,
    /// The names of the members of `details`.
    pub details: Vec<String>,
    /// When it happens.
    pub when: &'static str,
}

/// The errors of the tools and routes, by status.
#[must_use]
pub fn errors() -> Vec<ErrorRow> {
    let service = "scrape";
    let no_payer = |reason| ServicesError::no_payer(service, reason);
    let task = NoPayer::TaskRequired {
        campaign_id: CampaignId::random(),
        campaign_name: String::new(),
        required_task: String::new(),
    };
    let failed =
        ServicesError::Upstream { service: service.to_owned(), status: Some(500), problem: String::new() };
    let cause = || std::io::Error::other("");
    let mut rows = vec![
        of(
            &Problem::new("must not be empty").of("field").into(),
            "A field is missing, unknown, of the wrong type or too long; `details.field` names it.",
        ),
        plain(400, ErrorKind::InvalidParameter.code(), "The same for the arguments of a tool."),
        of(&ServicesError::SessionExpired, "No key or token was sent, or the session has ended."),
        of(
            &no_payer(NoPayer::PaymentRequired { price: Cents::ZERO }),
            "No sponsor pays for the service; `details.price_cents` is what it costs.",
        ),
        of(
            &ServicesError::AccountBound,
            "A wrong key (`details.field` is then `authorization`), a missing scope, the account of somebody else, or no verified e-mail address.",
        ),
        of(
            &ServicesError::unresolved(service, Unresolved::Unknown),
            "There is no such service, campaign, sponsored API or route.",
        ),
        of(
            &ServicesError::InProgress,
            "A run with the same idempotency key is not finished. Ask again in a moment.",
        ),
        of(&ServicesError::Conflict(String::new()), "The idempotency key stands for another request."),
        plain(413, "too_large", "The body is too long."),
        plain(415, "unsupported_media_type", "The body is not JSON."),
        of(&no_payer(task), "The task of the campaign in `details` comes first."),
        plain(
            429,
            ErrorKind::RateLimited.code(),
            "Too many requests in a minute, and `Retry-After` says when to try again; or too many idempotency keys in a day.",
        ),
        of(&ServicesError::internal(""), "An internal error. The log of the server has the cause."),
        of(&failed, "The service failed; `details.status` is its status. Nothing was charged."),
        of(
            &ServicesError::unresolved(service, Unresolved::NotServed { tool: String::new() }),
            "A setting is missing, the tool behind a service is not served, or the other server refuses the key of this one.",
        ),
        of(&ServicesError::unavailable("", cause()), "The database cannot be used at present."),
        of(
            &ServicesError::backend_unavailable(cause()),
            "The server that has the services cannot be reached.",
        ),
    ];
    rows.sort_by_key(|row| row.status);
    rows
}

fn of(error: &ServicesError, when: &'static str) -> ErrorRow {
    let details = error.details();
    let details = details.as_ref().and_then(serde_json::Value::as_object);
    let details = details.map(|members| members.keys().cloned().collect()).unwrap_or_default();
    ErrorRow { status: error.status(), code: error.code(), details, when }
}

/// An error of the routes that no use case knows.
const fn plain(status: u16, code: &'static str, when: &'static str) -> ErrorRow {
    ErrorRow { status, code, details: Vec::new(), when }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique_and_have_the_details_of_their_error() {
        let rows = errors();
        for (index, row) in rows.iter().enumerate() {
            let others = rows.iter().skip(index + 1);
            assert!(
                others.clone().all(|other| (other.status, other.code) != (row.status, row.code)),
                "{row:?}"
            );
        }
        let task = rows.iter().find(|row| row.status == 428).unwrap();
        assert!(task.details.iter().any(|name| name == "campaign_id"), "{task:?}");
    }
}
