//! The budget for request bodies that are being read or wait to be handled. It holds before anybody is known: whoever
//! connects can send, so what all of them together can make the server keep in memory is limited.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peers::PeerRule;

/// Bodies of up to this size have half of the budget for themselves, so that ordinary requests never wait behind large ones.
const SMALL_BODY_BYTES: usize = 64 * 1024;

/// How many bodies may wait for room. The connection of each takes about 35 KiB, and in the 30 seconds that a body may take no
/// more than a few hundred get their turn. Further ones are refused at once.
const MAX_WAITING: usize = 512;

/// The budget. A body takes its whole size before any of it is read, so that bodies which wait for each other are impossible.
pub struct PendingBytes {
    small: Pool,
    large: Pool,
    /// The number of bodies that wait.
    waiting: AtomicUsize,
    peers: PeerRule,
    max_bytes_per_peer: usize,
    by_peer: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One half of the budget.
struct Pool {
    bytes: Arc<Semaphore>,
    /// While fewer bytes than this are free, bodies that make no progress must give way.
    tight_below: usize,
}

/// Why a body cannot be read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// Its peer has too many bytes in memory.
    Peer,
    /// Too many bodies wait already.
    Queue,
}

/// What a body takes from the budget, until it is dropped.
pub struct ReservedBytes {
    permit: Option<OwnedSemaphorePermit>,
    peer: Option<PeerBytes>,
}

/// What a body adds to the bytes of its peer.
struct PeerBytes {
    by_peer: Arc<Mutex<HashMap<IpAddr, usize>>>,
    peer: IpAddr,
    bytes: usize,
}

impl PendingBytes {
    /// A budget of `max_bytes`, or enough for two bodies of the maximum size if that is more.
    pub fn new(max_bytes: usize, max_body_bytes: usize, max_bytes_per_peer: usize, peers: PeerRule) -> Self {
        let half = (max_bytes / 2).max(max_body_bytes).clamp(SMALL_BODY_BYTES, u32::MAX as usize);
        let pool = |tight_below| Pool { bytes: Arc::new(Semaphore::new(half)), tight_below };
        Self {
            small: pool(SMALL_BODY_BYTES),
            large: pool(max_body_bytes.min(half)),
            waiting: AtomicUsize::new(0),
            peers,
            max_bytes_per_peer: max_bytes_per_peer.max(max_body_bytes),
            by_peer: Arc::default(),
        }
    }

    fn pool(&self, size: usize) -> &Pool {
        if size <= SMALL_BODY_BYTES { &self.small } else { &self.large }
    }

    /// Whether bodies of this size wait for others, so that one which makes no progress must give way.
    pub fn is_tight(&self, size: usize) -> bool {
        let pool = self.pool(size);
        pool.bytes.available_permits() < pool.tight_below
    }

    /// Waits until a body of this size fits.
    pub async fn reserve(&self, size: usize, peer: Option<IpAddr>) -> Result<ReservedBytes, NoRoom> {
        let peer = match peer.and_then(|peer| self.peers.limited(peer)) {
            Some(peer) => Some(self.count(peer, size)?),
            None => None,
        };
        let permits = u32::try_from(size).unwrap_or(u32::MAX);
        let bytes = &self.pool(size).bytes;
        if let Ok(permit) = bytes.clone().try_acquire_many_owned(permits) {
            return Ok(ReservedBytes { permit: Some(permit), peer });
        }
        let _waiting = Waiting::begin(&self.waiting).ok_or(NoRoom::Queue)?;
        let permit = bytes.clone().acquire_many_owned(permits).await.ok();
        Ok(ReservedBytes { permit, peer })
    }

    fn count(&self, peer: IpAddr, bytes: usize) -> Result<PeerBytes, NoRoom> {
        let mut by_peer = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        let held = by_peer.entry(peer).or_default();
        if held.saturating_add(bytes) > self.max_bytes_per_peer {
            return Err(NoRoom::Peer);
        }
        *held += bytes;
        Ok(PeerBytes { by_peer: self.by_peer.clone(), peer, bytes })
    }
}

/// A body that waits; it is counted until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Option<Self> {
        let waiting = Self(count);
        (count.fetch_add(1, Ordering::Relaxed) < MAX_WAITING).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ReservedBytes {
    /// Gives back what the body did not need.
    pub fn shrink_to(&mut self, size: usize) {
        if let Some(permit) = &mut self.permit {
            drop(permit.split(permit.num_permits().saturating_sub(size)));
        }
        if let Some(peer) = &mut self.peer {
            peer.shrink_to(size);
        }
    }
}

impl PeerBytes {
    fn shrink_to(&mut self, size: usize) {
        let mut by_peer = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = self.bytes.saturating_sub(size);
        self.bytes -= surplus;
        if let Some(held) = by_peer.get_mut(&self.peer) {
            *held = held.saturating_sub(surplus);
            if *held == 0 {
                by_peer.remove(&self.peer);
            }
        }
    }
}

impl Drop for PeerBytes {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MIB: usize = 1 << 20;

    fn budget() -> Arc<PendingBytes> {
        Arc::new(PendingBytes::new(16 * MIB, 4 * MIB, 6 * MIB, PeerRule::new(Arc::new(|_| false))))
    }

    async fn fits(budget: &PendingBytes, size: usize) -> Option<ReservedBytes> {
        tokio::time::timeout(Duration::from_millis(50), budget.reserve(size, None)).await.ok()?.ok()
    }

    #[tokio::test]
    async fn large_bodies_wait_for_each_other_and_not_small_ones() {
        let budget = budget();
        let (one, other) = (fits(&budget, 4 * MIB).await, fits(&budget, 4 * MIB).await);
        assert!(one.is_some() && other.is_some() && budget.is_tight(4 * MIB));
        assert!(fits(&budget, 4 * MIB).await.is_none());
        assert!(!budget.is_tight(1) && fits(&budget, 1000).await.is_some());
        let mut one = one.unwrap();
        one.shrink_to(1);
        assert!(fits(&budget, 4 * MIB - 1).await.is_some(), "what was not needed is free again");
        drop((one, other));
        assert!(!budget.is_tight(4 * MIB));
    }

    #[tokio::test]
    async fn only_so_many_bodies_wait() {
        let budget = budget();
        let _held = (budget.reserve(4 * MIB, None).await, budget.reserve(4 * MIB, None).await);
        let waiting: Vec<_> = (0..MAX_WAITING)
            .map(|_| {
                let budget = budget.clone();
                tokio::spawn(async move { budget.reserve(4 * MIB, None).await.is_ok() })
            })
            .collect();
        while budget.waiting.load(Ordering::Relaxed) < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        assert_eq!(budget.reserve(4 * MIB, None).await.err(), Some(NoRoom::Queue));
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        for waiting in waiting {
            assert!(waiting.await.is_err());
        }
        assert_eq!(budget.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_peer_has_a_limit_of_its_own_and_loopback_has_none() {
        let budget = budget();
        let far: IpAddr = "203.0.113.7".parse().unwrap();
        let held = budget.reserve(4 * MIB, Some(far)).await.unwrap();
        assert_eq!(budget.reserve(4 * MIB, Some(far)).await.err(), Some(NoRoom::Peer));
        let other = "203.0.113.8".parse().unwrap();
        assert!(budget.reserve(MIB, Some(other)).await.is_ok());
        drop(held);
        assert!(budget.reserve(4 * MIB, Some(far)).await.is_ok());
        assert!(budget.by_peer.lock().unwrap().is_empty(), "peers without bodies are forgotten");
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let _one = budget.reserve(4 * MIB, Some(here)).await.unwrap();
        assert!(budget.reserve(4 * MIB, Some(here)).await.is_ok());
    }
}
