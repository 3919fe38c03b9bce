//! Sufficiency: the probability that the best five sections hold the answer, estimated from how the words of the question
//! stand in them.
//!
//! The estimate is a logistic regression over a few [`Signals`]. Its weights were fitted on questions with known answers and
//! on questions that the manuals do not answer, over three collections of manuals; `annai eval` prints how often it is
//! right on others.

mod signals;

pub use self::signals::{Outcome, Signals};

/// The minimum sufficiency of a find that is `ready`: nine of ten such finds hold the answer.
pub const MIN_READY: f64 = 0.9;

/// The weights of the regression. Words of the question that stand together in one sentence count more where the best
/// section is far better than the others, so most signals are multiplied with that lead.
struct Weights {
    constant: f64,
    answer_and_lead: f64,
    section_and_lead: f64,
    two_leads: f64,
    answer_in_heading: f64,
    scattered_words: f64,
    missing_identifiers: f64,
    procedure: f64,
    value_of_heading: f64,
    missing_in_common: f64,
    title_of_common: f64,
}

/// Fitted on 644 questions of which one in six counts as one without an answer.
const WEIGHTS: Weights = Weights {
    constant: -0.394,
    answer_and_lead: 5.262,
    section_and_lead: 4.216,
    two_leads: -1.283,
    answer_in_heading: 1.944,
    scattered_words: -2.457,
    missing_identifiers: -9.864,
    procedure: -0.555,
    value_of_heading: -2.985,
    missing_in_common: 3.485,
    title_of_common: -3.503,
};

impl Signals {
    /// The probability that the best five sections hold the answer.
    pub fn probability(&self) -> f64 {
        let Weights {
            constant,
            answer_and_lead,
            section_and_lead,
            two_leads,
            answer_in_heading,
            scattered_words,
            missing_identifiers,
            procedure,
            value_of_heading,
            missing_in_common,
            title_of_common,
        } = WEIGHTS;
        let sum = constant
            + answer_and_lead * self.answer * self.lead_over_sixth
            + section_and_lead * self.section * self.lead_over_sixth
            + two_leads * self.lead_over_second * self.lead_over_sixth
            + answer_in_heading * self.answer * self.headings_with_terms
            + scattered_words * self.sentence
            + missing_identifiers * self.absent * self.missing_identifiers
            + procedure * self.asks_for_procedure
            + value_of_heading * self.asks_for_value * self.heading
            + missing_in_common * self.missing_terms * self.matching_share
            + title_of_common * self.title_in_question * self.matching_share;
        1.0 / (1.0 + (-sum).exp())
    }
}

#[cfg(test)]
mod tests;
