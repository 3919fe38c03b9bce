//! The use cases of the store, each with the transaction it needs.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{
    SqliteStore, accounts, books, campaigns, expiry, integrity, leases, listing, reserve, search, settle,
    sponsored_apis, tasks,
};
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
use crate::store::shared::SponsorKey;
use crate::store::{
    BookViolation, CleanUp, Completion, Dashboard, Lease, Page, PageRequest, ReserveOutcome, ReserveRequest,
    RowProblem, SettleReport, Store, StoreFuture,
};
use crate::upstream::UpstreamReply;

impl Store for SqliteStore {
    fn open(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.ensure_open())
    }

    fn sign_in(&self, sign_in: SignIn, subject: Option<VerifiedSubject>) -> StoreFuture<'_, SignInReport> {
        self.write(move |transaction, now| accounts::sign_in(transaction, &sign_in, subject.as_ref(), now))
    }

    fn authenticate(&self, session: SessionToken) -> StoreFuture<'_, User> {
        self.read(move |connection, now| accounts::session_user(connection, session, now))
    }

    fn user_status(&self, session: SessionToken, tools: Arc<ToolOffers>) -> StoreFuture<'_, UserStatus> {
        self.read(move |connection, now| listing::user_status(connection, session, &tools, now))
    }

    fn preferences(&self, session: SessionToken) -> StoreFuture<'_, PreferencesReport> {
        self.read(move |connection, now| accounts::preferences(connection, session, now))
    }

    fn set_preferences(
        &self,
        session: SessionToken,
        preferences: NewPreferences,
    ) -> StoreFuture<'_, PreferencesSaved> {
        self.write(move |transaction, now| accounts::set_preferences(transaction, session, &preferences, now))
    }

    fn task_details(&self, session: SessionToken, campaign: CampaignId) -> StoreFuture<'_, TaskDetails> {
        self.read(move |connection, now| tasks::details(connection, session, campaign, now))
    }

    fn complete_task(
        &self,
        session: SessionToken,
        campaign: CampaignId,
        submission: TaskSubmission,
    ) -> StoreFuture<'_, Completion> {
        self.write(move |transaction, now| tasks::complete(transaction, session, campaign, &submission, now))
    }

    fn search(
        &self,
        query: SearchQuery,
        session: Option<SessionToken>,
        tools: Arc<ToolOffers>,
    ) -> StoreFuture<'_, SearchReport> {
        let indexes = self.indexes.clone();
        self.read(move |connection, now| search::search(connection, &indexes, &query, session, &tools, now))
    }

    fn create_campaign(
        &self,
        draft: CampaignDraft,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, "create campaign", &draft);
        self.write_moved(move |transaction, now| campaigns::create(transaction, draft, key.as_ref(), now))
    }

    fn patch_campaign(
        &self,
        id: CampaignId,
        patch: CampaignPatch,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, &format!("patch campaign {id}"), &patch);
        self.write_moved(move |transaction, now| campaigns::patch(transaction, id, patch, key.as_ref(), now))
    }

    fn campaign(&self, id: CampaignId) -> StoreFuture<'_, Campaign> {
        self.read(move |connection, _| campaigns::find(connection, id))
    }

    fn campaigns(&self, page: PageRequest) -> StoreFuture<'_, Page<Campaign>> {
        self.read(move |connection, _| campaigns::page(connection, &page))
    }

    fn create_sponsored_api(
        &self,
        draft: SponsoredApiDraft,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi> {
        let key = SponsorKey::new(key, "create sponsored API", &draft);
        self.write_moved(move |transaction, now| {
            sponsored_apis::create(transaction, draft, &tools, key.as_ref(), now)
        })
    }

    fn patch_sponsored_api(
        &self,
        id: SponsoredApiId,
        patch: SponsoredApiPatch,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi> {
        let key = SponsorKey::new(key, &format!("patch sponsored API {id}"), &patch);
        self.write_moved(move |transaction, now| {
            sponsored_apis::patch(transaction, id, patch, &tools, key.as_ref(), now)
        })
    }

    fn sponsored_api(&self, id: SponsoredApiId) -> StoreFuture<'_, SponsoredApi> {
        self.read(move |connection, _| sponsored_apis::find(connection, id))
    }

    fn sponsored_apis(&self, page: PageRequest) -> StoreFuture<'_, Page<SponsoredApi>> {
        self.read(move |connection, _| sponsored_apis::page(connection, &page))
    }

    fn dashboard(&self, campaign: CampaignId) -> StoreFuture<'_, Dashboard> {
        self.read(move |connection, _| campaigns::dashboard(connection, campaign))
    }

    fn reserve(&self, request: ReserveRequest) -> StoreFuture<'_, ReserveOutcome> {
        self.write_moved(move |transaction, now| reserve::reserve(transaction, &request, now))
    }

    fn mark_dispatched(&self, reservation: ReservationId) -> StoreFuture<'_, bool> {
        self.write_relaxed(move |transaction| leases::mark_dispatched(transaction, reservation))
    }

    fn renew_leases(&self, reservations: Vec<ReservationId>) -> StoreFuture<'_, ()> {
        self.write_relaxed(move |transaction| leases::renew(transaction, &reservations))
    }

    fn leases(&self) -> StoreFuture<'_, Vec<Lease>> {
        self.read(|connection, _| leases::living(connection))
    }

    fn release_expired(&self, leases: Vec<Lease>) -> StoreFuture<'_, usize> {
        self.write_moved(move |transaction, now| leases::release_expired(transaction, &leases, now))
    }

    fn delete_expired(&self) -> StoreFuture<'_, CleanUp> {
        self.write(expiry::delete_expired)
    }

    fn settle(&self, reservation: ReservationId, reply: UpstreamReply) -> StoreFuture<'_, SettleReport> {
        self.write_moved(move |transaction, now| settle::settle(transaction, reservation, reply, now))
    }

    fn release(&self, reservation: ReservationId, dispatch: Dispatch) -> StoreFuture<'_, ()> {
        self.write_moved(move |transaction, now| settle::release(transaction, reservation, dispatch, now))
    }

    /// The last connection to close moves the write-ahead log into the file and deletes it.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.readers.close_idle();
            self.writer.close().await;
            self.database.forget_file();
        })
    }

    fn check_books(&self) -> StoreFuture<'_, Vec<BookViolation>> {
        self.read(|connection, _| books::check(connection))
    }

    fn check_rows(&self) -> StoreFuture<'_, Vec<RowProblem>> {
        self.read(|connection, _| integrity::check(connection))
    }
}
