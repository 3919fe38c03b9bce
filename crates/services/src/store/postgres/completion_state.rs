//! How far a user is with the task of a campaign, as columns of a query.

use tokio_postgres::Row;

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::domain::consent::{CompletionOrigin, CompletionState};
use crate::domain::ids::{CampaignId, UserId};

/// The user `$2`'s claim of the campaign `c` and its completion, which [`COMPLETION_STATE`] reads.
pub const CLAIM: &str = "LEFT JOIN task_claims k ON k.campaign_id = c.id AND k.user_id = $2
     LEFT JOIN task_completions f ON f.id = k.task_completion_id";

/// Three columns beside [`CLAIM`], in the order that [`completion_state`] reads them: whether the completion was taken over (null
/// without one), and the newest consents, which matter only with a completion. Those of the duplicates that the user stands
/// for are theirs.
pub const COMPLETION_STATE: &str = "f.taken_over,
     CASE WHEN f.id IS NOT NULL THEN
         (SELECT granted FROM consents
          WHERE user_id = ANY (ARRAY (SELECT id FROM users WHERE id = $2 OR adopted_by = $2))
          AND campaign_id = c.id AND consent_type = 'data_sharing' ORDER BY seq DESC LIMIT 1) END,
     CASE WHEN f.id IS NOT NULL THEN
         (SELECT granted FROM consents
          WHERE user_id = ANY (ARRAY (SELECT id FROM users WHERE id = $2 OR adopted_by = $2))
          AND campaign_id = c.id AND consent_type = 'retention' ORDER BY seq DESC LIMIT 1) END";

/// How many columns that are.
pub const COMPLETION_STATE_COLUMNS: usize = 3;

/// Whether the claim `k` counts; the same rule as [`CompletionState::counts`], which a test compares it with.
pub const COUNTED: &str = "coalesce(
     (SELECT granted FROM consents
      WHERE user_id IN (SELECT id FROM users WHERE id = k.user_id OR adopted_by = k.user_id)
      AND campaign_id = k.campaign_id AND consent_type = 'data_sharing' ORDER BY seq DESC LIMIT 1),
     (SELECT taken_over FROM task_completions f WHERE f.id = k.task_completion_id))
 AND coalesce(
     (SELECT granted FROM consents
      WHERE user_id IN (SELECT id FROM users WHERE id = k.user_id OR adopted_by = k.user_id)
      AND campaign_id = k.campaign_id AND consent_type = 'retention' ORDER BY seq DESC LIMIT 1),
     (SELECT taken_over FROM task_completions f WHERE f.id = k.task_completion_id))";

/// The standing in three columns of a row, from `first`.
pub fn completion_state(row: &Row, first: usize) -> Result<CompletionState, Failure> {
    let completion = row.try_get::<_, Option<bool>>(first)?.map(|is_taken_over| {
        if is_taken_over { CompletionOrigin::TakenOver } else { CompletionOrigin::Recorded }
    });
    Ok(CompletionState {
        completion,
        data_sharing: row.try_get(first + 1)?,
        retention: row.try_get(first + 2)?,
    })
}

/// The standing of a user in one campaign.
pub async fn find(
    connection: &PostgresConnection<'_>,
    campaign_id: CampaignId,
    user_id: UserId,
) -> Result<CompletionState, Failure> {
    let query = format!("SELECT {COMPLETION_STATE} FROM campaigns c {CLAIM} WHERE c.id = $1");
    match connection.find(&query, &[&campaign_id, &user_id]).await? {
        Some(row) => completion_state(&row, 0),
        None => Ok(CompletionState { completion: None, data_sharing: None, retention: None }),
    }
}
