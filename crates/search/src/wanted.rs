//! The kind of fact that a question wants.

/// A set of kinds of facts; empty where a question wants no special kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted(u16);

impl Wanted {
    /// An amount of money.
    pub const MONEY: Self = Self(1);
    /// A length of time.
    pub const DURATION: Self = Self(2);
    /// A day, month or year.
    pub const DATE: Self = Self(4);
    /// A time of day.
    pub const TIME: Self = Self(8);
    /// A number of things, people or times.
    pub const COUNT: Self = Self(16);
    /// An age.
    pub const AGE: Self = Self(32);
    /// A share.
    pub const PERCENT: Self = Self(64);
    /// A length, weight, temperature or amount of data.
    pub const SIZE: Self = Self(128);
    /// A place.
    pub const PLACE: Self = Self(256);
    /// A person, a role or a department.
    pub const PERSON: Self = Self(512);
    /// An event before, at or after which something happens.
    pub const EVENT: Self = Self(1024);
    /// Any amount, as in どのくらい.
    pub const QUANTITY: Self =
        Self::MONEY.with(Self::DURATION).with(Self::COUNT).with(Self::PERCENT).with(Self::SIZE);
    /// Everything that is stated with a number.
    pub const MEASURED: Self = Self::QUANTITY.with(Self::DATE).with(Self::TIME).with(Self::AGE);
    /// Any point in time, as in いつ.
    pub const WHEN: Self = Self::DATE.with(Self::TIME).with(Self::DURATION).with(Self::EVENT);

    /// The union of both sets.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// The set without the kinds of another.
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The kinds that both sets have.
    pub const fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Whether the sets have a kind in common.
    pub const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether no special kind of fact is wanted.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
