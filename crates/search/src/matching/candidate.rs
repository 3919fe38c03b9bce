//! A candidate: a section that may answer the question, and the signals that led to it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::matching::place::NodePlace;

/// How a section matched, the strongest kind first. The first three are the evidence set; sections of the others are
/// related to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the comment of a variant would be published, and the names say it")]
pub enum MatchKind {
    Exact,
    Separated,
    Synonym,
    Part,
    Reference,
    Exception,
}

impl MatchKind {
    /// Whether sections of this kind belong to the evidence set, which is never cut.
    pub const fn is_evidence(self) -> bool {
        matches!(self, Self::Exact | Self::Separated | Self::Synonym)
    }
}

/// A section that may answer the question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The section.
    pub place: NodePlace,
    /// The rank score. It orders the candidates of one find and cannot be compared with other finds.
    pub score: f32,
    /// How the section matched: `heading`, `normalized`, `loose`, `exceptions`, `reference`.
    pub signals: Signals,
    /// The terms that it contains in some form, as a bit set; empty where only another section led to it.
    pub terms: u64,
    /// How it matched.
    pub kind: MatchKind,
    /// Whether it lies outside the manual that was asked for.
    pub is_outside: bool,
}

/// The signals by which a section was found, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals(u8);

impl Signals {
    /// Its heading contains a term.
    pub const HEADING: Self = Self(1);
    /// It contains a term after normalization.
    pub const NORMALIZED: Self = Self(2);
    /// It contains a term with other separators, in part, or as a synonym.
    pub const LOOSE: Self = Self(4);
    /// It contains exception vocabulary.
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

    /// The union of both sets.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether it contains all of the other set.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// The names of the signals, as results show them.
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
