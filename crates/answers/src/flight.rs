//! Identical questions in flight share one request, and answers may be kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annai_core::Call;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use tokio::sync::watch;

use crate::responses::Step;

/// At most four reports a second.
const BETWEEN_REPORTS: Duration = Duration::from_millis(250);
/// Silence lasts no longer than this.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

type Work<T> = BoxFuture<'static, Arc<T>>;

/// One request that several callers wait for. It is dropped with the last of them.
struct Flight<T> {
    number: u64,
    work: WeakShared<Work<T>>,
    steps: watch::Receiver<Step>,
}

/// The requests under way, by what they ask and how.
pub struct Flights<T> {
    flying: Arc<Mutex<Flying<T>>>,
}

struct Flying<T> {
    next: u64,
    by_key: HashMap<Arc<str>, Flight<T>>,
}

/// Takes a flight off the list when it has landed, or when nobody waits for it any more.
struct Landing<T: Send + Sync + 'static> {
    flying: Arc<Mutex<Flying<T>>>,
    key: Arc<str>,
    number: u64,
}

impl<T: Send + Sync + 'static> Drop for Landing<T> {
    fn drop(&mut self) {
        let mut flying = lock(&self.flying);
        // Another one may have taken off under the same key since.
        if flying.by_key.get(&self.key).is_some_and(|flight| flight.number == self.number) {
            flying.by_key.remove(&self.key);
        }
    }
}

impl<T: Send + Sync + 'static> Flights<T> {
    pub fn new() -> Self {
        Self { flying: Arc::new(Mutex::new(Flying { next: 0, by_key: HashMap::new() })) }
    }

    /// Waits for the work with this key, which is started unless it is under way, and tells the caller how
    /// it goes.
    pub async fn join<F>(&self, key: &str, call: &Call, first: Step, start: F) -> Arc<T>
    where
        F: FnOnce(watch::Sender<Step>) -> BoxFuture<'static, T>,
    {
        let (work, steps) = self.board(key, first, start);
        if !call.progress.wanted() {
            return work.await;
        }
        tokio::select! {
            biased;
            done = work.clone() => done,
            // There is nothing more to tell; the work ends in a moment.
            () = tell(call, steps) => work.await,
        }
    }

    fn board<F>(&self, key: &str, first: Step, start: F) -> (Shared<Work<T>>, watch::Receiver<Step>)
    where
        F: FnOnce(watch::Sender<Step>) -> BoxFuture<'static, T>,
    {
        let mut flying = lock(&self.flying);
        if let Some(flight) = flying.by_key.get(key)
            && let Some(work) = flight.work.upgrade()
        {
            return (work, flight.steps.clone());
        }
        let (sender, steps) = watch::channel(first);
        flying.next += 1;
        let (number, key) = (flying.next, Arc::<str>::from(key));
        let landing = Landing { flying: self.flying.clone(), key: key.clone(), number };
        let work = start(sender);
        let work = async move {
            let done = Arc::new(work.await);
            drop(landing);
            done
        };
        let work = work.boxed().shared();
        if let Some(weak) = work.downgrade() {
            flying.by_key.insert(key, Flight { number, work: weak, steps: steps.clone() });
        }
        (work, steps)
    }
}

fn lock<T>(flying: &Mutex<Flying<T>>) -> MutexGuard<'_, Flying<T>> {
    flying.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells a caller each step, not too often, and that the work goes on when there is none.
async fn tell(call: &Call, mut steps: watch::Receiver<Step>) {
    let (started, mut count) = (Instant::now(), 0.0);
    let mut message = steps.borrow_and_update().message();
    loop {
        call.progress.report(count, None, Some(&message)).await;
        count += 1.0;
        tokio::time::sleep(BETWEEN_REPORTS).await;
        match tokio::time::timeout(SIGN_OF_LIFE - BETWEEN_REPORTS, steps.changed()).await {
            Ok(Ok(())) => message = steps.borrow_and_update().message(),
            // The work is done; whoever waits for it goes on at once.
            Ok(Err(_)) => return,
            Err(_) => {
                let step = steps.borrow_and_update().message();
                message = format!("{step} ({} s)", started.elapsed().as_secs());
            }
        }
    }
}

/// So much may be kept, in bytes.
const MOST_KEPT: usize = 32 << 20;

/// Answers that are given again for a while.
pub struct Cache<T> {
    ttl: Duration,
    most: usize,
    kept: Mutex<Kept<T>>,
}

/// Answers with their size and the time they came, by what was asked.
struct Kept<T> {
    by_key: HashMap<Arc<str>, (Instant, usize, Arc<T>)>,
    bytes: usize,
}

impl<T> Cache<T> {
    pub fn new(ttl: Duration, most: usize) -> Self {
        Self { ttl, most, kept: Mutex::new(Kept { by_key: HashMap::new(), bytes: 0 }) }
    }

    pub fn get(&self, key: &str) -> Option<Arc<T>> {
        if self.ttl.is_zero() {
            return None;
        }
        let kept = self.lock();
        let (since, _, value) = kept.by_key.get(key)?;
        (since.elapsed() < self.ttl).then(|| value.clone())
    }

    /// Keeps a value of about so many bytes; the oldest ones make room.
    pub fn put(&self, key: &str, value: Arc<T>, bytes: usize) {
        if self.ttl.is_zero() {
            return;
        }
        let bytes = bytes + key.len();
        let mut kept = self.lock();
        kept.remove(key);
        while kept.by_key.len() >= self.most || (kept.bytes + bytes > MOST_KEPT && !kept.by_key.is_empty()) {
            let oldest = kept.by_key.iter().min_by_key(|(_, (since, ..))| *since).map(|(key, _)| key.clone());
            kept.remove(&oldest.unwrap_or_else(|| key.into()));
        }
        kept.bytes += bytes;
        kept.by_key.insert(key.into(), (Instant::now(), bytes, value));
    }

    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Kept<T> {
    fn remove(&mut self, key: &str) {
        if let Some((_, bytes, _)) = self.by_key.remove(key) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use annai_core::{Progress, ProgressSink};
    use tokio::sync::oneshot;

    use super::*;

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
    async fn the_same_question_is_asked_once_and_then_again() {
        let (flights, started) = (Flights::new(), AtomicUsize::new(0));
        for round in 1..=2 {
            let (end, ended) = oneshot::channel::<u32>();
            let ended = Mutex::new(Some(ended));
            let (first, second) = (call(), call());
            let join = |call| {
                flights.join("k", call, Step::Thinking, |_| {
                    started.fetch_add(1, Ordering::SeqCst);
                    let ended = ended.lock().unwrap().take().unwrap();
                    async { ended.await.unwrap() }.boxed()
                })
            };
            let other = flights.join("other", &first, Step::Thinking, |_| async { 9 }.boxed());
            let both = async { tokio::join!(join(&first), join(&second), other) };
            let ending = async { end.send(round).unwrap() };
            let ((a, b, other), ()) = tokio::join!(both, ending);
            assert_eq!((*a, *b, *other), (round, round, 9));
            assert_eq!(started.load(Ordering::SeqCst), round as usize);
        }
        assert!(lock(&flights.flying).by_key.is_empty());
    }

    #[tokio::test]
    async fn the_work_is_dropped_with_the_last_who_waits() {
        let (flights, dropped) = (Flights::<()>::new(), Arc::new(AtomicUsize::new(0)));
        let (first, second) = (call(), call());
        let start = |_| {
            let guard = CountsDrop(dropped.clone());
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
            .boxed()
        };
        let mut one = Box::pin(flights.join("k", &first, Step::Thinking, start));
        let mut two = Box::pin(flights.join("k", &second, Step::Thinking, start));
        assert!(futures_util::poll!(&mut one).is_pending() && futures_util::poll!(&mut two).is_pending());
        drop(one);
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(two);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(lock(&flights.flying).by_key.is_empty());
    }

    #[derive(Default)]
    struct Seen(Mutex<Vec<(f64, String, Duration)>>);

    impl ProgressSink for Seen {
        fn report<'a>(&'a self, done: f64, _: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
            let at = tokio::time::Instant::now().into_std().elapsed();
            self.0.lock().unwrap().push((done, message.unwrap_or_default().to_owned(), at));
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn steps_are_told_not_too_often_and_silence_is_broken() {
        let seen = Arc::new(Seen::default());
        let mut call = call();
        call.progress = Progress::to(seen.clone());
        let flights = Flights::new();
        let start = |steps: watch::Sender<Step>| {
            async move {
                for number in 0..20 {
                    steps.send_replace(Step::Reading(number.to_string()));
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                tokio::time::sleep(Duration::from_secs(25)).await;
            }
            .boxed()
        };
        flights.join("k", &call, Step::Asking("m".into()), start).await;
        let seen = seen.0.lock().unwrap();
        let told: Vec<_> = seen.iter().map(|(_, message, _)| message.as_str()).collect();
        assert_eq!(told[0], "reading 0");
        assert!(
            (4..=7).contains(&told.iter().filter(|message| !message.contains(" s)")).count()),
            "{told:?}"
        );
        assert_eq!(told.iter().filter(|message| message.starts_with("reading 19 (")).count(), 2, "{told:?}");
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_cache_forgets() {
        let cache = Cache::new(Duration::from_secs(60), 2);
        for key in ["a", "b", "c"] {
            cache.put(key, Arc::new(key), 1);
        }
        assert_eq!((cache.get("a"), cache.get("c").as_deref()), (None, Some(&"c")));
        // The same one again takes no more room, and what is too large makes the others go.
        cache.put("c", Arc::new("d"), 1);
        assert_eq!((cache.get("b").as_deref(), cache.get("c").as_deref()), (Some(&"b"), Some(&"d")));
        cache.put("e", Arc::new("e"), MOST_KEPT);
        assert_eq!((cache.get("b"), cache.get("e").as_deref()), (None, Some(&"e")));
        assert_eq!(cache.lock().by_key.len(), 1);
        let off = Cache::new(Duration::ZERO, 2);
        off.put("a", Arc::new(1), 1);
        assert_eq!(off.get("a"), None);
        let brief = Cache::new(Duration::from_nanos(1), 2);
        brief.put("a", Arc::new(1), 1);
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(brief.get("a"), None);
    }
}
