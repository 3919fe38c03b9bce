//! The runs of this process that hold a reservation.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::ids::ReservationId;

/// The reservations of living runs. Their leases are renewed, and the sweeper of this process leaves them alone.
#[derive(Debug, Clone, Default)]
pub struct ActiveRuns(Arc<Mutex<HashSet<ReservationId>>>);

impl ActiveRuns {
    /// Adds a run until the guard is dropped.
    pub fn add(&self, reservation: ReservationId) -> ActiveRunGuard {
        self.lock().insert(reservation);
        ActiveRunGuard { living: self.clone(), reservation }
    }

    /// The runs as they are now.
    pub fn snapshot(&self) -> HashSet<ReservationId> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ReservationId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a run among the living.
#[derive(Debug)]
pub struct ActiveRunGuard {
    living: ActiveRuns,
    reservation: ReservationId,
}

impl Drop for ActiveRunGuard {
    fn drop(&mut self) {
        self.living.lock().remove(&self.reservation);
    }
}
