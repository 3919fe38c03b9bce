//! The states of a reservation, and what settling or releasing one does in each of them.

/// The state of one attempt of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationState {
    /// The amount is set aside.
    Reserved,
    /// The amount is spent.
    Settled,
    /// The amount is back in the budget.
    Released,
}

impl ReservationState {
    /// Its name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Settled => "settled",
            Self::Released => "released",
        }
    }

    /// The state with this name in the database.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        [Self::Reserved, Self::Settled, Self::Released].into_iter().find(|state| state.as_str() == name)
    }
}

/// Whether the upstream may have been called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// It was certainly not called.
    NotYet,
    /// It was called, or was about to be.
    Done,
}

/// What settling an attempt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleStep {
    /// Spends the reserved amount and records the payment.
    Settle,
    /// Another attempt has settled the payment: returns the amount, and answers with the stored result.
    ReleaseAndReplay,
    /// The lease was released meanwhile: takes the amount from the budget again, and settles, if it is still there.
    ReserveAgain,
    /// The lease was released, and another attempt has settled the payment: answers with the stored result.
    Replay,
    /// This attempt is settled already, by an earlier try whose reply was lost.
    Done,
}

/// What settling an attempt does in its state; `is_paid` tells whether its payment has been settled.
#[must_use]
pub const fn settle_step(state: ReservationState, is_paid: bool) -> SettleStep {
    match (state, is_paid) {
        (ReservationState::Reserved, false) => SettleStep::Settle,
        (ReservationState::Reserved, true) => SettleStep::ReleaseAndReplay,
        (ReservationState::Released, false) => SettleStep::ReserveAgain,
        (ReservationState::Released, true) => SettleStep::Replay,
        (ReservationState::Settled, _) => SettleStep::Done,
    }
}

/// What releasing an attempt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseStep {
    /// Returns the amount.
    Return,
    /// Returns the amount and records that the payment failed.
    ReturnAndFail,
    /// Nothing: it is not reserved any more.
    Nothing,
}

/// What releasing an attempt does in its state. A settled payment never becomes a failed one.
#[must_use]
pub const fn release_step(state: ReservationState, dispatch: Dispatch, is_paid: bool) -> ReleaseStep {
    match (state, dispatch, is_paid) {
        (ReservationState::Reserved, Dispatch::Done, false) => ReleaseStep::ReturnAndFail,
        (ReservationState::Reserved, _, _) => ReleaseStep::Return,
        _ => ReleaseStep::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One budget and the attempts of one payment, moved by the steps as a store moves them.
    #[derive(Debug, Default)]
    struct Model {
        remaining: i64,
        spent: i64,
        attempts: Vec<ReservationState>,
        is_paid: bool,
        settlements: usize,
    }

    const PRICE: i64 = 10;

    impl Model {
        fn reserve(&mut self) {
            if self.remaining >= PRICE {
                self.remaining -= PRICE;
                self.attempts.push(ReservationState::Reserved);
            }
        }

        fn settle(&mut self, index: usize) {
            let Some(state) = self.attempts.get(index).copied() else { return };
            match settle_step(state, self.is_paid) {
                SettleStep::Settle => self.pay(index),
                SettleStep::ReleaseAndReplay => {
                    self.remaining += PRICE;
                    self.attempts[index] = ReservationState::Released;
                }
                SettleStep::ReserveAgain if self.remaining >= PRICE => {
                    self.remaining -= PRICE;
                    self.attempts.push(ReservationState::Reserved);
                    self.pay(self.attempts.len() - 1);
                }
                SettleStep::ReserveAgain | SettleStep::Replay | SettleStep::Done => {}
            }
        }

        fn pay(&mut self, index: usize) {
            self.attempts[index] = ReservationState::Settled;
            self.spent += PRICE;
            self.is_paid = true;
            self.settlements += 1;
        }

        fn release(&mut self, index: usize, dispatch: Dispatch) {
            let Some(state) = self.attempts.get(index).copied() else { return };
            if release_step(state, dispatch, self.is_paid) != ReleaseStep::Nothing {
                self.remaining += PRICE;
                self.attempts[index] = ReservationState::Released;
            }
        }

        fn reserved(&self) -> i64 {
            let reserved = self.attempts.iter().filter(|state| **state == ReservationState::Reserved);
            reserved.count() as i64 * PRICE
        }
    }

    proptest! {
        /// Whatever the order of attempts that stall, wake, are swept and settle: the books balance after every step, the
        /// payment is settled at most once, and the budget is never overdrawn.
        #[test]
        fn books_balance_and_a_payment_settles_at_most_once(
            total in 0_i64..45,
            steps in proptest::collection::vec((0_usize..4, 0_usize..6), 0..40),
        ) {
            let mut model = Model { remaining: total, ..Model::default() };
            for (action, index) in steps {
                match action {
                    0 => model.reserve(),
                    1 => model.settle(index),
                    2 => model.release(index, Dispatch::Done),
                    _ => model.release(index, Dispatch::NotYet),
                }
                prop_assert!(model.remaining >= 0);
                prop_assert_eq!(model.remaining + model.spent + model.reserved(), total);
                prop_assert!(model.settlements <= 1);
            }
        }
    }

    #[test]
    fn only_a_release_after_dispatch_of_an_unpaid_attempt_fails_its_payment() {
        use ReservationState::{Released, Reserved, Settled};
        for state in [Reserved, Settled, Released] {
            for dispatch in [Dispatch::NotYet, Dispatch::Done] {
                for is_paid in [false, true] {
                    let fails = release_step(state, dispatch, is_paid) == ReleaseStep::ReturnAndFail;
                    assert_eq!(fails, state == Reserved && dispatch == Dispatch::Done && !is_paid);
                }
            }
            assert_eq!(ReservationState::stored(state.as_str()), Some(state));
        }
    }
}
