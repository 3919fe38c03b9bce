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
        self.write((sign_in, subject), |connection, input, now| {
            Box::pin(accounts::sign_in(connection, input, now))
        })
    }

    fn authenticate(&self, token: SessionToken) -> StoreFuture<'_, User> {
        self.single(token, |connection, token, now| Box::pin(accounts::session_user(connection, *token, now)))
    }

    fn user_status(&self, token: SessionToken, tools: Arc<ToolOffers>) -> StoreFuture<'_, UserStatus> {
        self.read((token, tools), |connection, input, now| {
            Box::pin(listing::user_status(connection, input, now))
        })
    }

    fn preferences(&self, token: SessionToken) -> StoreFuture<'_, PreferencesReport> {
        self.read(token, |connection, token, now| Box::pin(preferences::preferences(connection, *token, now)))
    }

    fn set_preferences(
        &self,
        token: SessionToken,
        preferences: NewPreferences,
    ) -> StoreFuture<'_, PreferencesSaved> {
        self.write((token, preferences), |connection, input, now| {
            Box::pin(preferences::set_preferences(connection, input, now))
        })
    }

    fn task_details(&self, token: SessionToken, campaign: CampaignId) -> StoreFuture<'_, TaskDetails> {
        self.read((token, campaign), |connection, input, now| {
            Box::pin(tasks::details(connection, input, now))
        })
    }

    fn complete_task(
        &self,
        token: SessionToken,
        campaign: CampaignId,
        submission: TaskSubmission,
    ) -> StoreFuture<'_, Completion> {
        self.write((token, campaign, submission), |connection, input, now| {
            Box::pin(tasks::complete(connection, input, now))
        })
    }

    fn search(
        &self,
        query: SearchQuery,
        token: Option<SessionToken>,
        tools: Arc<ToolOffers>,
    ) -> StoreFuture<'_, SearchReport> {
        let input = SearchInput { session: token, tools, indexes: self.indexes.clone() };
        let searchable =
            self.read(input, |connection, input, now| Box::pin(search::read(connection, input, now)));
        Box::pin(async move { Ok(searchable.await?.search(&query)) })
    }

    fn create_campaign(
        &self,
        draft: CampaignDraft,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, "create campaign", &draft);
        self.write_moved((draft, key), |connection, input, now| {
            Box::pin(campaigns::create(connection, input, now))
        })
    }

    fn patch_campaign(
        &self,
        id: CampaignId,
        patch: CampaignPatch,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, Campaign> {
        let key = SponsorKey::new(key, &format!("patch campaign {id}"), &patch);
        self.write_moved((id, patch, key), |connection, input, now| {
            Box::pin(campaigns::patch(connection, input, now))
        })
    }

    fn campaign(&self, id: CampaignId) -> StoreFuture<'_, Campaign> {
        self.single(id, |connection, id, _| Box::pin(campaigns::find(connection, *id)))
    }

    fn campaigns(&self, page: PageRequest) -> StoreFuture<'_, Page<Campaign>> {
        self.single(page, |connection, page, _| Box::pin(campaigns::page(connection, page)))
    }

    fn create_sponsored_api(
        &self,
        draft: SponsoredApiDraft,
        tools: Arc<ToolOffers>,
        key: Option<IdempotencyKey>,
    ) -> StoreFuture<'_, SponsoredApi> {
        let key = SponsorKey::new(key, "create sponsored API", &draft);
        self.write_moved((draft, tools, key), |connection, input, now| {
            Box::pin(sponsored_apis::create(connection, input, now))
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
        self.write_moved((id, patch, tools, key), |connection, input, now| {
            Box::pin(sponsored_apis::patch(connection, input, now))
        })
    }

    fn sponsored_api(&self, id: SponsoredApiId) -> StoreFuture<'_, SponsoredApi> {
        self.single(id, |connection, id, _| Box::pin(sponsored_apis::find(connection, *id)))
    }

    fn sponsored_apis(&self, page: PageRequest) -> StoreFuture<'_, Page<SponsoredApi>> {
        self.single(page, |connection, page, _| Box::pin(sponsored_apis::page(connection, page)))
    }

    fn dashboard(&self, campaign: CampaignId) -> StoreFuture<'_, Dashboard> {
        self.read(campaign, |connection, campaign, _| Box::pin(campaigns::dashboard(connection, *campaign)))
    }

    fn reserve(&self, request: ReserveRequest) -> StoreFuture<'_, ReserveOutcome> {
        self.write_moved(request, |connection, request, now| {
            Box::pin(reserve::reserve(connection, request, now))
        })
    }

    fn mark_dispatched(&self, reservation: ReservationId) -> StoreFuture<'_, bool> {
        self.single(reservation, |connection, id, _| Box::pin(leases::mark_dispatched(connection, *id)))
    }

    fn renew_leases(&self, reservations: Vec<ReservationId>) -> StoreFuture<'_, ()> {
        self.single(reservations, |connection, ids, _| Box::pin(leases::renew(connection, ids)))
    }

    fn leases(&self) -> StoreFuture<'_, Vec<Lease>> {
        self.single((), |connection, (), _| Box::pin(leases::living(connection)))
    }

    fn release_expired(&self, leases: Vec<Lease>) -> StoreFuture<'_, usize> {
        self.write_moved(leases, |connection, leases, now| {
            Box::pin(leases::release_expired(connection, leases, now))
        })
    }

    fn delete_expired(&self) -> StoreFuture<'_, CleanUp> {
        self.write((), |connection, (), now| Box::pin(expiry::delete_expired(connection, now)))
    }

    fn settle(&self, reservation: ReservationId, reply: UpstreamReply) -> StoreFuture<'_, SettleReport> {
        self.write_moved((reservation, reply), |connection, input, now| {
            Box::pin(settle::settle(connection, input, now))
        })
    }

    fn release(&self, reservation: ReservationId, dispatch: Dispatch) -> StoreFuture<'_, ()> {
        self.write_moved((reservation, dispatch), |connection, input, now| {
            Box::pin(settle::release(connection, input, now))
        })
    }

    /// There is no log to move: connections end with the process.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn check_books(&self) -> StoreFuture<'_, Vec<BookViolation>> {
        self.read((), |connection, (), _| Box::pin(books::check(connection)))
    }

    fn check_rows(&self) -> StoreFuture<'_, Vec<RowProblem>> {
        self.read((), |connection, (), _| Box::pin(integrity::check(connection)))
    }
}
