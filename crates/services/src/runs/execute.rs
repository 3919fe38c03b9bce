//! One run from its reservation to its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

use annai_core::metrics;
use futures_util::FutureExt as _;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::fault::{self, FaultPoint};
use super::gate::DispatchGate;
use super::purchase::{ToolCall, call_tool, tool_offers};
use super::{RunRequest, Shared};
use crate::domain::idempotency::RequestHash;
use crate::domain::reservation::Dispatch;
use crate::error::ServicesError;
use crate::store::{
    PaymentOutcome, Reservation, ReserveOutcome, ReserveRequest, RunResult, RunTarget, SettleReport,
    StoreFuture,
};
use crate::upstream::{UpstreamFailure, UpstreamReply, UpstreamRequest};

/// How often a run that lost its lease before it was dispatched reserves again. Losing one takes a process that stood still
/// for half a minute, so a second loss means that something else is wrong.
const MAX_RESERVATIONS: usize = 3;
/// The pauses between tries to settle or release while the database is away. Together with the database's own patience they
/// cover a restart of it; afterwards the lease ends the reservation.
const RETRY_PAUSES: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(6),
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    outcome: &'static str,
}

static RUNS: LazyLock<Family<RunLabels, Counter>> = LazyLock::new(|| {
    metrics::register("annai_service_runs", "Runs of sponsored services by their outcome", Family::default())
});

fn count(outcome: &'static str) {
    RUNS.get_or_create(&RunLabels { outcome }).inc();
}

/// Runs a service once.
pub async fn run(
    shared: Arc<Shared>,
    request: RunRequest,
    gate: Arc<DispatchGate>,
) -> Result<RunResult, ServicesError> {
    let result = try_run(&shared, &request, &gate).await;
    match &result {
        Ok((outcome, _)) => count(outcome),
        Err(ServicesError::Upstream { .. }) => count("failed"),
        Err(ServicesError::Cancelled) => count("cancelled"),
        Err(_) => count("refused"),
    }
    fault::pass(FaultPoint::Finished, shared.options.fault_point);
    result.map(|(_, result)| result)
}

async fn try_run(
    shared: &Shared,
    request: &RunRequest,
    gate: &DispatchGate,
) -> Result<(&'static str, RunResult), ServicesError> {
    for _ in 0..MAX_RESERVATIONS {
        let reservation = match reserve(shared, request).await? {
            Reserved::Now(reservation) => reservation,
            Reserved::Before(result) => return Ok(("replayed", result)),
        };
        fault::pass(FaultPoint::Reserved, shared.options.fault_point);
        let _alive = shared.living.add(reservation.id);
        if gate.is_cancelled() {
            release(shared, &reservation, Dispatch::NotYet).await;
            return Err(ServicesError::Cancelled);
        }
        match shared.store.mark_dispatched(reservation.id).await {
            Ok(true) => {}
            // The lease ended while this process stood still, so the upstream must not be called for it.
            Ok(false) => continue,
            Err(error) => {
                release(shared, &reservation, Dispatch::NotYet).await;
                return Err(error);
            }
        }
        fault::pass(FaultPoint::Dispatching, shared.options.fault_point);
        if !gate.dispatch() {
            release(shared, &reservation, Dispatch::NotYet).await;
            return Err(ServicesError::Cancelled);
        }
        let reply = AssertUnwindSafe(call(shared, request, &reservation)).catch_unwind().await;
        let reply = reply.unwrap_or_else(|_| {
            Err(UpstreamFailure { status: None, problem: "its client panicked".to_owned() })
        });
        fault::pass(FaultPoint::Answered, shared.options.fault_point);
        return finish(shared, &reservation, reply).await;
    }
    Err(ServicesError::internal("the lease of a run was lost before every dispatch"))
}

enum Reserved {
    Now(Reservation),
    Before(RunResult),
}

async fn reserve(shared: &Shared, request: &RunRequest) -> Result<Reserved, ServicesError> {
    let mut reserve = ReserveRequest {
        session: request.session,
        service: request.service.clone(),
        request_hash: RequestHash::of(&[&request.service, &request.input]),
        key: request.key.clone(),
        tools: Arc::new(tool_offers(&request.registry, &shared.options.tool_prices)),
        ready_tool: None,
    };
    loop {
        match shared.store.reserve(reserve.clone()).await? {
            ReserveOutcome::Reserved(reservation) => return Ok(Reserved::Now(reservation)),
            ReserveOutcome::Replay(result) => return Ok(Reserved::Before(result)),
            ReserveOutcome::CheckTool(tool) => {
                request.registry.prepare(&tool).await.map_err(|error| ServicesError::NotConfigured {
                    service: request.service.to_string(),
                    tool: tool.clone(),
                    problem: error.message().to_owned(),
                })?;
                reserve.ready_tool = Some(tool);
            }
        }
    }
}

async fn call(
    shared: &Shared,
    request: &RunRequest,
    reservation: &Reservation,
) -> Result<UpstreamReply, UpstreamFailure> {
    match &reservation.target {
        RunTarget::Http(target) => {
            let request = UpstreamRequest {
                target: target.clone(),
                input: request.input.clone(),
                idempotency_key: reservation.tx_hash.clone(),
            };
            shared.upstream.call(request).await
        }
        RunTarget::Tool { name, argument } => {
            let call = ToolCall {
                registry: &request.registry,
                identity: &request.identity,
                tool: name,
                argument,
                input: &request.input,
                request_id: &request.request_id,
            };
            call_tool(call, reservation).await
        }
    }
}

/// Settles or releases by the result of the upstream.
async fn finish(
    shared: &Shared,
    reservation: &Reservation,
    reply: Result<UpstreamReply, UpstreamFailure>,
) -> Result<(&'static str, RunResult), ServicesError> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(UpstreamFailure { status, problem }) => {
            release(shared, reservation, Dispatch::Done).await;
            return Err(ServicesError::Upstream { service: reservation.service.clone(), status, problem });
        }
    };
    let settled = with_retries(|| shared.store.settle(reservation.id, reply.clone())).await;
    let SettleReport { result, payment } = settled.map_err(|error| {
        tracing::error!(reservation = %reservation.id, %error, "a run could not be settled; its lease will end");
        match error {
            ServicesError::Unavailable { problem, source } => {
                let problem = format!(
                    "the service ran, but its result could not be recorded: {problem}; repeat the call with the same idempotency key"
                );
                ServicesError::Unavailable { problem, source }
            }
            other => other,
        }
    })?;
    let outcome = match payment {
        PaymentOutcome::Settled => "settled",
        PaymentOutcome::PaidBefore => "paid_before",
        PaymentOutcome::Unpaid => {
            tracing::warn!(
                reservation = %reservation.id,
                amount_cents = reservation.amount.get(),
                "a run finished after its lease, when the budget was gone; nobody paid for it"
            );
            "unpaid"
        }
    };
    Ok((outcome, result))
}

/// Returns the reserved amount. When that fails for long, the end of the lease does it.
async fn release(shared: &Shared, reservation: &Reservation, dispatch: Dispatch) {
    if let Err(error) = with_retries(|| shared.store.release(reservation.id, dispatch)).await {
        tracing::error!(reservation = %reservation.id, %error, "a reservation could not be released; its lease will end");
    }
}

/// Tries a use case again while the database is away.
async fn with_retries<'a, T>(use_case: impl Fn() -> StoreFuture<'a, T>) -> Result<T, ServicesError> {
    for pause in RETRY_PAUSES {
        match use_case().await {
            Err(ServicesError::Unavailable { .. }) => tokio::time::sleep(pause).await,
            result => return result,
        }
    }
    use_case().await
}
