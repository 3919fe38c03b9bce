//! What finds are asked.

use std::sync::Arc;
use std::time::Duration;

use annai_core::Principal;

use super::terms::Intent;
use super::trace::TraceRecord;
use crate::search::FileFilter;

/// What a find may cost.
#[derive(Debug, Clone, Copy)]
pub struct SearchBudget {
    /// The maximum number of candidates.
    pub max_candidates: usize,
    /// The maximum time.
    pub time: Duration,
}

/// A find of the manuals.
pub struct FindRequest {
    /// The question.
    pub query: String,
    /// The manual to look in; none for all.
    pub manual_id: Option<String>,
    /// What the question wants; none where its words tell.
    pub intent: Option<Intent>,
    /// The last stage.
    pub max_stage: u8,
    /// The last stage that the server allows.
    pub hard_max_stage: u8,
    /// The trace of an earlier find, to look only at what that left out.
    pub left_out_of: Option<Arc<TraceRecord>>,
    /// What it may cost.
    pub budget: SearchBudget,
    /// Who asks.
    pub owner: Principal,
}

/// A find of the vault.
pub struct VaultFindRequest {
    /// The question.
    pub query: String,
    /// Which files to look at.
    pub files: FileFilter,
    /// What it may cost.
    pub budget: SearchBudget,
    /// Who asks.
    pub owner: Principal,
}
