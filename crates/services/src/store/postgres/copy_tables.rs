//! The tables of the embedded database, and how their values become those of PostgreSQL.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::domain::text::in_sentence;

use self::Kind::{Bool, Bytes, Id, Int4, Int8, Json, Text, Texts, Time};

/// What a column contains, whatever type the embedded database has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Text,
    /// A list of texts, which is JSON in the embedded database.
    Texts,
    Json,
    /// A time, which is a number of microseconds in the embedded database.
    Time,
    Int8,
    Int4,
    Bool,
    Bytes,
}

/// A table with its columns.
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [(&'static str, Kind)],
}

const fn table(name: &'static str, columns: &'static [(&'static str, Kind)]) -> Table {
    Table { name, columns }
}

/// All tables, each after those that it refers to.
pub const TABLES: [Table; 16] = [
    table(
        "users",
        &[
            ("id", Id),
            ("email", Text),
            ("region", Text),
            ("roles", Texts),
            ("tools_used", Texts),
            ("attributes", Json),
            ("created_at", Time),
            ("source", Text),
        ],
    ),
    table("user_emails", &[("email_lower", Text), ("user_id", Id)]),
    table("identities", &[("issuer", Text), ("subject", Text), ("user_id", Id), ("created_at", Time)]),
    table("gpt_sessions", &[("token", Id), ("user_id", Id), ("created_at", Time), ("expires_at", Time)]),
    table(
        "campaigns",
        &[
            ("id", Id),
            ("name", Text),
            ("sponsor", Text),
            ("target_roles", Texts),
            ("target_tools", Texts),
            ("required_task", Text),
            ("subsidy_per_call_cents", Int8),
            ("budget_total_cents", Int8),
            ("budget_remaining_cents", Int8),
            ("query_urls", Texts),
            ("active", Bool),
            ("created_at", Time),
            ("sponsor_wallet_address", Text),
            ("task_schema", Json),
            ("tags", Texts),
        ],
    ),
    table(
        "sponsored_apis",
        &[
            ("id", Id),
            ("name", Text),
            ("sponsor", Text),
            ("description", Text),
            ("upstream_url", Text),
            ("upstream_method", Text),
            ("upstream_headers", Json),
            ("price_cents", Int8),
            ("budget_total_cents", Int8),
            ("budget_remaining_cents", Int8),
            ("active", Bool),
            ("service_key", Text),
            ("created_at", Time),
        ],
    ),
    table(
        "sponsored_api_calls",
        &[
            ("id", Id),
            ("sponsored_api_id", Id),
            ("payment_mode", Text),
            ("amount_cents", Int8),
            ("tx_hash", Text),
            ("caller", Text),
            ("created_at", Time),
        ],
    ),
    table(
        "task_completions",
        &[
            ("id", Id),
            ("campaign_id", Id),
            ("user_id", Id),
            ("task_name", Text),
            ("details", Text),
            ("created_at", Time),
            ("taken_over", Bool),
        ],
    ),
    table("task_claims", &[("campaign_id", Id), ("user_id", Id), ("task_completion_id", Id)]),
    table(
        "consents",
        &[
            ("seq", Int8),
            ("id", Id),
            ("user_id", Id),
            ("campaign_id", Id),
            ("consent_type", Text),
            ("granted", Bool),
            ("purpose", Text),
            ("retention_days", Int4),
            ("created_at", Time),
        ],
    ),
    table(
        "user_task_preferences",
        &[
            ("id", Id),
            ("user_id", Id),
            ("task_type", Text),
            ("level", Text),
            ("created_at", Time),
            ("updated_at", Time),
        ],
    ),
    table(
        "payments",
        &[
            ("tx_hash", Text),
            ("campaign_id", Id),
            ("service", Text),
            ("amount_cents", Int8),
            ("payer", Text),
            ("source", Text),
            ("status", Text),
            ("created_at", Time),
        ],
    ),
    table(
        "reservations",
        &[
            ("id", Id),
            ("campaign_id", Id),
            ("sponsored_api_id", Id),
            ("user_id", Id),
            ("service", Text),
            ("sponsor", Text),
            ("amount_cents", Int8),
            ("state", Text),
            ("is_dispatched", Bool),
            ("lease_counter", Int8),
            ("tx_hash", Text),
            ("idempotency_key", Text),
            ("created_at", Time),
        ],
    ),
    table(
        "idempotency_keys",
        &[
            ("user_id", Id),
            ("key", Text),
            ("request_hash", Text),
            ("tx_hash", Text),
            ("reservation_id", Id),
            ("service", Text),
            ("output", Bytes),
            ("upstream_status", Int4),
            ("sponsored_by", Text),
            ("expires_at", Time),
            ("session_hash", Text),
        ],
    ),
    table(
        "sponsor_keys",
        &[("key", Text), ("request_hash", Text), ("resource_id", Id), ("expires_at", Time)],
    ),
    table(
        "adjustments",
        &[
            ("id", Id),
            ("campaign_id", Id),
            ("sponsored_api_id", Id),
            ("amount_cents", Int8),
            ("reason", Text),
            ("created_at", Time),
        ],
    ),
];

impl Table {
    /// The names of the columns, as both databases take them.
    pub fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// What names a row in an error: its first column, unless that is the secret of a session.
    pub fn row_name(&self, row: &Row<'_>) -> String {
        let column = usize::from(self.name == "gpt_sessions");
        let name = row.get_ref(column).ok().and_then(|value| match value {
            ValueRef::Text(text) => Some(in_sentence(&String::from_utf8_lossy(text))),
            ValueRef::Integer(number) => Some(number.to_string()),
            _ => None,
        });
        name.unwrap_or_else(|| "without a key".to_owned())
    }

    /// The types of the columns in PostgreSQL.
    pub fn types(&self) -> Vec<Type> {
        self.columns.iter().map(|(_, kind)| kind.to_type()).collect()
    }
}

/// A value on its way.
pub type Cell = Box<dyn ToSql + Sync + Send>;

/// Why a value cannot be moved, in words that continue `the row has in the column …`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableValue(&'static str);

/// The first time that both databases and this program can write: the year 1.
const MIN_MICROSECONDS: i64 = -62_135_596_800_000_000;

impl Kind {
    const fn to_type(self) -> Type {
        match self {
            Id => Type::UUID,
            Text => Type::TEXT,
            Texts => Type::TEXT_ARRAY,
            Json => Type::JSONB,
            Time => Type::TIMESTAMPTZ,
            Int8 => Type::INT8,
            Int4 => Type::INT4,
            Bool => Type::BOOL,
            Bytes => Type::BYTEA,
        }
    }

    /// The value of a column of the embedded database.
    pub fn read(self, row: &Row<'_>, column: usize) -> Result<Cell, UnreadableValue> {
        let value = row.get_ref(column).map_err(|_| UnreadableValue("nothing that can be read"))?;
        let is_null = value == ValueRef::Null;
        let text = || {
            let text = value.as_str().map_err(|_| UnreadableValue("something that is no text"))?;
            // PostgreSQL has no NUL in its texts, nor in the texts of its JSON.
            let has_nul = text.contains('\0') || self == Json && text.contains("\\u0000");
            if has_nul { Err(UnreadableValue("a NUL character")) } else { Ok(text) }
        };
        let number = || value.as_i64().map_err(|_| UnreadableValue("something that is no whole number"));
        Ok(match self {
            _ if is_null => self.null(),
            Id => {
                Box::new(Uuid::try_parse(text()?).map_err(|_| UnreadableValue("something that is no UUID"))?)
            }
            Text => Box::new(text()?.to_owned()),
            Texts => {
                let texts: Vec<String> = serde_json::from_str(text()?)
                    .map_err(|_| UnreadableValue("something that is no list of texts"))?;
                if texts.iter().any(|text| text.contains('\0')) {
                    return Err(UnreadableValue("a NUL character"));
                }
                Box::new(texts)
            }
            Json => Box::new(
                serde_json::from_str::<Value>(text()?)
                    .map_err(|_| UnreadableValue("something that is no JSON"))?,
            ),
            Time => {
                let time = Some(number()?).filter(|time| *time >= MIN_MICROSECONDS);
                let time = time.and_then(|time| Timestamp::from_microsecond(time).ok());
                Box::new(time.ok_or(UnreadableValue("a time outside of the years 1 to 9999"))?)
            }
            Int8 => Box::new(number()?),
            Int4 => {
                Box::new(i32::try_from(number()?).map_err(|_| UnreadableValue("a number beyond 32 bits"))?)
            }
            Bool => match number()? {
                0 => Box::new(false),
                1 => Box::new(true),
                _ => return Err(UnreadableValue("a number other than 0 and 1")),
            },
            Bytes => Box::new(
                value
                    .as_blob()
                    .map_err(|_| UnreadableValue("something that is no sequence of bytes"))?
                    .to_owned(),
            ),
        })
    }

    fn null(self) -> Cell {
        match self {
            Id => Box::new(None::<Uuid>),
            Text => Box::new(None::<String>),
            Texts => Box::new(None::<Vec<String>>),
            Json => Box::new(None::<Value>),
            Time => Box::new(None::<Timestamp>),
            Int8 => Box::new(None::<i64>),
            Int4 => Box::new(None::<i32>),
            Bool => Box::new(None::<bool>),
            Bytes => Box::new(None::<Vec<u8>>),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use rusqlite::Connection;

    use super::*;
    use crate::clock::SystemClock;
    use crate::store::Store as _;
    use crate::store::sqlite::{SqliteOptions, SqliteStore};

    /// What the embedded database derives from its other tables; PostgreSQL has its own ways for it.
    const DERIVED: [&str; 2] = ["campaign_tools", "catalog_version"];

    #[tokio::test]
    async fn every_column_of_the_embedded_database_is_copied() {
        let folder =
            std::env::temp_dir().join(format!("annai-copy-{}", crate::domain::ids::UserId::random()));
        let path = folder.join("services.sqlite");
        SqliteStore::new(SqliteOptions::new(path.clone()), Arc::new(SystemClock)).open().await.unwrap();
        let sqlite = Connection::open(&path).unwrap();
        let query = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
        let mut statement = sqlite.prepare(query).unwrap();
        let mut existing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap() {
            let (table, column) = row.unwrap();
            existing.entry(table).or_default().insert(column);
        }
        for table in DERIVED {
            assert!(existing.remove(table).is_some(), "{table}");
        }
        let columns = |table: &Table| table.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let copied = TABLES.iter().map(|table| (table.name.to_owned(), columns(table))).collect();
        assert_eq!(existing, copied);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
