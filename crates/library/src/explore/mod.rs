//! The exploration: a question is parsed into terms, searched for in stages, and the results are integrated.
//!
//! From the bottom up: [`terms`], `words`, `japanese`, `question`, `dictionary` and [`query`] parse a question;
//! `matching` and `ranking` find sections for it, `exceptions` and `references` add the sections that belong to them;
//! [`stages`] runs these in order within a `scope`; `conflicts`, `gaps` and `conclusion` judge the outcome;
//! `manual_find` and `vault_find` are the two entry points.

mod best_line;
mod bm25;
mod candidate;
mod conclusion;
mod conflicts;
mod context;
mod coverage;
mod dictionary;
mod exceptions;
mod facts;
mod gaps;
mod highlight;
mod japanese;
mod learning_record;
mod manual_find;
mod matching;
mod needle;
mod new_trace;
mod next_actions;
mod place;
mod query;
mod question;
mod ranking;
mod read_ledger;
mod reading_order;
mod references;
mod report;
mod request;
mod scope;
mod stages;
mod terms;
mod trace;
mod trace_builder;
mod trace_store;
mod unscanned;
mod vault_find;
mod widening;
mod words;

pub use best_line::BestLine;
pub use candidate::MatchKind;
pub use context::ExploreContext;
pub use dictionary::{Dictionary, DictionaryCache, WordList};
pub use highlight::LineHighlighter;
pub use learning_record::keep_learning_record;
pub use manual_find::{FindReport, find};
pub use read_ledger::{HandedOut, ReadLedger};
pub use reading_order::{MAX_SHOWN, ReadingState};
pub use report::{FindSummary, VaultFindSummary};
pub use request::{FindRequest, SearchBudget, VaultFindRequest};
pub use terms::{Goal, Intent};
pub use trace::{MAX_TOP, TraceMatch, TraceRecord, UnsearchableFile};
pub use trace_store::TraceStore;
pub use unscanned::UnscannedPart;
pub use vault_find::find_in_vault;

#[cfg(test)]
mod test_corpus;
