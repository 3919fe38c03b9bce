//! People: how they sign in, and which account a sign-in enters.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::email::Email;
use super::ids::{CampaignId, SessionToken, UserId};
use super::limits::MAX_PAGE;
use super::text::{List, Name};

/// The region of a person who has not named one.
pub const AUTO_REGION: &str = "auto";

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their e-mail address, as they wrote it first.
    pub email: String,
    /// Their region, or `auto`.
    pub region: String,
    /// Their roles, which campaigns target.
    pub roles: Vec<String>,
    /// When they first signed in.
    pub registered_at: Timestamp,
}

/// What a person says about themselves when signing in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// Their e-mail address.
    pub email: Email,
    /// Their region, or `auto`.
    pub region: Name,
    /// Their roles; an empty list leaves the earlier ones.
    #[serde(default)]
    pub roles: List<Name>,
    /// The tools they use; an empty list leaves the earlier ones.
    #[serde(default)]
    pub tools_used: List<Name>,
}

/// Who somebody is by an issuer's word. Whoever makes one has verified it, and that the e-mail address of the sign-in is
/// the verified one of the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSubject {
    /// The issuer of the token.
    pub issuer: Name,
    /// The issuer's id of the person.
    pub subject: Name,
}

/// A user as a sign-in finds them by e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownUser {
    /// Their id.
    pub id: UserId,
    /// Whether an issuer's subject is bound to them.
    pub is_bound: bool,
}

/// Which account a sign-in enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// An existing account.
    Enter(UserId),
    /// An existing account that nobody was bound to; from now on the subject is, and older sessions end.
    Bind(UserId),
    /// A new account.
    Register,
    /// None: the account with this e-mail address is bound to somebody else (403).
    Refused,
}

/// Decides which account a sign-in enters. `by_subject` is the user that the subject is bound to, `by_email` the user with
/// the e-mail address.
#[must_use]
pub const fn entrance(
    subject: Option<&VerifiedSubject>,
    by_subject: Option<UserId>,
    by_email: Option<KnownUser>,
) -> Entrance {
    match (subject, by_subject, by_email) {
        // The subject decides, even when the address has changed at the issuer.
        (Some(_), Some(user), _) => Entrance::Enter(user),
        (_, _, Some(KnownUser { is_bound: true, .. })) => Entrance::Refused,
        (Some(_), None, Some(KnownUser { id, is_bound: false })) => Entrance::Bind(id),
        (None, _, Some(KnownUser { id, is_bound: false })) => Entrance::Enter(id),
        (_, _, None) => Entrance::Register,
    }
}

/// The region after a sign-in: the first one that was named stays.
#[must_use]
pub fn region_after<'a>(stored: &'a str, named: &'a str) -> &'a str {
    if stored.eq_ignore_ascii_case(AUTO_REGION) { named } else { stored }
}

/// The reply of `POST /gpt/auth`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInReport {
    /// The secret for the following requests.
    pub session_token: SessionToken,
    /// The person.
    pub user_id: UserId,
    /// Their e-mail address.
    pub email: String,
    /// Whether this sign-in registered them.
    pub is_new_user: bool,
    /// A sentence about it.
    pub message: String,
}

impl SignInReport {
    /// The reply with its sentence.
    #[must_use]
    pub fn new(session_token: SessionToken, user_id: UserId, email: String, is_new_user: bool) -> Self {
        let message = if is_new_user {
            "Welcome. You are registered; search for a service to begin.".to_owned()
        } else {
            "Welcome back. You are signed in.".to_owned()
        };
        Self { session_token, user_id, email, is_new_user, message }
    }
}

/// A completed task in a user's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedTask {
    /// The campaign.
    pub campaign_id: CampaignId,
    /// Its name.
    pub campaign_name: String,
    /// The name of the task.
    pub task_name: String,
    /// When it was completed.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub completed_at: Timestamp,
}

/// A service that somebody would pay for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AvailableService {
    /// The key that a run names.
    pub service: String,
    /// Who pays.
    pub sponsor: String,
    /// Whether it can be run now; otherwise a task comes first.
    pub ready: bool,
}

/// The reply of `GET /gpt/user/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserStatus {
    /// The person.
    pub user_id: UserId,
    /// Their e-mail address.
    pub email: String,
    /// When they first signed in.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub registered_at: Timestamp,
    /// The tasks they have completed, newest first, at most 200.
    pub completed_tasks: Vec<CompletedTask>,
    /// The services that sponsors pay for, at most 200.
    pub available_services: Vec<AvailableService>,
    /// A sentence about what can be done next.
    pub message: String,
}

impl UserStatus {
    /// The reply with its sentence.
    #[must_use]
    pub fn new(
        user: User,
        mut completed_tasks: Vec<CompletedTask>,
        mut available_services: Vec<AvailableService>,
    ) -> Self {
        let ready = available_services.iter().filter(|service| service.ready).count();
        let waiting = available_services.len() - ready;
        let message = match (ready, waiting) {
            (0, 0) => "No sponsored service is available at present.".to_owned(),
            (0, 1) => "1 service is available after its task, none is ready to run yet; a search for services shows the task.".to_owned(),
            (0, _) => format!("{waiting} services are available after their tasks, none is ready to run yet; a search for services shows the tasks."),
            (_, 0) => format!("Services ready to run: {ready}."),
            _ => format!("Services ready to run: {ready}; available after their tasks, which a search for services shows: {waiting}."),
        };
        completed_tasks.truncate(MAX_PAGE);
        available_services.truncate(MAX_PAGE);
        let User { id: user_id, email, registered_at, .. } = user;
        Self { user_id, email, registered_at, completed_tasks, available_services, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_enters_a_bound_account_by_its_address() {
        let subject = VerifiedSubject {
            issuer: Name::parse("https://issuer.example").unwrap(),
            subject: Name::parse("1").unwrap(),
        };
        let (id, other) = (UserId::random(), UserId::random());
        let free = Some(KnownUser { id, is_bound: false });
        let bound = Some(KnownUser { id, is_bound: true });
        for (subject, by_subject, by_email, expected) in [
            (None, None, None, Entrance::Register),
            (None, None, free, Entrance::Enter(id)),
            (None, None, bound, Entrance::Refused),
            (Some(&subject), None, None, Entrance::Register),
            (Some(&subject), None, free, Entrance::Bind(id)),
            (Some(&subject), None, bound, Entrance::Refused),
            (Some(&subject), Some(id), bound, Entrance::Enter(id)),
            // The address of somebody else does not lead a bound person there.
            (Some(&subject), Some(other), bound, Entrance::Enter(other)),
            (Some(&subject), Some(other), free, Entrance::Enter(other)),
            (Some(&subject), Some(other), None, Entrance::Enter(other)),
        ] {
            assert_eq!(
                entrance(subject, by_subject, by_email),
                expected,
                "{subject:?} {by_subject:?} {by_email:?}"
            );
        }
    }

    #[test]
    fn the_first_region_that_is_named_stays() {
        assert_eq!(region_after("auto", "JP"), "JP");
        assert_eq!(region_after("JP", "auto"), "JP");
        assert_eq!(region_after("JP", "US"), "JP");
        assert_eq!(region_after("auto", "auto"), "auto");
    }
}
