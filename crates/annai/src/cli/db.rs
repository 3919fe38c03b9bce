//! `annai db copy`: moves the embedded database of the services to PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::store::postgres::{PostgresOptions, PostgresStore, copy_from_sqlite};
use clap::Subcommand;

use super::{Failure, print};

const COPY_EXAMPLES: &str = "\
Examples:
  annai db copy --from sqlite:services.sqlite --to postgres://me@localhost/a
  DATABASE_URL=postgres://me@localhost/a annai db copy --from sqlite:a.sqlite

Stop every server that uses the file first. DATABASE_URL keeps a password off
the command line. The tables of the services in the target must be empty.";

#[derive(Debug, Subcommand)]
pub(super) enum DbCommand {
    /// Copy an embedded database to an empty PostgreSQL database, and check the books
    #[command(after_help = COPY_EXAMPLES)]
    Copy {
        /// The embedded database, such as sqlite:/var/lib/annai/services.sqlite
        #[arg(long, value_name = "sqlite:PATH")]
        from: String,
        /// The PostgreSQL database, such as postgres://user@host/name [env: DATABASE_URL]
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
}

pub(super) fn run(command: &DbCommand, database_url: Option<&str>) -> Result<(), Failure> {
    let DbCommand::Copy { from, to } = command;
    let path = from.strip_prefix("sqlite:").filter(|path| !path.is_empty());
    let path =
        path.ok_or_else(|| Failure::usage("--from: expected sqlite: and the path of a database file"))?;
    let url = to.as_deref().or(database_url);
    let url =
        url.ok_or_else(|| Failure::usage("--to is required, or the environment variable DATABASE_URL"))?;
    let options =
        PostgresOptions::parse(url).map_err(|problem| Failure::usage(format!("--to: {problem}")))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let target = PostgresStore::new(options, Arc::new(SystemClock));
    let report = runtime.block_on(copy_from_sqlite(Path::new(path), &target))?;
    Ok(print(&format!("{report}\n"))?)
}
