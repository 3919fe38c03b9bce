use std::sync::Arc;

use annai_services::domain::reservation::Dispatch;
use annai_services::store::CleanUp;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{World, broken, clean_up_until, code, echo};

#[tokio::test]
async fn a_settled_key_returns_the_first_result_and_charges_once() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    let first = world.run(session, "x", Some("k")).await.unwrap();
    world.upstream.answer(|_, _| Box::pin(async { broken() }));
    assert_eq!(world.run(session, "x", Some("k")).await.unwrap(), first);
    assert_eq!((world.upstream.calls(), world.books().await), (1, (0, 90, 10)));
    // The key is looked up before matching: the sponsor may be gone.
    let patch = serde_json::from_value(json!({ "active": false })).unwrap();
    world.store().patch_campaign(campaign.id, patch, None).await.unwrap();
    assert_eq!(world.run(session, "x", Some("k")).await.unwrap(), first);
    // Another service or input under the same key conflicts.
    let conflict = world.run(session, "y", Some("k")).await.unwrap_err();
    assert_eq!((conflict.status(), conflict.code()), (409, "conflict"));
    // Keys belong to their user.
    let other = world.sign_in("b@example.com").await;
    assert_eq!(code(world.run(other, "y", Some("k")).await), "payment_required");
}

#[tokio::test]
async fn a_running_key_is_in_progress_and_a_released_one_is_free_with_the_same_payment() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let wake = Arc::new(Notify::new());
    let waiting = wake.clone();
    world.upstream.answer(move |number, request| {
        let waiting = waiting.clone();
        Box::pin(async move {
            if number == 0 {
                waiting.notified().await;
                return broken();
            }
            echo(&request)
        })
    });
    let second = async {
        world.called(1).await;
        let error = world.run(session, "x", Some("k")).await.unwrap_err();
        assert_eq!((error.status(), error.code()), (409, "in_progress"));
        wake.notify_one();
    };
    let (first, ()) = tokio::join!(world.run(session, "x", Some("k")), second);
    assert_eq!(code(first), "upstream_error");
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    let third = world.run(session, "x", Some("k")).await.unwrap();
    assert_eq!(world.upstream.keys(), [third.tx_hash.to_string(), third.tx_hash.to_string()]);
    // The failed payment has become the settled one.
    assert_eq!(world.number("SELECT count(*) FROM payments"), 1);
    assert_eq!(world.books().await, (0, 90, 10));
}

#[tokio::test]
async fn keys_and_outputs_end_after_a_day_and_runs_without_a_key_store_nothing() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    world.run(session, "x", None).await.unwrap();
    assert_eq!(world.number("SELECT count(*) FROM idempotency_keys"), 0);
    let first = world.run(session, "x", Some("k")).await.unwrap();
    world.clock.jump(SignedDuration::from_hours(23));
    world.store().delete_expired().await.unwrap();
    assert_eq!(world.run(session, "x", Some("k")).await.unwrap().tx_hash, first.tx_hash);
    world.clock.jump(SignedDuration::from_hours(2));
    // Expired and not deleted yet, it begins anew, for any request.
    let second = world.run(session, "y", Some("k")).await.unwrap();
    assert_ne!(second.tx_hash, first.tx_hash);
    assert_eq!(world.run(session, "y", Some("k")).await.unwrap(), second);
    world.clock.jump(SignedDuration::from_hours(25));
    clean_up_until(world.store(), || world.number("SELECT count(*) FROM idempotency_keys") == 0).await;
    assert_eq!(world.books().await, (0, 70, 30));
}

#[tokio::test]
async fn finished_attempts_are_deleted_after_two_days_and_their_payments_are_kept() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    world.run(session, "x", None).await.unwrap();
    world.run(session, "x", Some("k")).await.unwrap();
    let living = world.reserve(session, None).await.unwrap();
    let released = world.reserve(session, None).await.unwrap();
    world.store().release(released.id, Dispatch::Done).await.unwrap();
    let attempts = || world.number("SELECT count(*) FROM reservations");
    world.clock.jump(SignedDuration::from_hours(47));
    assert_eq!((world.store().delete_expired().await.unwrap(), attempts()), (CleanUp::Complete, 4));
    world.clock.jump(SignedDuration::from_hours(2));
    clean_up_until(world.store(), || attempts() == 1).await;
    assert_eq!(world.books().await, (10, 70, 20));
    assert_eq!(world.number("SELECT count(*) FROM payments"), 3);
    // What lives is settled however old it is.
    let reply = annai_services::upstream::UpstreamReply { status: 200, body: "late".into() };
    assert_eq!(world.store().settle(living.id, reply).await.unwrap().result.output, "late");
    assert_eq!(world.books().await, (0, 70, 30));
}

#[tokio::test]
async fn a_clock_that_jumps_does_not_run_a_living_key_twice() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let first = world.reserve(session, Some("k")).await.unwrap();
    world.clock.jump(SignedDuration::from_hours(48));
    world.store().delete_expired().await.unwrap();
    assert_eq!(code(world.reserve(session, Some("k")).await), "in_progress");
    world.clock.jump(SignedDuration::from_hours(-96));
    assert_eq!(code(world.reserve(session, Some("k")).await), "in_progress");
    let reply = annai_services::upstream::UpstreamReply { status: 200, body: "late".into() };
    assert_eq!(world.store().settle(first.id, reply).await.unwrap().result.output, "late");
    assert_eq!(world.books().await, (0, 90, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_fifty_times_at_once_runs_once() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(500).await;
    let results = join_all((0..50).map(|_| world.run(session, "x", Some("k")))).await;
    for result in results {
        match result {
            Ok(report) => assert_eq!(report.output, "X"),
            Err(error) => assert_eq!(error.code(), "in_progress"),
        }
    }
    assert_eq!((world.upstream.calls(), world.books().await), (1, (0, 490, 10)));
}

#[tokio::test]
async fn outputs_are_replayed_unchanged() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let output = "a\0b\u{feff}\u{1f600}'; drop table payments; --\r\n".repeat(1000);
    let body = output.clone();
    world.upstream.answer(move |_, _| {
        let body = body.clone();
        Box::pin(async move { Ok(annai_services::upstream::UpstreamReply { status: 201, body }) })
    });
    for _ in 0..2 {
        let report = world.run(session, "x", Some("k")).await.unwrap();
        assert_eq!((report.output.as_str(), report.upstream_status), (output.as_str(), 201));
    }
    assert_eq!(world.upstream.calls(), 1);
}
