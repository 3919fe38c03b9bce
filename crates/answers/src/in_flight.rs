//! Deduplication of requests in flight: identical questions share one request to the API.
//!
//! The request is a `Shared` future that its waiting callers poll. It is dropped with the last of them, which closes
//! the connection to the API. Each caller reports the progress to its own client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use annai_core::Call;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::responses::ProgressStep;

/// The minimum time between two progress reports: the contract allows four a second. Steps in between are skipped.
const MIN_REPORT_INTERVAL: Duration = Duration::from_millis(250);
/// The maximum time between two progress reports; as in `openai-responses-mcp`. Without a new step the last one is repeated
/// with the elapsed time, so that clients do not give up.
const MAX_REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// What makes two requests identical.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The serialized request body, with what else shapes the result.
    pub body: Bytes,
    /// Whether the response is streamed: a caller that reports progress needs a stream.
    pub stream: bool,
    /// The timeout of one attempt.
    pub timeout: Duration,
}

type SharedWork<T> = Shared<BoxFuture<'static, T>>;

/// The requests in flight.
pub struct InFlightRequests<T: Clone> {
    table: Arc<Mutex<RequestTable<T>>>,
}

struct RequestTable<T: Clone> {
    next_id: u64,
    by_key: HashMap<RequestKey, InFlightRequest<T>>,
}

/// A request that one or more callers wait for. The table holds it weakly, so that it ends with its last caller.
struct InFlightRequest<T: Clone> {
    id: u64,
    work: WeakShared<BoxFuture<'static, T>>,
    progress: watch::Receiver<ProgressStep>,
}

/// Removes a request from the table when it is done or dropped.
struct RemoveOnDrop<T: Clone> {
    table: Arc<Mutex<RequestTable<T>>>,
    key: RequestKey,
    id: u64,
}

impl<T: Clone> Drop for RemoveOnDrop<T> {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        // By now the key may belong to a newer request.
        if table.by_key.get(&self.key).is_some_and(|request| request.id == self.id) {
            table.by_key.remove(&self.key);
        }
    }
}

impl<T: Clone + Send + Sync + 'static> InFlightRequests<T> {
    /// No requests.
    pub fn new() -> Self {
        Self { table: Arc::new(Mutex::new(RequestTable { next_id: 0, by_key: HashMap::new() })) }
    }

    /// Waits for the request with this key, which is started if it is not in flight, and reports its progress to the
    /// caller's client.
    pub async fn join<F>(&self, key: RequestKey, call: &Call, first_step: ProgressStep, start: F) -> T
    where
        F: FnOnce(watch::Sender<ProgressStep>) -> BoxFuture<'static, T>,
    {
        let (work, progress) = self.find_or_start(key, first_step, start);
        if !call.progress.is_requested() {
            return work.await;
        }
        tokio::select! {
            biased;
            result = work.clone() => result,
            // The progress ends when the work is done, so the result follows at once.
            () = report_progress(call, progress) => work.await,
        }
    }

    fn find_or_start<F>(
        &self,
        key: RequestKey,
        first_step: ProgressStep,
        start: F,
    ) -> (SharedWork<T>, watch::Receiver<ProgressStep>)
    where
        F: FnOnce(watch::Sender<ProgressStep>) -> BoxFuture<'static, T>,
    {
        let mut table = lock(&self.table);
        if let Some(request) = table.by_key.get(&key)
            && let Some(work) = request.work.upgrade()
        {
            return (work, request.progress.clone());
        }
        let (sender, progress) = watch::channel(first_step);
        table.next_id += 1;
        let id = table.next_id;
        let work = start(sender);
        let guard = RemoveOnDrop { table: self.table.clone(), key: key.clone(), id };
        let work = async move {
            let result = work.await;
            drop(guard);
            result
        };
        // Several callers poll the work; its log lines carry the id of the request that started it.
        let work = work.instrument(tracing::Span::current()).boxed().shared();
        if let Some(weak) = work.downgrade() {
            table.by_key.insert(key, InFlightRequest { id, work: weak, progress: progress.clone() });
        }
        (work, progress)
    }
}

fn lock<T: Clone>(table: &Mutex<RequestTable<T>>) -> MutexGuard<'_, RequestTable<T>> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports every step to the client, within the limits above, until the request is done.
async fn report_progress(call: &Call, mut progress: watch::Receiver<ProgressStep>) {
    let (started, mut count) = (Instant::now(), 0.0);
    let mut message = progress.borrow_and_update().message();
    loop {
        call.progress.report(count, None, Some(&message)).await;
        count += 1.0;
        tokio::time::sleep(MIN_REPORT_INTERVAL).await;
        match tokio::time::timeout(MAX_REPORT_INTERVAL - MIN_REPORT_INTERVAL, progress.changed()).await {
            Ok(Ok(())) => message = progress.borrow_and_update().message(),
            // The sender was dropped: the request is done.
            Ok(Err(_)) => return,
            Err(_) => {
                let step = progress.borrow_and_update().message();
                message = format!("{step} ({} s)", started.elapsed().as_secs());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use annai_core::{Progress, ProgressSink};
    use tokio::sync::oneshot;

    use super::*;

    fn key(body: &'static str) -> RequestKey {
        RequestKey { body: Bytes::from_static(body.as_bytes()), stream: false, timeout: Duration::ZERO }
    }

    fn call() -> Call {
        Call::new("test")
    }

    struct CountsDrop(Arc<AtomicUsize>);

    impl Drop for CountsDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn identical_requests_are_sent_once_while_in_flight() {
        let (requests, started) = (InFlightRequests::new(), AtomicUsize::new(0));
        for round in 1..=2 {
            let (end, ended) = oneshot::channel::<u32>();
            let ended = Mutex::new(Some(ended));
            let (first, second) = (call(), call());
            let join = |call| {
                requests.join(key("k"), call, ProgressStep::Thinking, |_| {
                    started.fetch_add(1, Ordering::SeqCst);
                    let ended = ended.lock().unwrap().take().unwrap();
                    async { ended.await.unwrap() }.boxed()
                })
            };
            let other = requests.join(key("other"), &first, ProgressStep::Thinking, |_| async { 9 }.boxed());
            let both = async { tokio::join!(join(&first), join(&second), other) };
            let ending = async { end.send(round).unwrap() };
            let (results, ()) = tokio::join!(both, ending);
            assert_eq!(results, (round, round, 9));
            assert_eq!(started.load(Ordering::SeqCst), round as usize);
        }
        assert!(lock(&requests.table).by_key.is_empty());
    }

    #[tokio::test]
    async fn requests_that_differ_in_their_transfer_are_not_shared() {
        let (requests, call) = (InFlightRequests::new(), call());
        let streamed = RequestKey { stream: true, ..key("k") };
        let slow = RequestKey { timeout: Duration::from_secs(1), ..key("k") };
        let join = |key, number| {
            requests.join(key, &call, ProgressStep::Thinking, move |_| {
                async move {
                    tokio::task::yield_now().await;
                    number
                }
                .boxed()
            })
        };
        let results = tokio::join!(join(key("k"), 1), join(streamed, 2), join(slow, 3), join(key("k"), 4));
        assert_eq!(results, (1, 2, 3, 1));
    }

    #[tokio::test]
    async fn a_request_is_dropped_with_its_last_caller() {
        let (requests, dropped) = (InFlightRequests::<()>::new(), Arc::new(AtomicUsize::new(0)));
        let (first, second) = (call(), call());
        let start = |_| {
            let guard = CountsDrop(dropped.clone());
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
            .boxed()
        };
        let mut one = Box::pin(requests.join(key("k"), &first, ProgressStep::Thinking, start));
        let mut two = Box::pin(requests.join(key("k"), &second, ProgressStep::Thinking, start));
        assert!(futures_util::poll!(&mut one).is_pending() && futures_util::poll!(&mut two).is_pending());
        drop(one);
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(two);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(lock(&requests.table).by_key.is_empty());
    }

    #[derive(Default)]
    struct Reports(Mutex<Vec<(f64, String)>>);

    impl ProgressSink for Reports {
        fn report<'a>(&'a self, done: f64, _: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
            self.0.lock().unwrap().push((done, message.unwrap_or_default().to_owned()));
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn progress_is_reported_at_a_limited_rate_and_silence_is_broken() {
        let reports = Arc::new(Reports::default());
        let mut call = call();
        call.progress = Progress::to(reports.clone());
        let start = |progress: watch::Sender<ProgressStep>| {
            async move {
                // A step every 100 ms for one second, offset so that no step coincides with a report.
                tokio::time::sleep(Duration::from_millis(30)).await;
                for number in 0..10 {
                    progress.send_replace(ProgressStep::Reading(number.to_string()));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                tokio::time::sleep(Duration::from_secs(25)).await;
            }
            .boxed()
        };
        InFlightRequests::new().join(key("k"), &call, ProgressStep::Asking("m".into()), start).await;
        let expected = [
            "asking m",
            "reading 2",
            "reading 4",
            "reading 7",
            "reading 9",
            "reading 9 (11 s)",
            "reading 9 (21 s)",
        ];
        let expected: Vec<_> = (0_u32..).map(f64::from).zip(expected.map(str::to_owned)).collect();
        assert_eq!(*reports.0.lock().unwrap(), expected);
    }
}
