//! Hostile and broken requests: every failure is the JSON error, and texts are texts, whatever they contain.

use serde_json::{Value, json};

use crate::site::{GPT, INTERNAL, SPONSOR, Site, SiteOptions, completion};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Texts that other programs might take for something else.
const INJECTIONS: [&str; 8] = [
    "'; DROP TABLE users; --",
    "\" OR \"1\"=\"1",
    "%' OR '1'='1",
    "{\"$gt\": \"\"}",
    "<script>alert(1)</script>",
    "${jndi:ldap://x}",
    "\u{202e}\u{200b}𠮷👩‍👩‍👧 ﷽ ی",
    "\\u0000\\\\\n\r\t",
];

#[tokio::test]
async fn every_broken_body_is_400_with_the_field() {
    let site = Site::start().await;
    let bearer = format!("Bearer {GPT}");
    let post = async |path: &str, body: &[u8]| {
        site.send("POST", path, &[("authorization", &bearer), JSON], body).await
    };
    for (body, field) in [
        (&b""[..], "body"),
        (b"{", "body"),
        (b"null", "body"),
        (b"[]", "body"),
        (b"\"text\"", "body"),
        (b"{\"email\":\"a@example.com\",\"region\":\"JP\"} x", "body"),
        (b"{\"email\":\"a@example.com\",\"region\":\"\\ud800\"}", "body"),
        (b"{\"email\":\"a@example.com\",\"region\":\"\xff\"}", "body"),
        (b"{\"email\":\"a@example.com\",\"region\":\"JP\",\"region\":\"US\"}", "region"),
        (b"{\"email\":\"a@example.com\"}", "region"),
        (b"{\"email\":1,\"region\":\"JP\"}", "email"),
        (b"{\"email\":\"a\",\"region\":\"JP\"}", "email"),
        (b"{\"email\":\"a@example.com\",\"region\":\"a\\u0000b\"}", "region"),
        (b"{\"email\":\"a@example.com\",\"region\":\"JP\",\"roles\":\"dev\"}", "roles"),
        (b"{\"email\":\"a@example.com\",\"region\":\"JP\",\"roles\":[1]}", "roles[0]"),
        (b"{\"email\":\"a@example.com\",\"region\":\"JP\",\"admin\":true}", "admin"),
    ] {
        let reply = post("/gpt/auth", body).await;
        assert_eq!(reply.invalid().0, field, "{}: {reply:?}", String::from_utf8_lossy(body));
    }
    let deep = format!("{{\"email\":{}", "[".repeat(100_000));
    assert_eq!(post("/gpt/auth", deep.as_bytes()).await.invalid().0, "email");
    let wide = format!("[{}1]", "1,".repeat(300_000));
    assert_eq!(post("/gpt/auth", wide.as_bytes()).await.invalid().0, "body");
    let many = json!({ "email": "a@example.com", "region": "JP", "roles": vec!["a"; 51] });
    assert_eq!(post("/gpt/auth", many.to_string().as_bytes()).await.invalid().0, "roles");
    assert_eq!(site.number("SELECT count(*) FROM users"), 0);
    site.finish().await;
}

/// Where a test puts its text into a template.
const POISON: &str = "POISON";

/// Every field of every body that takes a text, with [`POISON`] in it: the key, the method and path, the body and the field.
fn poisoned(session: &str, campaign: &str) -> Vec<(&'static str, String, Value, String)> {
    let with = |mut body: Value, pointer: &str, value: Value| {
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let mut cases = Vec::new();
    let mut add = |key, path: &str, body: &Value, pointer: &str, field: &str| {
        cases.push((key, path.to_owned(), with(body.clone(), pointer, json!(POISON)), field.to_owned()));
    };
    let auth = json!({
        "email": "a@example.com", "region": "JP", "roles": ["a"], "tools_used": ["a"], "issuer": "a", "subject": "a",
    });
    for (pointer, field) in [
        ("/email", "email"),
        ("/region", "region"),
        ("/roles/0", "roles[0]"),
        ("/tools_used/0", "tools_used[0]"),
        ("/issuer", "issuer"),
        ("/subject", "subject"),
        ("/roles", "roles"),
    ] {
        add(INTERNAL, "POST /gpt/auth", &auth, pointer, field);
    }
    let complete = format!("POST /gpt/tasks/{campaign}/complete");
    for field in ["session_token", "task_name", "details", "consent"] {
        add(GPT, &complete, &completion(session, [true; 3]), &format!("/{field}"), field);
    }
    let mut legacy = completion(session, [true; 3]);
    legacy["campaign_id"] = json!(campaign);
    for field in ["session_token", "campaign_id", "task_name", "details"] {
        add(GPT, "POST /tasks/complete", &legacy, &format!("/{field}"), field);
    }
    let preferences =
        json!({ "session_token": session, "preferences": [{ "task_type": "a", "level": "neutral" }] });
    for (pointer, field) in [
        ("/preferences/0/task_type", "preferences[0].task_type"),
        ("/preferences/0/level", "preferences[0].level"),
        ("/preferences/0", "preferences[0]"),
        ("/preferences", "preferences"),
    ] {
        add(GPT, "POST /gpt/preferences", &preferences, pointer, field);
    }
    let draft = json!({
        "name": "a", "sponsor": "b", "required_task": "c", "subsidy_per_call_cents": 1, "budget_cents": 1,
        "target_roles": ["a"], "target_tools": ["a"], "tags": ["a"], "query_urls": ["https://a.example"],
        "sponsor_wallet_address": "a",
        "task_schema": { "task_type": "a", "required_fields": ["a"], "instructions": "a", "description": "a" },
    });
    for (pointer, field) in [
        ("/name", "name"),
        ("/sponsor", "sponsor"),
        ("/required_task", "required_task"),
        ("/subsidy_per_call_cents", "subsidy_per_call_cents"),
        ("/budget_cents", "budget_cents"),
        ("/target_roles/0", "target_roles[0]"),
        ("/target_tools/0", "target_tools[0]"),
        ("/tags/0", "tags[0]"),
        ("/query_urls/0", "query_urls[0]"),
        ("/sponsor_wallet_address", "sponsor_wallet_address"),
        ("/task_schema/task_type", "task_schema.task_type"),
        ("/task_schema/required_fields/0", "task_schema.required_fields[0]"),
        ("/task_schema/instructions", "task_schema.instructions"),
        ("/task_schema/description", "task_schema.description"),
    ] {
        add(SPONSOR, "POST /campaigns", &draft, pointer, field);
    }
    let patch = json!({ "name": "a", "tags": ["a"], "active": true });
    for (pointer, field) in [("/name", "name"), ("/tags/0", "tags[0]"), ("/active", "active")] {
        add(SPONSOR, &format!("PATCH /campaigns/{campaign}"), &patch, pointer, field);
    }
    let api = json!({
        "name": "a", "sponsor": "b", "upstream_url": "https://8.8.8.8/", "price_cents": 1, "budget_cents": 1,
        "service_key": "a", "description": "a", "upstream_method": "POST", "upstream_headers": { "a": "b" },
    });
    for (pointer, field) in [
        ("/name", "name"),
        ("/sponsor", "sponsor"),
        ("/upstream_url", "upstream_url"),
        ("/price_cents", "price_cents"),
        ("/service_key", "service_key"),
        ("/description", "description"),
        ("/upstream_method", "upstream_method"),
        ("/upstream_headers/a", "upstream_headers"),
        ("/upstream_headers", "upstream_headers"),
    ] {
        add(SPONSOR, "POST /sponsored-apis", &api, pointer, field);
    }
    cases
}

#[tokio::test]
async fn no_text_field_takes_nul_half_characters_or_a_megabyte() {
    let site = Site::start().await;
    let session = site.sign_in("a@example.com").await;
    let campaign = site.campaign(100, json!({})).await;
    let long = "x".repeat(1 << 20);
    for (key, route, body, field) in poisoned(&session, &campaign) {
        let (method, path) = route.split_once(' ').unwrap();
        let bearer = format!("Bearer {key}");
        let send = async |poison: &str| {
            let body = body.to_string().replace(POISON, poison);
            site.send(method, path, &[("authorization", &bearer), JSON], body.as_bytes()).await
        };
        for poison in [r"a\u0000b", &long] {
            let reply = send(poison).await;
            assert_eq!(reply.invalid().0, field, "{route} {reply:?}");
            assert!(reply.body.len() < 2_000, "{route} {field}: {} bytes", reply.body.len());
        }
        for poison in [r"\ud800", r"\udc00\ud800", r"\ud800x"] {
            let refused = send(poison).await.invalid().0;
            assert!(refused == "body" || refused == field, "{route} {field}: {refused}");
        }
    }
    // The input of a run is never stored, so it may contain NUL, but it must not be that long.
    let run = |input: &str| json!({ "session_token": session, "input": input });
    assert_eq!(site.post("/gpt/services/none/run", run("a\0b")).await.error(404).0, "not_found");
    assert_eq!(site.post("/gpt/services/none/run", run(&long)).await.invalid().0, "input");
    let path = format!("/gpt/services?q={}", "x".repeat(2_000));
    assert_eq!(site.get(&path).await.invalid().0, "q");
    let tables = ["users", "campaigns", "sponsored_apis", "task_completions", "user_task_preferences"];
    let rows: Vec<_> =
        tables.iter().map(|table| site.number(&format!("SELECT count(*) FROM {table}"))).collect();
    assert_eq!(rows, [1, 1, 0, 0, 0]);
    site.finish().await;
}

#[tokio::test]
async fn texts_stay_what_they_are() {
    let site = Site::start().await;
    for (number, text) in INJECTIONS.iter().enumerate() {
        let campaign = site
            .campaign(100, json!({ "name": text, "sponsor": text, "required_task": text, "tags": [text], "target_tools": [text] }))
            .await;
        let auth = json!({ "email": format!("a{number}@example.com"), "region": text, "roles": [text] });
        let session = site.post("/gpt/auth", auth).await.ok()["session_token"].as_str().unwrap().to_owned();
        let task = site.get(&format!("/gpt/tasks/{campaign}?session_token={session}")).await.ok();
        assert_eq!((&task["campaign_name"], &task["required_task"]), (&json!(text), &json!(text)));
        let mut body = completion(&session, [true; 3]);
        body["task_name"] = json!(text);
        body["details"] = json!(text);
        let path = format!("/gpt/tasks/{campaign}/complete");
        assert_eq!(site.post(&path, body).await.ok()["can_use_service"], true, "{text}");
        let preferences =
            json!({ "session_token": session, "preferences": [{ "task_type": text, "level": "preferred" }] });
        site.post("/gpt/preferences", preferences).await.ok();
        let read = site.get(&format!("/gpt/preferences?session_token={session}")).await.ok();
        assert_eq!(read["preferences"][0]["task_type"], json!(text));
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let found = site.get(&format!("/gpt/services?q={encoded}")).await.ok();
        assert_eq!(found["services"][0]["name"], json!(text), "{text}");
        let run = json!({ "session_token": session, "input": text });
        let reply = site.post(&format!("/gpt/services/{encoded}/run"), run).await;
        assert_eq!(reply.error(404).0, "not_found", "{text}");
    }
    assert_eq!(site.number("SELECT count(*) FROM users"), INJECTIONS.len() as i64);
    site.finish().await;
}

#[tokio::test]
async fn wrong_types_and_numbers_out_of_range_are_400() {
    let site = Site::start().await;
    let mut draft = json!({
        "name": "a", "sponsor": "b", "required_task": "c", "subsidy_per_call_cents": 1, "budget_cents": 1,
    });
    let wrong: [(&str, Value); 13] = [
        ("subsidy_per_call_cents", json!(0)),
        ("subsidy_per_call_cents", json!(1.5)),
        ("subsidy_per_call_cents", json!("1")),
        ("budget_cents", json!(-1)),
        ("budget_cents", json!(1_000_000_000_001_i64)),
        ("budget_cents", json!(u64::MAX)),
        ("budget_cents", json!(1e300)),
        ("name", json!(null)),
        ("name", json!(["a"])),
        ("target_tools", json!({ "a": 1 })),
        ("query_urls", json!(["javascript:alert(1)"])),
        ("task_schema", json!({ "task_type": "a" })),
        ("active", json!(true)),
    ];
    for (field, value) in wrong {
        let before = draft.get(field).cloned();
        draft[field] = value.clone();
        let reply = site.call(SPONSOR, "POST", "/campaigns", &draft).await;
        assert!(reply.invalid().0.starts_with(field), "{field} {value}: {reply:?}");
        match before {
            Some(before) => draft[field] = before,
            None => drop(draft.as_object_mut().unwrap().remove(field)),
        }
    }
    assert_eq!(site.call(SPONSOR, "POST", "/campaigns", &draft).await.status, 201);
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=1e2", "limit"),
        ("max_budget_cents=1.5", "max_budget_cents"),
        ("max_budget_cents=99999999999999999999", "max_budget_cents"),
        ("q=a&q=b", "q"),
        ("admin=1", "admin"),
        ("q=%ff", "query string"),
        ("q=%", "query string"),
        ("q=%00", "q"),
        ("session_token=1&session_token=2", "session_token"),
    ] {
        assert_eq!(site.get(&format!("/gpt/services?{query}")).await.invalid().0, field, "{query}");
    }
    for path in
        ["/gpt/tasks/%ff?session_token=1", "/campaigns/1", "/campaigns/..%2f..%2fetc", "/sponsored-apis/x'--"]
    {
        site.get(path).await.invalid();
    }
    let session = site.sign_in("a@example.com").await;
    let run = json!({ "session_token": session, "input": "x" });
    for service in ["%00", "%20", &"x".repeat(501)] {
        let reply = site.post(&format!("/gpt/services/{service}/run"), run.clone()).await;
        assert_eq!(reply.invalid().0, "service", "{service}");
    }
    site.finish().await;
}

#[tokio::test]
async fn other_content_types_methods_and_routes_have_json_errors_too() {
    let mut options = SiteOptions::default();
    options.server.max_body_bytes = 10_000;
    let site = options.start().await;
    let bearer = format!("Bearer {GPT}");
    let auth = ("authorization", bearer.as_str());
    let body = br#"{"email":"a@example.com","region":"JP"}"#;
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", ""] {
        let reply = site.send("POST", "/gpt/auth", &[auth, ("content-type", content_type)], body).await;
        assert_eq!(reply.error(415).0, "unsupported_media_type", "{content_type}");
    }
    assert_eq!(site.send("POST", "/gpt/auth", &[auth], body).await.error(415).0, "unsupported_media_type");
    for content_type in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/problem+json"] {
        let reply = site.send("POST", "/gpt/auth", &[auth, ("content-type", content_type)], body).await;
        assert_eq!(reply.status, 200, "{content_type}: {reply:?}");
    }
    for (method, path) in [
        ("DELETE", "/gpt/services"),
        ("PUT", "/gpt/auth"),
        ("GET", "/gpt/auth"),
        ("POST", "/gpt/user/status"),
        ("DELETE", "/campaigns"),
        ("POST", "/dashboard/sponsor/1"),
        ("GET", "/proxy/a/run"),
    ] {
        assert_eq!(
            site.send(method, path, &[auth, JSON], b"{}").await.error(405).0,
            "method_not_allowed",
            "{path}"
        );
    }
    for path in [
        "/gpt",
        "/gpt/",
        "/gpt/services/",
        "/gpt/tasks",
        "/profiles",
        "/register",
        "/tool/a/run",
        "/agent/discovery/services",
        "/creator/metrics",
        "/webhooks/x402",
    ] {
        assert_eq!(site.send("GET", path, &[auth], b"").await.error(404).0, "not_found", "{path}");
    }
    let large = vec![b' '; 10_001];
    assert_eq!(site.send("POST", "/gpt/auth", &[auth, JSON], &large).await.error(413).0, "too_large");
    assert_eq!(
        site.send("GET", "/gpt/services", &[auth, ("host", "evil.example")], b"").await.error(403).0,
        "forbidden"
    );
    site.finish().await;
}
