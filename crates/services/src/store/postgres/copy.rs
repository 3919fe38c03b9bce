//! Copies an embedded database to an empty PostgreSQL one, in one transaction.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use annai_core::finding::counted;
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use serde::Serialize;
use tokio::sync::{Mutex, mpsc};
use tokio_postgres::binary_copy::BinaryCopyInWriter;

use super::books;
use super::connection::{Access, PostgresConnection};
use super::copy_tables::{Cell, TABLES, Table};
use super::failure::Failure;
use super::postgres_store::PostgresStore;
use crate::clock::SystemClock;
use crate::domain::text::one_line;
use crate::error::ServicesError;
use crate::store::sqlite::{SqliteOptions, SqliteStore};
use crate::store::{BookViolation, RowProblem, Store as _};

/// How many rows travel together, and how many such groups may wait: a few megabytes at most.
const GROUP: usize = 500;
const WAITING_GROUPS: usize = 4;
/// How long a copy may take. Ten million rows take a few minutes.
const COPY_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    /// The tables with their numbers of rows, which are the same on both sides.
    pub tables: Vec<(&'static str, u64)>,
}

impl fmt::Display for CopyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (table, rows) in &self.tables {
            writeln!(f, "{rows:>10}  {table}")?;
        }
        write!(f, "The books balance on both sides.")
    }
}

/// A group of rows, or the end of a table.
enum Part {
    Rows(Vec<Vec<Cell>>),
    EndOfTable,
}

type Parts = mpsc::Receiver<Result<Part, ServicesError>>;

/// Copies the embedded database in a file to PostgreSQL. No server may use the file meanwhile: what it writes afterwards
/// would stay behind. Either everything is copied and the books balance, or the target is as empty as before.
///
/// # Errors
///
/// There is no such file, its books or those of the copy do not balance, the target is not empty, or one of the databases
/// cannot be used.
pub async fn copy_from_sqlite(path: &Path, target: &PostgresStore) -> Result<CopyReport, ServicesError> {
    if !path.is_file() {
        return Err(ServicesError::Conflict(format!("there is no database file {}", path.display())));
    }
    // Opening it as a store brings its tables to this version.
    let source = SqliteStore::new(SqliteOptions::new(path.to_owned()), Arc::new(SystemClock));
    // Amounts that no sum can contain are among what the rows are checked for.
    require_sound(&source.check_rows().await?)?;
    require_balance(&source.check_books().await?)?;
    target.open().await?;
    let (sender, parts) = mpsc::channel(WAITING_GROUPS);
    let path = path.to_owned();
    let reader = tokio::task::spawn_blocking(move || {
        if let Err(error) = read(&path, &sender) {
            // Nobody listens where the writer has failed before; then its error is the one to report.
            let _ = sender.blocking_send(Err(error));
        }
    });
    let connection = target.database.connection().await.map_err(Failure::into_error)?;
    let parts = Mutex::new(parts);
    let copied = connection
        .transact(
            Access::Write,
            COPY_TIMEOUT,
            &parts,
            |connection, parts, _| Box::pin(write(connection, parts)),
            Timestamp::now(),
        )
        .await;
    drop(parts);
    reader.await.map_err(|error| ServicesError::internal(error.to_string()))?;
    copied.map_err(Failure::into_error)
}

fn require_sound(problems: &[RowProblem]) -> Result<(), ServicesError> {
    match problems {
        [] => Ok(()),
        [first, ..] => {
            let count = counted(problems.len(), "row");
            Err(ServicesError::Conflict(format!("{first}; nothing was copied, and {count} found in all")))
        }
    }
}

fn require_balance(violations: &[BookViolation]) -> Result<(), ServicesError> {
    match violations {
        [] => Ok(()),
        [first, ..] => {
            let count = violations.len();
            Err(ServicesError::Conflict(format!(
                "{first}; nothing was copied, and {count} budgets are wrong in all"
            )))
        }
    }
}

/// Reads all tables on one snapshot.
fn read(path: &PathBuf, parts: &mpsc::Sender<Result<Part, ServicesError>>) -> Result<(), ServicesError> {
    let failed =
        |error: rusqlite::Error| ServicesError::unavailable("the database file cannot be read", error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred).map_err(failed)?;
    for table in &TABLES {
        let query = format!("SELECT {} FROM {}", table.column_list(), table.name);
        let mut statement = snapshot.prepare(&query).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut group = Vec::with_capacity(GROUP);
        while let Some(row) = rows.next().map_err(failed)? {
            let cells = table.columns.iter().enumerate().map(|(column, (name, kind))| {
                kind.read(row, column).map_err(|problem| {
                    let (row, table) = (table.row_name(row), table.name);
                    ServicesError::Conflict(format!(
                        "the row {row} of the table {table} has in {name} {problem}; nothing was copied; correct it, and copy again"
                    ))
                })
            });
            group.push(cells.collect::<Result<Vec<_>, _>>()?);
            if group.len() == GROUP
                && parts.blocking_send(Ok(Part::Rows(std::mem::take(&mut group)))).is_err()
            {
                return Ok(());
            }
        }
        for part in [Part::Rows(group), Part::EndOfTable] {
            if parts.blocking_send(Ok(part)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn write(connection: &PostgresConnection<'_>, parts: &Mutex<Parts>) -> Result<CopyReport, Failure> {
    let mut parts = parts.lock().await;
    // The file may be slower than the patience that use cases have.
    connection
        .batch("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        .await?;
    let names = TABLES.iter().map(|table| table.name).collect::<Vec<_>>().join(", ");
    connection.batch(&format!("LOCK TABLE {names} IN EXCLUSIVE MODE")).await?;
    for table in &TABLES {
        let found =
            connection.client().query_opt(&format!("SELECT 1 FROM {} LIMIT 1", table.name), &[]).await?;
        if found.is_some() {
            return Err(ServicesError::Conflict(format!(
                "the target is not empty: its table {} has rows; copy to a new database",
                table.name
            ))
            .into());
        }
    }
    let mut tables = Vec::new();
    for table in &TABLES {
        tables.push((table.name, write_table(connection, table, &mut parts).await?));
    }
    connection
        .batch("SELECT setval('consents_seq', (SELECT coalesce(max(seq), 0) FROM consents) + 1, false)")
        .await?;
    require_balance(&books::check(connection).await?)?;
    Ok(CopyReport { tables })
}

/// Writes a table. What PostgreSQL refuses is described in its own words, which name the column and its value.
async fn write_table(
    connection: &PostgresConnection<'_>,
    table: &Table,
    parts: &mut Parts,
) -> Result<u64, Failure> {
    let written = write_rows(connection, table, parts).await;
    written.map_err(|failure| match &failure {
        Failure::Database(error) => match error.as_db_error() {
            // Classes of errors: values that do not fit, and constraints that are violated.
            Some(refusal) if ["22", "23"].iter().any(|class| refusal.code().code().starts_with(class)) => {
                let detail = refusal.detail().or(refusal.where_()).unwrap_or("no further detail");
                ServicesError::Conflict(format!(
                    "PostgreSQL refuses a row of the table {}: {} ({}); nothing was copied; correct it, and copy again",
                    table.name,
                    one_line(refusal.message(), 500),
                    one_line(detail, 500)
                ))
                .into()
            }
            _ => failure,
        },
        _ => failure,
    })
}

async fn write_rows(
    connection: &PostgresConnection<'_>,
    table: &Table,
    parts: &mut Parts,
) -> Result<u64, Failure> {
    let copy = format!("COPY {} ({}) FROM STDIN BINARY", table.name, table.column_list());
    let sink = connection.client().copy_in(&copy).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &table.types()));
    loop {
        match parts.recv().await {
            Some(Ok(Part::Rows(rows))) => {
                for row in rows {
                    writer.as_mut().write_raw(row).await?;
                }
            }
            Some(Ok(Part::EndOfTable)) => return Ok(writer.finish().await?),
            Some(Err(error)) => return Err(error.into()),
            None => return Err(ServicesError::internal("the reader of the database file has ended").into()),
        }
    }
}
