//! The check of the rows, and of the tables and indexes where the extension `amcheck` is installed.

use tokio_postgres::error::SqlState;

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::store::RowProblem;
use crate::store::integrity::{MAX_FOUND, checks};

/// The rows that this program wrote, or that were there when the first of its migrations was applied.
const IS_NEW: &str = "w.created_at >= (SELECT min(applied_at) FROM annai_migrations)";

/// The checks of `amcheck` as statements: every index with its table, and every table where the server can check those.
const AMCHECK: &str = "SELECT c.relname::text, CASE c.relkind
         WHEN 'i' THEN format('SELECT NULL::text FROM %I.bt_index_check(%s::oid::regclass, true) AS checked', n.nspname, c.oid)
         ELSE format('SELECT msg FROM %I.verify_heapam(%s::oid::regclass)', n.nspname, c.oid) END
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     JOIN pg_class c ON c.relnamespace = current_schema()::regnamespace
     LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_am a ON a.oid = c.relam
     WHERE e.extname = 'amcheck' AND c.relpersistence = 'p' AND (c.relkind = 'i' AND a.amname = 'btree' AND i.indisvalid
         OR c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'verify_heapam'))";

pub async fn check(connection: &PostgresConnection<'_>) -> Result<Vec<RowProblem>, Failure> {
    let mut problems = Vec::new();
    for row in connection.rows(AMCHECK, &[]).await? {
        let (relation, statement): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        connection.batch("SAVEPOINT relation").await?;
        match connection.client().query(&statement, &[]).await {
            Ok(rows) => {
                for row in rows.iter().take(MAX_FOUND) {
                    let found: Option<String> = row.try_get(0)?;
                    problems.extend(found.map(|found| damaged(&relation, &found)));
                }
                connection.batch("RELEASE relation").await?;
            }
            // By default only a superuser may use the extension.
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                connection.batch("ROLLBACK TO relation").await?;
                break;
            }
            Err(error) => match error.as_db_error() {
                Some(found) => {
                    problems.push(damaged(&relation, found.message()));
                    connection.batch("ROLLBACK TO relation").await?;
                }
                None => return Err(error.into()),
            },
        }
    }
    for check in checks(IS_NEW) {
        for row in connection.client().query(&check.query, &[]).await? {
            problems.push(check.problem(row.try_get::<_, Option<&str>>(0)?.unwrap_or("without a key")));
        }
    }
    Ok(problems)
}

fn damaged(relation: &str, found: &str) -> RowProblem {
    RowProblem(format!("{relation} is damaged: {found}"))
}
