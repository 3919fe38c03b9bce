//! An SQLite file that something else has changed, damaged or deleted.

use annai_services::store::Store as _;
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::sync::Arc;

use crate::support::{World, code};

#[tokio::test]
async fn rows_that_name_what_does_not_exist_are_found() {
    for (change, expected) in [
        (
            "DELETE FROM campaigns",
            &[
                "task_completions names in campaign_id a row of campaigns",
                "task_claims names in campaign_id a row of campaigns",
                "consents names in campaign_id a row of campaigns",
                "payments names in campaign_id a row of campaigns",
                "reservations names in campaign_id a row of campaigns",
            ][..],
        ),
        (
            "UPDATE task_claims SET task_completion_id = 'gone'",
            &["task_claims names in task_completion_id a row of task_completions"],
        ),
        (
            "DELETE FROM campaign_tools",
            &["campaigns has other services in target_tools than the table campaign_tools"],
        ),
    ] {
        let world = World::new();
        let (session, _) = world.sponsored_person(100).await;
        world.run(session, "x", None).await.unwrap();
        world.sql().execute_batch(&format!("PRAGMA foreign_keys = OFF; {change}")).unwrap();
        let rows = world.store().check_rows().await.unwrap();
        let mut found: Vec<_> = rows
            .iter()
            .map(|row| {
                row.to_string().split_once(" of the table ").unwrap().1.replace(" that does not exist", "")
            })
            .collect();
        found.dedup();
        assert_eq!(found, expected, "{change}");
    }
}

/// A number that looks random, the same in every run.
fn scatter(number: u64) -> u64 {
    number
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[tokio::test]
async fn damage_that_sqlite_sees_is_seen() {
    let world = World::new();
    let (session, _) = world.sponsored_person(1000).await;
    for number in 0..20 {
        world.run(session, "x", Some(&number.to_string())).await.unwrap();
    }
    world.services.close().await;
    let good = std::fs::read(world.folder.database()).unwrap();
    let mut seen = 0;
    for number in 0..60 {
        let mut bad = good.clone();
        for byte in 0..8 {
            // The first page is left alone: without it, nothing opens the file.
            let place = 4096 + usize::try_from(scatter(number * 8 + byte)).unwrap() % (bad.len() - 4096);
            bad[place] ^= 0x5a;
        }
        let folder = crate::support::TempFolder::new();
        std::fs::create_dir_all(folder.0.join("data")).unwrap();
        std::fs::write(folder.database(), bad).unwrap();
        let sqlite = Connection::open(folder.database()).unwrap();
        let check = sqlite.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        drop(sqlite);
        let store = SqliteStore::new(
            SqliteOptions::new(folder.database()),
            Arc::new(annai_services::clock::SystemClock),
        );
        let found = store.check_rows().await;
        if check.is_err() || check.is_ok_and(|result| result != "ok") {
            seen += 1;
            assert!(found.is_err() || !found.unwrap().is_empty(), "damage {number}");
        }
    }
    assert!(seen > 10, "only {seen} of 60 files were damaged");
}

#[tokio::test]
async fn a_file_that_is_deleted_while_it_is_used_ends_runs_with_503() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    world.run(session, "x", Some("key")).await.unwrap();
    let (path, away) = (world.folder.database(), world.folder.0.join("away.db"));
    let unavailable = |error: annai_services::ServicesError, text: &str| {
        assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    std::fs::rename(&path, &away).unwrap();
    for _ in 0..2 {
        let deleted = "the database file was deleted or moved away";
        unavailable(world.run(session, "y", None).await.unwrap_err(), deleted);
        unavailable(world.store().authenticate(session).await.unwrap_err(), deleted);
    }
    assert!(!path.exists(), "nothing begins anew behind the operator's back");
    // The same file goes on where it was.
    std::fs::rename(&away, &path).unwrap();
    assert!(world.run(session, "y", None).await.is_ok());
    world.books().await;
    // Another file, such as a backup, is opened like a new one.
    world.store().close().await;
    world.store().authenticate(session).await.unwrap();
    world.run(session, "z", None).await.unwrap();
    world.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::copy(&path, &away).unwrap();
    std::fs::rename(&away, &path).unwrap();
    for extension in ["db-wal", "db-shm"] {
        let _ = std::fs::remove_file(path.with_extension(extension));
    }
    unavailable(world.store().authenticate(session).await.unwrap_err(), "replaced by another one");
    world.store().authenticate(session).await.unwrap();
    assert!(world.run(session, "z", None).await.is_ok());
    // A run during which the file disappears.
    let deleted = path.clone();
    world.upstream.answer(move |_, request| {
        let _ = std::fs::remove_file(&deleted);
        Box::pin(async move { crate::support::echo(&request) })
    });
    let result = world.run(session, "x", None).await;
    assert_eq!(code(result), "unavailable");
}
