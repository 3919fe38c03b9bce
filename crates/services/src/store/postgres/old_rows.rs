//! Checks, before the first migration, that the rows of the system that is taken over contain nothing that this program
//! cannot count with. It names the first row that does, and leaves the database alone.

use super::connection::PostgresConnection;
use super::failure::Failure;
use super::shape::refused;
use crate::domain::text::in_sentence;

/// The columns with amounts and times of the tables that are taken over, with a condition for the values that are refused.
/// Sums of amounts must fit into 64 bits, and `infinity` is no time.
const COLUMNS: &str = "SELECT c.table_name::text, c.column_name::text,
     CASE c.table_name WHEN 'payments' THEN 'tx_hash' WHEN 'gpt_sessions' THEN 'user_id' ELSE 'id' END,
     CASE c.data_type WHEN 'bigint' THEN format('%I NOT BETWEEN -1000000000000000 AND 1000000000000000', c.column_name)
     ELSE format('NOT isfinite(%1$I) OR %1$I < timestamptz ''0001-01-02 UTC'' OR %1$I >= timestamptz ''9999-01-01 UTC''',
         c.column_name) END
     FROM information_schema.columns c WHERE c.table_schema = current_schema()
     AND c.table_name IN ('users', 'gpt_sessions', 'campaigns', 'sponsored_apis', 'sponsored_api_calls', 'task_completions',
         'payments', 'consents', 'user_task_preferences')
     AND c.data_type IN ('bigint', 'timestamp with time zone') ORDER BY c.table_name, c.ordinal_position";

pub async fn check(connection: &PostgresConnection<'_>) -> Result<(), Failure> {
    let client = connection.client();
    for column in client.query(COLUMNS, &[]).await? {
        let [table, name, key, refused_values]: [String; 4] =
            [column.try_get(0)?, column.try_get(1)?, column.try_get(2)?, column.try_get(3)?];
        let query = format!("SELECT {key}::text, {name}::text FROM {table} WHERE {refused_values} LIMIT 1");
        if let Some(row) = client.query_opt(&query, &[]).await? {
            let (row, value): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
            return Err(refused(format!(
                "the row {} of the table {table} has {value} in {name}, which this program cannot count with; correct it, then start this program again",
                in_sentence(row)
            )));
        }
    }
    Ok(())
}
