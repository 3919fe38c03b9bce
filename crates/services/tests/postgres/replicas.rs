use std::sync::Arc;
use std::time::Duration;

use annai_services::Services;
use annai_services::domain::idempotency::IdempotencyKey;
use annai_services::domain::text::Name;
use annai_services::domain::user::VerifiedSubject;
use annai_services::runs::RunOptions;
use annai_services::store::PaymentOutcome;
use annai_services::store::postgres::PostgresStore;
use annai_services::upstream::UpstreamReply;
use futures_util::future::join_all;
use serde_json::json;

use crate::support::{World, broken, code, echo};

/// Another process on the same database, with its own connections.
fn replica(world: &World) -> Services {
    let store = Arc::new(PostgresStore::new(world.database.options(), world.clock.clone()));
    Services::new(store, world.upstream.clone(), world.clock.clone(), RunOptions::default())
}

fn reply(body: &str) -> UpstreamReply {
    UpstreamReply { status: 200, body: body.into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_on_two_replicas_runs_once() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(500).await;
    let replicas = [world.services.clone(), replica(&world)];
    world.upstream.answer(|_, request| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            echo(&request)
        })
    });
    for round in 0..5 {
        let key = format!("key {round}");
        let runs = (0..30).map(|number| {
            let request = world.request(session, "x", Some(&key));
            replicas[number % 2].runs().run(request)
        });
        let results = join_all(runs).await;
        for result in &results {
            match result {
                Ok(report) => assert_eq!(report.output, "X"),
                Err(error) => assert_eq!(error.code(), "in_progress"),
            }
        }
        assert_eq!(world.upstream.calls(), round + 1);
        // The retry lands on the other replica.
        let first = results.into_iter().find_map(Result::ok).unwrap();
        for replica in &replicas {
            assert_eq!(replica.runs().run(world.request(session, "x", Some(&key))).await.unwrap(), first);
        }
    }
    assert_eq!(world.books().await, (0, 450, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_runs_on_three_replicas_spend_exactly_the_budget_for_fifty() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(500).await;
    let replicas = [world.services.clone(), replica(&world), replica(&world)];
    world.upstream.answer(|number, request| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if number % 5 == 4 { broken() } else { echo(&request) }
        })
    });
    let runs = (0..300).map(|number| replicas[number % 3].runs().run(world.request(session, "x", None)));
    let results = join_all(runs).await;
    let paid = results.iter().filter(|result| result.is_ok()).count() as i64;
    for error in results.into_iter().filter_map(Result::err) {
        assert!(["payment_required", "upstream_error"].contains(&error.code()), "{error}");
    }
    assert!((1..=50).contains(&paid), "{paid}");
    assert_eq!(world.books().await, (0, 500 - 10 * paid, 10 * paid));
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_of_one_payment_that_settle_at_once_settle_it_once() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(2000).await;
    let other = replica(&world);
    for round in 0..30 {
        let key = round.to_string();
        let first = world.reserve(session, Some(&key)).await.unwrap();
        let leases = world.store().leases().await.unwrap();
        assert_eq!(world.store().release_expired(leases).await.unwrap(), 1);
        let second = world.reserve(session, Some(&key)).await.unwrap();
        let (late, after, again) = tokio::join!(
            world.store().settle(first.id, reply("first")),
            other.store().settle(second.id, reply("second")),
            other.store().settle(first.id, reply("first")),
        );
        let reports = [late.unwrap(), after.unwrap(), again.unwrap()];
        let settled = reports.iter().filter(|report| report.payment == PaymentOutcome::Settled).count();
        assert_eq!(settled, 1, "{reports:?}");
        assert!(reports.iter().all(|report| report.result == reports[0].result), "{reports:?}");
        assert_eq!(world.books().await, (0, 1990 - 10 * round, 10 * round + 10));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sweepers_of_two_replicas_and_runs_that_wake_release_everything_once() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(1000).await;
    let other = replica(&world);
    let mut reservations = Vec::new();
    for number in 0..60 {
        let key = (number % 2 == 0).then(|| number.to_string());
        let reservation = world.reserve(session, key.as_deref()).await.unwrap();
        world.store().mark_dispatched(reservation.id).await.unwrap();
        reservations.push(reservation);
    }
    let leases = world.store().leases().await.unwrap();
    let settle = join_all(
        reservations.iter().take(20).map(|reservation| other.store().settle(reservation.id, reply("x"))),
    );
    let (one, two, settled) = tokio::join!(
        world.store().release_expired(leases.clone()),
        other.store().release_expired(leases.clone()),
        settle,
    );
    // A run that settles after its release reserves again, so every one of them is paid for.
    assert!(settled.into_iter().all(|settled| settled.unwrap().payment == PaymentOutcome::Settled));
    assert!(one.unwrap() + two.unwrap() <= 60);
    // What was skipped is found by the next sweep.
    world.store().release_expired(leases).await.unwrap();
    assert_eq!(world.books().await, (0, 800, 200));
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn sponsors_who_repeat_themselves_on_another_replica_change_once() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    let replicas = [world.services.clone(), replica(&world)];
    let key = |key: &str| Some(IdempotencyKey::parse(key).unwrap());
    let draft = || {
        serde_json::from_value(json!({
            "name": "C", "sponsor": "Acme", "required_task": "t", "subsidy_per_call_cents": 5, "budget_cents": 50,
        }))
        .unwrap()
    };
    let created = join_all((0..20).map(|n| replicas[n % 2].store().create_campaign(draft(), key("c")))).await;
    let created: Vec<_> = created.into_iter().map(|created| created.unwrap().id).collect();
    assert!(created.iter().all(|id| *id == created[0]));
    assert_eq!(world.number("SELECT count(*) FROM campaigns"), 2);
    // Top-ups with one key count once, those without each time, while runs take from the budget.
    let top_up = || serde_json::from_value(json!({ "add_budget_cents": 7 })).unwrap();
    let keyed =
        join_all((0..10).map(|n| replicas[n % 2].store().patch_campaign(campaign.id, top_up(), key("p"))));
    let free = join_all((0..10).map(|n| replicas[n % 2].store().patch_campaign(campaign.id, top_up(), None)));
    let runs = join_all((0..10).map(|n| replicas[n % 2].runs().run(world.request(session, "x", None))));
    let (keyed, free, runs) = tokio::join!(keyed, free, runs);
    assert!(keyed.iter().chain(&free).all(Result::is_ok));
    assert!(runs.iter().all(Result::is_ok));
    assert_eq!(world.store().campaign(campaign.id).await.unwrap().budget_total_cents.get(), 177);
    assert_eq!(world.books().await, (0, 127, 100));
    // Changes of different fields at once do not undo each other.
    let changes = [json!({ "name": "Renamed" }), json!({ "tags": ["t"] }), json!({ "active": false })];
    let patches = changes.iter().cycle().take(30).enumerate().map(|(n, change)| {
        let patch = serde_json::from_value(change.clone()).unwrap();
        replicas[n % 2].store().patch_campaign(campaign.id, patch, None)
    });
    assert!(join_all(patches).await.iter().all(Result::is_ok));
    let changed = world.store().campaign(campaign.id).await.unwrap();
    assert_eq!(
        (changed.name.as_str(), changed.tags, changed.active),
        ("Renamed", vec!["t".to_owned()], false)
    );
    // One service key has one API.
    let draft = || {
        serde_json::from_value(json!({
            "name": "D", "sponsor": "S", "upstream_url": "https://up.example", "price_cents": 1, "budget_cents": 1,
        }))
        .unwrap()
    };
    let apis = join_all(
        (0..10).map(|n| replicas[n % 2].store().create_sponsored_api(draft(), Arc::default(), None)),
    );
    let (good, taken): (Vec<_>, Vec<_>) = apis.await.into_iter().partition(Result::is_ok);
    assert_eq!((good.len(), taken.len()), (1, 9));
    assert!(taken.into_iter().all(|taken| code(taken) == "conflict"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_slips_into_an_account_while_it_is_being_bound_on_another_replica() {
    needs_database!();
    let world = World::new();
    let other = replica(&world);
    for round in 0..40 {
        let email = format!("a{round}@example.com");
        let sign_in = || serde_json::from_value(json!({ "email": email, "region": "auto" })).unwrap();
        if round % 2 == 0 {
            world.store().sign_in(sign_in(), None).await.unwrap();
        }
        let name = |text: &str| Name::parse(text).unwrap();
        let subject =
            || Some(VerifiedSubject { issuer: name("https://issuer.example"), subject: name(&email) });
        let (bound, again, unverified, also) = tokio::join!(
            world.store().sign_in(sign_in(), subject()),
            other.store().sign_in(sign_in(), subject()),
            other.store().sign_in(sign_in(), None),
            world.store().sign_in(sign_in(), None),
        );
        // The person may come twice at once; both sessions are theirs.
        let (bound, again) = (bound.unwrap(), again.unwrap());
        assert_eq!(bound.user_id, again.user_id);
        assert!(world.store().authenticate(again.session_token).await.is_ok());
        // Whoever came without verification was refused, or their session has ended with the binding.
        for entered in [unverified, also].into_iter().flatten() {
            assert_eq!(code(world.store().authenticate(entered.session_token).await), "unauthorized");
        }
    }
    assert_eq!(world.number("SELECT count(*) FROM users"), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_sees_at_once_what_other_replicas_and_programs_have_changed() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(20).await;
    let other = replica(&world);
    let names = async || {
        let query = serde_json::from_value(json!({})).unwrap();
        let report = other.store().search(query, None, Arc::default()).await.unwrap();
        report.services.into_iter().map(|item| item.name).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["Survey for scraping", "Scrape"]);
    let patch = serde_json::from_value(json!({ "name": "Renamed" })).unwrap();
    world.store().patch_campaign(campaign.id, patch, None).await.unwrap();
    world.campaign(10, json!({ "name": "New" })).await;
    assert_eq!(names().await, ["New", "Renamed", "Scrape"]);
    // Budgets are read each time: both are exhausted now, and a top-up revives one.
    world.run(session, "x", None).await.unwrap();
    world.run(session, "x", None).await.unwrap();
    assert_eq!(names().await, ["New", "Scrape"]);
    let patch = serde_json::from_value(json!({ "add_budget_cents": 10 })).unwrap();
    world.store().patch_campaign(campaign.id, patch, None).await.unwrap();
    assert_eq!(names().await, ["New", "Renamed", "Scrape"]);
    for (statement, expected) in [
        // Without a service, the subsidy must be left.
        ("UPDATE sponsored_apis SET active = false", &[][..]),
        ("UPDATE campaigns SET subsidy_per_call_cents = 5", &["New", "Renamed"]),
        ("DELETE FROM campaigns WHERE name = 'New'", &["Renamed"]),
        ("TRUNCATE campaigns CASCADE", &[]),
    ] {
        world.sql().execute_batch(statement).unwrap();
        assert_eq!(names().await, expected, "{statement}");
    }
}
