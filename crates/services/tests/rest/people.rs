//! Who is who: other people's sessions, accounts of identity providers, and many sign-ups at once.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::site::{INTERNAL, Site, completion};

fn identified(email: &str, subject: &str) -> Value {
    json!({ "email": email, "region": "auto", "issuer": "https://i.example", "subject": subject })
}

#[tokio::test]
async fn nobody_enters_a_bound_account_by_its_address() {
    let site = Site::start().await;
    let before = site.sign_in("a@example.com").await;
    let bound = site.call(INTERNAL, "POST", "/gpt/auth", &identified("A@example.com", "1")).await.ok();
    assert_eq!(bound["is_new_user"], false);
    // Binding has ended the older session.
    let status = |session: &str| format!("/gpt/user/status?session_token={session}");
    assert_eq!(site.get(&status(&before)).await.error(401).0, "unauthorized");
    let session = bound["session_token"].as_str().unwrap();
    assert_eq!(site.get(&status(session)).await.ok()["user_id"], bound["user_id"]);
    let plain = json!({ "email": "a@EXAMPLE.com", "region": "JP" });
    assert_eq!(site.post("/gpt/auth", plain.clone()).await.error(403).0, "forbidden");
    assert_eq!(site.call(INTERNAL, "POST", "/gpt/auth", &plain).await.error(403).0, "forbidden");
    let second = identified("a@example.com", "2");
    assert_eq!(site.call(INTERNAL, "POST", "/gpt/auth", &second).await.error(403).0, "forbidden");
    let same = site.call(INTERNAL, "POST", "/gpt/auth", &identified("a@example.com", "1")).await.ok();
    assert_eq!(same["user_id"], bound["user_id"]);
    site.finish().await;
}

#[tokio::test]
async fn a_session_shows_and_changes_only_its_own_person() {
    let site = Site::start().await;
    let campaign = site.campaign(100, json!({})).await;
    let (one, other) = (site.sign_in("a@example.com").await, site.sign_in("b@example.com").await);
    site.complete(&one, &campaign).await;
    let status = site.get(&format!("/gpt/user/status?session_token={other}")).await.ok();
    assert_eq!((&status["email"], &status["completed_tasks"]), (&json!("b@example.com"), &json!([])));
    let task = site.get(&format!("/gpt/tasks/{campaign}?session_token={other}")).await.ok();
    assert_eq!(task["already_completed"], false);
    site.finish().await;
}

#[tokio::test]
async fn unknown_and_malformed_sessions_are_refused_everywhere() {
    let site = Site::start().await;
    let campaign = site.campaign(100, json!({})).await;
    let unknown = "00000000-0000-4000-8000-000000000000";
    let get = [
        "/gpt/services?session_token=".to_owned(),
        format!("/gpt/tasks/{campaign}?session_token="),
        "/gpt/user/status?session_token=".to_owned(),
        "/gpt/preferences?session_token=".to_owned(),
    ];
    for path in get {
        assert_eq!(site.get(&format!("{path}{unknown}")).await.error(401).0, "unauthorized", "{path}");
        assert_eq!(site.get(&format!("{path}x'%20OR%201=1--")).await.invalid().0, "session_token", "{path}");
    }
    for path in ["/gpt/user/status", "/gpt/preferences", &format!("/gpt/tasks/{campaign}")] {
        assert_eq!(site.get(path).await.invalid().0, "session_token", "{path}");
    }
    let bodies = [
        (format!("/gpt/tasks/{campaign}/complete"), completion(unknown, [true; 3])),
        ("/gpt/services/scrape/run".to_owned(), json!({ "session_token": unknown, "input": "x" })),
        ("/gpt/preferences".to_owned(), json!({ "session_token": unknown, "preferences": [] })),
    ];
    for (path, mut body) in bodies {
        assert_eq!(site.post(&path, body.clone()).await.error(401).0, "unauthorized", "{path}");
        body["session_token"] = json!("x");
        assert_eq!(site.post(&path, body.clone()).await.invalid().0, "session_token", "{path}");
        body.as_object_mut().unwrap().remove("session_token");
        assert_eq!(site.post(&path, body).await.invalid().0, "session_token", "{path}");
    }
    assert_eq!(site.number("SELECT count(*) FROM task_completions"), 0);
    site.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_sign_ups_of_one_address_at_once_make_one_user() {
    let site = Site::start().await;
    let emails = ["a@example.com", "A@Example.com", "a@EXAMPLE.COM"];
    let sign_ups = (0..50).map(|number| {
        let body = json!({ "email": emails[number % 3], "region": "JP" });
        site.post("/gpt/auth", body)
    });
    let replies: Vec<Value> = join_all(sign_ups).await.iter().map(|reply| reply.ok()).collect();
    assert!(replies.iter().all(|reply| reply["user_id"] == replies[0]["user_id"]));
    assert_eq!(replies.iter().filter(|reply| reply["is_new_user"] == true).count(), 1);
    assert_eq!(site.number("SELECT count(*) FROM users"), 1);
    site.finish().await;
}

#[tokio::test]
async fn a_wrong_task_or_campaign_is_refused() {
    let site = Site::start().await;
    let campaign = site.campaign(100, json!({})).await;
    let session = site.sign_in("a@example.com").await;
    let path = format!("/gpt/tasks/{campaign}/complete");
    let mut body = completion(&session, [true; 3]);
    body["task_name"] = json!("another");
    assert_eq!(site.post(&path, body).await.invalid().0, "task_name");
    let mut body = completion(&session, [true; 3]);
    body["consent"] = json!({ "data_sharing_agreed": true, "purpose_acknowledged": true });
    assert_eq!(site.post(&path, body).await.invalid().0, "consent.contact_permission");
    let unknown = "/gpt/tasks/00000000-0000-4000-8000-000000000000";
    assert_eq!(site.get(&format!("{unknown}?session_token={session}")).await.error(404).0, "not_found");
    let complete = format!("{unknown}/complete");
    assert_eq!(site.post(&complete, completion(&session, [true; 3])).await.error(404).0, "not_found");
    assert_eq!(site.get(&format!("/gpt/tasks/1?session_token={session}")).await.invalid().0, "campaign_id");
    site.finish().await;
}
