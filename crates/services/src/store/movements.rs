//! Movements of budgets, counted for the metrics. They are counted by the process that made them, after their commit, and
//! without saying whose budget it was: sponsors' names are no labels.

use std::sync::LazyLock;

use annai_core::metrics;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use crate::domain::money::Cents;

/// What happened to an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovementKind {
    /// A sponsor added it to a budget, with the creation or later.
    Added,
    /// It was set aside for a run.
    Reserved,
    /// It was spent.
    Settled,
    /// It went back to its budget.
    Released,
    /// It was missing or too much when the database was taken over.
    Adjusted,
}

impl MovementKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Reserved => "reserved",
            Self::Settled => "settled",
            Self::Released => "released",
            Self::Adjusted => "adjusted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MovementLabels {
    movement: &'static str,
}

static MOVEMENTS: LazyLock<Family<MovementLabels, Counter>> = LazyLock::new(|| {
    metrics::register(
        "annai_budget_movements",
        "Movements of sponsors' budgets by their kind",
        Family::default(),
    )
});
static CENTS: LazyLock<Family<MovementLabels, Counter>> = LazyLock::new(|| {
    metrics::register("annai_budget_moved_cents", "The US cents of these movements", Family::default())
});

/// Counts movements of one kind.
pub fn count(kind: MovementKind, movements: u64, cents: u64) {
    let labels = MovementLabels { movement: kind.name() };
    MOVEMENTS.get_or_create(&labels).inc_by(movements);
    CENTS.get_or_create(&labels).inc_by(cents);
}

/// The result of a use case that may move budgets.
#[derive(Debug, PartialEq, Eq)]
pub struct Moved<T> {
    pub value: T,
    movements: Vec<(MovementKind, Cents)>,
}

impl<T> Moved<T> {
    /// A result, and the amounts that were moved for it.
    pub fn new(value: T, movements: impl IntoIterator<Item = (MovementKind, Cents)>) -> Self {
        Self { value, movements: movements.into_iter().collect() }
    }

    /// A result for which nothing was moved.
    pub const fn nothing(value: T) -> Self {
        Self { value, movements: Vec::new() }
    }

    /// A result after something was added to a budget; nothing is no movement.
    pub fn added(value: T, amount: Cents) -> Self {
        Self::new(value, (amount > Cents::ZERO).then_some((MovementKind::Added, amount)))
    }

    /// The same result, with the movements of another one as well.
    pub fn and(mut self, other: Moved<()>) -> Self {
        self.movements.extend(other.movements);
        self
    }

    /// Counts the movements, which are certain now.
    pub fn count(&self) {
        for (kind, amount) in &self.movements {
            count(*kind, 1, amount.get().unsigned_abs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movements_are_counted_by_their_kind_alone() {
        let amount = |cents| Cents::parse(cents).unwrap();
        let late = Moved::new((), [(MovementKind::Reserved, amount(7)), (MovementKind::Settled, amount(7))]);
        late.and(Moved::new((), [(MovementKind::Reserved, amount(5))])).count();
        Moved::added((), Cents::ZERO).count();
        Moved::added((), amount(100)).count();
        let text = metrics::render();
        for line in [
            "annai_budget_movements_total{movement=\"reserved\"} 2",
            "annai_budget_moved_cents_total{movement=\"reserved\"} 12",
            "annai_budget_movements_total{movement=\"settled\"} 1",
            "annai_budget_moved_cents_total{movement=\"settled\"} 7",
            "annai_budget_movements_total{movement=\"added\"} 1",
            "annai_budget_moved_cents_total{movement=\"added\"} 100",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in:\n{text}");
        }
    }
}
