//! The use cases of the store, each with the transaction it needs.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::postgres_store::PostgresStore;
use super::search::{self, SearchInput};
use super::{
    accounts, books, campaigns, expiry, integrity, leases, listing, preferences, reserve, settle,
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

impl Store for PostgresStore {
    fn open(&self) -> StoreFuture<'_, ()> {
        self.single((), |_, (), _| Box::pin(async { Ok(()) }))
    }

    fn sign_in(&self, sign_in: SignIn, subject: Option<VerifiedSubject>) -> StoreFuture<'_, SignInReport> {
        self.write((sign_in, subject), |session, input, now| Box::pin(accounts::sign_in(session, input, now)))
    }

    fn authenticate(&self, token: SessionToken) -> StoreFuture<'_, User> {
        self.single(token, |session, token, now| Box::pin(accounts::session_user(session, *token, now)))
    }

    fn user_status(&self, token: SessionToken, tools: Arc<ToolOffers>) -> StoreFuture<'_, UserStatus> {
        self.read((token, tools), |session, input, now| Box::pin(listing::user_status(session, input, now)))
    }

    fn preferences(&self, token: SessionToken) -> StoreFuture<'_, PreferencesReport> {
        self.read(token, |session, token, now| Box::pin(preferences::preferences(session, *token, now)))
    }

    fn set_preferences(
        &self,
        token: SessionToken,
        preferences: NewPreferences,
    ) -> StoreFuture<'_, PreferencesSaved> {
        self.write((token, preferences), |session, input, now| {
            Box::pin(preferences::set_preferences(session, input, now))
        })
    }

    fn task_details(&self, token: SessionToken, campaign: CampaignId) -> StoreFuture<'_, TaskDetails> {
        self.read((token, campaign), |session, input, now| Box::pin(tasks::details(session, input, now)))
    }

    fn complete_task(
        &self,
        token: SessionToken,
        campaign: CampaignId,
        submission: TaskSubmission,
    ) -> StoreFuture<'_, Completion> {
        self.write((token, campaign, submission), |session, input, now| {
            Box::pin(tasks::complete(session, input, now))
        })
    }

    fn search(
        &self,
        query: SearchQuery,
        token: Option<SessionToken>,
        tools: Arc<ToolOffers>,
    ) -> StoreFuture<'_, SearchReport> {
        let input = SearchInput { session: token, tools, indexes: self.indexes.clone() };
        let searchable = self.read(input, |session, input, now| Box::pin(search::read(session, input, now)));
        Box::pin(async move { Ok(searchable.await?.search(&query)) })
    }

    fn create_campaign(
        &self,
        draft: CampaignDraft,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, "create campaign", &draft);
        self.write_moved((draft, key), |session, input, now| Box::pin(campaigns::create(session, input, now)))
    }

    fn patch_campaign(
        &self,
        id: CampaignId,
        patch: CampaignPatch,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, &format!("patch campaign {id}"), &patch);
        self.write_moved((id, patch, key), |session, input, now| {
            Box::pin(campaigns::patch(session, input, now))
        })
    }

    fn campaign(&self, id: CampaignId) -> StoreFuture<'_, Campaign> {
        self.single(id, |session, id, _| Box::pin(campaigns::find(session, *id)))
    }

    fn campaigns(&self, page: PageRequest) -> StoreFuture<'_, Page<Campaign>> {
        self.single(page, |session, page, _| Box::pin(campaigns::page(session, page)))
    }

    fn create_sponsored_api(
        &self,
        draft: SponsoredApiDraft,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi> {
        let key = SponsorKey::new(key, "create sponsored API", &draft);
        self.write_moved((draft, tools, key), |session, input, now| {
            Box::pin(sponsored_apis::create(session, input, now))
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
        self.write_moved((id, patch, tools, key), |session, input, now| {
            Box::pin(sponsored_apis::patch(session, input, now))
        })
    }

    fn sponsored_api(&self, id: SponsoredApiId) -> StoreFuture<'_, SponsoredApi> {
        self.single(id, |session, id, _| Box::pin(sponsored_apis::find(session, *id)))
    }

    fn sponsored_apis(&self, page: PageRequest) -> StoreFuture<'_, Page<SponsoredApi>> {
        self.single(page, |session, page, _| Box::pin(sponsored_apis::page(session, page)))
    }

    fn dashboard(&self, campaign: CampaignId) -> StoreFuture<'_, Dashboard> {
        self.read(campaign, |session, campaign, _| Box::pin(campaigns::dashboard(session, *campaign)))
    }

    fn reserve(&self, request: ReserveRequest) -> StoreFuture<'_, ReserveOutcome> {
        self.write_moved(request, |session, request, now| Box::pin(reserve::reserve(session, request, now)))
    }

    fn mark_dispatched(&self, reservation: ReservationId) -> StoreFuture<'_, bool> {
        self.single(reservation, |session, id, _| Box::pin(leases::mark_dispatched(session, *id)))
    }

    fn renew_leases(&self, reservations: Vec<ReservationId>) -> StoreFuture<'_, ()> {
        self.single(reservations, |session, ids, _| Box::pin(leases::renew(session, ids)))
    }

    fn leases(&self) -> StoreFuture<'_, Vec<Lease>> {
        self.single((), |session, (), _| Box::pin(leases::living(session)))
    }

    fn release_expired(&self, leases: Vec<Lease>) -> StoreFuture<'_, usize> {
        self.write_moved(leases, |session, leases, now| {
            Box::pin(leases::release_expired(session, leases, now))
        })
    }

    fn delete_expired(&self) -> StoreFuture<'_, CleanUp> {
        self.write((), |session, (), now| Box::pin(expiry::delete_expired(session, now)))
    }

    fn settle(&self, reservation: ReservationId, reply: UpstreamReply) -> StoreFuture<'_, SettleReport> {
        self.write_moved((reservation, reply), |session, input, now| {
            Box::pin(settle::settle(session, input, now))
        })
    }

    fn release(&self, reservation: ReservationId, dispatch: Dispatch) -> StoreFuture<'_, ()> {
        self.write_moved((reservation, dispatch), |session, input, now| {
            Box::pin(settle::release(session, input, now))
        })
    }

    /// There is no log to move: connections end with the process.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn check_books(&self) -> StoreFuture<'_, Vec<BookViolation>> {
        self.read((), |session, (), _| Box::pin(books::check(session)))
    }

    fn check_rows(&self) -> StoreFuture<'_, Vec<RowProblem>> {
        self.read((), |session, (), _| Box::pin(integrity::check(session)))
    }
}
