//! Rows that nobody can have meant: in a database that is copied, and in one that is taken over.

use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::store::Store as _;
use annai_services::store::postgres::{PostgresStore, copy_from_sqlite};

use crate::database::TestDatabase;
use crate::support::EmbeddedWorld;

const OLD_TABLES: &str = include_str!("old_system.sql");

/// The message with which a changed database is not copied, without the ids of its rows. Nothing of it is in the target.
async fn refused(change: &str) -> String {
    let world = EmbeddedWorld::new();
    let (session, _) = world.sponsored_person(100).await;
    world.run(session, "x", Some("key")).await.unwrap();
    world.services.close().await;
    // Types and constraints of tables hold back what this program itself would never write.
    let lax = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
         UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT, WITHOUT ROWID', ') WITHOUT ROWID'), ') STRICT', ')');";
    world.sql().execute_batch(lax).unwrap();
    world
        .sql()
        .execute_batch(&format!("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; {change}"))
        .unwrap();
    let database = TestDatabase::new();
    let target = PostgresStore::new(database.options(), Arc::new(SystemClock));
    target.open().await.unwrap();
    let error = copy_from_sqlite(&world.folder.database(), &target).await.unwrap_err();
    assert_eq!(error.code(), "conflict", "{change}: {error}");
    for table in ["users", "campaigns", "payments", "consents"] {
        assert_eq!(database.number(&format!("SELECT count(*) FROM {table}")), 0, "{change}: {table}");
    }
    let text = error.to_string();
    let (_, rest) = text.split_once(" of the table ").unwrap_or(("", &text));
    rest.split("; nothing was copied").next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_copied_is_named_and_nothing_is_copied() {
    needs_database!();
    for (change, expected) in [
        ("UPDATE users SET region = 'a' || char(0)", "users has in region a NUL character"),
        (
            "UPDATE campaigns SET task_schema = '{\"a\":\"\\u0000\"}'",
            "campaigns has in task_schema a NUL character",
        ),
        ("UPDATE campaigns SET tags = '[\"\\u0000\"]'", "campaigns has in tags a NUL character"),
        ("UPDATE users SET roles = '{}'", "users has in roles something that is no list of texts"),
        ("UPDATE users SET attributes = '{'", "users has in attributes something that is no JSON"),
        (
            "UPDATE users SET created_at = 9223372036854775807",
            "users has in created_at a time outside of the years 1 to 9999",
        ),
        (
            "UPDATE users SET created_at = 'infinity'",
            "users has in created_at something that is no whole number",
        ),
        ("UPDATE users SET email = x'ff'", "users has in email something that is no text"),
        ("UPDATE campaigns SET active = 7", "campaigns has in active a number other than 0 and 1"),
        (
            "UPDATE consents SET retention_days = 5000000000",
            "consents has in retention_days a number beyond 32 bits",
        ),
        (
            "UPDATE idempotency_keys SET reservation_id = 'no'",
            "idempotency_keys has in reservation_id something that is no UUID",
        ),
        (
            "UPDATE campaigns SET budget_total_cents = 9223372036854775807",
            "campaigns has an impossible amount in budget_total_cents",
        ),
        (
            "UPDATE payments SET amount_cents = -9223372036854775807",
            "payments has an impossible amount in amount_cents",
        ),
        (
            "UPDATE consents SET campaign_id = '00000000-0000-4000-8000-000000000000'",
            "consents names in campaign_id a row of campaigns that does not exist",
        ),
        (
            "UPDATE consents SET consent_type = 'everything'",
            "the database file is damaged: CHECK constraint failed in consents",
        ),
    ] {
        let text = refused(change).await;
        assert!(text.starts_with(expected), "{change}: {text}");
    }
    // A negative budget does not balance; that names the campaign.
    let text = refused("UPDATE campaigns SET budget_total_cents = -5").await;
    assert!(text.contains("do not balance: total -5"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn users_whose_addresses_differ_in_case_are_copied_as_they_are() {
    needs_database!();
    let world = EmbeddedWorld::new();
    let session = world.sign_in("a@example.com").await;
    world
        .sql()
        .execute_batch(
            "INSERT INTO users (id, email, region, created_at)
             VALUES ('00000000-0000-4000-8000-000000000001', 'A@Example.com', 'auto', 1)",
        )
        .unwrap();
    let database = TestDatabase::new();
    let target = PostgresStore::new(database.options(), Arc::new(SystemClock));
    copy_from_sqlite(&world.folder.database(), &target).await.unwrap();
    let id = target.authenticate(session).await.unwrap().id;
    // The one that owns the address stays the one that signs in.
    let sign_in = serde_json::json!({ "email": "A@EXAMPLE.COM", "region": "auto" });
    let again = target.sign_in(serde_json::from_value(sign_in).unwrap(), None).await.unwrap();
    assert_eq!((again.user_id, again.is_new_user), (id, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_impossible_rows_is_not_taken_over() {
    needs_database!();
    let user = "INSERT INTO users (id, email, region, roles, tools_used, attributes, created_at)
         VALUES ('00000000-0000-4000-8000-000000000001', 'a@example.com', 'JP', '{}', '{}', '{}', TIME)";
    let campaign =
        "INSERT INTO campaigns (id, name, sponsor, required_task, subsidy_per_call_cents, budget_total_cents,
             budget_remaining_cents, created_at)
         VALUES ('00000000-0000-4000-8000-000000000002', 'C', 'S', 'survey', 1, TOTAL, REMAINING, now())";
    let payment = "INSERT INTO payments (tx_hash, service, amount_cents, payer, source, status)
         VALUES ('0xabc', 's', 9223372036854775807, 'p', 'sponsor', 'settled')";
    let largest = "9223372036854775807";
    for (rows, row, table, value) in [
        (user.replace("TIME", "'infinity'"), "…0001", "users", "infinity in created_at"),
        (user.replace("TIME", "'-infinity'"), "…0001", "users", "-infinity in created_at"),
        (user.replace("TIME", "'20000-01-01'"), "…0001", "users", "20000-01-01 00:00:00+00 in created_at"),
        (
            campaign.replace("TOTAL", largest).replace("REMAINING", "-5"),
            "…0002",
            "campaigns",
            "9223372036854775807 in budget_total_cents",
        ),
        (payment.to_owned(), "0xabc", "payments", "9223372036854775807 in amount_cents"),
    ] {
        let database = TestDatabase::new();
        database.execute_batch(OLD_TABLES).unwrap();
        database.execute_batch(&format!("SET TIME ZONE 'UTC'; {rows}")).unwrap();
        let store = PostgresStore::new(database.options(), Arc::new(SystemClock));
        let error = store.open().await.unwrap_err();
        assert_eq!(error.status(), 503);
        let row = row.replace('…', "00000000-0000-4000-8000-00000000");
        let text = error.to_string();
        assert!(text.starts_with(&format!("the row {row} of the table {table} has ")), "{text}");
        assert!(
            text.contains(value.split(' ').next().unwrap())
                && text.contains(value.split(' ').next_back().unwrap()),
            "{text}"
        );
        assert_eq!(
            database
                .number("SELECT count(*) FROM information_schema.tables WHERE table_name = 'user_emails'"),
            0
        );
    }
    // A budget that was overdrawn is taken over, and pays for nothing.
    let database = TestDatabase::new();
    database.execute_batch(OLD_TABLES).unwrap();
    database.execute_batch(&campaign.replace("TOTAL", "-7").replace("REMAINING", "-7")).unwrap();
    let store = PostgresStore::new(database.options(), Arc::new(SystemClock));
    store.open().await.unwrap();
    assert_eq!(store.check_rows().await.unwrap(), []);
    let books = store.check_books().await.unwrap();
    assert!(books[0].to_string().contains("is overdrawn"), "{}", books[0]);
}
