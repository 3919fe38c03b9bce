//! The services as one handle: the store and the runs, opened by whoever comes first.

use std::path::PathBuf;
use std::sync::Arc;

use annai_core::Registry;

use crate::clock::{Clock, SystemClock};
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::SessionToken;
use crate::domain::sponsored_api::{SponsoredApi, SponsoredApiDraft, TOOL_PREFIX};
use crate::domain::text::Problem;
use crate::domain::tool_offers::ToolOffers;
use crate::domain::user::UserStatus;
use crate::error::ServicesError;
use crate::runs::{RunOptions, Runs, ready_tool_offers, tool_offers};
use crate::store::Store;
use crate::store::sqlite::{SqliteOptions, SqliteStore};
use crate::upstream::{HttpTarget, Upstream};

/// The store and the runs of one process. Creating it touches nothing; the first use case opens the database.
#[derive(Clone)]
pub struct Services {
    store: Arc<dyn Store>,
    runs: Runs,
    upstream: Arc<dyn Upstream>,
    options: Arc<RunOptions>,
}

impl Services {
    /// Services in an SQLite file.
    #[must_use]
    pub fn embedded(path: PathBuf, upstream: Arc<dyn Upstream>, options: RunOptions) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = Arc::new(SqliteStore::new(SqliteOptions::new(path), clock.clone()));
        Self::new(store, upstream, clock, options)
    }

    /// Services in any store.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        upstream: Arc<dyn Upstream>,
        clock: Arc<dyn Clock>,
        options: RunOptions,
    ) -> Self {
        let runs = Runs::new(store.clone(), upstream.clone(), clock, options.clone());
        Self { store, runs, upstream, options: Arc::new(options) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The runs.
    #[must_use]
    pub const fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Opens the database and begins to sweep leases, also when no request ever comes.
    ///
    /// # Errors
    ///
    /// The database cannot be used at present. The leases are swept as soon as it can.
    pub async fn start(&self) -> Result<(), ServicesError> {
        self.runs.start();
        self.store.open().await
    }

    /// Waits for the runs that are in progress, and closes the database.
    pub async fn close(&self) {
        self.runs.close().await;
        self.store.close().await;
    }

    /// The tools of a registry that a sponsor may buy.
    #[must_use]
    pub fn tool_offers(&self, registry: &Registry) -> Arc<ToolOffers> {
        Arc::new(tool_offers(registry, &self.options.tool_prices))
    }

    /// What a person has completed and what they can run with the tools of a registry. A service whose tool lacks a setting
    /// is not among it, because its run would fail.
    ///
    /// # Errors
    ///
    /// The error of [`Store::user_status`].
    pub async fn user_status(
        &self,
        session: SessionToken,
        registry: &Registry,
    ) -> Result<UserStatus, ServicesError> {
        let tools = ready_tool_offers(registry, &self.options.tool_prices).await;
        self.store.user_status(session, Arc::new(tools)).await
    }

    /// Creates a sponsored API after checking that its upstream may be called.
    ///
    /// # Errors
    ///
    /// The upstream may not be called, or the error of [`Store::create_sponsored_api`].
    pub async fn create_sponsored_api(
        &self,
        draft: SponsoredApiDraft,
        registry: &Registry,
        key: Option<IdempotencyKey>,
    ) -> Result<SponsoredApi, ServicesError> {
        if !draft.upstream_url.starts_with(TOOL_PREFIX) {
            let target = HttpTarget {
                url: draft.upstream_url.clone(),
                method: draft.upstream_method,
                headers: draft.upstream_headers.clone().into_map(),
            };
            let checked = self.upstream.check(&target).await;
            checked.map_err(|failure| Problem::new(failure.problem).of("upstream_url"))?;
        }
        self.store.create_sponsored_api(draft, self.tool_offers(registry), key).await
    }
}
