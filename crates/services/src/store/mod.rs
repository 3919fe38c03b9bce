//! The store: one method per use case, each of which happens as a whole or not at all. The rules are those of
//! [`crate::domain`]; a store only keeps what they decide.

mod integrity;
mod movements;
pub mod postgres;
mod shared;
pub mod sqlite;
mod types;

use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use types::{
    BookViolation, BudgetOwner, CleanUp, Completion, Dashboard, Lease, Page, PageCursor, PageRequest,
    PaymentOutcome, Reservation, ReserveOutcome, ReserveRequest, RowProblem, RunResult, RunTarget,
    SettleReport,
};
pub(crate) use types::{Listed, PageBuilder};

use crate::domain::campaign::{Campaign, CampaignDraft, CampaignPatch};
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::{CampaignId, ReservationId, SessionToken, SponsoredApiId};
use crate::domain::preferences::{NewPreferences, PreferencesReport, PreferencesSaved};
use crate::domain::reservation::Dispatch;
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::sponsored_api::{SponsoredApi, SponsoredApiDraft, SponsoredApiPatch};
use crate::domain::task::{TaskDetails, TaskSubmission};
use crate::domain::tool_offers::ToolOffers;
use crate::domain::user::{SignIn, SignInReport, User, UserStatus, VerifiedSubject};
use crate::error::ServicesError;
use crate::upstream::UpstreamReply;

/// The result of a use case. Dropping it does not tear the use case: it happens as a whole or not at all.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, ServicesError>>;

/// What a store does with tables that are missing or older than this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// Creates and migrates them with the first use.
    Apply,
    /// Fails with [`ServicesError::NotMigrated`], for commands that only look at the database.
    Refuse,
}

/// Keeps people, campaigns, tasks, consents and money. Any method may fail with [`ServicesError::Unavailable`]; then
/// nothing was changed, and a later call tries again.
pub trait Store: Send + Sync + 'static {
    /// Opens the database, if no call has done so yet, and creates or migrates its tables.
    fn open(&self) -> StoreFuture<'_, ()>;

    /// Registers or recognizes a person and begins a session. With a subject, the account is bound to it.
    fn sign_in(&self, sign_in: SignIn, subject: Option<VerifiedSubject>) -> StoreFuture<'_, SignInReport>;

    /// The person of a session.
    fn authenticate(&self, session: SessionToken) -> StoreFuture<'_, User>;

    /// What a person has completed and what they can run.
    fn user_status(&self, session: SessionToken, tools: Arc<ToolOffers>) -> StoreFuture<'_, UserStatus>;

    /// The task preferences of a person.
    fn preferences(&self, session: SessionToken) -> StoreFuture<'_, PreferencesReport>;

    /// Replaces the task preferences of a person.
    fn set_preferences(
        &self,
        session: SessionToken,
        preferences: NewPreferences,
    ) -> StoreFuture<'_, PreferencesSaved>;

    /// The task of a campaign, for a person.
    fn task_details(&self, session: SessionToken, campaign: CampaignId) -> StoreFuture<'_, TaskDetails>;

    /// Records a completed task and the consents in one transaction.
    fn complete_task(
        &self,
        session: SessionToken,
        campaign: CampaignId,
        submission: TaskSubmission,
    ) -> StoreFuture<'_, Completion>;

    /// Searches for services, with the preferences of a person where a session is given.
    fn search(
        &self,
        query: SearchQuery,
        session: Option<SessionToken>,
        tools: Arc<ToolOffers>,
    ) -> StoreFuture<'_, SearchReport>;

    /// Creates a campaign. A second call with the same key returns the campaign of the first.
    fn create_campaign(&self, draft: CampaignDraft, key: Option<IdempotencyKey>)
    -> StoreFuture<'_, Campaign>;

    /// Changes a campaign. A second call with the same key changes nothing more.
    fn patch_campaign(
        &self,
        id: CampaignId,
        patch: CampaignPatch,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign>;

    /// A campaign.
    fn campaign(&self, id: CampaignId) -> StoreFuture<'_, Campaign>;

    /// A page of the campaigns, newest first.
    fn campaigns(&self, page: PageRequest) -> StoreFuture<'_, Page<Campaign>>;

    /// Creates a sponsored API. A second call with the same key returns the API of the first.
    fn create_sponsored_api(
        &self,
        draft: SponsoredApiDraft,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi>;

    /// Changes a sponsored API. A second call with the same key changes nothing more.
    fn patch_sponsored_api(
        &self,
        id: SponsoredApiId,
        patch: SponsoredApiPatch,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi>;

    /// A sponsored API.
    fn sponsored_api(&self, id: SponsoredApiId) -> StoreFuture<'_, SponsoredApi>;

    /// A page of the sponsored APIs, newest first.
    fn sponsored_apis(&self, page: PageRequest) -> StoreFuture<'_, Page<SponsoredApi>>;

    /// What a campaign has achieved, for its sponsor.
    fn dashboard(&self, campaign: CampaignId) -> StoreFuture<'_, Dashboard>;

    /// Reserves the price of a run: looks the idempotency key up, finds who pays, and sets the amount aside.
    fn reserve(&self, request: ReserveRequest) -> StoreFuture<'_, ReserveOutcome>;

    /// Records that the upstream is about to be called. False when the reservation was released meanwhile: then it must
    /// not be called.
    fn mark_dispatched(&self, reservation: ReservationId) -> StoreFuture<'_, bool>;

    /// Shows that these runs are alive: changes the counters of those that are still reserved.
    fn renew_leases(&self, reservations: Vec<ReservationId>) -> StoreFuture<'_, ()>;

    /// All reservations that are neither settled nor released, of every process.
    fn leases(&self) -> StoreFuture<'_, Vec<Lease>>;

    /// Releases the reservations whose counter is still the same, and returns how many these were.
    fn release_expired(&self, leases: Vec<Lease>) -> StoreFuture<'_, usize>;

    /// Deletes idempotency keys with their outputs, sessions, and finished reservations whose time is over, as many as one
    /// transaction should.
    fn delete_expired(&self) -> StoreFuture<'_, CleanUp>;

    /// Settles a run by its result.
    fn settle(&self, reservation: ReservationId, reply: UpstreamReply) -> StoreFuture<'_, SettleReport>;

    /// Releases a run without a result.
    fn release(&self, reservation: ReservationId, dispatch: Dispatch) -> StoreFuture<'_, ()>;

    /// Ends the connections, once no use case is running. What was written is then in the database itself, and not only in
    /// its log. A later use case opens it again.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// All budgets that do not balance. There are none, unless something changed the database behind this program.
    fn check_books(&self) -> StoreFuture<'_, Vec<BookViolation>>;

    /// What is wrong with the rows beside the budgets: payments, calls and reservations that contradict each other, rows that
    /// name what does not exist, and damage that the database itself finds. It reads everything.
    fn check_rows(&self) -> StoreFuture<'_, Vec<RowProblem>>;
}
