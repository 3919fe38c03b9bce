//! Finds in local files: a question is parsed into terms, searched for in stages, and the results are integrated.
//!
//! A call goes through the rooms in one direction: `query` parses the question; `index` has the sections; `matching` finds
//! those that contain its terms and scores them; `ranking` orders them, with the caller's other wordings; `stages` adds
//! exceptions and references; `conclusion` judges the outcome; `trace` keeps what was seen and says what to do next.
//! `excerpts` shows lines of what was found, and `find` leads the calls through: [`find`](find()) and [`find_in_vault`] are the two entry points.

mod conclusion;
mod context;
mod excerpts;
mod find;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod index;
mod matching;
mod query;
mod ranking;
pub mod reference;
pub mod rules;
#[cfg(test)]
mod rules_tests;
mod stages;
#[cfg(any(test, feature = "testing"))]
pub mod test_corpus;
mod trace;

pub use conclusion::report::FindSummary;
pub use context::{FindContext, Thresholds};
pub use excerpts::best_line::BestLine;
pub use excerpts::highlight::LineHighlighter;
pub use excerpts::section_excerpts::{ExcerptLine, SectionExcerpts};
pub use find::manual_find::{FindReport, find};
pub use find::reading_order::ReadingState;
pub use find::request::{FindRequest, SearchBudget, VaultFindRequest};
pub use find::vault_find::find_in_vault;
pub use matching::candidate::MatchKind;
pub use query::dictionary::{Dictionary, DictionaryCache, WordList};
pub use query::terms::{Goal, Intent};
pub use query::wordings::OtherWords;
pub use ranking::MAX_SHOWN;
pub use trace::read_ledger::{HandedOut, ReadLedger};
pub use trace::trace_store::TraceStore;
pub use trace::unscanned::UnscannedPart;
pub use trace::{MAX_TOP, TraceConflict, TraceMatch, TraceRecord, UnsearchableFile};
