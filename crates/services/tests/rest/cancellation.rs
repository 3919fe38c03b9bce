//! Callers that go away, and a server that stops, while a run is in progress.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::site::{Site, SiteOptions, request};
use crate::upstream_server::UpstreamServer;

fn run_request(session: &str, key: &str) -> Vec<u8> {
    let body = json!({ "session_token": session, "input": "x" }).to_string();
    let headers =
        [("authorization", "Bearer gpt-key"), ("content-type", "application/json"), ("idempotency-key", key)];
    request("POST", "/gpt/services/scrape/run", &headers, body.as_bytes())
}

/// Closes the connection of a caller, and waits until the server has noticed: it runs on the thread of the test, and the end of
/// this connection arrives there before the request that follows.
async fn leave(site: &Site, caller: TcpStream) {
    drop(caller);
    site.send("GET", "/nowhere", &[], b"").await;
}

#[tokio::test]
async fn a_caller_who_goes_away_after_the_dispatch_is_charged_and_finds_the_result() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    let caller = site.connect_and_send(&run_request(&session, "k")).await;
    upstream.called(1).await;
    leave(&site, caller).await;
    release.add_permits(1);
    site.until("SELECT count(*) FROM payments WHERE status = 'settled'", 1).await;
    let body = json!({ "session_token": session, "input": "x" });
    let report = site.post_with_key("/gpt/services/scrape/run", "k", body).await.ok();
    assert_eq!(report["output"], "ok");
    assert_eq!(upstream.requests().len(), 1);
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 90);
    site.finish().await;
}

#[tokio::test]
async fn a_caller_who_goes_away_before_the_dispatch_is_not_charged() {
    let upstream = UpstreamServer::text("ok").await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    // Another program holds the database, so that no run gets as far as its dispatch.
    let lock = rusqlite::Connection::open(&site.database).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let caller = site.connect_and_send(&run_request(&session, "k")).await;
    let in_progress = || {
        let toolset = site.registry.toolset::<annai_services::ServicesToolset>().unwrap();
        async move { toolset.open().await.unwrap().local().unwrap().runs().in_progress() }
    };
    while in_progress().await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    leave(&site, caller).await;
    lock.execute_batch("COMMIT").unwrap();
    while in_progress().await > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(upstream.requests(), Vec::<String>::new());
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 100);
    assert_eq!(site.number("SELECT count(*) FROM payments"), 0);
    site.finish().await;
}

#[tokio::test]
async fn a_server_that_stops_waits_for_its_runs() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    drop(site.connect_and_send(&run_request(&session, "k")).await);
    // The caller may be noticed as gone before the dispatch, so one run is made sure of.
    let caller = site.connect_and_send(&run_request(&session, "k2")).await;
    upstream.called(1).await;
    drop(caller);
    let calls = upstream.requests().len();
    let mut finish = std::pin::pin!(site.finish());
    tokio::select! {
        biased;
        () = &mut finish => panic!("the runs were not waited for"),
        () = std::future::ready(()) => release.add_permits(2),
    }
    finish.await;
    assert!(calls >= 1);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_504_and_its_run_goes_on() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let mut options = SiteOptions::default();
    options.server.call_timeout_ms = 1_500;
    let site = options.start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    assert_eq!(site.run(&session, "x").await.error(504).0, "timed_out");
    release.add_permits(1);
    site.until("SELECT count(*) FROM payments WHERE status = 'settled'", 1).await;
    site.finish().await;
}
