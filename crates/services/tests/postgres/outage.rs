use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_services::clock::SystemClock;
use annai_services::domain::campaign::CampaignDraft;
use annai_services::runs::RunOptions;
use annai_services::store::Store;
use annai_services::store::postgres::{PostgresOptions, PostgresStore};
use annai_services::{Services, ServicesError};
use futures_util::future::join_all;
use serde_json::json;

use crate::database::{TestDatabase, connect, server_url, wait_until};
use crate::local_server::LocalServer;
use crate::proxy::{Network, Proxy};
use crate::support::{World, code};

fn store(options: PostgresOptions) -> PostgresStore {
    PostgresStore::new(options, Arc::new(SystemClock))
}

fn draft() -> CampaignDraft {
    serde_json::from_value(json!({
        "name": "C", "sponsor": "Acme", "required_task": "t", "subsidy_per_call_cents": 5, "budget_cents": 50,
    }))
    .unwrap()
}

/// Waits until so many statements of the database wait for a lock.
async fn blocked(database: &TestDatabase, statements: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    wait_until("the statements wait for a lock", async || database.number(waiting) >= statements).await;
}

/// The problem of a database that must be unavailable.
fn problem<T: std::fmt::Debug>(result: Result<T, ServicesError>) -> String {
    let error = result.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_for_ten_seconds_under_load_costs_nobody_anything() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(1_000_000).await;
    let proxy = Proxy::new().await;
    let store = Arc::new(store(proxy.options(&world.database)));
    let services = Services::new(store, world.upstream.clone(), world.clock.clone(), RunOptions::default());
    let (is_over, good, bad) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let load = join_all((0..8).map(|_| async {
        let mut slowest = Duration::ZERO;
        while !is_over.load(Ordering::SeqCst) {
            let started = Instant::now();
            match services.runs().run(world.request(session, "x", None)).await {
                Ok(_) => good.fetch_add(1, Ordering::SeqCst),
                Err(error) => {
                    assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    bad.fetch_add(1, Ordering::SeqCst)
                }
            };
            slowest = slowest.max(started.elapsed());
        }
        slowest
    }));
    let more = async |counter: &AtomicUsize, by: usize| {
        let enough = counter.load(Ordering::SeqCst) + by;
        wait_until("more calls are counted", async || counter.load(Ordering::SeqCst) >= enough).await;
    };
    let outages = async {
        more(&good, 20).await;
        for seconds in [1, 10] {
            proxy.set(Network::Down);
            let back = tokio::time::sleep(Duration::from_secs(seconds));
            more(&bad, 30).await;
            back.await;
            proxy.set(Network::Up);
            more(&good, 20).await;
        }
        is_over.store(true, Ordering::SeqCst);
    };
    let (slowest, ()) = tokio::join!(load, outages);
    assert!(slowest.iter().all(|slowest| *slowest < Duration::from_secs(40)), "{slowest:?}");
    let good = good.into_inner();
    // Recovered: what is left are attempts whose end could not be recorded; their leases end.
    assert!(services.runs().run(world.request(session, "x", None)).await.is_ok());
    services.runs().close().await;
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let leases = world.store().leases().await.unwrap();
    world.store().release_expired(leases).await.unwrap();
    let (reserved, remaining, settled) = world.books().await;
    assert_eq!((reserved, remaining + settled), (0, 1_000_000));
    assert!(settled >= 10 * (good as i64 + 1), "{settled} {good}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_network_is_given_up_and_used_again_when_it_speaks() {
    needs_database!();
    let (database, proxy) = (TestDatabase::new(), Proxy::new().await);
    let mut options = proxy.options(&database);
    options.use_case_timeout = Duration::from_millis(500);
    options.connect_timeout = Duration::from_millis(500);
    let store = store(options);
    store.open().await.unwrap();
    proxy.set(Network::Silent);
    let started = Instant::now();
    let problems: Vec<_> = join_all((0..20).map(|_| store.create_campaign(draft(), None)))
        .await
        .into_iter()
        .map(problem)
        .collect();
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    assert!(problems.iter().all(|problem| problem.contains("database")), "{problems:?}");
    proxy.set(Network::Up);
    store.create_campaign(draft(), None).await.unwrap();
    assert_eq!(database.number("SELECT count(*) FROM campaigns"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_locks_and_the_pool_are_waited_for_only_so_long() {
    needs_database!();
    let database = TestDatabase::new();
    store(database.options()).open().await.unwrap();
    let blocker = connect(&database.url()).await;
    let with = |statement: u64, lock: u64, pool_size: usize| {
        let mut options = database.options();
        options.statement_timeout = Duration::from_millis(statement);
        options.lock_timeout = Duration::from_millis(lock);
        options.connect_timeout = Duration::from_millis(300);
        options.pool_size = pool_size;
        store(options)
    };
    let [slow, locked, small] = [with(500, 60_000, 2), with(60_000, 500, 2), with(60_000, 60_000, 1)];
    join_all([slow.open(), locked.open(), small.open()]).await;
    blocker.batch_execute("BEGIN; LOCK TABLE campaigns IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert!(problem(slow.create_campaign(draft(), None).await).contains("took too long"));
    assert!(problem(locked.create_campaign(draft(), None).await).contains("locked by another program"));
    // One connection is taken by somebody who waits for the lock; the second caller hears of the full pool.
    let (first, second) = tokio::join!(small.create_campaign(draft(), None), async {
        blocked(&database, 1).await;
        let second = small.check_books().await;
        blocker.batch_execute("COMMIT").await.unwrap();
        second
    });
    assert!(problem(second).contains("all connections to the database are in use"));
    first.unwrap();
    for store in [&slow, &locked, &small] {
        store.create_campaign(draft(), None).await.unwrap();
    }
    assert_eq!(database.number("SELECT count(*) FROM campaigns"), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_slow_makes_calls_slow_and_the_full_pool_says_so_until_it_recovers() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(1_000_000).await;
    let mut options = world.database.options();
    options.pool_size = 2;
    options.connect_timeout = Duration::from_millis(300);
    let store = Arc::new(store(options));
    let services = Services::new(store, world.upstream.clone(), world.clock.clone(), RunOptions::default());
    // Every payment takes a fifth of a second, with two connections for forty runs at once.
    world
        .database
        .execute_batch(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END $$;
             CREATE TRIGGER slow BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION slow()",
        )
        .unwrap();
    let results = join_all((0..40).map(|_| services.runs().run(world.request(session, "x", None)))).await;
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    for failed in bad {
        assert!(problem(failed).contains("all connections to the database are in use"));
    }
    assert!(!good.is_empty(), "those who waited long enough were served");
    world.database.execute_batch("DROP TRIGGER slow ON payments").unwrap();
    assert!(services.runs().run(world.request(session, "x", None)).await.is_ok(), "it has recovered");
    services.runs().close().await;
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let leases = world.store().leases().await.unwrap();
    world.store().release_expired(leases).await.unwrap();
    let (reserved, remaining, settled) = world.books().await;
    assert_eq!((reserved, remaining + settled), (0, 1_000_000));
    assert!(settled >= 10 * (good.len() as i64 + 1), "{settled} {}", good.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_stops_waiting_leaves_the_whole_use_case_or_nothing() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let campaign = world.campaign(100, json!({ "target_tools": ["other"] })).await;
    let blocker = connect(&world.database.url()).await;
    blocker.batch_execute("BEGIN; LOCK TABLE task_claims IN ACCESS EXCLUSIVE MODE").await.unwrap();
    tokio::select! {
        completed = world.complete(session, campaign.id, [true, true]) => panic!("{completed:?}"),
        () = blocked(&world.database, 1) => {} // The caller stops waiting.
    }
    // So does somebody who runs a service, which cannot get further than its reservation.
    tokio::select! {
        done = world.run(session, "x", Some("k")) => panic!("{done:?}"),
        () = blocked(&world.database, 2) => {}
    }
    blocker.batch_execute("COMMIT").await.unwrap();
    world.settled().await;
    let completions = format!("SELECT count(*) FROM task_claims WHERE campaign_id = '{}'", campaign.id);
    // The use case goes on without its caller.
    wait_until("the task is completed", async || world.number(&completions) > 0).await;
    assert_eq!(world.number(&completions), 1);
    assert_eq!(world.number(&completions.replace("task_claims", "task_completions")), 1);
    assert_eq!(world.number(&completions.replace("task_claims", "consents")), 3);
    assert_eq!((world.upstream.calls(), world.books().await), (0, (0, 200, 0)));
    assert_eq!(world.number("SELECT count(*) FROM payments"), 0);
    assert!(world.run(session, "x", Some("k")).await.is_ok(), "the key is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn serialisation_failures_and_deadlocks_are_tried_again_so_often() {
    needs_database!();
    let database = TestDatabase::new();
    let store = store(database.options());
    store.open().await.unwrap();
    for (state, failures, succeeds) in
        [("40001", 3, true), ("40P01", 3, true), ("40001", 50, false), ("23514", 1, false)]
    {
        // A sequence counts on through transactions that are rolled back.
        database
            .execute_batch(&format!(
                "DROP SEQUENCE IF EXISTS tries; CREATE SEQUENCE tries;
                 CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                     IF nextval('tries') <= {failures} THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = '{state}'; END IF;
                     RETURN NULL; END $$;
                 DROP TRIGGER IF EXISTS fail ON campaigns;
                 CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON campaigns
                     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()"
            ))
            .unwrap();
        let before = database.number("SELECT count(*) FROM campaigns");
        let result = store.create_campaign(draft(), None).await;
        assert_eq!(database.number("SELECT count(*) FROM campaigns") - before, i64::from(succeeds));
        match state {
            _ if succeeds => assert!(result.is_ok(), "{result:?}"),
            "23514" => assert_eq!(code(result), "internal"),
            _ => assert!(problem(result).contains("busy with other changes")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_an_answer_says_that_nobody_knows() {
    needs_database!();
    let database = TestDatabase::new();
    let mut options = database.options();
    options.use_case_timeout = Duration::from_millis(400);
    let store = store(options);
    store.open().await.unwrap();
    database
        .execute_batch(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON campaigns
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()",
        )
        .unwrap();
    assert!(problem(store.create_campaign(draft(), None).await).contains("may or may not have been made"));
    // Reading takes another connection and goes on.
    assert_eq!(store.check_books().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_and_comes_back_is_used_again() {
    needs_database!();
    let server = LocalServer::start(None);
    let store = store(PostgresOptions::parse(&server.url).unwrap());
    let campaign = store.create_campaign(draft(), None).await.unwrap();
    join_all((0..8).map(|_| store.campaign(campaign.id))).await;
    server.crash();
    let started = Instant::now();
    assert!(problem(store.campaign(campaign.id).await).contains("cannot be reached"));
    assert!(problem(store.create_campaign(draft(), None).await).contains("cannot be reached"));
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    server.restart();
    assert_eq!(store.campaign(campaign.id).await.unwrap(), campaign);
    store.create_campaign(draft(), None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_addresses_are_named_and_the_second_host_is_used() {
    needs_database!();
    let database = TestDatabase::new();
    let parse = |url: &str| PostgresOptions::parse(url).unwrap();
    let missing =
        server_url().replace("/postgres", "/no_such_database").replacen("no_such_database:", "postgres:", 1);
    assert!(problem(store(parse(&missing)).open().await).contains("does not exist on its server"));
    assert!(problem(store(parse("postgres://a@127.0.0.1:1/d")).open().await).contains("cannot be reached"));
    let two = database.url().replace("127.0.0.1:", "127.0.0.1:1,127.0.0.1:");
    store(parse(&two)).open().await.unwrap();
    assert!(
        problem(store(parse(&format!("{}?sslmode=require", database.url()))).open().await)
            .contains("secure connection")
    );
}
