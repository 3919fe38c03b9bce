use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annai_core::{
    Access, Call, Effect, ErrorKind, Facts, Guide, Identity, Person, Registry, Reply, Sponsor, TokenScope,
    Tool, ToolError, Toolset, Widget, World as Openness,
};
use annai_services::domain::money::Cents;
use annai_services::domain::text::Name;
use annai_services::runs::{RunOptions, RunRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{World, code};

/// A toolset that needs a key, and counts its calls.
struct Answers(Arc<AtomicUsize>);

#[derive(Clone, Default)]
struct Config {
    key: Option<&'static str>,
    calls: Arc<AtomicUsize>,
}

impl Toolset for Answers {
    const NAME: &'static str = "answers";
    const INSTRUCTIONS: &'static [&'static str] = &[];
    type Config = Config;

    async fn open(config: &Config) -> Result<Self, ToolError> {
        match config.key {
            Some(_) => Ok(Self(config.calls.clone())),
            None => Err(ToolError::new(ErrorKind::NotConfigured, "OPENAI_API_KEY is not set")),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answered {
    answer: String,
}

struct Answer;

impl Tool for Answer {
    const FACTS: Facts = Facts {
        name: "answer",
        title: "Answer",
        description: "Answers.",
        effect: Effect::Read,
        world: Openness::Open,
        access: Access::SignedIn(TokenScope::new("answers.use")),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide { when: "asked", safe_defaults: "{}", common_errors: &[] },
    };
    type Set = Answers;
    type Input = Question;
    type Output = Answered;

    async fn run(set: &Answers, call: &Call, input: Question) -> Result<Reply<Answered>, ToolError> {
        set.0.fetch_add(1, Ordering::SeqCst);
        let Identity::Person(person) = call.identity() else { panic!("the end user is not the identity") };
        match input.query.as_str() {
            "fail" => Err(ToolError::upstream("the account is empty", "secret")),
            query => {
                Ok(Reply::prose(Answered { answer: format!("{query} for {}", person.subject) }, "answer"))
            }
        }
    }
}

fn registry(config: &Config) -> Arc<Registry> {
    let mut builder = Registry::builder(Duration::from_secs(60));
    builder.toolset::<Answers>(config.clone()).tool::<Answer>();
    builder.build().unwrap()
}

/// Somebody who may run services and nothing else.
fn person() -> Identity {
    let scopes = ["services.execute".to_owned()].into();
    Identity::Person(Arc::new(Person { issuer: "i".into(), subject: "somebody".into(), email: None, scopes }))
}

fn world(config: &Config) -> World {
    let tool_prices = BTreeMap::from([("answer".to_owned(), Cents::parse(7).unwrap())]);
    World::with(RunOptions { tool_prices, ..RunOptions::default() }, registry(config))
}

fn request(
    world: &World,
    session: annai_services::domain::ids::SessionToken,
    service: &str,
    input: &str,
) -> RunRequest {
    let service = Name::parse(service).unwrap();
    RunRequest { service, identity: person(), ..world.request(session, input, None) }
}

#[tokio::test]
async fn a_sponsor_pays_for_the_answers_of_somebody_without_their_scope() {
    needs_database!();
    let config = Config { key: Some("k"), ..Config::default() };
    let world = world(&config);
    assert!(world.registry.admit("answer", &person()).is_err());
    let session = world.sign_in("a@example.com").await;
    // A campaign that names the tool pays its own subsidy for it.
    let campaign = world.campaign(100, json!({ "target_tools": ["answer"] })).await;
    assert_eq!(
        code(world.runs().run(request(&world, session, "answer", "why")).await),
        "precondition_required"
    );
    world.complete(session, campaign.id, [true, true]).await.unwrap();
    let report = world.runs().run(request(&world, session, "answer", "why")).await.unwrap();
    assert_eq!((report.output.as_str(), report.sponsored_by.as_str()), ("why for somebody", "Acme"));
    assert_eq!(world.books().await, (0, 50, 50));
    // A sponsored API of the tool has its own price.
    let changes = json!({ "upstream_url": "tool:answer", "service_key": "web-answers", "price_cents": 8 });
    world.api(8, changes).await.unwrap();
    let report = world.runs().run(request(&world, session, "web-answers", "how")).await.unwrap();
    assert_eq!((report.output.as_str(), report.sponsored_by.as_str()), ("how for somebody", "Scraper Inc"));
    // A failure costs nothing and tells nothing of the operator's account.
    let error = world.runs().run(request(&world, session, "answer", "fail")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (502, "upstream_error"));
    assert!(!error.to_string().contains("account"), "{error}");
    assert_eq!(world.books().await.0, 0);
    assert_eq!(config.calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_tool_without_its_key_is_not_configured_before_anything_is_reserved() {
    needs_database!();
    let world = world(&Config::default());
    let session = world.sign_in("a@example.com").await;
    let campaign = world.campaign(100, json!({ "target_tools": ["answer"] })).await;
    world.complete(session, campaign.id, [true, true]).await.unwrap();
    let error = world.runs().run(request(&world, session, "answer", "why")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (503, "not_configured"));
    assert!(error.to_string().contains("OPENAI_API_KEY is not set"), "{error}");
    assert_eq!(world.number("SELECT count(*) FROM reservations"), 0);
    // A tool that this request does not see is not served either.
    world
        .api(8, json!({ "upstream_url": "tool:answer", "service_key": "wa", "price_cents": 8 }))
        .await
        .unwrap();
    let other = Registry::builder(Duration::from_secs(60)).build().unwrap();
    let request = RunRequest { registry: other, ..request(&world, session, "wa", "why") };
    assert_eq!(code(world.runs().run(request).await), "not_configured");
    assert_eq!(world.number("SELECT count(*) FROM reservations"), 0);
}

#[tokio::test]
async fn the_operators_price_is_the_least() {
    needs_database!();
    let world = world(&Config { key: Some("k"), ..Config::default() });
    let session = world.sign_in("a@example.com").await;
    let stingy = json!({ "target_tools": ["answer"], "subsidy_per_call_cents": 6 });
    let campaign = world.campaign(100, stingy).await;
    world.complete(session, campaign.id, [true, true]).await.unwrap();
    let error = world.runs().run(request(&world, session, "answer", "why")).await.unwrap_err();
    assert_eq!((error.status(), error.details().unwrap()["price_cents"].clone()), (402, json!(7)));
    let cheap = json!({ "upstream_url": "tool:answer", "service_key": "cheap", "price_cents": 6 });
    assert_eq!(code(world.api(0, cheap).await), "validation_error");
}
