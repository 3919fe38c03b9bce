//! Questions with known answers: what they say, what was found for them, and the figures of that.

mod each;
mod figures;
mod outcome;
mod question;
mod question_scores;
mod reliability;

pub use each::QuestionRanks;
pub use figures::{Baseline, WORDED};
pub use question::Question;
pub use question_scores::{QuestionScores, measure};
pub use reliability::Reliability;
