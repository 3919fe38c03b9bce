//! Idempotency keys of users and sponsors, and pages of lists.

use jiff::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::domain::ids::UserId;
use crate::domain::limits::KEY_LIFETIME;
use crate::store::shared::{SponsorKey, key_conflict, later};
use crate::store::{Listed, Page, PageBuilder, PageCursor, PageRequest};

/// Keeps the other attempts under the same key waiting until the end of the transaction. An attempt without a key has none.
pub async fn lock_key(
    connection: &PostgresConnection<'_>,
    user: UserId,
    key: Option<&str>,
) -> Result<(), Failure> {
    match key {
        Some(key) => connection.lock(&["idempotency key", &user.to_string(), key]).await,
        None => Ok(()),
    }
}

/// What was created or changed under a sponsor's key before, if it was. Until the end of the transaction nobody else uses
/// the key.
pub async fn find_sponsored<T: for<'a> tokio_postgres::types::FromSql<'a>>(
    connection: &PostgresConnection<'_>,
    key: Option<&SponsorKey>,
    now: Timestamp,
) -> Result<Option<T>, Failure> {
    let Some(SponsorKey { key, request_hash }) = key else { return Ok(None) };
    connection.lock(&["sponsor key", key.as_str()]).await?;
    let query = "SELECT request_hash, resource_id FROM sponsor_keys WHERE key = $1 AND expires_at > $2";
    let Some(row) = connection.find(query, &[&key.as_str(), &now]).await? else { return Ok(None) };
    if row.try_get::<_, String>(0)? == request_hash.to_string() {
        Ok(Some(row.try_get(1)?))
    } else {
        Err(key_conflict().into())
    }
}

/// Remembers what was created or changed under a sponsor's key.
pub async fn remember_sponsored(
    connection: &PostgresConnection<'_>,
    key: Option<&SponsorKey>,
    resource: &(dyn tokio_postgres::types::ToSql + Sync),
    now: Timestamp,
) -> Result<(), Failure> {
    let Some(SponsorKey { key, request_hash }) = key else { return Ok(()) };
    connection
        .execute(
            "INSERT INTO sponsor_keys (key, request_hash, resource_id, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (key) DO UPDATE SET request_hash = excluded.request_hash,
                 resource_id = excluded.resource_id, expires_at = excluded.expires_at",
            &[&key.as_str(), &request_hash.to_string(), resource, &later(now, KEY_LIFETIME)],
        )
        .await?;
    Ok(())
}

/// How many rows of a list are read at once: an ordinary page, and not more texts than fit in memory many times.
const PIECE: usize = 50;

/// A page of a list, newest first.
pub async fn page<T: Listed>(
    connection: &PostgresConnection<'_>,
    columns_and_source: &str,
    request: &PageRequest,
    entry: impl Fn(&Row) -> Result<T, Failure>,
) -> Result<Page<T>, Failure> {
    let mut page = PageBuilder::new(request);
    let mut cursor = request.cursor.clone();
    let limit = (request.limit.get() + 1).min(PIECE + 1);
    loop {
        let rows = piece(connection, columns_and_source, cursor.as_ref(), limit).await?;
        for row in &rows {
            if !page.add(entry(row)?) {
                return Ok(page.finish());
            }
        }
        if rows.len() < limit {
            return Ok(page.finish());
        }
        cursor = page.cursor();
    }
}

async fn piece(
    connection: &PostgresConnection<'_>,
    columns_and_source: &str,
    cursor: Option<&PageCursor>,
    limit: usize,
) -> Result<Vec<Row>, Failure> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let newest_first = "ORDER BY created_at DESC, id DESC LIMIT";
    match cursor {
        None => connection.rows(&format!("SELECT {columns_and_source} {newest_first} $1"), &[&limit]).await,
        Some(cursor) => {
            let id = Uuid::try_parse(&cursor.id).unwrap_or_default();
            let query =
                format!("SELECT {columns_and_source} AND (created_at, id) < ($1, $2) {newest_first} $3");
            connection.rows(&query, &[&cursor.created_at, &id, &limit]).await
        }
    }
}
