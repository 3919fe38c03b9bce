use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::support::{World, code, echo};

/// An upstream that waits until it is woken.
fn wait(world: &World) -> Arc<Notify> {
    let wake = Arc::new(Notify::new());
    let waiting = wake.clone();
    world.upstream.answer(move |_, request| {
        let waiting = waiting.clone();
        Box::pin(async move {
            waiting.notified().await;
            echo(&request)
        })
    });
    wake
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_before_the_dispatch_releases_and_calls_nobody() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    // The writer waits for another process, so the run cannot get further than its reservation.
    let mut other = world.sql();
    let lock = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(50), world.run(session, "x", Some("k"))).await;
    assert!(waiting.is_err(), "the caller stops waiting");
    drop(lock);
    world.settled().await;
    assert_eq!((world.upstream.calls(), world.books().await), (0, (0, 100, 0)));
    assert_eq!(world.number("SELECT count(*) FROM reservations WHERE state = 'released'"), 1);
    assert_eq!(world.number("SELECT count(*) FROM payments"), 0);
    // The key is free again.
    assert!(world.run(session, "x", Some("k")).await.is_ok());
    assert_eq!(world.books().await, (0, 90, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_after_the_dispatch_lets_the_run_settle_by_itself() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let wake = wait(&world);
    let (runs, request) = (world.runs().clone(), world.request(session, "x", Some("k")));
    let caller = tokio::spawn(async move { runs.run(request).await });
    world.called(1).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    assert_eq!(world.books().await, (10, 90, 0));
    assert_eq!(code(world.run(session, "x", Some("k")).await), "in_progress");
    wake.notify_one();
    world.settled().await;
    assert_eq!(world.books().await, (0, 90, 10));
    assert_eq!(
        (world.run(session, "x", Some("k")).await.unwrap().output.as_str(), world.upstream.calls()),
        ("X", 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_waits_for_runs_and_refuses_new_ones() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let wake = wait(&world);
    let (runs, request) = (world.runs().clone(), world.request(session, "x", None));
    let caller = tokio::spawn(async move { runs.run(request).await });
    world.called(1).await;
    caller.abort();
    let grace = Duration::from_millis(50);
    assert!(tokio::time::timeout(grace, world.services.close()).await.is_err(), "the run is waited for");
    let error = world.run(session, "x", None).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "unavailable"));
    wake.notify_one();
    world.services.close().await;
    assert_eq!(world.books().await, (0, 90, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_settlement_meets_a_locked_database_settles_later() {
    let world = World::new();
    let (session, _) = world.sponsored_person(100).await;
    let wake = wait(&world);
    let lock_and_wake = async {
        world.called(1).await;
        let mut other = world.sql();
        let lock = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
        wake.notify_one();
        // The time for which the database stays locked is what is tested; a settlement that comes later finds it free.
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(lock);
    };
    let (report, ()) = tokio::join!(world.run(session, "x", None), lock_and_wake);
    assert!(report.is_ok());
    assert_eq!(world.books().await, (0, 90, 10));
}
