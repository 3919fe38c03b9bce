//! The limit of requests a minute.

use std::time::Duration;

use annai_services::address_range::AddressRange;
use serde_json::json;

use crate::site::{GPT, INTERNAL, SPONSOR, Site, SiteOptions};

async fn limited(per_min: u32) -> Site {
    let mut options = SiteOptions::default();
    options.section.rate_limit_per_min = per_min;
    options.start().await
}

#[tokio::test]
async fn a_key_at_an_address_is_limited_until_its_minute_is_over() {
    let site = limited(3).await;
    for _ in 0..3 {
        assert_eq!(site.get("/gpt/services").await.status, 200);
    }
    let refused = site.get("/gpt/services").await;
    let (code, message) = refused.error(429);
    assert!(code == "rate_limited" && message.contains("3 a minute"), "{message}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    // Other keys have limits of their own, and the internal one has none.
    for _ in 0..5 {
        assert_eq!(site.call(INTERNAL, "GET", "/gpt/services", &json!({})).await.status, 200);
    }
    assert_eq!(site.send("GET", "/campaigns", &[], b"").await.status, 200);
    site.clock.pass(Duration::from_secs(wait));
    assert_eq!(site.get("/gpt/services").await.status, 200);
    site.finish().await;
}

#[tokio::test]
async fn a_user_is_limited_whatever_the_session_and_does_not_use_up_the_limit_of_others() {
    let site = limited(4).await;
    let sessions = [site.sign_in("a@example.com").await, site.sign_in("a@example.com").await];
    let other = site.sign_in("b@example.com").await;
    let status = |session: &str| format!("/gpt/user/status?session_token={session}");
    for number in 0..4 {
        assert_eq!(site.get(&status(&sessions[number % 2])).await.status, 200);
    }
    for session in &sessions {
        assert_eq!(site.get(&status(session)).await.error(429).0, "rate_limited");
        let run = json!({ "session_token": session, "input": "x" });
        assert_eq!(site.post("/gpt/services/scrape/run", run).await.error(429).0, "rate_limited");
    }
    assert_eq!(site.get(&status(&other)).await.status, 200);
    assert_eq!(site.get("/gpt/services").await.status, 200);
    site.finish().await;
}

#[tokio::test]
async fn requests_that_fail_before_their_user_is_known_are_counted_too() {
    let site = limited(6).await;
    let bearer = format!("Bearer {GPT}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    for body in ["", "{", "[]"] {
        assert_eq!(site.send("POST", "/gpt/auth", &headers, body.as_bytes()).await.status, 400);
    }
    let unknown = "/gpt/user/status?session_token=00000000-0000-4000-8000-000000000000";
    assert_eq!(site.get(unknown).await.status, 401);
    assert_eq!(site.get("/gpt/services?x=1").await.status, 400);
    assert_eq!(site.get("/gpt/services").await.status, 200);
    assert_eq!(site.send("POST", "/gpt/auth", &headers, b"{").await.error(429).0, "rate_limited");
    // Wrong and missing keys are counted as nobody's, so that keys cannot be guessed quickly.
    for _ in 0..6 {
        assert_eq!(site.call("wrong", "GET", "/gpt/services", &json!({})).await.status, 403);
    }
    assert_eq!(site.call("wrong", "GET", "/gpt/services", &json!({})).await.status, 429);
    assert_eq!(site.call("wrong", "POST", "/campaigns", &json!({})).await.status, 429);
    assert_eq!(site.call(SPONSOR, "POST", "/campaigns", &json!({})).await.status, 400);
    site.finish().await;
}

#[tokio::test]
async fn public_routes_are_limited_by_address() {
    let site = limited(2).await;
    assert_eq!(site.send("GET", "/campaigns", &[], b"").await.status, 200);
    assert_eq!(site.send("GET", "/sponsored-apis", &[], b"").await.status, 200);
    // An address that anybody can write into a header is not believed.
    let forged = [("x-forwarded-for", "203.0.113.7")];
    assert_eq!(site.send("GET", "/campaigns", &forged, b"").await.error(429).0, "rate_limited");
    site.finish().await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_client_is_the_last_hop_that_is_not_trusted() {
    let mut options = SiteOptions::default();
    options.section.rate_limit_per_min = 1;
    options.section.trusted_proxies =
        ["127.0.0.1", "10.0.0.0/8"].map(|range| AddressRange::parse(range).unwrap()).into();
    let site = options.start().await;
    let get = async |forwarded: &str| {
        site.send("GET", "/campaigns", &[("x-forwarded-for", forwarded)], b"").await.status
    };
    assert_eq!(get("203.0.113.1").await, 200);
    assert_eq!(get("198.51.100.9, 203.0.113.1, 10.1.2.3").await, 429);
    assert_eq!(get("203.0.113.1, 203.0.113.2").await, 200);
    site.finish().await;
}
