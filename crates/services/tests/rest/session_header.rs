//! The session of a person in the header `X-Session-Token`, which every route takes, and the limit of sign-ins.

use serde_json::{Value, json};

use crate::site::{GPT, Site};

async fn send(site: &Site, method: &str, path: &str, sessions: &[&str], body: Value) -> crate::site::Reply {
    let key = format!("Bearer {GPT}");
    let mut headers = vec![("authorization", key.as_str())];
    if method == "POST" {
        headers.push(("content-type", "application/json"));
    }
    headers.extend(sessions.iter().map(|session| ("x-session-token", *session)));
    let body = if method == "POST" { body.to_string() } else { String::new() };
    site.send(method, path, &headers, body.as_bytes()).await
}

#[tokio::test]
async fn every_route_takes_the_session_in_a_header() {
    let site = Site::start().await;
    let upstream = crate::upstream_server::UpstreamServer::text("done").await;
    let (session, campaign) = site.sponsored_person(&upstream.url(), 1000).await;
    let consent =
        json!({ "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": false });
    let task = json!({ "task_name": "survey", "consent": consent });
    let legacy = json!({ "task_name": "survey", "consent": consent, "campaign_id": campaign });
    let (task_path, complete) = (format!("/gpt/tasks/{campaign}"), format!("/gpt/tasks/{campaign}/complete"));
    for (method, path, body) in [
        ("GET", "/gpt/services", Value::Null),
        ("GET", "/gpt/user/status", Value::Null),
        ("GET", "/gpt/preferences", Value::Null),
        ("GET", task_path.as_str(), Value::Null),
        ("POST", "/gpt/preferences", json!({ "preferences": [] })),
        ("POST", complete.as_str(), task),
        ("POST", "/tasks/complete", legacy),
        ("POST", "/gpt/services/scrape/run", json!({ "input": "x" })),
        ("POST", "/proxy/scrape/run", json!({ "input": "x" })),
    ] {
        let reply = send(&site, method, path, &[&session], body.clone()).await;
        assert_eq!(reply.status, 200, "{method} {path}");
        let unknown = "00000000-0000-4000-8000-000000000000";
        assert_eq!(send(&site, method, path, &[unknown], body.clone()).await.status, 401, "{method} {path}");
        for wrong in [&["x"][..], &[""], &[&session, &session]] {
            let (field, _) = send(&site, method, path, wrong, body.clone()).await.invalid();
            assert_eq!(field, "X-Session-Token", "{method} {path}");
        }
        // Two different sessions are a mistake of the caller.
        let (other_path, other_body) = match method {
            "GET" => (format!("{path}?session_token={unknown}"), Value::Null),
            _ => {
                let mut body = body.clone();
                body["session_token"] = json!(unknown);
                (path.to_owned(), body)
            }
        };
        let (field, _) = send(&site, method, &other_path, &[&session], other_body).await.invalid();
        assert_eq!(field, "session_token", "{method} {path}");
        if path != "/gpt/services" {
            let (field, _) = send(&site, method, path, &[], body).await.invalid();
            assert_eq!(field, "session_token", "{method} {path}");
        }
    }
    site.finish().await;
}

#[tokio::test]
async fn sign_ins_to_one_account_are_limited_and_the_first_session_lives() {
    let site = Site::start().await;
    let first = site.sign_in("a@example.com").await;
    for _ in 1..60 {
        site.sign_in("a@example.com").await;
    }
    let refused = site.post("/gpt/auth", json!({ "email": "A@example.com", "region": "auto" })).await;
    assert_eq!(refused.error(429).0, "rate_limited");
    assert_eq!(send(&site, "GET", "/gpt/user/status", &[&first], Value::Null).await.status, 200);
    site.finish().await;
}
