//! A section that is part of the answer, and the signals that led to it.

use super::place::NodePlace;

/// A node that is part of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its place.
    pub place: NodePlace,
    /// How well it fits; it orders the candidates of one find and means nothing beside another find's.
    pub score: f32,
    /// How the section matched: `heading`, `normalized`, `loose`, `exceptions`, `reference`.
    pub signals: Signals,
    /// The terms that it holds in some form, as bits; none where only another section led to it.
    pub terms: u64,
}

/// Why a node was found, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals(u8);

impl Signals {
    /// A term stands in its heading.
    pub const HEADING: Self = Self(1);
    /// A term stands in it in normal form.
    pub const NORMALIZED: Self = Self(2);
    /// A term stands in it with separators between its letters, in part, or as a synonym.
    pub const LOOSE: Self = Self(4);
    /// It speaks of an exception.
    pub const EXCEPTIONS: Self = Self(8);
    /// Another candidate refers to it.
    pub const REFERENCE: Self = Self(16);
    const ALL: [(Self, &'static str); 5] = [
        (Self::HEADING, "heading"),
        (Self::NORMALIZED, "normalized"),
        (Self::LOOSE, "loose"),
        (Self::EXCEPTIONS, "exceptions"),
        (Self::REFERENCE, "reference"),
    ];

    /// These and others.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether all of these are among them.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Their names, as results show them.
    pub fn names(self) -> Vec<String> {
        Self::ALL.iter().filter(|(signal, _)| self.has(*signal)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_a_set() {
        let both = Signals::HEADING.with(Signals::REFERENCE).with(Signals::HEADING);
        assert_eq!(both.names(), ["heading", "reference"]);
        assert!(both.has(Signals::REFERENCE) && !both.has(Signals::LOOSE));
        assert!(Signals::default().names().is_empty());
    }
}
