//! The budget for request bodies that are being read or wait to be handled. It holds before anybody is known: whoever
//! connects can send, so what all of them together can make the server keep in memory is limited.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annai_core::Principal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies of up to this size have half of their part of the budget for themselves, so that ordinary requests never wait behind
/// large ones.
const SMALL_BODY_BYTES: u64 = 64 * 1024;
/// How many bodies may wait for room in one pool of the budget. The connection of each takes about 35 KiB, and in the 30
/// seconds that a body may take no more than a few hundred get their turn. Further ones are refused at once.
const MAX_WAITING: usize = 512;
/// One sender takes at most this part of the budget, so that seven others always find room.
const SENDER_FRACTION: usize = 8;

/// What is known about the sender of a body when it is read. Each standing has a part of the budget for itself, so that the
/// bodies of strangers never hold up those of the people that the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The owner, a person with a valid token, or somebody whom a route has let in.
    Known,
    /// Somebody without a token.
    Anonymous,
    /// Somebody whose token is refused. The body is read only to echo the id of its request.
    Refused,
}

/// Whose bodies are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Sender {
    /// A person, from wherever they send.
    Person(Principal),
    /// An address, or the network of one customer.
    Address(IpAddr),
    /// A token that identifies nobody, by its hash, where the address stands for many senders.
    UnknownToken(u64),
}

/// The budget. A body takes from it what has arrived of it, so that a body which is announced costs nothing yet.
pub struct PendingBytes {
    known: Part,
    anonymous: Part,
    refused: Part,
}

/// The part of the budget for one standing.
struct Part {
    small: Arc<Pool>,
    large: Arc<Pool>,
    senders: Arc<Senders>,
}

/// Bytes that bodies of one kind share.
struct Pool {
    bytes: Arc<Semaphore>,
    /// Bodies that grow can all be waiting for each other. Whoever holds this pass is read to its end, whatever the others
    /// take; `None` where nobody waits.
    pass: Option<Arc<Semaphore>>,
    /// The number of bodies that wait.
    waiting: AtomicUsize,
}

/// What each sender has in memory.
struct Senders {
    max_bytes: usize,
    bytes: Mutex<HashMap<Sender, usize>>,
}

/// Why a body cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// Its sender has too many bytes in memory.
    Sender,
    /// Too many bodies wait already.
    Queue,
}

/// How a body got its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// There was room.
    AtOnce,
    /// It had to wait, and the server did not read on meanwhile.
    Later,
}

/// What a body takes from the budget, until it is dropped.
pub struct ReservedBytes {
    pool: Arc<Pool>,
    senders: Arc<Senders>,
    permit: Option<OwnedSemaphorePermit>,
    pass: Option<OwnedSemaphorePermit>,
    /// The owner of the machine has no limit of their own.
    sender: Option<Sender>,
    bytes: usize,
}

impl PendingBytes {
    /// A budget of `max_bytes`, or enough for two bodies of the maximum size if that is more. A sender has at most an eighth
    /// of it, or enough for one body.
    pub fn new(max_bytes: usize, max_body_bytes: usize, max_bytes_per_sender: usize) -> Self {
        let budget = max_bytes.max(max_body_bytes.saturating_mul(2)).min(u32::MAX as usize);
        let per_sender = max_bytes_per_sender.min(budget / SENDER_FRACTION).max(max_body_bytes);
        let refused = budget / SENDER_FRACTION;
        Self {
            known: Part::new(budget / 2, per_sender),
            anonymous: Part::new(budget / 2 - refused, per_sender),
            refused: Part::without_waiting(refused, refused / SENDER_FRACTION),
        }
    }

    /// Begins a body, which takes nothing yet. `declared` is its size, if the client says so.
    pub fn begin(&self, standing: Standing, sender: Option<Sender>, declared: Option<u64>) -> ReservedBytes {
        let part = match standing {
            Standing::Known => &self.known,
            Standing::Anonymous => &self.anonymous,
            Standing::Refused => &self.refused,
        };
        let is_small = declared.is_some_and(|size| size <= SMALL_BODY_BYTES);
        let pool = if is_small { part.small.clone() } else { part.large.clone() };
        ReservedBytes { pool, senders: part.senders.clone(), permit: None, pass: None, sender, bytes: 0 }
    }
}

impl Part {
    fn new(bytes: usize, max_bytes_per_sender: usize) -> Self {
        let pass = || Some(Arc::new(Semaphore::new(1)));
        let [small, large] = [pass(), pass()].map(|pass| Pool::new(bytes / 2, pass));
        Self { small, large, senders: Senders::new(max_bytes_per_sender) }
    }

    /// A part in which a body that finds no room is refused.
    fn without_waiting(bytes: usize, max_bytes_per_sender: usize) -> Self {
        let pool = Pool::new(bytes, None);
        Self { small: pool.clone(), large: pool, senders: Senders::new(max_bytes_per_sender) }
    }
}

impl Pool {
    fn new(bytes: usize, pass: Option<Arc<Semaphore>>) -> Arc<Self> {
        Arc::new(Self { bytes: Arc::new(Semaphore::new(bytes)), pass, waiting: AtomicUsize::new(0) })
    }
}

impl Senders {
    fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self { max_bytes, bytes: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Sender, usize>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReservedBytes {
    /// Takes room for bytes that have arrived, and waits until there is some.
    ///
    /// # Errors
    ///
    /// There is none for this sender, or too many others wait.
    pub async fn grow(&mut self, bytes: usize) -> Result<Granted, NoRoom> {
        self.count(bytes)?;
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        if self.pass.is_some() {
            return Ok(Granted::AtOnce);
        }
        if let Ok(permit) = self.pool.bytes.clone().try_acquire_many_owned(permits) {
            self.add(permit);
            return Ok(Granted::AtOnce);
        }
        let pool = self.pool.clone();
        let pass = pool.pass.clone().ok_or(NoRoom::Queue)?;
        let _waiting = Waiting::begin(&pool.waiting).ok_or(NoRoom::Queue)?;
        tokio::select! {
            biased;
            permit = pool.bytes.clone().acquire_many_owned(permits) => {
                permit.into_iter().for_each(|permit| self.add(permit));
            }
            pass = pass.acquire_owned() => self.pass = pass.ok(),
        }
        Ok(Granted::Later)
    }

    /// Whether others wait for room, so that a body which makes no progress must give way.
    pub fn is_tight(&self) -> bool {
        self.pool.waiting.load(Ordering::Relaxed) > 0
    }

    fn add(&mut self, permit: OwnedSemaphorePermit) {
        match &mut self.permit {
            Some(own) => own.merge(permit),
            None => self.permit = Some(permit),
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let mut by_sender = self.senders.lock();
        let held = by_sender.get(sender).copied().unwrap_or(0).saturating_add(bytes);
        if held > self.senders.max_bytes {
            return Err(NoRoom::Sender);
        }
        by_sender.insert(sender.clone(), held);
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        let Some(sender) = &self.sender else { return };
        let mut by_sender = self.senders.lock();
        if let Some(held) = by_sender.get_mut(sender) {
            *held = held.saturating_sub(self.bytes);
            if *held == 0 {
                by_sender.remove(sender);
            }
        }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MIB: usize = 1 << 20;

    /// 8 MiB for large bodies of known senders, and 6 MiB for those of strangers.
    fn budget() -> PendingBytes {
        PendingBytes::new(32 * MIB, MIB, 2 * MIB)
    }

    fn address(last: u8) -> Option<Sender> {
        Some(Sender::Address([203, 0, 113, last].into()))
    }

    async fn take(budget: &PendingBytes, sender: Option<Sender>, bytes: usize) -> Option<ReservedBytes> {
        let mut body = budget.begin(Standing::Known, sender, None);
        let grown = tokio::time::timeout(Duration::from_millis(50), body.grow(bytes)).await;
        grown.is_ok_and(|grown| grown.is_ok()).then_some(body)
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_takes_what_has_arrived_and_gives_it_back() {
        let budget = budget();
        let many: Vec<_> = (0..100_000).map(|_| budget.begin(Standing::Known, address(1), None)).collect();
        assert!(take(&budget, address(1), 2 * MIB).await.is_some(), "bodies that are announced take nothing");
        drop(many);
        assert!(budget.known.senders.lock().is_empty(), "senders without bodies are forgotten");
        assert_eq!(budget.known.large.bytes.available_permits(), 8 * MIB);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_takes_an_eighth_at_most_and_the_owner_has_no_limit() {
        let budget = PendingBytes::new(16 * MIB, MIB, 16 * MIB);
        let mut held = take(&budget, address(1), 2 * MIB).await.unwrap();
        assert_eq!(held.grow(1).await, Err(NoRoom::Sender));
        assert!(take(&budget, address(2), 2 * MIB).await.is_some());
        let person = Sender::Person(Principal::Person { issuer: "i".into(), subject: "s".into() });
        assert!(take(&budget, Some(person), 2 * MIB).await.is_some());
        assert!(take(&budget, None, 4 * MIB).await.is_some());
        let small = PendingBytes::new(16 * MIB, 4 * MIB, MIB);
        assert!(take(&small, address(1), 4 * MIB).await.is_some(), "at least one body fits");
        let tokens = Sender::UnknownToken(7);
        let mut refused = budget.begin(Standing::Refused, Some(tokens), None);
        assert_eq!(refused.grow(MIB / 4).await, Ok(Granted::AtOnce));
        assert_eq!(refused.grow(1).await, Err(NoRoom::Sender));
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_of_strangers_leave_room_for_small_ones_and_for_known_people() {
        let budget = budget();
        let mut all = Vec::new();
        for number in 0..4 {
            let mut body = budget.begin(Standing::Anonymous, address(number), None);
            let grown = tokio::time::timeout(Duration::from_millis(50), body.grow(2 * MIB)).await;
            assert!(matches!(grown, Ok(Ok(_))), "{number}: three fill the part, and the fourth has the pass");
            all.push(body);
        }
        let mut fifth = budget.begin(Standing::Anonymous, address(5), None);
        assert!(tokio::time::timeout(Duration::from_millis(50), fifth.grow(1)).await.is_err());
        let mut small = budget.begin(Standing::Anonymous, address(5), Some(SMALL_BODY_BYTES));
        assert_eq!(
            small.grow(1).await,
            Ok(Granted::AtOnce),
            "ordinary requests never wait behind large ones"
        );
        assert!(take(&budget, None, 8 * MIB).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_fill_the_budget_together_are_all_read_to_their_end() {
        let budget = Arc::new(budget());
        let bodies: Vec<_> = (0..40)
            .map(|_| {
                let budget = budget.clone();
                tokio::spawn(async move {
                    let mut body = budget.begin(Standing::Known, None, None);
                    for _ in 0..4 {
                        body.grow(MIB / 4).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        for body in bodies {
            tokio::time::timeout(Duration::from_secs(1), body).await.expect("it ends").unwrap();
        }
        assert_eq!(budget.known.large.bytes.available_permits(), 8 * MIB);
    }

    #[tokio::test]
    async fn only_so_many_bodies_wait() {
        let budget = Arc::new(budget());
        let _full = take(&budget, None, 8 * MIB).await.unwrap();
        let _pass = take(&budget, None, 1).await.unwrap();
        let waiting: Vec<_> = (0..MAX_WAITING)
            .map(|_| {
                let budget = budget.clone();
                tokio::spawn(async move { budget.begin(Standing::Known, None, None).grow(1).await.is_ok() })
            })
            .collect();
        while budget.known.large.waiting.load(Ordering::Relaxed) < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let mut body = budget.begin(Standing::Known, None, None);
        assert!(body.is_tight());
        assert_eq!(body.grow(1).await, Err(NoRoom::Queue));
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        for waiting in waiting {
            assert!(waiting.await.is_err());
        }
        assert!(!body.is_tight());
    }
}
