//! The open connections: how many there are in all and for each peer, which of them are idle, and how much of unread heads
//! they hold.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::peers::PeerRule;

/// When the server is full, a connection that has been idle for so long is closed for a new one. Two seconds are enough for a
/// client that has just connected to send its request.
const MIN_IDLE_TIME: Duration = Duration::from_secs(2);
/// How often a new connection that waits for room looks for an idle one.
const EVICTION_INTERVAL: Duration = Duration::from_millis(250);
/// How much of the heads of requests that are not complete yet may be held in all. Heads have a few hundred bytes, so this is
/// exceeded only when many clients send long ones slowly; then the connections with long ones are closed.
const MAX_HEAD_BYTES_IN_ALL: usize = 16 << 20;
/// A head of up to this size is never a reason to close a connection.
const ORDINARY_HEAD_BYTES: usize = 8 << 10;

/// The maximum size of the head of a request in bytes. 64 KiB leave room for large cookies and tokens; a larger one is
/// answered with 431.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long after the end of a request or connection the memory that it freed is given back to the system: those that end
/// together have all freed theirs by then.
const RELEASE_DELAY: Duration = Duration::from_secs(1);
/// How long no memory is given back after that, because a busy server would soon ask for it again.
const RELEASE_INTERVAL: Duration = Duration::from_secs(10);
/// After so many closed connections it is given back before the interval is over: each has freed its buffers, too.
const CONNECTIONS_PER_RELEASE: usize = 256;

/// All open connections.
#[derive(Clone)]
pub struct Connections(Arc<SharedConnections>);

struct SharedConnections {
    places: Arc<Semaphore>,
    peers: PeerRule,
    max_per_peer: usize,
    head_bytes: AtomicUsize,
    open: Mutex<Open>,
    closed: AtomicUsize,
    /// Something has ended since memory was given back.
    ended: Notify,
    many_closed: Notify,
}

#[derive(Default)]
struct Open {
    next_number: u64,
    connections: HashMap<u64, Entry>,
    by_peer: HashMap<IpAddr, usize>,
}

struct Entry {
    peer: Option<IpAddr>,
    /// Since when no request has been in progress; `None` while one is.
    idle_since: Option<Instant>,
    close: CancellationToken,
}

/// One open connection; it is counted until it is dropped.
#[derive(Clone)]
pub struct Connection(Arc<OpenConnection>);

struct OpenConnection {
    all: Connections,
    number: u64,
    close: CancellationToken,
    /// Whether a request is in progress.
    has_request: AtomicBool,
    /// What was read of the head of the next request.
    head_bytes: AtomicUsize,
    _place: Option<OwnedSemaphorePermit>,
}

/// A request in progress; the connection is not idle until it is dropped.
pub struct RequestInProgress(Connection);

impl Connections {
    pub fn new(max_connections: usize, max_per_peer: usize, peers: PeerRule) -> Self {
        let places = Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(SharedConnections {
            places,
            peers,
            max_per_peer,
            head_bytes: AtomicUsize::new(0),
            open: Mutex::default(),
            closed: AtomicUsize::new(0),
            ended: Notify::new(),
            many_closed: Notify::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection as soon as there is room; `None` when its peer has too many.
    pub async fn admit(&self, peer: SocketAddr) -> Option<Connection> {
        let peer = self.0.peers.limited(peer.ip());
        if let Some(peer) = peer {
            let mut open = self.lock();
            let count = open.by_peer.entry(peer).or_default();
            if *count >= self.0.max_per_peer {
                return None;
            }
            *count += 1;
        }
        let place = self.place().await;
        let close = CancellationToken::new();
        let mut open = self.lock();
        let number = open.next_number;
        open.next_number += 1;
        let entry = Entry { peer, idle_since: Some(Instant::now()), close: close.clone() };
        open.connections.insert(number, entry);
        drop(open);
        Some(Connection(Arc::new(OpenConnection {
            all: self.clone(),
            number,
            close,
            has_request: AtomicBool::new(false),
            head_bytes: AtomicUsize::new(0),
            _place: place,
        })))
    }

    /// Gives the memory that requests and connections have freed back to the system with `release`, which may block. It never
    /// ends, and does nothing while nothing ends.
    pub async fn release_memory(&self, release: fn()) -> Infallible {
        loop {
            self.0.ended.notified().await;
            tokio::time::sleep(RELEASE_DELAY).await;
            // It cannot fail, and if it panicked the next end would try again.
            let _ = tokio::task::spawn_blocking(release).await;
            let _ = tokio::time::timeout(RELEASE_INTERVAL, self.0.many_closed.notified()).await;
        }
    }

    /// Waits for room. Meanwhile connections that are idle give way, the one that has been idle longest first.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            let place = self.0.places.clone().acquire_owned();
            if let Ok(place) = tokio::time::timeout(Duration::ZERO, place).await {
                return place.ok();
            }
            self.close_idle();
            let place = self.0.places.clone().acquire_owned();
            if let Ok(place) = tokio::time::timeout(EVICTION_INTERVAL, place).await {
                return place.ok();
            }
        }
    }

    fn close_idle(&self) {
        let open = self.lock();
        let idle = open.connections.values().filter(|entry| !entry.close.is_cancelled());
        let idle = idle.filter_map(|entry| Some((entry.idle_since?, &entry.close)));
        let idle = idle.filter(|(since, _)| since.elapsed() >= MIN_IDLE_TIME);
        if let Some((_, close)) = idle.min_by_key(|(since, _)| *since) {
            close.cancel();
        }
    }
}

impl Connection {
    /// Resolves when the connection must give way.
    pub async fn closed(&self) {
        self.0.close.cancelled().await;
    }

    /// Notes the beginning of a request, whose head is complete.
    pub fn begin_request(&self) -> RequestInProgress {
        self.0.has_request.store(true, Ordering::Relaxed);
        self.release_head();
        self.set_idle_since(None);
        RequestInProgress(self.clone())
    }

    /// Counts bytes that were read from the client outside of a request; `false` when the connection must be closed, because too much of long
    /// heads is held.
    pub fn add_read(&self, bytes: usize) -> bool {
        if self.0.has_request.load(Ordering::Relaxed) {
            return true;
        }
        // One task reads a connection, so nobody else changes its count meanwhile. No head is larger than its limit: what
        // exceeds it is the rest of a body that is being discarded.
        let before = self.0.head_bytes.load(Ordering::Relaxed);
        let own = before.saturating_add(bytes).min(MAX_HEAD_BYTES);
        self.0.head_bytes.store(own, Ordering::Relaxed);
        let added = own - before;
        let total = self.0.all.0.head_bytes.fetch_add(added, Ordering::Relaxed) + added;
        total <= MAX_HEAD_BYTES_IN_ALL || own <= ORDINARY_HEAD_BYTES
    }

    /// The bytes that were read are no longer a head that waits to be complete.
    fn release_head(&self) {
        let own = self.0.head_bytes.swap(0, Ordering::Relaxed);
        self.0.all.0.head_bytes.fetch_sub(own, Ordering::Relaxed);
    }

    fn set_idle_since(&self, since: Option<Instant>) {
        if let Some(entry) = self.0.all.lock().connections.get_mut(&self.0.number) {
            entry.idle_since = since;
        }
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.0.has_request.store(false, Ordering::Relaxed);
        self.0.set_idle_since(Some(Instant::now()));
        self.0.0.all.0.ended.notify_one();
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let own = self.head_bytes.load(Ordering::Relaxed);
        self.all.0.head_bytes.fetch_sub(own, Ordering::Relaxed);
        let mut open = self.all.lock();
        if let Some(peer) = open.connections.remove(&self.number).and_then(|entry| entry.peer)
            && let Some(count) = open.by_peer.get_mut(&peer)
        {
            *count -= 1;
            if *count == 0 {
                open.by_peer.remove(&peer);
            }
        }
        drop(open);
        if (self.all.0.closed.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(CONNECTIONS_PER_RELEASE) {
            self.all.0.many_closed.notify_one();
        }
        self.all.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(max: usize, per_peer: usize) -> Connections {
        Connections::new(max, per_peer, PeerRule::new(Arc::new(|_| false)))
    }

    #[tokio::test]
    async fn a_peer_has_a_limit_and_loopback_has_none() {
        let all = connections(10, 2);
        let far: SocketAddr = "203.0.113.7:1".parse().unwrap();
        let held = (all.admit(far).await, all.admit(far).await);
        assert!(held.0.is_some() && held.1.is_some() && all.admit(far).await.is_none());
        assert!(all.admit("203.0.113.8:1".parse().unwrap()).await.is_some());
        drop(held);
        assert!(all.admit(far).await.is_some());
        assert!(all.lock().by_peer.is_empty() && all.lock().connections.is_empty());
        for _ in 0..3 {
            let here = all.admit("127.0.0.1:1".parse().unwrap()).await;
            assert!(here.is_some());
            std::mem::forget(here);
        }
    }

    #[tokio::test]
    async fn a_connection_that_is_idle_gives_way_and_one_that_works_does_not() {
        let all = connections(2, 2);
        let here: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let (idle, busy) = (all.admit(here).await.unwrap(), all.admit(here).await.unwrap());
        let working = busy.begin_request();
        all.close_idle();
        assert!(!idle.0.close.is_cancelled(), "it was idle for a moment only");
        let long_ago = Instant::now().checked_sub(MIN_IDLE_TIME);
        idle.set_idle_since(long_ago);
        all.close_idle();
        assert!(idle.0.close.is_cancelled() && !busy.0.close.is_cancelled());
        let waiting = tokio::spawn({
            let all = all.clone();
            async move { all.admit(here).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(idle);
        assert!(waiting.await.unwrap());
        drop(working);
        assert!(all.lock().connections.values().all(|entry| entry.idle_since.is_some()));
    }

    #[tokio::test]
    async fn long_heads_are_refused_when_there_are_too_many() {
        let all = connections(2, 2);
        let here: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let (one, other) = (all.admit(here).await.unwrap(), all.admit(here).await.unwrap());
        assert!(one.add_read(MAX_HEAD_BYTES) && one.add_read(MAX_HEAD_BYTES));
        assert_eq!(all.0.head_bytes.load(Ordering::Relaxed), MAX_HEAD_BYTES);
        all.0.head_bytes.fetch_add(MAX_HEAD_BYTES_IN_ALL - MAX_HEAD_BYTES, Ordering::Relaxed);
        assert!(other.add_read(ORDINARY_HEAD_BYTES), "ordinary heads are always accepted");
        assert!(!other.add_read(1));
        let request = one.begin_request();
        assert!(other.add_read(1) && one.add_read(usize::MAX), "a body is no head");
        all.0.head_bytes.fetch_sub(MAX_HEAD_BYTES_IN_ALL - MAX_HEAD_BYTES, Ordering::Relaxed);
        drop((request, one, other));
        assert_eq!(all.0.head_bytes.load(Ordering::Relaxed), 0);
    }

    /// Releases of memory that the test below has seen.
    static RELEASES: AtomicUsize = AtomicUsize::new(0);

    #[tokio::test(start_paused = true)]
    async fn memory_is_given_back_after_requests_and_connections_and_not_while_nothing_ends() {
        let all = connections(1000, 1000);
        let count = || {
            RELEASES.fetch_add(1, Ordering::Relaxed);
        };
        let releases = tokio::spawn({
            let all = all.clone();
            async move { all.release_memory(count).await }
        });
        let after = async |seconds: u64| {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            RELEASES.swap(0, Ordering::Relaxed)
        };
        assert_eq!(after(1000).await, 0);
        let here: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let kept = all.admit(here).await.unwrap();
        drop(kept.begin_request());
        assert_eq!(after(5).await, 1, "a connection that stays open");
        drop(kept.begin_request());
        assert_eq!((after(5).await, after(5).await), (0, 1), "but not all the time");
        assert_eq!(after(1000).await, 0, "an idle server rests");
        drop(kept);
        assert_eq!(after(5).await, 1);
        let mut many = Vec::new();
        for _ in 0..CONNECTIONS_PER_RELEASE {
            many.push(all.admit(here).await.unwrap());
        }
        drop(many);
        assert_eq!(after(2).await, 1, "within the interval");
        releases.abort();
    }
}
