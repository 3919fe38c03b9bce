//! The limits that a caller of `manual_find` or `vault_find` may set.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::LibrarySection;
use annai_search::{MAX_SHOWN, SearchBudget};

/// The limits of a search.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindBudget {
    /// The maximum number of matching sections to keep (default: all of them). The matches beyond it are reported as
    /// unscanned, with the reason `candidate_cap`.
    #[schemars(range(min = 1, max = 2000))]
    pub(crate) max_candidates: Option<usize>,
    /// The maximum time in milliseconds (default 60000). What was not searched by then is reported as unscanned.
    #[schemars(range(min = 1, max = 600_000), extend("default" = 60_000))]
    pub(crate) time_ms: Option<u64>,
}

impl From<FindBudget> for SearchBudget {
    fn from(budget: FindBudget) -> Self {
        Self {
            max_candidates: budget.max_candidates,
            time: Duration::from_millis(budget.time_ms.unwrap_or(60_000)),
        }
    }
}

/// The maximum length of each excerpt, so that all of them together stay within what a reply may have.
pub(super) fn excerpt_limit(excerpt_chars: Option<usize>, settings: &LibrarySection) -> usize {
    excerpt_chars.unwrap_or(0).min(settings.hard_max_chars / MAX_SHOWN)
}
