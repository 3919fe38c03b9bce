//! The requests of the two finds.

use std::sync::Arc;
use std::time::Duration;

use annai_core::Principal;

use crate::query::terms::{Goal, Intent};
use crate::query::wordings::OtherWords;
use crate::rules::Rules;
use crate::trace::TraceRecord;
use annai_files::FileFilter;

/// The limits of a find.
#[derive(Debug, Clone, Copy)]
pub struct SearchBudget {
    /// The maximum number of candidates, where the caller sets one.
    pub max_candidates: Option<usize>,
    /// The maximum time.
    pub time: Duration,
}

/// A request to find sections in the manuals.
pub struct FindRequest {
    /// The question.
    pub query: String,
    /// Other wordings of the question.
    pub other_words: OtherWords,
    /// The manual to search first; none for all.
    pub manual_id: Option<String>,
    /// The intent of the question; none to derive it from its words.
    pub intent: Option<Intent>,
    /// How much of the evidence the caller wants to read; none to derive it from the words of the question.
    pub goal: Option<Goal>,
    /// Whether to ignore what was handed out before.
    pub is_fresh: bool,
    /// The last stage that may run.
    pub max_stage: u8,
    /// The last stage that the server allows any request to ask for.
    pub hard_max_stage: u8,
    /// The trace of an earlier find, to search only what that find left out.
    pub left_out_of: Option<Arc<TraceRecord>>,
    /// The rules in force: all of them, unless the find is a measurement.
    pub rules: Rules,
    /// The limits.
    pub budget: SearchBudget,
    /// The caller.
    pub owner: Principal,
}

/// A request to find paragraphs in the vault.
pub struct VaultFindRequest {
    /// The question.
    pub query: String,
    /// Other wordings of the question.
    pub other_words: OtherWords,
    /// Which files to search.
    pub files: FileFilter,
    /// How much of the evidence the caller wants to read; none to derive it from the words of the question.
    pub goal: Option<Goal>,
    /// Whether to ignore what was handed out before.
    pub is_fresh: bool,
    /// The limits.
    pub budget: SearchBudget,
    /// The caller.
    pub owner: Principal,
}
