//! Deletes what has expired.

use jiff::Timestamp;

use super::failure::Failure;
use super::session::Session;
use crate::domain::limits::{ATTEMPT_LIFETIME, MAX_DELETED_ROWS};
use crate::store::CleanUp;
use crate::store::shared::earlier;

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
pub async fn delete_expired(session: &Session<'_>, now: Timestamp) -> Result<CleanUp, Failure> {
    let mut clean_up = CleanUp::Complete;
    for (table, key, condition) in EXPIRED {
        let at = if table == "reservations" { earlier(now, ATTEMPT_LIFETIME) } else { now };
        let statement = format!(
            "DELETE FROM {table} WHERE ({key}) IN
             (SELECT {key} FROM {table} WHERE {condition} LIMIT $2 FOR UPDATE SKIP LOCKED)"
        );
        let deleted = session.execute(&statement, &[&at, &(MAX_DELETED_ROWS as i64)]).await?;
        if deleted >= MAX_DELETED_ROWS as u64 {
            clean_up = CleanUp::Partial;
        }
    }
    Ok(clean_up)
}
