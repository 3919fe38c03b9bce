use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use annai_services::clock::SystemClock;
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use annai_services::store::{Migration, Store as _};
use futures_util::future::join_all;
use rusqlite::TransactionBehavior;
use serde_json::{Value, json};

use crate::support::{TempFolder, World};

fn store(folder: &TempFolder) -> SqliteStore {
    let busy_timeout = Duration::from_millis(100);
    SqliteStore::new(
        SqliteOptions { busy_timeout, ..SqliteOptions::new(folder.database()) },
        Arc::new(SystemClock),
    )
}

async fn sign_in(store: &SqliteStore) -> Result<(), annai_services::ServicesError> {
    let sign_in = serde_json::from_value(json!({ "email": "a@example.com", "region": "auto" })).unwrap();
    store.sign_in(sign_in, None).await.map(|_| ())
}

/// The problem of a database that must be unavailable.
fn problem<T: std::fmt::Debug>(result: Result<T, annai_services::ServicesError>) -> String {
    let error = result.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
    error.to_string()
}

#[tokio::test]
async fn nothing_is_touched_before_the_first_use_and_the_file_is_the_owners_alone() {
    let folder = TempFolder::new();
    let store = store(&folder);
    assert!(!folder.database().exists());
    store.open().await.unwrap();
    sign_in(&store).await.unwrap();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.database()), 0o600);
    assert_eq!(mode(folder.database().with_extension("db-wal")), 0o600);
    assert_eq!(mode(folder.0.join("data")), 0o700);
    let sql = rusqlite::Connection::open(folder.database()).unwrap();
    let journal: String = sql.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(journal, "wal");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_stores_open_one_new_file_at_once() {
    let folder = TempFolder::new();
    let stores: Vec<_> = (0..8)
        .map(|_| SqliteStore::new(SqliteOptions::new(folder.database()), Arc::new(SystemClock)))
        .collect();
    for result in join_all(stores.iter().map(sign_in)).await {
        result.unwrap();
    }
    for store in &stores {
        assert_eq!(store.check_books().await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_locked_database_is_unavailable_until_it_is_unlocked() {
    let folder = TempFolder::new();
    let store = store(&folder);
    store.open().await.unwrap();
    let mut other = rusqlite::Connection::open(folder.database()).unwrap();
    let lock = other.transaction_with_behavior(TransactionBehavior::Exclusive).unwrap();
    assert!(problem(sign_in(&store).await).contains("locked by another program"));
    // Readers do not wait for writers.
    assert_eq!(store.check_books().await.unwrap(), []);
    drop(lock);
    sign_in(&store).await.unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_unavailable_until_it_is_replaced() {
    let folder = TempFolder::new();
    std::fs::create_dir_all(folder.0.join("data")).unwrap();
    std::fs::write(folder.database(), "this is not a database, and never was one".repeat(100)).unwrap();
    let store = store(&folder);
    for _ in 0..2 {
        assert!(problem(sign_in(&store).await).contains("damaged"));
        assert!(problem(store.check_books().await).contains("damaged"));
    }
    std::fs::remove_file(folder.database()).unwrap();
    sign_in(&store).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_damaged_while_it_is_used_is_unavailable_until_it_is_repaired() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    world.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let good = std::fs::read(world.folder.database()).unwrap();
    std::fs::write(world.folder.database(), vec![0x5a; good.len()]).unwrap();
    // Connections that have the pages in memory may not notice at once; a new one does.
    let fresh = store(&world.folder);
    assert!(problem(sign_in(&fresh).await).contains("damaged"));
    let _ = world.run(session, "x", None).await;
    for extension in ["db-wal", "db-shm"] {
        let _ = std::fs::remove_file(world.folder.database().with_extension(extension));
    }
    std::fs::write(world.folder.database(), &good).unwrap();
    sign_in(&fresh).await.unwrap();
    assert_eq!(fresh.check_books().await.unwrap(), []);
}

#[tokio::test]
async fn a_folder_that_cannot_be_created_is_unavailable() {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("data"), "a file where the folder should be").unwrap();
    let store = store(&folder);
    assert!(problem(sign_in(&store).await).contains("cannot be opened"));
    std::fs::remove_file(folder.0.join("data")).unwrap();
    sign_in(&store).await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let folder = TempFolder::new();
    std::fs::create_dir_all(folder.0.join("data")).unwrap();
    let sql = rusqlite::Connection::open(folder.database()).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    assert!(problem(sign_in(&store(&folder)).await).contains("newer version"));
}

#[tokio::test]
async fn books_that_somebody_changed_are_reported() {
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    world.run(session, "x", None).await.unwrap();
    world.sql().execute_batch("UPDATE campaigns SET budget_remaining_cents = 95").unwrap();
    let violations = world.store().check_books().await.unwrap();
    assert_eq!(violations.len(), 1);
    assert_eq!(
        violations[0].to_string(),
        format!(
            "the books of the campaign {} do not balance: total 100 is not remaining 95 + settled 10 + reserved 0 + adjustments 0",
            campaign.id
        )
    );
    world
        .sql()
        .execute_batch(&format!(
            "INSERT INTO adjustments (id, campaign_id, amount_cents, reason, created_at) VALUES ('a', '{}', -5, 'test', 0)",
            campaign.id
        ))
        .unwrap();
    assert_eq!(world.store().check_books().await.unwrap(), []);
}

#[tokio::test]
async fn a_search_sees_what_other_processes_change() {
    let world = World::new();
    let (session, campaign) = world.sponsored_person(20).await;
    let other = store(&world.folder);
    let names = async || {
        let found = other.search(Default::default(), None, Default::default()).await.unwrap();
        found.services.into_iter().map(|item| item.name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["Survey for scraping", "Scrape"]);
    let patch = |json: Value| serde_json::from_value(json).unwrap();
    world.store().patch_campaign(campaign.id, patch(json!({ "name": "Renamed" })), None).await.unwrap();
    assert_eq!(names().await, ["Renamed", "Scrape"]);
    world.run(session, "x", None).await.unwrap();
    assert_eq!(names().await, ["Renamed", "Scrape"]);
    world.run(session, "x", None).await.unwrap();
    assert_eq!(names().await, ["Scrape"], "the budget is exhausted");
    world.store().patch_campaign(campaign.id, patch(json!({ "add_budget_cents": 10 })), None).await.unwrap();
    assert_eq!(names().await, ["Renamed", "Scrape"]);
    world.store().patch_campaign(campaign.id, patch(json!({ "active": false })), None).await.unwrap();
    assert_eq!(names().await, ["Scrape"]);
    world.campaign(10, json!({ "name": "New" })).await;
    assert_eq!(names().await, ["New", "Scrape"]);
}

#[tokio::test]
async fn a_closed_database_is_one_file_and_opens_again() {
    let folder = TempFolder::new();
    let store = store(&folder);
    sign_in(&store).await.unwrap();
    assert_eq!(store.check_books().await.unwrap(), []);
    let copy = folder.0.join("copy.db");
    let users = |path: &std::path::Path| -> i64 {
        let sql = rusqlite::Connection::open(path).unwrap();
        sql.query_row("SELECT count(*) FROM users", [], |row| row.get(0)).unwrap()
    };
    store.close().await;
    assert!(!folder.database().with_extension("db-wal").exists());
    std::fs::copy(folder.database(), &copy).unwrap();
    assert_eq!(users(&copy), 1);
    sign_in(&store).await.unwrap();
    store.close().await;
    store.close().await;
    assert_eq!(users(&folder.database()), 1);
}

#[tokio::test]
async fn looking_at_a_database_neither_creates_nor_migrates_it() {
    let folder = TempFolder::new();
    let options = SqliteOptions { migration: Migration::Refuse, ..SqliteOptions::new(folder.database()) };
    let look = || SqliteStore::new(options.clone(), Arc::new(SystemClock));
    problem(look().check_books().await);
    assert!(!folder.database().exists());

    let world = store(&folder);
    sign_in(&world).await.unwrap();
    assert_eq!(look().check_books().await.unwrap(), []);
    world.close().await;
    let sql = rusqlite::Connection::open(folder.database()).unwrap();
    sql.execute_batch("ALTER TABLE idempotency_keys DROP COLUMN session_hash; PRAGMA user_version = 3")
        .unwrap();
    let error = problem(look().check_books().await);
    assert!(error.starts_with("the database needs 1 migration; "), "{error}");
    let version: i64 = sql.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 3);
}
