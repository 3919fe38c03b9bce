//! Sponsors' idempotency keys, and pages of lists.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::failure::Failure;
use crate::domain::limits::KEY_LIFETIME;
use crate::store::shared::{SponsorKey, key_conflict, later};
use crate::store::{Listed, Page, PageBuilder, PageRequest};

/// Makes a change, unless it was made before under the same key. Returns the id of what was created or changed.
pub fn once(
    transaction: &Transaction<'_>,
    key: Option<&SponsorKey>,
    now: Timestamp,
    change: impl FnOnce() -> Result<String, Failure>,
) -> Result<String, Failure> {
    let Some(SponsorKey { key, request_hash }) = key else { return change() };
    let stored: Option<(String, String)> = transaction
        .query_row(
            "SELECT request_hash, resource_id FROM sponsor_keys WHERE key = ?1 AND expires_at > ?2",
            params![key.as_str(), now.as_microsecond()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    match stored {
        Some((hash, resource)) if hash == request_hash.to_string() => return Ok(resource),
        Some(_) => return Err(key_conflict().into()),
        None => {}
    }
    let resource = change()?;
    transaction.execute(
        "INSERT OR REPLACE INTO sponsor_keys (key, request_hash, resource_id, expires_at) VALUES (?1, ?2, ?3, ?4)",
        params![key.as_str(), request_hash.to_string(), resource, later(now, KEY_LIFETIME).as_microsecond()],
    )?;
    Ok(resource)
}

/// A page of a list, newest first. No more rows are read than it has, and one.
pub fn page<T: Listed>(
    connection: &Connection,
    table: &str,
    columns: &str,
    request: &PageRequest,
    entry: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Page<T>, Failure> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns} FROM {table} WHERE (created_at, id) < (?1, ?2) ORDER BY created_at DESC, id DESC LIMIT ?3"
    ))?;
    let (created_at, id) = match &request.cursor {
        Some(cursor) => (cursor.created_at.as_microsecond(), cursor.id.as_str()),
        None => (i64::MAX, ""),
    };
    let limit = i64::try_from(request.limit.get() + 1).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![created_at, id, limit])?;
    let mut page = PageBuilder::new(request);
    while let Some(row) = rows.next()? {
        if !page.add(entry(row)?) {
            break;
        }
    }
    Ok(page.finish())
}
