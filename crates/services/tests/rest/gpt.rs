//! The routes of the GPT actions on a good day, with the exact shapes of their replies.

use serde_json::{Value, json};

use crate::site::{GPT, INTERNAL, Site, completion};
use crate::upstream_server::{UpstreamServer, header};

#[tokio::test]
async fn a_person_goes_from_the_search_to_a_sponsored_run() {
    let upstream = UpstreamServer::text("{\"page\": \"案内\"}").await;
    let site = Site::start().await;
    let api = site.api(&upstream.url(), 0, json!({ "upstream_headers": { "X-Api-Key": "k" } })).await;
    let campaign = site.campaign(100, json!({ "tags": ["web"] })).await;

    let found = site.get("/gpt/services").await.ok();
    assert_eq!(
        found,
        json!({
            "services": [
                {
                    "service_type": "campaign", "service_id": campaign, "name": "Survey for scraping",
                    "sponsor": "Acme", "required_task": "survey", "subsidy_amount_cents": 50,
                    "category": ["scrape"], "service_keys": ["scrape"], "active": true, "tags": ["web"],
                    "relevance_score": null,
                },
                {
                    "service_type": "sponsored_api", "service_id": api, "name": "Scrape", "sponsor": "Scraper Inc",
                    "required_task": null, "subsidy_amount_cents": 10, "category": ["scrape"],
                    "service_keys": ["scrape"], "active": true, "tags": found["services"][1]["tags"],
                    "relevance_score": null,
                },
            ],
            "total_count": 2,
            "message": "2 services were found.",
        })
    );

    let auth = site
        .post(
            "/gpt/auth",
            json!({ "email": "A@example.com", "region": "JP", "roles": ["dev"], "tools_used": [] }),
        )
        .await
        .ok();
    let session = auth["session_token"].as_str().unwrap();
    assert_eq!(
        auth,
        json!({
            "session_token": session, "user_id": auth["user_id"], "email": "A@example.com", "is_new_user": true,
            "message": "Welcome. You are registered; search for a service to begin.",
        })
    );
    let again = site.post("/gpt/auth", json!({ "email": "a@EXAMPLE.com", "region": "auto" })).await.ok();
    assert_eq!((&again["user_id"], &again["is_new_user"]), (&auth["user_id"], &json!(false)));

    let task = site.get(&format!("/gpt/tasks/{campaign}?session_token={session}")).await.ok();
    assert_eq!(
        task,
        json!({
            "campaign_id": campaign, "campaign_name": "Survey for scraping", "sponsor": "Acme",
            "required_task": "survey", "task_description": "Complete the task “survey” for “Acme”.",
            "task_input_format": {
                "task_type": "survey", "required_fields": ["email", "region"],
                "instructions": task["task_input_format"]["instructions"],
            },
            "already_completed": false, "subsidy_amount_cents": 50,
            "message": "Complete this task, and “Acme” pays up to $0.50 a run.",
        })
    );

    let run = json!({ "session_token": session, "input": "https://a.example" });
    let early = site.post("/gpt/services/scrape/run", run.clone()).await;
    assert_eq!(early.error(428).0, "precondition_required");
    assert_eq!(early.json()["error"]["details"]["campaign_id"], json!(campaign));

    let path = format!("/gpt/tasks/{campaign}/complete");
    let recorded = site.post(&path, completion(session, [true, false, false])).await.ok();
    assert_eq!(recorded["can_use_service"], false);
    let completed = site.post(&path, completion(session, [true, true, false])).await.ok();
    assert_eq!(
        completed,
        json!({
            "task_completion_id": recorded["task_completion_id"], "campaign_id": campaign, "consent_recorded": true,
            "can_use_service": true,
            "message": "The task is completed. “Acme” pays for the services of “Survey for scraping” now.",
        })
    );

    let report = site.post("/gpt/services/scrape/run", run).await.ok();
    assert_eq!(
        report,
        json!({
            "service": "scrape", "output": "{\"page\": \"案内\"}", "payment_mode": "sponsored", "sponsored_by": "Acme",
            "tx_hash": report["tx_hash"], "message": "“Acme” paid for this run of “scrape”.",
        })
    );
    let [request] = &upstream.requests()[..] else { panic!("{:?}", upstream.requests()) };
    assert!(request.starts_with("POST /run?key=s3cret HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"input\":\"https://a.example\"}"), "{request}");
    assert_eq!(header(request, "idempotency-key").as_deref(), report["tx_hash"].as_str());
    assert_eq!(header(request, "x-api-key").as_deref(), Some("k"));
    assert_eq!(header(request, "content-type").as_deref(), Some("application/json"));

    let status = site.get(&format!("/gpt/user/status?session_token={session}")).await.ok();
    assert_eq!(
        status,
        json!({
            "user_id": auth["user_id"], "email": "A@example.com", "registered_at": status["registered_at"],
            "completed_tasks": [{
                "campaign_id": campaign, "campaign_name": "Survey for scraping", "task_name": "survey",
                "completed_at": status["completed_tasks"][0]["completed_at"],
            }],
            "available_services": [{ "service": "scrape", "sponsor": "Acme", "ready": true }],
            "message": "Services ready to run: 1.",
        })
    );
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 90);
    site.finish().await;
}

#[tokio::test]
async fn a_search_is_filtered_scored_and_limited() {
    let site = Site::start().await;
    for (name, subsidy, tool) in [("Design survey", 40, "design"), ("翻訳サービス", 20, "translate")] {
        let changes = json!({ "name": name, "subsidy_per_call_cents": subsidy, "target_tools": [tool] });
        site.campaign(100, changes).await;
    }
    let session = site.sign_in("a@example.com").await;
    let names = |reply: &Value| {
        let services = reply["services"].as_array().unwrap();
        services.iter().map(|service| service["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let scored = site.get("/gpt/services?max_budget_cents=40&intent=%E7%BF%BB%E8%A8%B3").await.ok();
    assert_eq!(names(&scored), ["翻訳サービス"]);
    assert_eq!(
        scored["applied_filters"],
        json!({ "budget": 40, "intent": "翻訳", "preferences_applied": false })
    );
    assert!(scored["services"][0]["relevance_score"].is_f64());
    assert_eq!(scored.get("available_categories"), None);
    let nothing = site.get("/gpt/services?intent=cooking").await.ok();
    assert_eq!(nothing["total_count"], 0);
    assert_eq!(nothing["available_categories"].as_array().unwrap().len(), 2);
    let limited = site.get("/gpt/services?limit=1&q=&category=").await.ok();
    assert_eq!((limited["services"].as_array().unwrap().len(), &limited["total_count"]), (1, &json!(2)));
    let known = site.get(&format!("/gpt/services?session_token={session}&category=DESIGN")).await.ok();
    assert_eq!(names(&known), ["Design survey"]);
    assert_eq!(known["applied_filters"], json!({ "category": "DESIGN", "preferences_applied": false }));
    let blank = site.get("/gpt/services?session_token=").await.ok();
    assert_eq!(blank["total_count"], 2);
    site.finish().await;
}

#[tokio::test]
async fn preferences_are_replaced_and_read_back() {
    let site = Site::start().await;
    let session = site.sign_in("a@example.com").await;
    let path = format!("/gpt/preferences?session_token={session}");
    let empty = site.get(&path).await.ok();
    let message = "No task preferences are set. Set some to see the services you like first.";
    assert_eq!(empty, json!({ "user_id": empty["user_id"], "preferences": [], "message": message }));
    let preferences = json!([{ "task_type": "survey", "level": "avoided" }, { "task_type": "signup", "level": "preferred" }]);
    let body = json!({ "session_token": session, "preferences": preferences });
    let saved = site.post("/gpt/preferences", body).await.ok();
    assert_eq!(
        saved,
        json!({
            "user_id": empty["user_id"], "preferences_count": 2, "updated_at": saved["updated_at"],
            "message": "2 task preferences were saved; they replace the earlier ones.",
        })
    );
    let twice = json!({
        "session_token": session,
        "preferences": [{ "task_type": "a", "level": "neutral" }, { "task_type": "A", "level": "neutral" }],
    });
    let refused = site.post("/gpt/preferences", twice).await;
    assert_eq!(refused.invalid().0, "preferences[1].task_type");
    let read = site.get(&path).await.ok();
    assert_eq!(read["updated_at"], saved["updated_at"]);
    let mut read = read["preferences"].as_array().unwrap().clone();
    read.sort_by_key(|preference| std::cmp::Reverse(preference["task_type"].to_string()));
    assert_eq!(Value::from(read), preferences);
    site.finish().await;
}

#[tokio::test]
async fn the_older_paths_follow_the_same_rules() {
    let upstream = UpstreamServer::replying("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok").await;
    let site = Site::start().await;
    let api = site.api(&upstream.url(), 0, json!({})).await;
    let campaign = site.campaign(100, json!({})).await;
    let session = site.sign_in("a@example.com").await;
    let mut body = completion(&session, [true, true, true]);
    body["campaign_id"] = json!(campaign);
    let completed = site.post("/tasks/complete", body).await.ok();
    assert_eq!(
        completed,
        json!({
            "id": completed["id"], "campaign_id": campaign, "user_id": completed["user_id"], "task_name": "survey",
            "details": "{\"age\":7}", "created_at": completed["created_at"],
        })
    );
    let run = json!({ "session_token": session, "input": "x" });
    let proxied = site.post("/proxy/scrape/run", run.clone()).await.ok();
    assert_eq!(
        proxied,
        json!({
            "service": "scrape", "output": "ok", "payment_mode": "sponsored", "sponsored_by": "Acme",
            "tx_hash": proxied["tx_hash"],
        })
    );
    let direct = site.post(&format!("/sponsored-apis/{api}/run"), run.clone()).await.ok();
    assert_eq!(
        direct,
        json!({
            "api_id": api, "payment_mode": "sponsored", "sponsored_by": "Acme", "tx_hash": direct["tx_hash"],
            "upstream_status": 202, "upstream_body": "ok",
        })
    );
    for path in ["/tasks/complete", "/proxy/scrape/run", &format!("/sponsored-apis/{api}/run")] {
        let json = [("content-type", "application/json")];
        assert_eq!(
            site.send("POST", path, &json, run.to_string().as_bytes()).await.error(401).0,
            "unauthorized"
        );
    }
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 80);
    site.finish().await;
}

#[tokio::test]
async fn both_keys_open_the_routes() {
    let site = Site::start().await;
    for key in [GPT, INTERNAL] {
        let bearer = format!("bearer {key}");
        assert_eq!(site.send("GET", "/gpt/services", &[("authorization", &bearer)], b"").await.status, 200);
    }
    site.finish().await;
}
