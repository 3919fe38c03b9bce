//! Who may call which route: keys, and the owner of the machine where there are none.

use serde_json::json;

use crate::site::{GPT, INTERNAL, SPONSOR, Site, SiteOptions};

const GPT_ROUTES: [(&str, &str); 11] = [
    ("GET", "/gpt/services"),
    ("POST", "/gpt/auth"),
    ("GET", "/gpt/tasks/00000000-0000-0000-0000-000000000000"),
    ("POST", "/gpt/tasks/00000000-0000-0000-0000-000000000000/complete"),
    ("POST", "/gpt/services/scrape/run"),
    ("GET", "/gpt/user/status"),
    ("GET", "/gpt/preferences"),
    ("POST", "/gpt/preferences"),
    ("POST", "/tasks/complete"),
    ("POST", "/proxy/scrape/run"),
    ("POST", "/sponsored-apis/00000000-0000-0000-0000-000000000000/run"),
];

const SPONSOR_ROUTES: [(&str, &str); 5] = [
    ("POST", "/campaigns"),
    ("PATCH", "/campaigns/00000000-0000-0000-0000-000000000000"),
    ("POST", "/sponsored-apis"),
    ("PATCH", "/sponsored-apis/00000000-0000-0000-0000-000000000000"),
    ("GET", "/dashboard/sponsor/00000000-0000-0000-0000-000000000000"),
];

#[tokio::test]
async fn a_missing_key_is_401_and_a_wrong_one_403_before_anything_else_is_looked_at() {
    let site = Site::start().await;
    let others = [(&GPT_ROUTES[..], SPONSOR), (&SPONSOR_ROUTES[..], GPT)];
    for (routes, other_key) in others {
        for (method, path) in routes {
            let missing = site.send(method, path, &[], b"not json").await;
            assert_eq!(missing.error(401).0, "unauthorized", "{path}");
            assert_eq!(missing.header("www-authenticate"), Some("bearer"), "{path}");
            assert_eq!(site.send(method, path, &[("authorization", "Basic eDp5")], b"").await.status, 401);
            for wrong in ["x", "gpt-key2", "gpt-ke", "GPT-KEY", "gpt-key sponsor-key", other_key] {
                let bearer = format!("Bearer {wrong}");
                let reply = site.send(method, path, &[("authorization", &bearer)], b"not json").await;
                assert_eq!(
                    reply.error(403),
                    ("forbidden".into(), "the API key is wrong".into()),
                    "{path} {wrong}"
                );
            }
        }
    }
    site.finish().await;
}

#[tokio::test]
async fn without_keys_the_routes_answer_to_the_owner_alone() {
    let mut options = SiteOptions::default();
    options.section.gpt_actions_api_key = None;
    options.section.mcp_internal_api_key = None;
    options.section.sponsor_api_key = None;
    let site = options.start().await;
    let stranger = [("x-forwarded-for", "203.0.113.9"), ("authorization", "Bearer x")];
    for (method, path) in GPT_ROUTES.iter().chain(&SPONSOR_ROUTES) {
        let (code, message) = site.send(method, path, &stranger, b"{}").await.error(403);
        assert!(code == "forbidden" && message.contains("is not set"), "{path}: {message}");
        let owner = site.send(method, path, &[("content-type", "application/json")], b"{}").await;
        assert!(![401, 403].contains(&owner.status), "{path}: {owner:?}");
    }
    // Naming an identity needs a key even then.
    let body =
        json!({ "email": "a@example.com", "region": "JP", "issuer": "https://i.example", "subject": "1" });
    let json = [("content-type", "application/json")];
    let reply = site.send("POST", "/gpt/auth", &json, body.to_string().as_bytes()).await;
    assert_eq!(reply.error(403).0, "forbidden");
    site.finish().await;
}

#[tokio::test]
async fn with_keys_the_owner_needs_one_too() {
    let site = Site::start().await;
    assert_eq!(site.send("GET", "/gpt/services", &[], b"").await.status, 401);
    site.finish().await;
}

#[tokio::test]
async fn only_an_internal_key_of_its_own_may_name_identities() {
    let body =
        json!({ "email": "a@example.com", "region": "JP", "issuer": "https://i.example", "subject": "1" });
    let site = Site::start().await;
    let (code, message) = site.call(GPT, "POST", "/gpt/auth", &body).await.error(403);
    assert!(code == "forbidden" && message.contains("mcp_internal_api_key"), "{message}");
    assert_eq!(site.number("SELECT count(*) FROM users"), 0);
    assert_eq!(site.call(INTERNAL, "POST", "/gpt/auth", &body).await.ok()["is_new_user"], true);
    let half = json!({ "email": "a@example.com", "region": "JP", "issuer": "https://i.example" });
    assert_eq!(site.call(INTERNAL, "POST", "/gpt/auth", &half).await.invalid().0, "subject");
    site.finish().await;
    let mut options = SiteOptions::default();
    options.section.mcp_internal_api_key = options.section.gpt_actions_api_key.clone();
    let site = options.start().await;
    assert_eq!(site.call(GPT, "POST", "/gpt/auth", &body).await.error(403).0, "forbidden");
    site.finish().await;
}

#[tokio::test]
async fn reading_campaigns_and_apis_needs_no_key() {
    let site = Site::start().await;
    let campaign = site.campaign(1, json!({})).await;
    let paths = ["/campaigns", "/campaigns/discovery", "/sponsored-apis", &format!("/campaigns/{campaign}")];
    for path in paths {
        assert_eq!(site.send("GET", path, &[], b"").await.status, 200, "{path}");
        assert_eq!(site.send("GET", path, &[("authorization", "Bearer wrong")], b"").await.status, 200);
    }
    let unknown = "/sponsored-apis/00000000-0000-0000-0000-000000000000";
    assert_eq!(site.send("GET", unknown, &[], b"").await.error(404).0, "not_found");
    site.finish().await;
}
