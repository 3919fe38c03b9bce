//! The world of the use-case tests, on a PostgreSQL database.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use annai_core::Registry;
use annai_services::Services;
use annai_services::runs::RunOptions;
use annai_services::store::postgres::PostgresStore;

pub use self::embedded::{TempFolder, World as EmbeddedWorld, broken, clean_up_until, code, echo};
use crate::database::TestDatabase;

#[expect(dead_code, reason = "the embedded store's tests use more of it")]
#[path = "../suite/support.rs"]
mod embedded;

/// A world with one process in it, and helpers of the embedded store's tests.
pub struct World {
    world: embedded::World,
    pub database: TestDatabase,
    pub registry: Arc<Registry>,
}

impl Deref for World {
    type Target = embedded::World;

    fn deref(&self) -> &embedded::World {
        &self.world
    }
}

impl World {
    pub fn new() -> Self {
        Self::with(RunOptions::default(), Registry::builder(Duration::from_secs(60)).build().unwrap())
    }

    pub fn with(options: RunOptions, registry: Arc<Registry>) -> Self {
        let database = TestDatabase::new();
        let mut world = embedded::World::with(options.clone(), registry.clone());
        let store = Arc::new(PostgresStore::new(database.options(), world.clock.clone()));
        world.services = Services::new(store, world.upstream.clone(), world.clock.clone(), options);
        Self { world, database, registry }
    }

    /// A connection to look at rows.
    pub const fn sql(&self) -> &TestDatabase {
        &self.database
    }

    /// The number that a query returns. The embedded store has the entries of `target_tools` in a table.
    pub fn number(&self, query: &str) -> i64 {
        let tools =
            "(SELECT id AS campaign_id, unnest(target_tools) AS tool FROM campaigns) AS campaign_tools";
        self.database.number(&query.replace("campaign_tools", tools))
    }

    /// Checks that every budget balances, and returns what is reserved, remaining and settled in all campaigns.
    pub async fn books(&self) -> (i64, i64, i64) {
        assert_eq!(self.store().check_books().await.unwrap(), []);
        (
            self.number("SELECT coalesce(sum(amount_cents), 0) FROM reservations WHERE state = 'reserved'"),
            self.number("SELECT coalesce(sum(budget_remaining_cents), 0) FROM campaigns"),
            self.number("SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE status = 'settled'"),
        )
    }
}
