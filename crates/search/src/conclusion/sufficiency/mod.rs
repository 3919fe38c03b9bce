//! Sufficiency: the probability that the best five sections hold the answer, estimated from how the words of the question
//! stand in them.
//!
//! The estimate is a logistic regression over a few [`SufficiencySignals`], one for questions alone and one for questions with other
//! wordings. The weights were fitted on 1,079 questions with known answers and without, over the sample manuals and eight
//! public ones; `annai eval` prints how often it is right on others.

mod signals;

pub use self::signals::{Outcome, SufficiencySignals, WordingSignals};

/// The minimum sufficiency of a find that is `ready`: nine of ten such finds hold the answer.
pub const MIN_READY: f64 = 0.9;

/// With other wordings, the maximum share of the terms of the question, by weight, that stand nowhere.
const MAX_ABSENT: f64 = 0.6;
/// The minimum mean share of the terms of a wording in the best section for it.
const MIN_WORDING_SECTION: f64 = 0.3;
/// The highest probability beyond these limits, which is not enough to be `ready`.
const UNCERTAIN: f64 = 0.7;

impl SufficiencySignals {
    /// The probability that the best five sections hold the answer. With other wordings of the question more is known: how
    /// well one of them fits a sentence, and whether they agree.
    pub fn probability(&self, wordings: Option<&WordingSignals>) -> f64 {
        let sum = wordings.map_or_else(|| self.of_question_alone(), |wordings| self.with_wordings(wordings));
        let probability = 1.0 / (1.0 + (-sum).exp());
        // Nothing of the question, or hardly anything of the wordings, stands in the manuals: then even a clear lead means
        // little, and there were no such questions to learn it from.
        let is_uncertain = match wordings {
            Some(wordings) => self.absent > MAX_ABSENT || wordings.section < MIN_WORDING_SECTION,
            None => self.lacks_identifier,
        };
        if is_uncertain { probability.min(UNCERTAIN) } else { probability }
    }

    /// Words of the question that stand together in one sentence count more where the best section is far better than the
    /// others.
    fn of_question_alone(&self) -> f64 {
        -1.915
            + 3.183 * self.answer * self.lead_over_third
            + 2.526 * self.section * self.lead_over_sixth
            + 1.483 * self.answer
    }

    /// The scores are those of the fused rankings, so that a lead means that the wordings agree.
    fn with_wordings(&self, wordings: &WordingSignals) -> f64 {
        -2.92
            + 4.05 * wordings.answer * self.lead_over_sixth
            + 2.37 * wordings.section * self.lead_over_sixth
            + 1.033 * self.answer * wordings.agreement
            + 2.122 * wordings.section
    }
}

#[cfg(test)]
mod tests;
