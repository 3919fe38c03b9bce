//! Creates and migrates the tables, one replica at a time. Migrations only add, so that the system before this one can
//! still be started on the database.

use jiff::Timestamp;

use super::adopt::{self, AdoptionReport};
use super::connection::{Access, PostgresConnection, UseCase};
use super::failure::Failure;
use super::old_rows;
use super::pool::Connections;
use super::shape;
use crate::error::ServicesError;
use crate::store::movements::{self, MovementKind};

/// The migrations in their order; the table `annai_migrations` names those that were applied.
const MIGRATIONS: [(&str, &str); 6] = [
    ("001_services", include_str!("../../../migrations/postgres/001_services.sql")),
    ("002_additions", include_str!("../../../migrations/postgres/002_additions.sql")),
    ("003_balance", include_str!("../../../migrations/postgres/003_balance.sql")),
    ("004_expiry", include_str!("../../../migrations/postgres/004_expiry.sql")),
    ("005_retention", include_str!("../../../migrations/postgres/005_retention.sql")),
    ("006_key_sessions", include_str!("../../../migrations/postgres/006_key_sessions.sql")),
];

/// What opening the database did.
#[derive(Debug, Default)]
struct MigrationReport {
    applied: usize,
    adjustments: u64,
    adjusted_cents: u64,
    adoption: AdoptionReport,
}

/// Applies the migrations that are missing, and adopts what the system before this one has written since.
pub async fn migrate(connections: &Connections) -> Result<(), Failure> {
    let options = connections.options();
    let connection = connections.connection().await?;
    let timeout = options.migration_timeout;
    let input = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let report = connection
        .transact(Access::Write, timeout, &input, |s, i, _| Box::pin(apply(s, *i)), Timestamp::now())
        .await?;
    let MigrationReport { applied, adjustments, adjusted_cents, adoption } = report;
    if applied > 0 {
        tracing::info!(database = options.address(), applied, "the tables of the database were migrated");
    }
    if adjustments > 0 {
        movements::count(MovementKind::Adjusted, adjustments, adjusted_cents);
        tracing::warn!(
            adjusted = adjustments,
            "budgets did not balance when the database was taken over; each got one adjustment"
        );
    }
    if adoption != AdoptionReport::default() {
        tracing::info!(
            adopted_users = adoption.users,
            duplicate_users = adoption.duplicate_users,
            adopted_completions = adoption.completions,
            duplicate_completions = adoption.duplicate_completions,
            unusable_apis = adoption.unusable_apis,
            "rows of the system before this one were adopted; of duplicates the oldest stands for all"
        );
    }
    Ok(())
}

/// Checks that no migration is missing, and changes nothing.
pub async fn require_migrated(connections: &Connections) -> Result<(), Failure> {
    let timeout = connections.options().use_case_timeout;
    let connection = connections.connection().await?;
    let count: UseCase<(), usize> = |connection, (), _| Box::pin(applied_migrations(connection));
    let applied = connection.transact(Access::Read, timeout, &(), count, Timestamp::now()).await?;
    match pending(applied)? {
        0 => Ok(()),
        pending => Err(ServicesError::NotMigrated { pending }.into()),
    }
}

/// How many migrations are missing where these are applied.
fn pending(applied: usize) -> Result<usize, Failure> {
    MIGRATIONS.len().checked_sub(applied).ok_or_else(|| {
        let newer = std::io::Error::other(format!("{applied} migrations are applied"));
        let problem = "the database was written by a newer version of this program; update this program";
        ServicesError::unavailable(problem, newer).into()
    })
}

async fn apply(connection: &PostgresConnection<'_>, timeout_ms: u64) -> Result<MigrationReport, Failure> {
    connection
        .batch(&format!("SET LOCAL statement_timeout = {timeout_ms}; SET LOCAL lock_timeout = {timeout_ms}"))
        .await?;
    // Replicas that start at once come one after the other; the later ones find everything done.
    connection.lock(&["annai services migrations"]).await?;
    connection
        .batch(
            "CREATE TABLE IF NOT EXISTS annai_migrations (
                 version integer PRIMARY KEY,
                 name text NOT NULL,
                 applied_at timestamptz NOT NULL DEFAULT now()
             )",
        )
        .await?;
    let done = applied_migrations(connection).await?;
    let mut report = MigrationReport { applied: pending(done)?, ..MigrationReport::default() };
    if done == 0 {
        shape::check(connection).await?;
        old_rows::check(connection).await?;
    }
    for (version, (name, migration)) in (1_i32..).zip(MIGRATIONS).skip(done) {
        connection.batch(migration).await?;
        let client = connection.client();
        client
            .execute("INSERT INTO annai_migrations (version, name) VALUES ($1, $2)", &[&version, &name])
            .await?;
    }
    if done == 0 {
        let sums = "SELECT count(*), coalesce(sum(abs(amount_cents)), 0)::bigint FROM adjustments";
        let row = connection.client().query_one(sums, &[]).await?;
        report.adjustments = row.try_get::<_, i64>(0)?.unsigned_abs();
        report.adjusted_cents = row.try_get::<_, i64>(1)?.unsigned_abs();
    }
    report.adoption = adopt::adopt(connection).await?;
    Ok(report)
}

/// How many migrations were applied. The table that says so is created by whoever migrates.
async fn applied_migrations(connection: &PostgresConnection<'_>) -> Result<usize, Failure> {
    let client = connection.client();
    let row = client.query_one("SELECT to_regclass('annai_migrations') IS NULL", &[]).await?;
    if row.try_get(0)? {
        return Ok(0);
    }
    let row = client.query_one("SELECT count(*) FROM annai_migrations", &[]).await?;
    Ok(usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(usize::MAX))
}
