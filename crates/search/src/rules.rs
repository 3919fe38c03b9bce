//! The groups of rules that can be left out of a find, so that `annai eval --without` measures what each of them earns.
//!
//! What the specification of the library names is in no group: quotations, excluded words, numerals, the `synonyms.yaml` of a
//! manual, exceptions, references, and the widening to other manuals.

/// A group of rules beyond BM25 that changes the terms of a question, the ranking or the status of a find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleGroup {
    /// A section's score is weighed by the share of the question that it has.
    Coverage,
    /// Pairs of characters with Hiragana count less.
    Hiragana,
    /// Stop words are not searched for, and weak words count half.
    StopWords,
    /// Where a question asks for a value, only sentences that state one count for the sufficiency.
    AskedValue,
    /// The rankings of wordings are fused by relative scores, and a passage counts double; without it by reciprocal ranks.
    WordingFusion,
}

impl RuleGroup {
    /// All groups with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Coverage, "coverage"),
        (Self::Hiragana, "hiragana"),
        (Self::StopWords, "stop-words"),
        (Self::AskedValue, "asked-value"),
        (Self::WordingFusion, "wording-fusion"),
    ];

    /// The group with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(group, _)| *group)
    }
}

/// The groups of rules that are in force: all of them, but for those that a measurement leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    left_out: u8,
}

impl Rules {
    /// The same rules without a group. Only measurements leave rules out.
    #[must_use]
    pub const fn without(self, group: RuleGroup) -> Self {
        Self { left_out: self.left_out | 1 << group as u16 }
    }

    /// Whether a group is in force.
    #[must_use]
    pub const fn has(self, group: RuleGroup) -> bool {
        self.left_out >> group as u16 & 1 == 0
    }
}
