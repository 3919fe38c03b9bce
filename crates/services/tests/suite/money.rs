use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{World, broken, code, echo};

/// Fails every fourth call, and takes a moment, so that runs overlap.
fn fail_a_quarter(world: &World) {
    world.upstream.answer(|number, request| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if number % 4 == 3 { broken() } else { echo(&request) }
        })
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_runs_at_once_spend_exactly_the_budget() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(500).await;
    fail_a_quarter(&world);
    let results = join_all((0..300).map(|_| world.run(session, "x", None))).await;
    let paid = results.iter().filter(|result| result.is_ok()).count();
    assert!((1..=50).contains(&paid), "{paid}");
    for error in results.into_iter().filter_map(Result::err) {
        assert!(["payment_required", "upstream_error"].contains(&error.code()), "{error}");
    }
    let settled = 10 * paid as i64;
    assert_eq!(world.books().await, (0, 500 - settled, settled));
    // Then one by one until nothing is left.
    let mut paid = paid;
    loop {
        match world.run(session, "x", None).await {
            Ok(_) => paid += 1,
            Err(error) if error.code() == "upstream_error" => {}
            Err(error) => {
                assert_eq!((error.status(), error.code()), (402, "payment_required"));
                break;
            }
        }
        assert!(world.books().await.1 >= 0);
    }
    assert_eq!((paid, world.books().await), (50, (0, 0, 500)));
    let dashboard = world.store().dashboard(campaign.id).await.unwrap();
    assert_eq!((dashboard.sponsored_calls, dashboard.spend_cents.get()), (50, 500));
    assert_eq!((dashboard.reserved_cents.get(), dashboard.remaining_budget_cents.get()), (0, 0));
    // Every call of the upstream either settled or failed its payment.
    let failed = world.number("SELECT count(*) FROM payments WHERE status = 'failed'");
    assert_eq!(world.upstream.calls() as i64, 50 + failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_campaign_pays_when_one_has_just_run_dry() {
    needs_database!();
    let world = World::new();
    let (session, older) = world.sponsored_person(30).await;
    let newer = world.campaign(20, json!({ "sponsor": "Newer" })).await;
    world.complete(session, newer.id, [true, true]).await.unwrap();
    let results = join_all((0..8).map(|_| world.run(session, "x", None))).await;
    let sponsors = |name: &str| results.iter().flatten().filter(|report| report.sponsored_by == name).count();
    assert_eq!((sponsors("Newer"), sponsors("Acme")), (2, 3));
    assert_eq!(
        results.into_iter().filter_map(Result::err).map(|error| error.status()).collect::<Vec<_>>(),
        [402; 3]
    );
    assert_eq!(world.books().await, (0, 0, 50));
    // With budget again, a campaign whose task is not done asks for it.
    let third = world.campaign(10, json!({ "name": "Third", "required_task": "register" })).await;
    let error = world.run(session, "x", None).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (428, "precondition_required"));
    let details = error.details().unwrap();
    assert_eq!(details["campaign_id"], json!(third.id));
    assert_eq!((&details["required_task"], &details["campaign_name"]), (&json!("register"), &json!("Third")));
    // A top-up revives an exhausted one.
    let patch = serde_json::from_value(json!({ "add_budget_cents": 10 })).unwrap();
    world.store().patch_campaign(older.id, patch, None).await.unwrap();
    assert_eq!(world.run(session, "x", None).await.unwrap().sponsored_by, "Acme");
    assert_eq!(world.books().await, (0, 10, 60));
}

#[tokio::test]
async fn the_apis_own_budget_pays_without_a_task_where_no_campaign_matches() {
    needs_database!();
    let world = World::new();
    let api = world.api(20, json!({})).await.unwrap();
    let session = world.sign_in("a@example.com").await;
    for _ in 0..2 {
        let report = world.run(session, "x", None).await.unwrap();
        assert_eq!((report.sponsored_by.as_str(), report.output.as_str()), ("Scraper Inc", "X"));
    }
    let error = world.run(session, "x", None).await.unwrap_err();
    assert_eq!((error.status(), error.details().unwrap()["price_cents"].clone()), (402, json!(10)));
    assert_eq!(world.store().sponsored_api(api.id).await.unwrap().budget_remaining_cents.get(), 0);
    assert_eq!(world.number("SELECT sum(amount_cents) FROM sponsored_api_calls"), 20);
    world.books().await;
    // A campaign that matches comes first, even when that means a task.
    let patch = serde_json::from_value(json!({ "add_budget_cents": 50 })).unwrap();
    world.store().patch_sponsored_api(api.id, patch, Arc::default(), None).await.unwrap();
    let campaign = world.campaign(10, json!({})).await;
    assert_eq!(code(world.run(session, "x", None).await), "precondition_required");
    world.complete(session, campaign.id, [true, true]).await.unwrap();
    assert_eq!(world.run(session, "x", None).await.unwrap().sponsored_by, "Acme");
    assert_eq!(world.run(session, "x", None).await.unwrap().sponsored_by, "Scraper Inc");
    world.books().await;
}

#[tokio::test]
async fn a_reservation_keeps_its_amount_when_prices_change() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    let wake = Arc::new(Notify::new());
    let waiting = wake.clone();
    world.upstream.answer(move |_, request| {
        let waiting = waiting.clone();
        Box::pin(async move {
            waiting.notified().await;
            echo(&request)
        })
    });
    let change = async {
        world.called(1).await;
        assert_eq!(world.books().await, (10, 90, 0));
        let apis = world.store().sponsored_apis(Default::default()).await.unwrap();
        let patch = serde_json::from_value(json!({ "price_cents": 40 })).unwrap();
        world.store().patch_sponsored_api(apis.entries[0].id, patch, Arc::default(), None).await.unwrap();
        let patch = serde_json::from_value(json!({ "active": false })).unwrap();
        world.store().patch_campaign(campaign.id, patch, None).await.unwrap();
        wake.notify_one();
    };
    let (report, ()) = tokio::join!(world.run(session, "x", None), change);
    assert!(report.is_ok());
    assert_eq!(world.books().await, (0, 90, 10));
    // A campaign that is switched off pays no more.
    assert_eq!(code(world.run(session, "x", None).await), "payment_required");
}

#[tokio::test]
async fn a_failed_run_costs_nothing_and_leaves_a_failed_payment() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    world.upstream.answer(|_, _| Box::pin(async { broken() }));
    let error = world.run(session, "x", None).await.unwrap_err();
    assert_eq!((error.status(), error.details().unwrap()["status"].clone()), (502, json!(500)));
    assert_eq!(world.books().await, (0, 100, 0));
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    world.upstream.answer(|_, _| Box::pin(async { panic!("on purpose") }));
    assert_eq!(code(world.run(session, "x", None).await), "upstream_error");
    assert_eq!(world.books().await, (0, 100, 0));
    // A refusal before the upstream is called leaves none.
    let stranger = world.sign_in("b@example.com").await;
    assert_eq!(code(world.run(stranger, "x", None).await), "precondition_required");
    assert_eq!(world.number("SELECT count(*) FROM payments"), 2);
}

#[tokio::test]
async fn a_price_of_zero_and_unknown_services() {
    needs_database!();
    let world = World::new();
    let session = world.sign_in("a@example.com").await;
    let api = world.api(0, json!({ "price_cents": 0 })).await.unwrap();
    assert!(world.run(session, "x", None).await.is_ok());
    let patch = serde_json::from_value(json!({ "active": false })).unwrap();
    world.store().patch_sponsored_api(api.id, patch, Arc::default(), None).await.unwrap();
    let error = world.run(session, "x", None).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (404, "not_found"));
    // A campaign that names the key makes no service of it.
    world.campaign(100, json!({ "target_tools": ["other"] })).await;
    let request = world.request(session, "x", None);
    let service = annai_services::domain::text::Name::parse("other").unwrap();
    let result = world.runs().run(annai_services::runs::RunRequest { service, ..request }).await;
    assert_eq!(code(result), "not_found");
    world.books().await;
}
