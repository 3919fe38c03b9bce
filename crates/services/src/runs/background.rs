//! What goes on beside the runs: renewing their leases, releasing those of dead processes, and deleting what has expired.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::Shared;
use super::sweeper::Sweeper;
use crate::error::ServicesError;
use crate::store::{CleanUp, Store};

/// How often expired keys, outputs, sessions and finished reservations are deleted. They are unusable before that; this only frees space.
const CLEAN_EVERY: Duration = Duration::from_secs(10 * 60);
/// How often something is deleted after one sweep. With the rows that each deletes, this is faster than runs can leave them
/// behind, and takes less than the time until the next sweep.
const MAX_CLEAN_UPS: usize = 50;

/// Starts both tasks. They end when the runs are dropped.
pub fn start(shared: &Arc<Shared>) -> [JoinHandle<()>; 2] {
    let timing = shared.options.leases;
    [
        tokio::spawn(renew(Arc::downgrade(shared), timing.renew_every)),
        tokio::spawn(sweep(Arc::downgrade(shared), timing.sweep_every)),
    ]
}

async fn renew(shared: Weak<Shared>, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        let living: Vec<_> = shared.living.snapshot().into_iter().collect();
        if living.is_empty() {
            continue;
        }
        if let Err(error) = shared.store.renew_leases(living).await {
            tracing::warn!(error = error.for_operator(), "the leases of runs could not be renewed");
        }
    }
}

async fn sweep(shared: Weak<Shared>, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cleaned: Option<Instant> = None;
    let Some(timing) = shared.upgrade().map(|shared| shared.options.leases) else { return };
    let mut sweeper = Sweeper::new(timing);
    loop {
        ticks.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = sweep_once(&shared, &mut sweeper).await {
            sweeper.forget();
            tracing::warn!(error = error.for_operator(), "the leases of runs could not be looked at");
            continue;
        }
        let now = shared.clock.instant();
        if cleaned.is_none_or(|cleaned| now.saturating_duration_since(cleaned) >= CLEAN_EVERY) {
            match clean_up(&*shared.store).await {
                Ok(CleanUp::Complete) => cleaned = Some(now),
                // The next sweep goes on.
                Ok(CleanUp::Partial) => {}
                Err(error) => {
                    cleaned = Some(now);
                    tracing::warn!(
                        error = error.for_operator(),
                        "expired keys, sessions and reservations could not be deleted"
                    );
                }
            }
        }
    }
}

/// Deletes what has expired, a little at a time, so that other use cases have their turn in between.
async fn clean_up(store: &dyn Store) -> Result<CleanUp, ServicesError> {
    for _ in 0..MAX_CLEAN_UPS {
        if store.delete_expired().await? == CleanUp::Complete {
            return Ok(CleanUp::Complete);
        }
    }
    Ok(CleanUp::Partial)
}

/// Looks at the leases once and releases those that have ended.
pub async fn sweep_once(shared: &Shared, sweeper: &mut Sweeper) -> Result<usize, ServicesError> {
    let leases = shared.store.leases().await?;
    let ended = sweeper.observe(&leases, &shared.living.snapshot(), shared.clock.instant());
    if ended.is_empty() {
        return Ok(0);
    }
    let released = shared.store.release_expired(ended).await?;
    if released > 0 {
        tracing::warn!(released, "reservations of runs whose process is gone were released");
    }
    Ok(released)
}
