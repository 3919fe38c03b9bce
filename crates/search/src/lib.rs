//! Finds in local files: a question is parsed into terms, searched for in stages, and the results are integrated.
//!
//! From the bottom up: [`terms`], `tokens`, `words`, `directing`, `wanted`, `asking`, `asked_value`, `japanese`,
//! `base_forms`, `question`, `dictionary` and [`query`] parse a question; `matching`, `ranking` and `wording_fusion`
//! find sections for it, `exceptions` and `references` (by `outline` and `page_paths`) add the sections that belong to them; [`stages`] runs these in order
//! within a `scope`; `conflicts`, `gaps`, `sufficiency` and `conclusion` judge the outcome; `term_counts` says where the
//! terms stand, `absence` where to look instead (by `near_headings`), and `term_presence` both; `manual_find` and
//! `vault_find` are the two entry points.

mod absence;
mod best_line;
mod bm25;
mod candidate;
mod conclusion;
mod conflicts;
mod context;
mod coverage;
mod dictionary;
mod exceptions;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gaps;
mod highlight;
pub mod index;
mod japanese;
mod manual_find;
mod matcher;
mod matching;
mod near_headings;
mod needle;
mod new_trace;
mod next_actions;
mod original_text;
mod outline;
mod page_paths;
mod place;
mod query;
mod question;
mod question_terms;
mod quotes;
mod ranking;
mod reach;
mod read_ledger;
mod reading_order;
pub mod reference;
mod references;
mod report;
mod request;
pub mod rules;
#[cfg(test)]
mod rules_tests;
mod scope;
mod section_excerpts;
mod sentences;
mod stages;
mod sufficiency;
mod term_counts;
mod term_presence;
mod terms;
mod trace;
mod trace_builder;
mod trace_store;
mod unscanned;
mod vault_find;
mod widening;
mod wording_fusion;
mod wordings;
mod words;

pub use best_line::BestLine;
pub use candidate::MatchKind;
pub use context::ExploreContext;
pub use dictionary::{Dictionary, DictionaryCache, WordList};
pub use highlight::LineHighlighter;
pub use manual_find::{FindReport, find};
pub use read_ledger::{HandedOut, ReadLedger};
pub use reading_order::{MAX_SHOWN, ReadingState};
pub use report::{FindSummary, VaultFindSummary};
pub use request::{FindRequest, OtherWords, SearchBudget, VaultFindRequest};
pub use section_excerpts::{ExcerptLine, SectionExcerpts};
pub use terms::{Goal, Intent};
pub use trace::{MAX_TOP, TraceConflict, TraceMatch, TraceRecord, UnsearchableFile};
pub use trace_store::TraceStore;
pub use unscanned::UnscannedPart;
pub use vault_find::find_in_vault;
pub use widening::Thresholds;

#[cfg(any(test, feature = "testing"))]
pub mod test_corpus;
