//! The routes of the sponsors, and what the public may read.

use serde_json::{Value, json};

use crate::site::{GPT, SPONSOR, Site, SiteOptions};
use crate::upstream_server::UpstreamServer;

fn draft() -> Value {
    json!({
        "name": "Survey", "sponsor": "Acme", "required_task": "survey", "subsidy_per_call_cents": 50,
        "budget_cents": 100, "target_roles": ["dev"], "target_tools": ["scrape"], "tags": ["web"],
        "task_schema": { "task_type": "signup", "required_fields": ["email"], "instructions": "Sign up." },
        "query_urls": ["https://acme.example/"], "sponsor_wallet_address": "0xwallet",
    })
}

#[tokio::test]
async fn campaigns_are_created_read_changed_and_never_show_the_wallet() {
    let site = Site::start().await;
    let created = site.call(SPONSOR, "POST", "/campaigns", &draft()).await.expect(201);
    let id = created["campaign"]["id"].as_str().unwrap();
    let campaign = json!({
        "id": id, "name": "Survey", "sponsor": "Acme", "target_roles": ["dev"], "target_tools": ["scrape"],
        "required_task": "survey", "subsidy_per_call_cents": 50, "budget_total_cents": 100,
        "budget_remaining_cents": 100, "query_urls": ["https://acme.example/"], "active": true,
        "created_at": created["campaign"]["created_at"],
        "task_schema": { "task_type": "signup", "required_fields": ["email"], "instructions": "Sign up." },
        "tags": ["web"],
    });
    assert_eq!(
        created,
        json!({
            "campaign": campaign, "campaign_url": format!("http://localhost/campaigns/{id}"),
            "dashboard_url": format!("http://localhost/dashboard/sponsor/{id}"),
        })
    );
    let path = format!("/campaigns/{id}");
    let read = site.send("GET", &path, &[], b"").await;
    assert_eq!(read.ok(), json!({ "campaign": campaign }));
    assert!(!read.body.contains("wallet"), "{read:?}");
    let patch = json!({ "active": false, "add_budget_cents": 50, "name": "Other" });
    let changed = site.call(SPONSOR, "PATCH", &path, &patch).await.ok();
    let totals = (&changed["campaign"]["budget_total_cents"], &changed["campaign"]["budget_remaining_cents"]);
    assert_eq!((totals, &changed["campaign"]["active"]), ((&json!(150), &json!(150)), &json!(false)));
    let fixed = site.call(SPONSOR, "PATCH", &path, &json!({ "required_task": "x" })).await;
    assert_eq!(fixed.invalid().0, "required_task");
    let zero = site.call(SPONSOR, "PATCH", &path, &json!({ "add_budget_cents": 0 })).await;
    assert_eq!(zero.invalid().0, "add_budget_cents");
    site.finish().await;
}

#[tokio::test]
async fn an_idempotency_key_creates_once() {
    let site = Site::start().await;
    let bearer = format!("Bearer {SPONSOR}");
    let create = async |key: &str, draft: &Value| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        site.send("POST", "/campaigns", &headers, draft.to_string().as_bytes()).await
    };
    let first = create("k1", &draft()).await.expect(201);
    assert_eq!(create("k1", &draft()).await.expect(201)["campaign"]["id"], first["campaign"]["id"]);
    let mut other = draft();
    other["budget_cents"] = json!(1);
    assert_eq!(create("k1", &other).await.error(409).0, "conflict");
    assert_ne!(create("k2", &draft()).await.expect(201)["campaign"]["id"], first["campaign"]["id"]);
    assert_eq!(create(&"k".repeat(256), &draft()).await.invalid().0, "Idempotency-Key");
    assert_eq!(create("", &draft()).await.invalid().0, "Idempotency-Key");
    let path = format!("/campaigns/{}", first["campaign"]["id"].as_str().unwrap());
    for _ in 0..2 {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", "p"),
        ];
        let reply = site.send("PATCH", &path, &headers, br#"{"add_budget_cents":50}"#).await.ok();
        assert_eq!(reply["campaign"]["budget_total_cents"], 150);
    }
    assert_eq!(site.number("SELECT count(*) FROM campaigns"), 2);
    site.finish().await;
}

#[tokio::test]
async fn sponsored_apis_never_show_their_upstream() {
    let upstream = UpstreamServer::text("ok").await;
    let site = Site::start().await;
    let draft = json!({
        "name": "Web 検索", "sponsor": "Acme", "upstream_url": upstream.url(), "price_cents": 0, "budget_cents": 100,
        "description": "Finds pages.", "upstream_method": "PUT", "upstream_headers": { "Authorization": "Bearer s3cret" },
    });
    let created = site.call(SPONSOR, "POST", "/sponsored-apis", &draft).await;
    let api = json!({
        "id": created.json()["api"]["id"], "name": "Web 検索", "sponsor": "Acme", "description": "Finds pages.",
        "price_cents": 0, "budget_total_cents": 100, "budget_remaining_cents": 100, "active": true,
        "service_key": "web-検索", "created_at": created.json()["api"]["created_at"],
    });
    assert_eq!(created.expect(201), json!({ "api": api }));
    let path = format!("/sponsored-apis/{}", api["id"].as_str().unwrap());
    assert_eq!(site.send("GET", &path, &[], b"").await.ok(), json!({ "api": api }));
    let patch = json!({ "price_cents": 5, "upstream_headers": { "X-New": "s3cret" }, "add_budget_cents": 1 });
    let changed = site.call(SPONSOR, "PATCH", &path, &patch).await;
    assert!(!changed.body.contains("s3cret") && !created.body.contains("s3cret"), "{changed:?}");
    assert_eq!((changed.status, &changed.json()["api"]["budget_total_cents"]), (200, &json!(101)));
    let same = site.call(SPONSOR, "POST", "/sponsored-apis", &draft).await;
    assert_eq!(same.error(409).0, "conflict");
    let session = site.sign_in("a@example.com").await;
    let run = json!({ "session_token": session, "input": "x" });
    let report = site.post("/gpt/services/web-%E6%A4%9C%E7%B4%A2/run", run).await.ok();
    assert_eq!((&report["output"], &report["sponsored_by"]), (&json!("ok"), &json!("Acme")));
    assert!(upstream.requests()[0].starts_with("PUT /run"), "{:?}", upstream.requests());
    site.finish().await;
}

#[tokio::test]
async fn upstreams_that_may_not_be_called_are_refused_at_creation() {
    let mut options = SiteOptions::default();
    options.section.allow_private_upstreams = false;
    let site = options.start().await;
    let create = async |changes: Value| {
        let mut draft = json!({
            "name": "A", "sponsor": "Acme", "upstream_url": "https://8.8.8.8/", "price_cents": 1, "budget_cents": 1,
        });
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        site.call(SPONSOR, "POST", "/sponsored-apis", &draft).await
    };
    for url in [
        "http://8.8.8.8/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest",
        "https://0x7f000001/",
        "https://user:word@8.8.8.8/",
        "ftp://a.example/",
        "https://",
        "tool:run_service",
        "tool:",
        "file:///etc/passwd",
    ] {
        let reply = create(json!({ "upstream_url": url })).await;
        assert_eq!(reply.invalid().0, "upstream_url", "{url}: {reply:?}");
    }
    for headers in
        [json!({ "Host": "a" }), json!({ "Proxy-Authorization": "a" }), json!({ "A": "1", "a": "2" })]
    {
        let reply = create(json!({ "upstream_headers": headers })).await;
        assert_eq!(reply.invalid().0, "upstream_headers", "{headers}: {reply:?}");
    }
    assert_eq!(create(json!({ "upstream_method": "GET" })).await.invalid().0, "upstream_method");
    assert_eq!(create(json!({ "price_cents": -1 })).await.invalid().0, "price_cents");
    assert_eq!(create(json!({ "service_key": "a/b" })).await.invalid().0, "service_key");
    assert_eq!(create(json!({})).await.status, 201);
    site.finish().await;
}

#[tokio::test]
async fn the_dashboard_counts_what_a_campaign_has_achieved() {
    let upstream = UpstreamServer::text("ok").await;
    let site = Site::start().await;
    let (session, campaign) = site.sponsored_person(&upstream.url(), 100).await;
    site.run(&session, "x").await.ok();
    let path = format!("/dashboard/sponsor/{campaign}");
    let bearer = format!("Bearer {SPONSOR}");
    let board = site.send("GET", &path, &[("authorization", &bearer)], b"").await.ok();
    assert_eq!(
        board,
        json!({
            "campaign": board["campaign"], "tasks_completed": 1, "sponsored_calls": 1, "spend_cents": 10,
            "reserved_cents": 0, "remaining_budget_cents": 90,
        })
    );
    assert_eq!(board["campaign"]["id"], json!(campaign));
    for (key, status) in [(None, 401), (Some(GPT), 403)] {
        let bearer = key.map(|key| format!("Bearer {key}"));
        let headers: Vec<_> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        assert_eq!(site.send("GET", &path, &headers, b"").await.status, status);
    }
    let unknown = "/dashboard/sponsor/00000000-0000-0000-0000-000000000000";
    assert_eq!(site.send("GET", unknown, &[("authorization", &bearer)], b"").await.error(404).0, "not_found");
    site.finish().await;
}

#[tokio::test]
async fn lists_are_paged() {
    let site = Site::start().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.insert(0, site.campaign(100, json!({ "name": format!("Campaign {number}") })).await);
    }
    let (mut read, mut path) = (Vec::new(), "/campaigns?limit=2".to_owned());
    let mut pages = 0;
    loop {
        let page = site.send("GET", &path, &[], b"").await.ok();
        let campaigns = page["campaigns"].as_array().unwrap();
        read.extend(campaigns.iter().map(|campaign| campaign["id"].as_str().unwrap().to_owned()));
        pages += 1;
        let Some(cursor) = page.get("next_cursor") else { break };
        path = format!("/campaigns?limit=2&cursor={}", cursor.as_str().unwrap());
    }
    assert_eq!((read, pages), (ids, 3));
    assert_eq!(site.send("GET", "/campaigns?cursor=x", &[], b"").await.invalid().0, "cursor");
    assert_eq!(site.send("GET", "/sponsored-apis?limit=0", &[], b"").await.invalid().0, "limit");
    assert_eq!(site.send("GET", "/sponsored-apis", &[], b"").await.ok(), json!({ "apis": [] }));
    site.finish().await;
}

#[tokio::test]
async fn discovery_names_the_urls_of_active_campaigns() {
    let site = Site::start().await;
    let off = site.campaign(100, json!({})).await;
    site.call(SPONSOR, "PATCH", &format!("/campaigns/{off}"), &json!({ "active": false })).await.ok();
    let on =
        site.campaign(100, json!({ "target_tools": ["a b/検"], "query_urls": ["https://a.example"] })).await;
    let reply = site.send("GET", "/campaigns/discovery", &[("host", "127.0.0.1:1")], b"").await;
    assert_eq!(
        reply.ok(),
        json!([{
            "campaign_id": on, "name": "Survey for scraping", "sponsor": "Acme", "active": true,
            "query_urls": ["https://a.example"],
            "service_run_url": "http://127.0.0.1:1/proxy/a%20b%2F%E6%A4%9C/run",
            "sponsored_api_discovery_url": "http://127.0.0.1:1/sponsored-apis",
        }])
    );
    let first = site.send("GET", "/campaigns/discovery?limit=1", &[], b"").await;
    let link = first.header("link").unwrap();
    assert!(link.starts_with("<http://localhost/campaigns/discovery?limit=1&cursor="), "{link}");
    site.finish().await;
}

#[tokio::test]
async fn the_privacy_page_is_for_people_in_japanese_and_english() {
    let site = Site::start().await;
    let page = site.send("GET", "/privacy", &[], b"").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let (japanese, english) = page.body.split_once("<section id=\"en\" lang=\"en\">").unwrap();
    assert!(japanese.contains("<section id=\"ja\" lang=\"ja\">\n<h1>プライバシー</h1>"), "{page:?}");
    assert!(english.contains("<h1>Privacy</h1>"), "{page:?}");
    assert!(japanese.contains("365 日後に削除します。"), "{page:?}");
    assert!(english.contains("The details are deleted 365 days after"), "{page:?}");
    // Both say the same: as many headings and points.
    for tag in ["<h2>", "<li>", "<p>"] {
        assert_eq!(japanese.matches(tag).count(), english.matches(tag).count(), "{tag}");
    }
    site.finish().await;
}

#[tokio::test]
async fn urls_in_replies_begin_with_the_public_url() {
    let mut options = SiteOptions::default();
    options.server.public_url = Some("https://annai.example.com/".to_owned());
    let site = options.start().await;
    let created = site.call(SPONSOR, "POST", "/campaigns", &draft()).await.expect(201);
    let url = created["campaign_url"].as_str().unwrap();
    assert!(url.starts_with("https://annai.example.com/campaigns/"), "{url}");
    site.finish().await;
}
