//! Deletes what has expired: whole rows, and the details of tasks whose time of retention is over.

use jiff::Timestamp;

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::domain::limits::{ATTEMPT_LIFETIME, MAX_DELETED_ROWS, RETENTION};
use crate::store::CleanUp;
use crate::store::shared::earlier;

/// Clears the details of tasks. Those that were taken over without a time of retention are kept.
const CLEAR_DETAILS: &str = "UPDATE task_completions SET details = NULL WHERE id IN
     (SELECT t.id FROM task_completions t WHERE t.details IS NOT NULL AND t.created_at <= $1 AND EXISTS
      (SELECT 1 FROM consents c WHERE c.user_id = t.user_id AND c.campaign_id = t.campaign_id
       AND c.consent_type = 'retention' AND c.retention_days IS NOT NULL)
      LIMIT $2 FOR UPDATE OF t SKIP LOCKED)";

/// The tables with their keys, and what has expired at `$1`. A key of a living attempt stays, and so does a living attempt.
const EXPIRED: [(&str, &str, &str); 4] = [
    ("gpt_sessions", "token", "expires_at <= $1"),
    (
        "idempotency_keys",
        "user_id, key",
        "expires_at <= $1 AND NOT EXISTS
         (SELECT 1 FROM reservations r WHERE r.id = reservation_id AND r.state = 'reserved')",
    ),
    ("sponsor_keys", "key", "expires_at <= $1"),
    ("reservations", "id", "state <> 'reserved' AND created_at <= $1"),
];

/// Rows that others use at this moment are skipped; the next clean-up deletes them.
pub async fn delete_expired(connection: &PostgresConnection<'_>, now: Timestamp) -> Result<CleanUp, Failure> {
    let mut clean_up = CleanUp::Complete;
    for (table, key, condition) in EXPIRED {
        let at = if table == "reservations" { earlier(now, ATTEMPT_LIFETIME) } else { now };
        let statement = format!(
            "DELETE FROM {table} WHERE ({key}) IN
             (SELECT {key} FROM {table} WHERE {condition} LIMIT $2 FOR UPDATE SKIP LOCKED)"
        );
        let deleted = connection.execute(&statement, &[&at, &(MAX_DELETED_ROWS as i64)]).await?;
        if deleted >= MAX_DELETED_ROWS as u64 {
            clean_up = CleanUp::Partial;
        }
    }
    let at = earlier(now, RETENTION);
    let cleared = connection.execute(CLEAR_DETAILS, &[&at, &(MAX_DELETED_ROWS as i64)]).await?;
    if cleared >= MAX_DELETED_ROWS as u64 {
        clean_up = CleanUp::Partial;
    }
    Ok(clean_up)
}
