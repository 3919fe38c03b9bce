//! Opens the database file: permissions, pragmas and migrations.

use std::fs::{DirBuilder, OpenOptions};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use annai_core::owner_only::OwnerOnly as _;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::SqliteOptions;
use super::failure::Failure;
use crate::error::ServicesError;
use crate::store::Migration;

/// The migrations in their order; `user_version` counts those that were applied.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../../migrations/sqlite/001_services.sql"),
    include_str!("../../../migrations/sqlite/002_expiry.sql"),
    include_str!("../../../migrations/sqlite/003_retention.sql"),
    include_str!("../../../migrations/sqlite/004_key_sessions.sql"),
];

/// The file that all connections of a store share, and whether it is in order.
pub struct Database {
    options: SqliteOptions,
    /// Rises when a connection fails in a way that concerns the file; older connections are then given up.
    epoch: AtomicU64,
    /// The epoch in which the file was last opened and migrated.
    opened_in: AtomicU64,
    /// Which file that was. A connection still writes to a file that was deleted, and all of it would be lost.
    opened_file: Mutex<Option<FileIdentity>>,
}

/// What tells a file from another one with the same path: its device and its number there.
type FileIdentity = (u64, u64);

impl Database {
    pub const fn new(options: SqliteOptions) -> Self {
        Self {
            options,
            epoch: AtomicU64::new(1),
            opened_in: AtomicU64::new(0),
            opened_file: Mutex::new(None),
        }
    }

    /// Whether the file was opened and migrated, and nothing has failed since.
    pub fn is_open(&self) -> bool {
        self.opened_in.load(Ordering::Acquire) == self.epoch()
    }

    pub const fn migration(&self) -> Migration {
        self.options.migration
    }

    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Gives all connections up, because something is wrong with the file.
    pub fn invalidate(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Checks that the file is still the one that was opened.
    pub fn check_file(&self) -> Result<(), Failure> {
        let mut opened = self.opened_file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = *opened else { return Ok(()) };
        let problem = match identity(&self.options.path) {
            Ok(found) if found == Some(file) => return Ok(()),
            // Another file is opened like a new one.
            Ok(_) => {
                *opened = None;
                self.invalidate();
                "the database file was replaced by another one, which is used from now on; try again"
            }
            Err(_) => {
                "the database file was deleted or moved away while this program used it; put it back, or restart this program to begin with an empty one"
            }
        };
        let cause = std::io::Error::other(self.options.path.display().to_string());
        Err(ServicesError::unavailable(problem, cause).into())
    }

    /// Forgets which file was open, once no connection is.
    pub fn forget_file(&self) {
        *self.opened_file.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Opens the connection that writes, creating and migrating the file where necessary.
    pub fn open_writer(&self) -> Result<Connection, Failure> {
        let epoch = self.epoch();
        if self.options.migration == Migration::Apply {
            create_file(&self.options.path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = self.connect(flags)?;
        match self.options.migration {
            Migration::Apply => {
                switch_to_wal(&connection, self.options.busy_timeout)?;
                migrate(&mut connection)?;
            }
            Migration::Refuse => require_migrated(&connection)?,
        }
        *self.opened_file.lock().unwrap_or_else(PoisonError::into_inner) =
            identity(&self.options.path).ok().flatten();
        self.opened_in.store(epoch, Ordering::Release);
        Ok(connection)
    }

    /// Opens a connection that only reads. It is opened for writing, because readers share the write-ahead log's index.
    pub fn open_reader(&self) -> Result<Connection, Failure> {
        let epoch = self.epoch();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = self.connect(flags)?;
        connection.pragma_update(None, "query_only", true)?;
        if self.options.migration == Migration::Refuse {
            require_migrated(&connection)?;
            self.opened_in.store(epoch, Ordering::Release);
        }
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, Failure> {
        let connection = Connection::open_with_flags(&self.options.path, flags)?;
        connection.busy_timeout(self.options.busy_timeout)?;
        connection.set_prepared_statement_cache_capacity(128);
        connection.execute_batch(
            "PRAGMA foreign_keys = ON;
             PRAGMA synchronous = FULL;
             -- A crash must not leave the log larger than what this program writes in minutes.
             PRAGMA journal_size_limit = 16777216;
             PRAGMA cache_size = -8192;",
        )?;
        Ok(connection)
    }
}

/// Which file is at a path; `None` where the system has no such numbers, and files in use cannot be deleted.
fn identity(path: &Path) -> std::io::Result<Option<FileIdentity>> {
    let metadata = std::fs::metadata(path)?;
    #[cfg(unix)]
    return Ok(Some((
        std::os::unix::fs::MetadataExt::dev(&metadata),
        std::os::unix::fs::MetadataExt::ino(&metadata),
    )));
    #[cfg(not(unix))]
    {
        let _ = metadata;
        Ok(None)
    }
}

/// Creates the file and its folder for the owner alone. SQLite gives its log the same permissions.
fn create_file(path: &Path) -> Result<(), Failure> {
    let cannot_open = |error: std::io::Error| {
        let message = format!("{}: {error}", path.display());
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        Failure::Database(rusqlite::Error::SqliteFailure(code, Some(message)))
    };
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).owner_only().create(folder).map_err(cannot_open)?;
    }
    OpenOptions::new().create(true).append(true).owner_only().open(path).map_err(cannot_open)?;
    Ok(())
}

/// Switches the file to a write-ahead log. SQLite does not wait for other processes here, so this does.
fn switch_to_wal(connection: &Connection, patience: Duration) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        let result =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match result {
            Ok(_) => return Ok(()),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < patience =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Applies the migrations that are missing, one process at a time: the transaction is the lock.
fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    if pending_migrations(connection)? == 0 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let applied = MIGRATIONS.len() - pending_migrations(&transaction)?;
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

fn require_migrated(connection: &Connection) -> Result<(), Failure> {
    match pending_migrations(connection)? {
        0 => Ok(()),
        pending => Err(Failure::Rule(ServicesError::NotMigrated { pending })),
    }
}

/// How many migrations are missing.
fn pending_migrations(connection: &Connection) -> Result<usize, Failure> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let applied = usize::try_from(version).map_err(|_| Failure::unreadable("a version"))?;
    MIGRATIONS.len().checked_sub(applied).ok_or_else(|| {
        Failure::Rule(ServicesError::unavailable(
            "the database was written by a newer version of this program; update this program",
            rusqlite::Error::InvalidQuery,
        ))
    })
}
