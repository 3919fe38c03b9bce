//! A world to test in: a database file, clocks that tests move, an upstream that does what a test says.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use annai_core::{Identity, Registry};
use annai_services::clock::Clock;
use annai_services::domain::campaign::Campaign;
use annai_services::domain::idempotency::{IdempotencyKey, RequestHash};
use annai_services::domain::ids::{CampaignId, SessionToken};
use annai_services::domain::sponsored_api::SponsoredApi;
use annai_services::domain::text::{Input, Name};
use annai_services::domain::tool_offers::ToolOffers;
use annai_services::runs::{RunOptions, RunReport, RunRequest, Runs};
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use annai_services::store::{CleanUp, Completion, Reservation, ReserveOutcome, ReserveRequest, Store};
use annai_services::upstream::{HttpTarget, Upstream, UpstreamFailure, UpstreamReply, UpstreamRequest};
use annai_services::{Services, ServicesError};
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A folder that is removed at the end.
pub struct TempFolder(pub PathBuf);

impl TempFolder {
    pub fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("annai-services-{}", CampaignId::random()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn database(&self) -> PathBuf {
        self.0.join("data/services.db")
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Clocks that stand still until a test moves them.
pub struct ManualClock {
    now: Mutex<Timestamp>,
    instant: Mutex<Instant>,
}

impl ManualClock {
    fn new() -> Self {
        let now = "2026-11-17T09:00:00Z".parse().unwrap();
        Self { now: Mutex::new(now), instant: Mutex::new(Instant::now()) }
    }

    /// Moves the clock that people read, forwards or backwards.
    pub fn jump(&self, by: SignedDuration) {
        let mut now = self.now.lock().unwrap();
        *now = now.checked_add(by).unwrap();
    }

    /// Moves the clock of the process.
    pub fn pass(&self, by: Duration) {
        *self.instant.lock().unwrap() += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        // A microsecond passes between any two looks, so that everything has an order.
        let mut now = self.now.lock().unwrap();
        *now = now.checked_add(SignedDuration::from_micros(1)).unwrap();
        *now
    }

    fn instant(&self) -> Instant {
        *self.instant.lock().unwrap()
    }
}

type Answer = BoxFuture<'static, Result<UpstreamReply, UpstreamFailure>>;
type Behaviour = Box<dyn Fn(usize, UpstreamRequest) -> Answer + Send + Sync>;

/// An upstream that does what a test says. It records every request.
pub struct FakeUpstream {
    behaviour: Mutex<Arc<Behaviour>>,
    calls: AtomicUsize,
    pub requests: Mutex<Vec<UpstreamRequest>>,
}

/// The usual answer: the input in capital letters.
pub fn echo(request: &UpstreamRequest) -> Result<UpstreamReply, UpstreamFailure> {
    Ok(UpstreamReply { status: 200, body: request.input.to_uppercase() })
}

pub fn broken() -> Result<UpstreamReply, UpstreamFailure> {
    Err(UpstreamFailure { status: Some(500), problem: "the upstream answered with the status 500".into() })
}

impl FakeUpstream {
    fn new() -> Self {
        let upstream = Self {
            behaviour: Mutex::new(Arc::new(Box::new(|_, _| Box::pin(async { broken() })))),
            calls: AtomicUsize::new(0),
            requests: Mutex::default(),
        };
        upstream.answer(|_, request| Box::pin(async move { echo(&request) }));
        upstream
    }

    /// Sets what happens from now on. The number counts the calls, from 0.
    pub fn answer(&self, behaviour: impl Fn(usize, UpstreamRequest) -> Answer + Send + Sync + 'static) {
        *self.behaviour.lock().unwrap() = Arc::new(Box::new(behaviour));
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The idempotency keys that the upstream has seen.
    pub fn keys(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.idempotency_key.to_string()).collect()
    }
}

impl Upstream for FakeUpstream {
    fn check<'a>(&'a self, target: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>> {
        let problem = "the host of the URL does not have a public address".to_owned();
        let is_private = target.url.contains("localhost");
        Box::pin(
            async move { if is_private { Err(UpstreamFailure { status: None, problem }) } else { Ok(()) } },
        )
    }

    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        self.requests.lock().unwrap().push(request.clone());
        let behaviour = self.behaviour.lock().unwrap().clone();
        behaviour(number, request)
    }
}

/// A world with one process in it.
pub struct World {
    pub folder: TempFolder,
    pub clock: Arc<ManualClock>,
    pub upstream: Arc<FakeUpstream>,
    pub services: Services,
    pub registry: Arc<Registry>,
}

impl World {
    pub fn new() -> Self {
        Self::with(RunOptions::default(), Registry::builder(Duration::from_secs(60)).build().unwrap())
    }

    pub fn with(options: RunOptions, registry: Arc<Registry>) -> Self {
        let (folder, clock) = (TempFolder::new(), Arc::new(ManualClock::new()));
        let upstream = Arc::new(FakeUpstream::new());
        let sqlite =
            SqliteOptions { busy_timeout: Duration::from_secs(5), ..SqliteOptions::new(folder.database()) };
        let store = Arc::new(SqliteStore::new(sqlite, clock.clone()));
        let services = Services::new(store, upstream.clone(), clock.clone(), options);
        Self { folder, clock, upstream, services, registry }
    }

    pub fn store(&self) -> &dyn Store {
        self.services.store()
    }

    pub fn runs(&self) -> &Runs {
        self.services.runs()
    }

    /// Signs a person in.
    pub async fn sign_in(&self, email: &str) -> SessionToken {
        let sign_in = serde_json::from_value(json!({ "email": email, "region": "auto" })).unwrap();
        self.store().sign_in(sign_in, None).await.unwrap().session_token
    }

    /// Creates a campaign for `scrape` with a subsidy of 50 cents and the changes of `json`.
    pub async fn campaign(&self, budget: i64, changes: Value) -> Campaign {
        let mut draft = json!({
            "name": "Survey for scraping", "sponsor": "Acme", "required_task": "survey",
            "subsidy_per_call_cents": 50, "budget_cents": budget, "target_tools": ["scrape"],
        });
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        self.store().create_campaign(serde_json::from_value(draft).unwrap(), None).await.unwrap()
    }

    /// Creates the sponsored API `scrape` for 10 cents with the changes of `json`.
    pub async fn api(&self, own_budget: i64, changes: Value) -> Result<SponsoredApi, ServicesError> {
        let mut draft = json!({
            "name": "Scrape", "sponsor": "Scraper Inc", "upstream_url": "https://up.example/run",
            "price_cents": 10, "budget_cents": own_budget,
        });
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let draft = serde_json::from_value(draft).unwrap();
        self.services.create_sponsored_api(draft, &self.registry, None).await
    }

    pub async fn complete(
        &self,
        session: SessionToken,
        campaign: CampaignId,
        consents: [bool; 2],
    ) -> Result<Completion, ServicesError> {
        let submission = json!({
            "task_name": "survey", "details": "{\"age\":7}",
            "consent": {
                "data_sharing_agreed": consents[0], "purpose_acknowledged": consents[1], "contact_permission": false,
            },
        });
        self.store().complete_task(session, campaign, serde_json::from_value(submission).unwrap()).await
    }

    /// A person who has completed the task of a campaign that pays for `scrape` at 10 cents a run.
    pub async fn sponsored_person(&self, budget: i64) -> (SessionToken, Campaign) {
        self.api(0, json!({})).await.unwrap();
        let campaign = self.campaign(budget, json!({})).await;
        let session = self.sign_in("a@example.com").await;
        assert!(self.complete(session, campaign.id, [true, true]).await.unwrap().report.can_use_service);
        (session, campaign)
    }

    pub fn request(&self, session: SessionToken, input: &str, key: Option<&str>) -> RunRequest {
        RunRequest {
            session,
            service: Name::parse("scrape").unwrap(),
            input: Input::parse(input).unwrap(),
            key: key.map(|key| IdempotencyKey::parse(key).unwrap()),
            registry: self.registry.clone(),
            identity: Identity::Owner,
            request_id: "1".into(),
        }
    }

    pub async fn run(
        &self,
        session: SessionToken,
        input: &str,
        key: Option<&str>,
    ) -> Result<RunReport, ServicesError> {
        self.runs().run(self.request(session, input, key)).await
    }

    /// Reserves a run of `scrape` without running it, as a process does that stalls or dies.
    pub async fn reserve(
        &self,
        session: SessionToken,
        key: Option<&str>,
    ) -> Result<Reservation, ServicesError> {
        let request = ReserveRequest {
            session,
            service: Name::parse("scrape").unwrap(),
            request_hash: RequestHash::of(&["scrape", "x"]),
            key: key.map(|key| IdempotencyKey::parse(key).unwrap()),
            tools: Arc::new(ToolOffers::default()),
            ready_tool: None,
        };
        match self.store().reserve(request).await? {
            ReserveOutcome::Reserved(reservation) => Ok(reservation),
            other => panic!("{other:?}"),
        }
    }

    /// A connection of its own, to look at rows and to hold locks.
    pub fn sql(&self) -> Connection {
        Connection::open(self.folder.database()).unwrap()
    }

    /// The number that a query returns.
    pub fn number(&self, query: &str) -> i64 {
        self.sql().query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Checks that every budget balances, and returns what is reserved, remaining and settled in all campaigns.
    pub async fn books(&self) -> (i64, i64, i64) {
        assert_eq!(self.store().check_books().await.unwrap(), []);
        (
            self.number("SELECT coalesce(sum(amount_cents), 0) FROM reservations WHERE state = 'reserved'"),
            self.number("SELECT coalesce(sum(budget_remaining_cents), 0) FROM campaigns"),
            self.number("SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE status = 'settled'"),
        )
    }

    /// Waits until no run is in progress.
    pub async fn settled(&self) {
        while self.runs().in_progress() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the upstream has been called this often.
    pub async fn called(&self, times: usize) {
        while self.upstream.calls() < times {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Cleans up until nothing that has expired is left. A row is skipped while a transaction still uses it, and one that was
/// refused may end a moment after its reply.
pub async fn clean_up_until(store: &dyn Store, is_clean: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        assert_eq!(store.delete_expired().await.unwrap(), CleanUp::Complete);
        if is_clean() {
            return;
        }
        assert!(Instant::now() < deadline, "something that has expired is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The code of an error.
pub fn code<T: std::fmt::Debug>(result: Result<T, ServicesError>) -> &'static str {
    result.unwrap_err().code()
}
