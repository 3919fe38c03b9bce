use std::sync::Arc;
use std::time::Duration;

use annai_services::domain::reservation::Dispatch;
use annai_services::runs::{LeaseTiming, RunOptions};
use annai_services::store::PaymentOutcome;
use annai_services::upstream::UpstreamReply;
use jiff::SignedDuration;
use tokio::sync::Notify;

use crate::support::{World, echo};

fn reply(body: &str) -> UpstreamReply {
    UpstreamReply { status: 200, body: body.into() }
}

/// Ends the leases of all reservations, as a sweeper does.
async fn end_leases(world: &World) {
    let leases = world.store().leases().await.unwrap();
    assert_eq!(world.store().release_expired(leases.clone()).await.unwrap(), leases.len());
}

#[tokio::test]
async fn a_first_attempt_that_wakes_after_the_second_settled_changes_nothing() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let first = world.reserve(session, Some("k")).await.unwrap();
    assert!(world.store().mark_dispatched(first.id).await.unwrap());
    end_leases(&world).await;
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    let second = world.reserve(session, Some("k")).await.unwrap();
    assert_eq!(second.tx_hash, first.tx_hash);
    let settled = world.store().settle(second.id, reply("second")).await.unwrap();
    assert_eq!((settled.payment, settled.result.output.as_str()), (PaymentOutcome::Settled, "second"));
    // The first one wakes: its settle and its release name its own row, which is not reserved any more.
    let late = world.store().settle(first.id, reply("first")).await.unwrap();
    assert_eq!((late.payment, late.result.output.as_str()), (PaymentOutcome::PaidBefore, "second"));
    world.store().release(first.id, Dispatch::Done).await.unwrap();
    assert!(!world.store().mark_dispatched(first.id).await.unwrap());
    assert_eq!(world.books().await, (0, 90, 10));
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'settled'"), 1);
}

#[tokio::test]
async fn a_late_settle_reserves_again_and_the_second_attempt_returns_its_amount() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let first = world.reserve(session, Some("k")).await.unwrap();
    end_leases(&world).await;
    let second = world.reserve(session, Some("k")).await.unwrap();
    assert_eq!(world.books().await, (10, 90, 0));
    let late = world.store().settle(first.id, reply("first")).await.unwrap();
    assert_eq!((late.payment, late.result.output.as_str()), (PaymentOutcome::Settled, "first"));
    assert_eq!(world.books().await, (10, 80, 10));
    let after = world.store().settle(second.id, reply("second")).await.unwrap();
    assert_eq!((after.payment, after.result.output.as_str()), (PaymentOutcome::PaidBefore, "first"));
    assert_eq!(world.books().await, (0, 90, 10));
    // Settling again, because a reply was lost, changes nothing either.
    world.store().settle(second.id, reply("second")).await.unwrap();
    assert_eq!(world.books().await, (0, 90, 10));
}

#[tokio::test]
async fn a_late_settle_without_budget_is_unpaid_and_its_output_is_replayed() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(10).await;
    let first = world.reserve(session, Some("k")).await.unwrap();
    world.store().mark_dispatched(first.id).await.unwrap();
    end_leases(&world).await;
    world.run(session, "other", None).await.unwrap();
    assert_eq!(world.books().await, (0, 0, 10));
    let late = world.store().settle(first.id, reply("LATE")).await.unwrap();
    assert_eq!((late.payment, late.result.output.as_str()), (PaymentOutcome::Unpaid, "LATE"));
    assert_eq!(world.books().await, (0, 0, 10));
    assert_eq!(world.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    let replayed = world.run(session, "x", Some("k")).await.unwrap();
    assert_eq!((replayed.output.as_str(), world.upstream.calls()), ("LATE", 1));
}

#[tokio::test]
async fn a_release_before_dispatch_leaves_no_payment_and_one_after_it_a_failed_one() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let before = world.reserve(session, None).await.unwrap();
    let after = world.reserve(session, None).await.unwrap();
    assert!(world.store().mark_dispatched(after.id).await.unwrap());
    assert_eq!(world.books().await, (20, 80, 0));
    end_leases(&world).await;
    assert_eq!(world.number("SELECT count(*) FROM payments"), 1);
    assert_eq!(
        world.number(&format!(
            "SELECT count(*) FROM payments WHERE status = 'failed' AND tx_hash = '{}' AND tx_hash <> '{}'",
            after.tx_hash, before.tx_hash
        )),
        1
    );
    assert_eq!(world.books().await, (0, 100, 0));
}

#[tokio::test]
async fn a_renewed_lease_is_not_released() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let reservation = world.reserve(session, None).await.unwrap();
    let before = world.store().leases().await.unwrap();
    world.store().renew_leases(vec![reservation.id]).await.unwrap();
    assert_eq!(world.store().release_expired(before).await.unwrap(), 0);
    assert_eq!(world.books().await, (10, 90, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_runs_are_swept_and_living_ones_are_not_whatever_the_clock_says() {
    needs_database!();
    let leases = LeaseTiming {
        renew_every: Duration::from_millis(20),
        sweep_every: Duration::from_millis(20),
        release_after: Duration::from_millis(200),
    };
    let registry = World::new().registry;
    let world = World::with(RunOptions { leases, ..RunOptions::default() }, registry);
    let (session, _) = world.sponsored_person(100).await;
    let wake = Arc::new(Notify::new());
    let waiting = wake.clone();
    world.upstream.answer(move |_, request| {
        let waiting = waiting.clone();
        Box::pin(async move {
            waiting.notified().await;
            echo(&request)
        })
    });
    world.reserve(session, Some("dead")).await.unwrap();
    let (runs, request) = (world.runs().clone(), world.request(session, "x", None));
    let run = tokio::spawn(async move { runs.run(request).await });
    world.called(1).await;
    // The time of day jumps both ways; leases do not look at it.
    for hours in [30, -60, 30] {
        world.clock.jump(SignedDuration::from_hours(hours));
        // Several looks of the sweeper, none of which must release anything.
        tokio::time::sleep(Duration::from_millis(80)).await;
        assert_eq!(world.books().await, (20, 80, 0));
    }
    // The sweeper's own clock ends the lease of the dead run, in steps: after a pause it would begin anew.
    let mut reserved = 20;
    for _ in 0..2000 {
        world.clock.pass(Duration::from_millis(2));
        tokio::time::sleep(Duration::from_millis(5)).await;
        reserved = world.books().await.0;
        if reserved == 10 {
            break;
        }
    }
    assert_eq!(reserved, 10);
    // The living run goes on for as long again.
    for _ in 0..200 {
        world.clock.pass(Duration::from_millis(2));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(world.books().await, (10, 90, 0));
    wake.notify_one();
    assert!(run.await.unwrap().is_ok());
    assert_eq!(world.books().await, (0, 90, 10));
    // The key of the dead run is free again.
    wake.notify_one();
    assert_eq!(world.run(session, "x", Some("dead")).await.unwrap().output, "X");
    assert_eq!(world.books().await, (0, 80, 20));
}
