//! Runs: who pays, and what an idempotency key does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annai_core::{
    Access, Call, Effect, Facts, Guide, Identity, RegistryBuilder, Reply, Sponsor, TokenScope, Tool,
    ToolError, Toolset, Widget, World,
};
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Semaphore;

use crate::site::{SPONSOR, Site, SiteOptions};
use crate::upstream_server::{UpstreamServer, header};

#[tokio::test]
async fn a_run_that_nobody_pays_for_is_402_and_an_unknown_service_404() {
    let upstream = UpstreamServer::text("ok").await;
    let site = Site::start().await;
    site.api(&upstream.url(), 15, json!({})).await;
    let session = site.sign_in("a@example.com").await;
    assert_eq!(site.run(&session, "x").await.ok()["sponsored_by"], "Scraper Inc");
    let unpaid = site.run(&session, "x").await;
    let (code, message) = unpaid.error(402);
    assert!(code == "payment_required" && message.contains("direct payment is not enabled"), "{message}");
    assert_eq!(unpaid.json()["error"]["details"], json!({ "service": "scrape", "price_cents": 10 }));
    let unknown = json!({ "session_token": session, "input": "x" });
    assert_eq!(site.post("/gpt/services/none/run", unknown).await.error(404).0, "not_found");
    assert_eq!(upstream.requests().len(), 1);
    site.finish().await;
}

#[tokio::test]
async fn the_same_key_runs_once_and_returns_the_first_result() {
    let upstream = UpstreamServer::text("ok").await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    let path = "/gpt/services/scrape/run";
    let body = json!({ "session_token": session, "input": "x" });
    let first = site.post_with_key(path, "k", body.clone()).await.ok();
    assert_eq!(site.post_with_key(path, "k", body.clone()).await.ok(), first);
    assert_eq!(upstream.requests().len(), 1);
    let other = json!({ "session_token": session, "input": "y" });
    assert_eq!(site.post_with_key(path, "k", other).await.error(409).0, "conflict");
    for key in ["", &"k".repeat(256), "k\u{e9}", "a\tb"] {
        assert_eq!(
            site.post_with_key(path, key, body.clone()).await.invalid().0,
            "Idempotency-Key",
            "{key:?}"
        );
    }
    let twice = [
        ("authorization", "Bearer gpt-key"),
        ("content-type", "application/json"),
        ("idempotency-key", "a"),
        ("idempotency-key", "a"),
    ];
    let reply = site.send("POST", path, &twice, body.to_string().as_bytes()).await;
    assert_eq!(reply.invalid().0, "Idempotency-Key");
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 90);
    site.finish().await;
}

#[tokio::test]
async fn a_key_whose_run_is_in_progress_is_409() {
    let release = Arc::new(Semaphore::new(0));
    let upstream = UpstreamServer::waiting("ok", release.clone()).await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    let body = json!({ "session_token": session, "input": "x" });
    let post = || site.post_with_key("/gpt/services/scrape/run", "k", body.clone());
    let (first, ()) = tokio::join!(post(), async {
        upstream.called(1).await;
        assert_eq!(post().await.error(409).0, "in_progress");
        release.add_permits(1);
    });
    assert_eq!(post().await.ok(), first.ok());
    site.finish().await;
}

#[tokio::test]
async fn an_attempt_after_a_failure_shows_the_upstream_the_same_key() {
    let upstream = UpstreamServer::replying("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n").await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    let body = json!({ "session_token": session, "input": "x" });
    for _ in 0..2 {
        let reply = site.post_with_key("/gpt/services/scrape/run", "k", body.clone()).await;
        assert_eq!(reply.error(502).0, "upstream_error");
        assert_eq!(reply.json()["error"]["details"], json!({ "service": "scrape", "status": 500 }));
    }
    let keys: Vec<_> = upstream.requests().iter().map(|request| header(request, "idempotency-key")).collect();
    assert!(keys.len() == 2 && keys[0].is_some() && keys[0] == keys[1], "{keys:?}");
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 100);
    assert_eq!(site.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    site.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_at_once_spend_exactly_the_budget() {
    let calls = Arc::new(AtomicUsize::new(0));
    let upstream = UpstreamServer::start(move |mut stream| {
        let status = if calls.fetch_add(1, Ordering::SeqCst).is_multiple_of(4) { "500 No" } else { "200 OK" };
        async move {
            let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
            stream.write_all(reply.as_bytes()).await?;
            stream.shutdown().await
        }
    })
    .await;
    let site = Site::start().await;
    let (session, _) = site.sponsored_person(&upstream.url(), 200).await;
    let replies = join_all((0..100).map(|_| site.run(&session, "x"))).await;
    let mut paid = replies.iter().filter(|reply| reply.status == 200).count();
    assert!(replies.iter().all(|reply| [200, 402, 502].contains(&reply.status)), "{replies:?}");
    assert!(paid <= 20);
    loop {
        match site.run(&session, "x").await.status {
            200 => paid += 1,
            502 => {}
            status => break assert_eq!((status, paid), (402, 20)),
        }
    }
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 0);
    assert_eq!(site.number("SELECT sum(amount_cents) FROM payments WHERE status = 'settled'"), 200);
    site.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_at_once_from_two_servers_runs_once() {
    let upstream = UpstreamServer::text("ok").await;
    let options = SiteOptions::default();
    let database = options.section.database_path.clone();
    let one = options.start().await;
    let mut options = SiteOptions::default();
    options.section.database_path = database;
    let two = options.start().await;
    let (session, _) = one.sponsored_person(&upstream.url(), 100).await;
    let body = json!({ "session_token": session, "input": "x" });
    let path = "/gpt/services/scrape/run";
    let runs = (0..50).map(|number| [&one, &two][number % 2].post_with_key(path, "k", body.clone()));
    let replies = join_all(runs).await;
    let first = two.post_with_key(path, "k", body.clone()).await.ok();
    for reply in replies {
        match reply.status {
            200 => assert_eq!(reply.json(), first),
            _ => assert_eq!(reply.error(409).0, "in_progress"),
        }
    }
    assert_eq!(upstream.requests().len(), 1);
    assert_eq!(one.number("SELECT budget_remaining_cents FROM campaigns"), 90);
    two.finish().await;
    one.finish().await;
}

/// A toolset with a tool that sponsors may buy.
struct Oracle;

impl Toolset for Oracle {
    const NAME: &'static str = "oracle";
    const INSTRUCTIONS: &'static [&'static str] = &[];
    type Config = ();

    async fn open((): &()) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    answer: String,
}

struct Ask;

impl Tool for Ask {
    const FACTS: Facts = Facts {
        name: "ask",
        title: "Ask",
        description: "Answers.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(TokenScope::new("answers.use")),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide { when: "asked", safe_defaults: "{}", common_errors: &[] },
    };
    type Set = Oracle;
    type Input = Question;
    type Output = Answer;

    async fn run(_: &Oracle, call: &Call, input: Question) -> Result<Reply<Answer>, ToolError> {
        let Identity::Person(person) = call.identity() else { return Err(ToolError::internal("nobody")) };
        Ok(Reply::new(Answer { answer: format!("{} for {}", input.query, person.subject) }))
    }
}

fn register_oracle(registry: &mut RegistryBuilder) {
    registry.toolset::<Oracle>(()).tool::<Ask>();
}

#[tokio::test]
async fn a_sponsor_pays_for_a_tool_of_this_server_and_the_user_is_its_caller() {
    let mut options = SiteOptions::default();
    options.server.public_url = Some("https://annai.example.com".to_owned());
    options.section.tool_prices.insert("ask".to_owned(), serde_json::from_value(json!(7)).unwrap());
    options.register = register_oracle;
    let site = options.start().await;
    let cheap = json!({
        "name": "Ask", "sponsor": "Acme", "upstream_url": "tool:ask", "price_cents": 6, "budget_cents": 20,
    });
    assert_eq!(site.call(SPONSOR, "POST", "/sponsored-apis", &cheap).await.invalid().0, "price_cents");
    site.api("tool:ask", 20, json!({ "service_key": "ask" })).await;
    let auth = site.post("/gpt/auth", json!({ "email": "a@example.com", "region": "JP" })).await.ok();
    let body = json!({ "session_token": auth["session_token"], "input": "why" });
    let report = site.post("/gpt/services/ask/run", body).await.ok();
    let output = report["output"].as_str().unwrap();
    assert!(output.contains(&format!("why for {}", auth["user_id"].as_str().unwrap())), "{output}");
    assert_eq!(site.number("SELECT budget_remaining_cents FROM sponsored_apis"), 10);
    site.finish().await;
}
