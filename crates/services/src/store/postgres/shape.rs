//! Checks that tables which exist before the first migration are those of the system that is taken over, so that nothing is
//! added to the tables of somebody else.

use std::collections::HashMap;

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::error::ServicesError;

/// The columns that a table must have where it exists, with their types.
const COLUMNS: [(&str, &[(&str, &str)]); 10] = [
    (
        "users",
        &[
            ("id", "uuid"),
            ("email", "text"),
            ("region", "text"),
            ("roles", "text[]"),
            ("tools_used", "text[]"),
            ("attributes", "jsonb"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "gpt_sessions",
        &[
            ("token", "uuid"),
            ("user_id", "uuid"),
            ("created_at", "timestamptz"),
            ("expires_at", "timestamptz"),
        ],
    ),
    (
        "campaigns",
        &[
            ("id", "uuid"),
            ("name", "text"),
            ("sponsor", "text"),
            ("target_roles", "text[]"),
            ("target_tools", "text[]"),
            ("required_task", "text"),
            ("subsidy_per_call_cents", "int8"),
            ("budget_total_cents", "int8"),
            ("budget_remaining_cents", "int8"),
            ("query_urls", "text[]"),
            ("active", "bool"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "sponsored_apis",
        &[
            ("id", "uuid"),
            ("name", "text"),
            ("sponsor", "text"),
            ("description", "text"),
            ("upstream_url", "text"),
            ("upstream_method", "text"),
            ("upstream_headers", "jsonb"),
            ("price_cents", "int8"),
            ("budget_total_cents", "int8"),
            ("budget_remaining_cents", "int8"),
            ("active", "bool"),
            ("service_key", "text"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "sponsored_api_calls",
        &[
            ("id", "uuid"),
            ("sponsored_api_id", "uuid"),
            ("payment_mode", "text"),
            ("amount_cents", "int8"),
            ("tx_hash", "text"),
            ("caller", "text"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "task_completions",
        &[
            ("id", "uuid"),
            ("campaign_id", "uuid"),
            ("user_id", "uuid"),
            ("task_name", "text"),
            ("details", "text"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "payments",
        &[
            ("tx_hash", "text"),
            ("campaign_id", "uuid"),
            ("service", "text"),
            ("amount_cents", "int8"),
            ("payer", "text"),
            ("source", "text"),
            ("status", "text"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "consents",
        &[
            ("id", "uuid"),
            ("user_id", "uuid"),
            ("campaign_id", "uuid"),
            ("consent_type", "text"),
            ("granted", "bool"),
            ("purpose", "text"),
            ("retention_days", "int4"),
            ("created_at", "timestamptz"),
        ],
    ),
    (
        "user_task_preferences",
        &[
            ("id", "uuid"),
            ("user_id", "uuid"),
            ("task_type", "text"),
            ("level", "text"),
            ("created_at", "timestamptz"),
            ("updated_at", "timestamptz"),
        ],
    ),
    ("creator_events", &[("id", "uuid")]),
];

/// The oldest version of PostgreSQL that has everything the migrations use.
const MIN_SERVER_VERSION: i32 = 130_000;

/// Checks the version of the server, the encoding of the database, and the tables that exist.
pub async fn check(connection: &PostgresConnection<'_>) -> Result<(), Failure> {
    let client = connection.client();
    let server = "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')";
    let server = client.query_one(server, &[]).await?;
    if server.try_get::<_, i32>(0)? < MIN_SERVER_VERSION {
        return Err(refused("this program needs PostgreSQL 13 or newer; update the server".to_owned()));
    }
    let encoding: &str = server.try_get(1)?;
    if encoding != "UTF8" {
        return Err(refused(format!(
            "the database has the encoding {encoding}, but this program needs UTF8; create another database"
        )));
    }
    let names: Vec<&str> = COLUMNS.iter().map(|(table, _)| *table).collect();
    let rows = client
        .query(
            "SELECT c.relname::text, a.attname::text, CASE WHEN t.typelem <> 0 AND t.typlen = -1
                 THEN (SELECT e.typname::text || '[]' FROM pg_type e WHERE e.oid = t.typelem) ELSE t.typname::text END
             FROM unnest($1::text[]) AS wanted (name)
             JOIN pg_class c ON c.oid = to_regclass(quote_ident(wanted.name))
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
             JOIN pg_type t ON t.oid = a.atttypid",
            &[&names],
        )
        .await?;
    let mut tables: HashMap<String, HashMap<String, String>> = HashMap::new();
    for row in rows {
        // A text of limited length is a text as well.
        let kind = row.try_get::<_, String>(2)?.replace("varchar", "text");
        tables.entry(row.try_get(0)?).or_default().insert(row.try_get(1)?, kind);
    }
    for (table, columns) in COLUMNS {
        let Some(existing) = tables.get(table) else { continue };
        for (column, kind) in columns {
            if existing.get(*column).map(String::as_str) != Some(kind) {
                return Err(refused(format!(
                    "the database has a table {table} of another program, without a column {column} of the type {kind}; use another database or schema"
                )));
            }
        }
    }
    Ok(())
}

/// A database that is not taken over, and why.
pub fn refused(problem: String) -> Failure {
    let cause = std::io::Error::other("the database was not touched");
    ServicesError::unavailable(problem, cause).into()
}
