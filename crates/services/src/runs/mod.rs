//! Runs of services: the price is reserved, the upstream called, and the reservation settled or released by the result.

mod active_runs;
mod background;
mod execute;
mod fault;
mod gate;
mod places;
mod purchase;
mod sweeper;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use annai_core::{Identity, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

pub use self::fault::FaultPoint;
pub use self::purchase::{ready_tool_offers, tool_offers};
pub use self::sweeper::LeaseTiming;

use self::active_runs::ActiveRuns;
use self::gate::DispatchGate;
use self::places::RunPlaces;
use crate::clock::Clock;
use crate::domain::idempotency::IdempotencyKey;
use crate::domain::ids::{SessionToken, TxHash};
use crate::domain::money::Cents;
use crate::domain::text::{Input, Name, in_sentence};
use crate::error::ServicesError;
use crate::store::{RunResult, Store};
use crate::upstream::Upstream;

/// A request to run a service.
#[derive(Clone)]
pub struct RunRequest {
    /// Whose run it is.
    pub session: SessionToken,
    /// The key of the service.
    pub service: Name,
    /// What the upstream receives.
    pub input: Input,
    /// The caller's key for running it at most once.
    pub key: Option<IdempotencyKey>,
    /// The tools that services may be made of: those that the request sees.
    pub registry: Arc<Registry>,
    /// Who calls; the identity of a purchased tool call.
    pub identity: Identity,
    /// Identifies the request in the log.
    pub request_id: String,
}

/// How a run was paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentMode {
    /// By a sponsor.
    Sponsored,
}

/// The reply of `POST /gpt/services/{service}/run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// The key of the service.
    pub service: String,
    /// What the upstream answered, unchanged.
    pub output: String,
    /// How it was paid for.
    pub payment_mode: PaymentMode,
    /// Who paid.
    pub sponsored_by: String,
    /// The payment.
    pub tx_hash: TxHash,
    /// A sentence about it.
    pub message: String,
    /// The HTTP status of the upstream; 200 for a tool.
    #[serde(skip)]
    pub upstream_status: u16,
}

impl RunReport {
    fn new(result: RunResult) -> Self {
        let RunResult { service, output, upstream_status, sponsored_by, tx_hash } = result;
        let message =
            format!("“{}” paid for this run of “{}”.", in_sentence(&sponsored_by), in_sentence(&service));
        let payment_mode = PaymentMode::Sponsored;
        Self { service, output, payment_mode, sponsored_by, tx_hash, message, upstream_status }
    }
}

/// How runs behave.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// When leases are renewed and end.
    pub leases: LeaseTiming,
    /// The least that services of these tools cost.
    pub tool_prices: BTreeMap<String, Cents>,
    /// Where the process is killed, for tests; without effect unless the cargo feature `fault-points` is on.
    pub fault_point: Option<FaultPoint>,
}

/// Runs services. Clones share everything.
#[derive(Clone)]
pub struct Runs {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    upstream: Arc<dyn Upstream>,
    clock: Arc<dyn Clock>,
    options: RunOptions,
    living: ActiveRuns,
    places: RunPlaces,
    tasks: TaskTracker,
    background: OnceLock<[JoinHandle<()>; 2]>,
    is_closing: AtomicBool,
}

impl Runs {
    /// Runs of the services in a store.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        upstream: Arc<dyn Upstream>,
        clock: Arc<dyn Clock>,
        options: RunOptions,
    ) -> Self {
        let shared = Shared {
            store,
            upstream,
            clock,
            options,
            living: ActiveRuns::default(),
            places: RunPlaces::default(),
            tasks: TaskTracker::new(),
            background: OnceLock::new(),
            is_closing: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Runs a service. Dropping the future cancels the run while the upstream has not been called; afterwards the run goes
    /// on by itself and settles by its own result.
    ///
    /// # Errors
    ///
    /// Why it was not run, or what went wrong; then nothing was charged.
    pub async fn run(&self, request: RunRequest) -> Result<RunReport, ServicesError> {
        let place = self.shared.places.acquire(&request.identity).await;
        if self.shared.is_closing.load(Ordering::Acquire) {
            let stopping = std::io::Error::other("shutting down");
            return Err(ServicesError::unavailable(
                "the server is shutting down; try again in a moment",
                stopping,
            ));
        }
        self.start();
        let gate = Arc::new(DispatchGate::default());
        let _cancel = gate.cancel_on_drop();
        let run = execute::run(self.shared.clone(), request, gate.clone()).in_current_span();
        let task = self.shared.tasks.spawn(async move {
            let result = run.await;
            drop(place);
            result
        });
        task.await.unwrap_or_else(|error| Err(ServicesError::internal(error.to_string()))).map(RunReport::new)
    }

    /// Starts renewing and sweeping leases, if that has not begun. It needs a tokio runtime.
    pub fn start(&self) {
        self.shared.background.get_or_init(|| background::start(&self.shared));
    }

    /// Waits for the runs that are in progress, and refuses new ones. The caller limits the time; runs that are left behind
    /// end with their leases.
    pub async fn close(&self) {
        self.shared.is_closing.store(true, Ordering::Release);
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        for task in self.shared.background.get().into_iter().flatten() {
            task.abort();
        }
    }

    /// The number of runs in progress.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.shared.tasks.len()
    }
}
