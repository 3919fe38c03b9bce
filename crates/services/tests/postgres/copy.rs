use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::runs::RunOptions;
use annai_services::store::Store as _;
use annai_services::store::postgres::{PostgresStore, copy_from_sqlite};
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use annai_services::{Services, ServicesError};
use serde_json::json;

use crate::database::TestDatabase;
use crate::support::{EmbeddedWorld, code};

fn store(database: &TestDatabase) -> PostgresStore {
    PostgresStore::new(database.options(), Arc::new(SystemClock))
}

/// An embedded database with something in every table.
async fn filled() -> (EmbeddedWorld, annai_services::domain::ids::SessionToken) {
    let world = EmbeddedWorld::new();
    let (session, campaign) = world.sponsored_person(1000).await;
    let schema = json!({ "task_type": "signup", "required_fields": ["名前"], "instructions": "'; --" });
    let rich = json!({
        "name": "案内 \"x\"", "target_roles": ["dev"], "tags": ["a,b", "{c}"], "task_schema": schema,
        "sponsor_wallet_address": "0xw", "query_urls": ["https://c.example"],
    });
    world.campaign(50, rich).await;
    world
        .api(70, json!({ "name": "Own", "price_cents": 7, "upstream_headers": { "x-key": "k" } }))
        .await
        .unwrap();
    for number in 0..20 {
        let key = (number % 2 == 0).then(|| number.to_string());
        world.run(session, &format!("a\x00{number}"), key.as_deref()).await.unwrap();
    }
    world.upstream.answer(|_, _| Box::pin(async { crate::support::broken() }));
    world.run(session, "x", None).await.unwrap_err();
    let key = annai_services::domain::idempotency::IdempotencyKey::parse("p").unwrap();
    let patch = serde_json::from_value(json!({ "add_budget_cents": 5 })).unwrap();
    world.store().patch_campaign(campaign.id, patch, Some(key)).await.unwrap();
    let preferences = json!([{ "task_type": "survey", "level": "preferred" }]);
    let preferences = serde_json::from_value(preferences).unwrap();
    let preferences = annai_services::domain::preferences::NewPreferences::parse(preferences).unwrap();
    world.store().set_preferences(session, preferences).await.unwrap();
    // A run in progress, and a correction of the books.
    world.reserve(session, Some("living")).await.unwrap();
    world
        .sql()
        .execute_batch(&format!(
            "UPDATE campaigns SET budget_total_cents = budget_total_cents + 3 WHERE id = '{0}';
             INSERT INTO adjustments VALUES ('{0}', '{0}', NULL, 3, 'test', 0)",
            campaign.id
        ))
        .unwrap();
    (world, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_database_goes_on_as_a_postgresql_one() {
    needs_database!();
    let (world, session) = filled().await;
    let before = world.run(session, "a\x000", Some("0")).await.unwrap();
    let database = TestDatabase::new();
    let target = Arc::new(PostgresStore::new(database.options(), world.clock.clone()));
    let report = copy_from_sqlite(&world.folder.database(), &target).await.unwrap();
    for (table, rows) in &report.tables {
        assert_eq!(world.number(&format!("SELECT count(*) FROM {table}")), *rows as i64, "{table}");
        assert_eq!(database.number(&format!("SELECT count(*) FROM {table}")), *rows as i64, "{table}");
    }
    assert!(report.to_string().ends_with("The books balance on both sides."), "{report}");
    assert_eq!(target.check_books().await.unwrap(), []);
    // Everything reads the same on both sides.
    let old = world.store();
    assert_eq!(
        target.campaigns(Default::default()).await.unwrap(),
        old.campaigns(Default::default()).await.unwrap()
    );
    assert_eq!(
        target.sponsored_apis(Default::default()).await.unwrap(),
        old.sponsored_apis(Default::default()).await.unwrap()
    );
    assert_eq!(target.authenticate(session).await.unwrap(), old.authenticate(session).await.unwrap());
    assert_eq!(target.preferences(session).await.unwrap(), old.preferences(session).await.unwrap());
    assert_eq!(target.leases().await.unwrap(), old.leases().await.unwrap());
    assert_eq!(
        target.user_status(session, Arc::default()).await.unwrap(),
        old.user_status(session, Arc::default()).await.unwrap()
    );
    // Keys go on: the settled one is replayed, the living one is in progress.
    let services =
        Services::new(target.clone(), world.upstream.clone(), world.clock.clone(), RunOptions::default());
    assert_eq!(services.runs().run(world.request(session, "a\x000", Some("0"))).await.unwrap(), before);
    assert_eq!(code(services.runs().run(world.request(session, "x", Some("living"))).await), "in_progress");
    // Newer consents are the newest: the sequence goes on behind those that were copied.
    let campaign = target.campaigns(Default::default()).await.unwrap().entries.pop().unwrap();
    let submission = json!({
        "task_name": "survey",
        "consent": { "data_sharing_agreed": false, "purpose_acknowledged": true, "contact_permission": false },
    });
    let withdrawn = target
        .complete_task(session, campaign.id, serde_json::from_value(submission).unwrap())
        .await
        .unwrap();
    assert!(!withdrawn.report.can_use_service);
}

async fn conflict(copied: Result<impl std::fmt::Debug, ServicesError>) -> String {
    let error = copied.unwrap_err();
    assert_eq!(error.code(), "conflict", "{error}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_rows_and_wrong_books_are_refused() {
    needs_database!();
    let (world, _) = filled().await;
    let path = world.folder.database();
    let database = TestDatabase::new();
    let target = store(&database);
    let draft = json!({
        "name": "C", "sponsor": "S", "required_task": "t", "subsidy_per_call_cents": 1, "budget_cents": 1,
    });
    target.create_campaign(serde_json::from_value(draft).unwrap(), None).await.unwrap();
    assert!(conflict(copy_from_sqlite(&path, &target).await).await.contains("its table campaigns has rows"));
    assert_eq!(database.number("SELECT count(*) FROM users"), 0);
    let empty = TestDatabase::new();
    world.sql().execute_batch("UPDATE sponsored_apis SET budget_remaining_cents = 1").unwrap();
    assert!(conflict(copy_from_sqlite(&path, &store(&empty)).await).await.contains("do not balance"));
    // A value that cannot be moved leaves nothing of the others.
    world
        .sql()
        .execute_batch(
            "UPDATE sponsored_apis SET budget_remaining_cents = budget_total_cents - coalesce((SELECT sum(amount_cents)
                 FROM sponsored_api_calls WHERE sponsored_api_id = sponsored_apis.id), 0);
             UPDATE payments SET service = 'a' || char(0)",
        )
        .unwrap();
    let error = conflict(copy_from_sqlite(&path, &store(&empty)).await).await;
    assert!(
        error.contains(" of the table payments has in service a NUL character; nothing was copied"),
        "{error}"
    );
    world.sql().execute_batch("UPDATE payments SET service = 'a'; UPDATE users SET roles = '{}'").unwrap();
    let error = conflict(copy_from_sqlite(&path, &store(&empty)).await).await;
    assert!(error.contains(" of the table users has in roles something that is no list of texts"), "{error}");
    assert_eq!(empty.number("SELECT count(*) FROM campaigns"), 0);
    assert!(
        conflict(copy_from_sqlite(&path.join("no"), &store(&empty)).await).await.contains("no database file")
    );
    // An embedded database that is empty makes an empty one.
    let folder = crate::support::TempFolder::new();
    SqliteStore::new(SqliteOptions::new(folder.database()), Arc::new(SystemClock)).open().await.unwrap();
    let report = copy_from_sqlite(&folder.database(), &store(&empty)).await.unwrap();
    assert!(report.tables.iter().all(|(_, rows)| *rows == 0));
}
