//! How far a user is with the task of a campaign, as columns of a query.

use rusqlite::{Connection, Row};

use super::failure::Failure;
use crate::domain::consent::{CompletionOrigin, CompletionState};

/// Three columns for the campaign `c` and the user `?2`, in the order that [`completion_state`] reads them: whether the completion
/// was taken over (null without one), and the newest consents.
pub const COMPLETION_STATE: &str =
    "(SELECT f.taken_over FROM task_claims m JOIN task_completions f ON f.id = m.task_completion_id
     WHERE m.campaign_id = c.id AND m.user_id = ?2), \
     (SELECT granted FROM consents WHERE user_id = ?2 AND campaign_id = c.id AND consent_type = 'data_sharing'
     ORDER BY seq DESC LIMIT 1), \
     (SELECT granted FROM consents WHERE user_id = ?2 AND campaign_id = c.id AND consent_type = 'retention'
     ORDER BY seq DESC LIMIT 1)";

/// How many columns that are.
pub const COMPLETION_STATE_COLUMNS: usize = 3;

/// Whether the claim `k` counts; the same rule as [`CompletionState::counts`], which a test compares it with.
pub const COUNTED: &str = "coalesce(
     (SELECT granted FROM consents WHERE user_id = k.user_id AND campaign_id = k.campaign_id
      AND consent_type = 'data_sharing' ORDER BY seq DESC LIMIT 1),
     (SELECT taken_over FROM task_completions f WHERE f.id = k.task_completion_id))
 AND coalesce(
     (SELECT granted FROM consents WHERE user_id = k.user_id AND campaign_id = k.campaign_id
      AND consent_type = 'retention' ORDER BY seq DESC LIMIT 1),
     (SELECT taken_over FROM task_completions f WHERE f.id = k.task_completion_id))";

/// The standing in three columns of a row, from `first`.
pub fn completion_state(row: &Row<'_>, first: usize) -> Result<CompletionState, Failure> {
    let completion = row.get::<_, Option<bool>>(first)?.map(|is_taken_over| {
        if is_taken_over { CompletionOrigin::TakenOver } else { CompletionOrigin::Recorded }
    });
    Ok(CompletionState { completion, data_sharing: row.get(first + 1)?, retention: row.get(first + 2)? })
}

/// The standing of a user in one campaign.
pub fn find(connection: &Connection, campaign_id: &str, user_id: &str) -> Result<CompletionState, Failure> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COMPLETION_STATE} FROM campaigns c WHERE c.id = ?1"))?;
    let mut rows = statement.query([campaign_id, user_id])?;
    match rows.next()? {
        Some(row) => completion_state(row, 0),
        None => Ok(CompletionState { completion: None, data_sharing: None, retention: None }),
    }
}
