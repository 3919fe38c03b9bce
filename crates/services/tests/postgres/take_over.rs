use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::domain::ids::{CampaignId, SessionToken};
use annai_services::store::postgres::PostgresStore;
use annai_services::store::{BudgetOwner, Migration, Store as _};
use futures_util::future::join_all;
use serde_json::json;
use tokio_postgres::Client;

use crate::database::{TestDatabase, connect};
use crate::support::{World, code};

const OLD_TABLES: &str = include_str!("old_system.sql");
const OLD_ROWS: &str = include_str!("old_rows.sql");

fn session(number: u8) -> SessionToken {
    serde_json::from_value(json!(format!("10000000-0000-4000-8000-00000000000{number}"))).unwrap()
}

fn campaign(number: u8) -> CampaignId {
    CampaignId::parse(&format!("20000000-0000-4000-8000-00000000000{number}")).unwrap()
}

/// A world on a database that the system before this one has used.
fn taken_over() -> World {
    let world = World::new();
    world.sql().execute_batch(OLD_TABLES).unwrap();
    world.sql().execute_batch(OLD_ROWS).unwrap();
    world
}

#[tokio::test]
async fn duplicates_are_adopted_by_the_oldest_user() {
    needs_database!();
    let world = taken_over();
    let ann = world.store().authenticate(session(1)).await.unwrap();
    assert_eq!(
        (ann.email.as_str(), ann.region.as_str(), ann.roles.clone()),
        ("Ann@example.com", "JP", vec!["dev".into()])
    );
    // The sessions of the younger duplicates are hers.
    for number in [2, 3] {
        assert_eq!(world.store().authenticate(session(number)).await.unwrap(), ann);
    }
    let again = world.sign_in("aNN@EXAMPLE.com").await;
    assert_eq!(world.store().authenticate(again).await.unwrap(), ann);
    assert_eq!(world.number("SELECT count(*) FROM users"), 5);
    assert_eq!(world.number("SELECT count(*) FROM user_emails"), 3);
    // Her oldest completion counts, which a duplicate made, without consents.
    let status = world.store().user_status(session(3), Arc::default()).await.unwrap();
    assert_eq!(status.completed_tasks.len(), 1);
    assert_eq!(status.completed_tasks[0].completed_at, "2026-04-01T00:00:00Z".parse().unwrap());
    let report = world.run(session(2), "x", None).await.unwrap();
    assert_eq!((report.sponsored_by.as_str(), report.output.as_str()), ("Acme", "X"));
    // Completing it again returns the adopted one, and records consents of the adopting user.
    let completion = world.complete(session(3), campaign(1), [true, true]).await.unwrap();
    assert_eq!(completion.completion.id.to_string(), "40000000-0000-4000-8000-000000000001");
    // Ben has withdrawn his consent before.
    assert_eq!(code(world.run(session(4), "x", None).await), "precondition_required");
    assert_eq!(world.store().dashboard(campaign(1)).await.unwrap().tasks_completed, 1);
    // Preferences that are beyond the limits are left out.
    assert_eq!(world.store().preferences(session(1)).await.unwrap().preferences.len(), 1);
}

#[tokio::test]
async fn a_withdrawal_by_a_duplicate_counts_for_the_person() {
    needs_database!();
    let world = taken_over();
    world
        .sql()
        .execute_batch(
            "INSERT INTO consents (id, user_id, campaign_id, consent_type, granted) VALUES (gen_random_uuid(),
             '00000000-0000-4000-8000-000000000003', '20000000-0000-4000-8000-000000000001', 'retention', false)",
        )
        .unwrap();
    assert_eq!(code(world.run(session(1), "x", None).await), "precondition_required");
    assert_eq!(world.store().dashboard(campaign(1)).await.unwrap().tasks_completed, 0);
}

#[tokio::test]
async fn books_are_balanced_once_and_later_differences_are_reported() {
    needs_database!();
    let world = taken_over();
    world.store().open().await.unwrap();
    let adjustment = |of: &str| {
        world.number(&format!(
            "SELECT sum(amount_cents) FROM adjustments WHERE coalesce(campaign_id, sponsored_api_id) = '{of}'"
        ))
    };
    assert_eq!(world.number("SELECT count(*) FROM adjustments"), 2);
    assert_eq!(adjustment("20000000-0000-4000-8000-000000000002"), 40);
    assert_eq!(adjustment("30000000-0000-4000-8000-000000000003"), 5);
    // The overdrawn campaign balances, but its budget is below zero; it is reported, and pays for nothing.
    let violations = world.store().check_books().await.unwrap();
    assert_eq!(violations.len(), 1);
    assert_eq!((violations[0].owner, violations[0].budget_remaining_cents), (BudgetOwner::Campaign, -10));
    assert!(
        violations[0].to_string().ends_with("is overdrawn: 10 cents more than its 20 were spent"),
        "{}",
        violations[0]
    );
    assert_eq!(world.store().campaign(campaign(3)).await.unwrap().budget_remaining_cents.get(), 0);
    // A top-up keeps the difference.
    let patch = serde_json::from_value(json!({ "add_budget_cents": 100 })).unwrap();
    world.store().patch_campaign(campaign(3), patch, None).await.unwrap();
    assert_eq!(world.number("SELECT budget_remaining_cents FROM campaigns WHERE name = 'Overdrawn'"), 90);
    assert_eq!(world.store().check_books().await.unwrap(), []);
    // What happens to the books later is not booked by another start.
    world
        .sql()
        .execute_batch("UPDATE campaigns SET budget_remaining_cents = 1 WHERE name = 'Balanced'")
        .unwrap();
    let store = PostgresStore::new(world.database.options(), Arc::new(SystemClock));
    assert_eq!(store.check_books().await.unwrap().len(), 1);
    assert_eq!(world.number("SELECT count(*) FROM adjustments"), 2);
}

#[tokio::test]
async fn a_database_is_served_whatever_the_old_system_wrote() {
    needs_database!();
    let world = taken_over();
    // A text that cannot be compressed is too long for an index.
    world
        .sql()
        .execute_batch(
            "INSERT INTO users (id, email, region, roles, tools_used, attributes) SELECT gen_random_uuid(),
                 string_agg(md5(n::text), ''), 'JP', '{NULL,dev}', '{NULL}', '{}' FROM generate_series(1, 500) n;
             UPDATE users SET roles = '{NULL,dev}';
             UPDATE campaigns SET query_urls = '{NULL}', target_roles = array_append(target_roles, NULL),
                 target_tools = array_append(target_tools, NULL)",
        )
        .unwrap();
    assert_eq!(world.store().authenticate(session(1)).await.unwrap().roles, ["dev"]);
    assert!(world.run(session(2), "x", None).await.is_ok());
    let names: Vec<_> = world
        .store()
        .search(serde_json::from_value(json!({})).unwrap(), Some(session(1)), Arc::default())
        .await
        .unwrap()
        .services
        .into_iter()
        .map(|item| item.name)
        .collect();
    // The overdrawn campaign and the API with a method that cannot be called are not offered.
    assert_eq!(names, ["Lossy", "Balanced", "Draw", "Scrape"]);
    assert_eq!(world.store().sponsored_apis(Default::default()).await.unwrap().entries.len(), 2);
    // A form that cannot be read stands for the general one, and a change of something else keeps it.
    let details = world.store().task_details(session(1), campaign(2)).await.unwrap();
    assert_eq!((details.task_input_format.task_type.as_str(), details.already_completed), ("survey", false));
    let patch = serde_json::from_value(json!({ "name": "Renamed" })).unwrap();
    world.store().patch_campaign(campaign(2), patch, None).await.unwrap();
    assert_eq!(
        world.number("SELECT count(*) FROM campaigns WHERE task_schema ->> 'kind' = 'unknown form'"),
        1
    );
}

#[tokio::test]
async fn looking_at_a_database_changes_nothing() {
    needs_database!();
    let world = taken_over();
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    let before = world.number(tables);
    let mut options = world.database.options();
    options.migration = Migration::Refuse;
    let look = PostgresStore::new(options.clone(), Arc::new(SystemClock));
    let error = look.check_books().await.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "unavailable"));
    assert!(error.to_string().starts_with("the database needs 6 migrations; "), "{error}");
    assert!(look.campaigns(Default::default()).await.is_err());
    assert_eq!(world.number(tables), before);
    world.store().open().await.unwrap();
    // What the old system writes meanwhile is adopted by the server only.
    world
        .sql()
        .execute_batch(
            "INSERT INTO users (id, email, region, roles, tools_used, attributes)
             VALUES (gen_random_uuid(), 'new@example.com', 'JP', '{}', '{}', '{}')",
        )
        .unwrap();
    let look = PostgresStore::new(options, Arc::new(SystemClock));
    assert_eq!(look.check_books().await.unwrap().len(), 1);
    assert_eq!(world.number("SELECT count(*) FROM user_emails WHERE email_lower = 'new@example.com'"), 0);
}

/// The columns and constraints of the old tables, without what the migrations add.
async fn shape(client: &Client) -> Vec<String> {
    let query = "SELECT table_name || '.' || column_name || ' ' || udt_name || ' ' || is_nullable || ' '
                 || coalesce(column_default, '-') FROM information_schema.columns
             WHERE table_schema = 'public' AND column_name NOT IN ('adopted_by', 'taken_over', 'seq')
             AND table_name IN ('users', 'gpt_sessions', 'campaigns', 'sponsored_apis', 'sponsored_api_calls',
                 'task_completions', 'payments', 'consents', 'user_task_preferences', 'creator_events')
         UNION ALL SELECT conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
             WHERE conrelid::regclass::text IN ('users', 'gpt_sessions', 'campaigns', 'sponsored_apis',
                 'sponsored_api_calls', 'task_completions', 'payments', 'consents', 'user_task_preferences',
                 'creator_events') AND pg_get_constraintdef(oid) NOT LIKE '%(adopted_by)%'
         ORDER BY 1";
    client.query(query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn old_tables_keep_their_shape_and_new_ones_are_the_same() {
    needs_database!();
    let (old, new) = (TestDatabase::new(), TestDatabase::new());
    old.execute_batch(OLD_TABLES).unwrap();
    let old_client = connect(&old.url()).await;
    let before = shape(&old_client).await;
    assert!(before.len() > 80, "{}", before.len());
    for database in [&old, &new] {
        PostgresStore::new(database.options(), Arc::new(SystemClock)).open().await.unwrap();
    }
    assert_eq!(shape(&old_client).await, before);
    assert_eq!(shape(&connect(&new.url()).await).await, before);
}

#[tokio::test]
async fn the_old_systems_inserts_still_work_and_are_adopted_by_the_next_start() {
    needs_database!();
    let world = taken_over();
    world.store().open().await.unwrap();
    let again = OLD_ROWS
        .replace("0000-4000-8000", "0000-4000-9000")
        .replace("'0x", "'1x")
        .replace("'scrape', '{\"", "'scrape2', '{\"");
    let again = again.replace("'read', '{}'", "'read2', '{}'").replace("'draw', '{}'", "'draw2', '{}'");
    // The old system may have a user of its own, with rights to its own tables only.
    let rights = "DO $$ BEGIN CREATE ROLE annai_test_old_system; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
         GRANT SELECT, INSERT, UPDATE, DELETE ON users, gpt_sessions, campaigns, sponsored_apis, sponsored_api_calls,
             task_completions, payments, consents, user_task_preferences, creator_events TO annai_test_old_system;
         SET ROLE annai_test_old_system";
    world.sql().execute_batch(rights).unwrap();
    world.sql().execute_batch(&again).unwrap();
    world.sql().execute_batch("UPDATE campaigns SET active = active; RESET ROLE").unwrap();
    assert_eq!(world.number("SELECT count(*) FROM users WHERE adopted_by IS NULL"), 8);
    // Ann is bound meanwhile; the old system's sessions must not lead to her account.
    world
        .sql()
        .execute_batch(
            "INSERT INTO identities VALUES ('i', 's', '00000000-0000-4000-8000-000000000001', now())",
        )
        .unwrap();
    let store = PostgresStore::new(world.database.options(), world.clock.clone());
    store.open().await.unwrap();
    assert_eq!(world.number("SELECT count(*) FROM users WHERE adopted_by IS NULL"), 3);
    assert_eq!(world.number("SELECT count(*) FROM user_emails"), 3);
    let new_session = |number: u8| {
        serde_json::from_value::<SessionToken>(json!(format!("10000000-0000-4000-9000-00000000000{number}")))
            .unwrap()
    };
    assert_eq!(code(store.authenticate(new_session(1)).await), "unauthorized");
    assert_eq!(
        store.authenticate(new_session(4)).await.unwrap(),
        store.authenticate(session(4)).await.unwrap()
    );
    assert!(
        store.authenticate(session(2)).await.is_ok(),
        "sessions from before the binding are the binding's affair"
    );
    // Nothing is booked for the differences that came later.
    assert_eq!(world.number("SELECT count(*) FROM adjustments"), 2);
    assert_eq!(store.check_books().await.unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_migrate_a_filled_database_at_once() {
    needs_database!();
    for rows in ["", OLD_ROWS] {
        let database = TestDatabase::new();
        if !rows.is_empty() {
            database.execute_batch(OLD_TABLES).unwrap();
            database.execute_batch(rows).unwrap();
        }
        let stores: Vec<_> =
            (0..3).map(|_| PostgresStore::new(database.options(), Arc::new(SystemClock))).collect();
        for result in join_all(stores.iter().flat_map(|store| [store.open(), store.open()])).await {
            result.unwrap();
        }
        assert_eq!(database.number("SELECT count(*) FROM annai_migrations"), 6);
        let expected = if rows.is_empty() { 0 } else { 2 };
        assert_eq!(database.number("SELECT count(*) FROM adjustments"), expected);
    }
}

#[tokio::test]
async fn the_tables_of_another_program_and_of_a_newer_version_are_left_alone() {
    needs_database!();
    let database = TestDatabase::new();
    database.execute_batch("CREATE TABLE users (id integer PRIMARY KEY, email text)").unwrap();
    let store = PostgresStore::new(database.options(), Arc::new(SystemClock));
    let error = store.open().await.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "unavailable"));
    assert!(error.to_string().contains("a table users of another program"), "{error}");
    assert_eq!(
        database.number("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"),
        1
    );
    database.execute_batch("DROP TABLE users").unwrap();
    store.open().await.unwrap();
    database.execute_batch("INSERT INTO annai_migrations VALUES (99, 'newer')").unwrap();
    let error = PostgresStore::new(database.options(), Arc::new(SystemClock)).open().await.unwrap_err();
    assert!(error.to_string().contains("newer version"), "{error}");
}
