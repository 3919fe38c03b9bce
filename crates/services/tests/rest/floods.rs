//! Slow upstreams and floods of runs, and what they leave of the other routes.

use std::sync::Arc;
use std::time::Duration;

use annai_egress::{Access, EgressSettings, Network};
use annai_services::upstream_http::HttpUpstream;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::site::{Site, SiteOptions, request};
use crate::upstream_server::UpstreamServer;

const RESERVED: &str = "SELECT count(*) FROM reservations WHERE state = 'reserved'";

/// Options whose upstreams may take as long as a test does.
fn patient() -> SiteOptions {
    let settings = EgressSettings {
        access: Access::AllowPrivate,
        time_limit: Duration::from_secs(60),
        ..EgressSettings::default()
    };
    let mut options = SiteOptions::default();
    options.upstream = Some(Arc::new(HttpUpstream::with_network(settings, Network::default())));
    options
}

/// Starts a run of `scrape` and does not wait for it.
async fn start_run(site: &Site, session: &str) -> tokio::net::TcpStream {
    let body = json!({ "session_token": session, "input": "x" }).to_string();
    let headers = [("authorization", "Bearer gpt-key"), ("content-type", "application/json")];
    site.connect_and_send(&request("POST", "/gpt/services/scrape/run", &headers, body.as_bytes())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_wait_for_their_upstream_hold_up_no_other_route() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let mut options = patient();
    options.server.max_in_flight = 16;
    let site = options.start().await;
    site.api(&upstream.url(), 1_000, json!({})).await;
    let session = site.sign_in("a@example.com").await;
    let mut waiting = Vec::new();
    for _ in 0..40 {
        waiting.push(start_run(&site, &session).await);
    }
    // All places that runs can have are taken, and more runs wait for one.
    site.until(RESERVED, 16).await;
    let others = async {
        site.get("/gpt/services").await.ok();
        site.get(&format!("/gpt/user/status?session_token={session}")).await.ok();
        site.sign_in("b@example.com").await;
        assert_eq!(site.number(RESERVED), 16);
    };
    timeout(Duration::from_secs(30), others).await.expect("the other routes answer while the runs wait");
    release.add_permits(1_000);
    site.until("SELECT count(*) FROM payments WHERE status = 'settled'", 40).await;
    site.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_whose_callers_leave_are_limited_too() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let site = patient().start().await;
    site.api(&upstream.url(), 10_000, json!({})).await;
    let session = site.sign_in("a@example.com").await;
    let mut callers = Vec::new();
    for _ in 0..32 {
        callers.push(start_run(&site, &session).await);
    }
    upstream.called(32).await;
    // The runs go on without their callers, and one person has no more of them; that of somebody else begins.
    drop(callers);
    let further = start_run(&site, &session).await;
    let other = site.sign_in("b@example.com").await;
    let others_run = start_run(&site, &other).await;
    upstream.called(33).await;
    assert_eq!(site.number(RESERVED), 33);
    assert_eq!(site.number("SELECT count(DISTINCT user_id) FROM reservations"), 2);
    release.add_permits(1_000);
    site.until("SELECT count(*) FROM payments WHERE status = 'settled'", 34).await;
    drop((further, others_run));
    site.finish().await;
}
