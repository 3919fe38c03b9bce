//! Sufficiency: the probability that the best five sections hold the answer, estimated from how the words of the question
//! stand in them.
//!
//! The estimate is a logistic regression over a few [`Signals`], one for questions alone and one for questions with other
//! wordings. The weights were fitted on 644 questions with known answers and without, over three collections of manuals;
//! `annai eval` prints how often it is right on others.

mod signals;

pub use self::signals::{Outcome, Signals, WordingSignals};

/// The minimum sufficiency of a find that is `ready`: nine of ten such finds hold the answer.
pub const MIN_READY: f64 = 0.9;

/// With other wordings, the maximum share of the terms of the question, by weight, that stand nowhere.
const MAX_ABSENT: f64 = 0.6;
/// The minimum mean share of the terms of a wording in the best section for it.
const MIN_WORDING_SECTION: f64 = 0.3;
/// The highest probability beyond these limits, which is not enough to be `ready`.
const UNCERTAIN: f64 = 0.7;

impl Signals {
    /// The probability that the best five sections hold the answer. With other wordings of the question more is known: how
    /// well one of them fits a sentence, and whether they agree.
    pub fn probability(&self, wordings: Option<&WordingSignals>) -> f64 {
        let probability = |sum: f64| 1.0 / (1.0 + (-sum).exp());
        match wordings {
            // Nothing of the question, or hardly anything of the wordings, stands in the manuals: then even a clear lead means
            // little, and there were no such questions to learn it from.
            Some(wordings) if self.absent > MAX_ABSENT || wordings.section < MIN_WORDING_SECTION => {
                probability(self.with_wordings(wordings)).min(UNCERTAIN)
            }
            Some(wordings) => probability(self.with_wordings(wordings)),
            None => probability(self.of_question_alone()),
        }
    }

    /// Words of the question that stand together in one sentence count more where the best section is far better than the
    /// others, and where headings have them too. Identifiers that stand nowhere count most.
    fn of_question_alone(&self) -> f64 {
        -0.658
            + 4.513 * self.answer * self.lead_over_third
            + 2.511 * self.section * self.lead_over_sixth
            + 2.638 * self.answer * self.headings_with_terms
            - 1.864 * self.sentence * self.asks_for_value
            - 0.825 * self.asks_for_procedure
            - 2.258 * self.sentence * self.title_in_question
            - 9.308 * self.absent * self.missing_identifiers
    }

    /// The scores are those of the fused rankings, so that a lead means that the wordings agree.
    fn with_wordings(&self, wordings: &WordingSignals) -> f64 {
        -2.939
            + 4.702 * wordings.answer * self.lead_over_sixth
            + 3.032 * wordings.section * self.lead_over_sixth
            + 2.855 * self.lead_over_third
            - 1.691 * self.lead_over_second * self.lead_over_third
            + 1.818 * self.answer * wordings.agreement
            - 1.057 * self.missing_terms * self.asks_for_procedure
    }
}

#[cfg(test)]
mod tests;
