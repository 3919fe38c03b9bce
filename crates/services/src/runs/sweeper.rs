//! Observes the leases of all processes and finds those whose runs are dead. It knows only counters and its own clock, so
//! clocks that jump and processes that start cost nothing.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::domain::ids::ReservationId;
use crate::store::Lease;

/// How often leases are renewed and looked at, and when they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTiming {
    /// How often a living run changes its counter.
    pub renew_every: Duration,
    /// How often leases are looked at.
    pub sweep_every: Duration,
    /// How long a counter stays the same before its run counts as dead. Two renewals may fail in between.
    pub release_after: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self {
            renew_every: Duration::from_secs(10),
            sweep_every: Duration::from_secs(10),
            release_after: Duration::from_secs(30),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Observation {
    counter: i64,
    since: Instant,
}

/// What one process has observed of the leases.
#[derive(Debug)]
pub struct Sweeper {
    timing: LeaseTiming,
    observed: HashMap<ReservationId, Observation>,
    last: Option<Instant>,
}

impl Sweeper {
    pub fn new(timing: LeaseTiming) -> Self {
        Self { timing, observed: HashMap::new(), last: None }
    }

    /// Takes note of the leases as they are now, and returns those that have ended. `own` are the living runs of this
    /// process, which it never takes for dead. After a pause, such as that of a suspended machine, the observation begins
    /// anew: the other processes may have been suspended too.
    pub fn observe(&mut self, leases: &[Lease], own: &HashSet<ReservationId>, now: Instant) -> Vec<Lease> {
        let pause = self.last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        if pause > self.timing.sweep_every * 2 {
            self.observed.clear();
        }
        self.last = Some(now);
        let observe = |lease: &Lease| {
            let before = self.observed.get(&lease.id).filter(|before| before.counter == lease.counter);
            (lease.id, before.copied().unwrap_or(Observation { counter: lease.counter, since: now }))
        };
        self.observed = leases.iter().filter(|lease| !own.contains(&lease.id)).map(observe).collect();
        let has_ended = |(_, observation): &(&ReservationId, &Observation)| {
            now.saturating_duration_since(observation.since) >= self.timing.release_after
        };
        let ended = self.observed.iter().filter(has_ended);
        ended.map(|(id, observation)| Lease { id: *id, counter: observation.counter }).collect()
    }

    /// Forgets everything, because a look at the leases failed: what changed meanwhile is unknown.
    pub fn forget(&mut self) {
        self.observed.clear();
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEP: Duration = Duration::from_secs(10);

    fn lease(id: ReservationId, counter: i64) -> Lease {
        Lease { id, counter }
    }

    #[test]
    fn a_counter_that_stays_the_same_for_thirty_seconds_ends_its_lease() {
        let (mut sweeper, start, id) =
            (Sweeper::new(LeaseTiming::default()), Instant::now(), ReservationId::random());
        let none = HashSet::new();
        for step in 0..3 {
            assert_eq!(sweeper.observe(&[lease(id, 1)], &none, start + STEP * step), []);
        }
        assert_eq!(sweeper.observe(&[lease(id, 1)], &none, start + STEP * 3), [lease(id, 1)]);
        // A renewal starts the thirty seconds anew.
        assert_eq!(sweeper.observe(&[lease(id, 2)], &none, start + STEP * 4), []);
        assert_eq!(sweeper.observe(&[lease(id, 2)], &none, start + STEP * 6), []);
    }

    #[test]
    fn own_runs_failures_and_pauses_release_nothing() {
        let (start, id) = (Instant::now(), ReservationId::random());
        let (own, none) = (HashSet::from([id]), HashSet::new());
        let mut sweeper = Sweeper::new(LeaseTiming::default());
        for step in 0..9 {
            assert_eq!(sweeper.observe(&[lease(id, 1)], &own, start + STEP * step), []);
        }
        let mut sweeper = Sweeper::new(LeaseTiming::default());
        for step in 0..9 {
            assert_eq!(sweeper.observe(&[lease(id, 1)], &none, start + STEP * step), []);
            if step % 3 == 2 {
                sweeper.forget();
            }
        }
        let mut sweeper = Sweeper::new(LeaseTiming::default());
        for step in 0..9 {
            assert_eq!(sweeper.observe(&[lease(id, 1)], &none, start + STEP * 10 * step), []);
        }
    }

    proptest! {
        /// A run that renews every ten seconds, however late by up to nine, is never taken for dead.
        #[test]
        fn a_living_run_is_never_released(delays in proptest::collection::vec(0_u64..10, 1..40)) {
            let (mut sweeper, start, id) = (Sweeper::new(LeaseTiming::default()), Instant::now(), ReservationId::random());
            let mut renewals = vec![];
            for (number, delay) in delays.iter().enumerate() {
                renewals.push(number as u64 * 10 + delay);
            }
            for second in (0..delays.len() as u64 * 10).step_by(10) {
                let counter = renewals.iter().filter(|renewal| **renewal <= second).count() as i64;
                let now = start + Duration::from_secs(second);
                prop_assert_eq!(sweeper.observe(&[lease(id, counter)], &HashSet::new(), now), vec![]);
            }
        }
    }
}
