//! The sample sponsors of `annai demo`, and the small service that the demo hosts itself.

use std::net::SocketAddr;
use std::sync::Arc;

use annai_core::Registry;
use annai_services::ServicesToolset;
use annai_services::domain::ids::CampaignId;
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Failure;

/// The path of the service that the demo hosts.
const WORD_COUNT: &str = "/demo/word-count";

/// The service that the demo hosts: it counts the words and characters of its input.
pub(super) fn routes() -> Router {
    Router::new().route(WORD_COUNT, post(async |body: Bytes| count_words(&body)))
}

fn count_words(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let input = body.get("input").and_then(Value::as_str).unwrap_or_default();
    format!("{} words, {} characters", input.split_whitespace().count(), input.chars().count())
}

/// Creates the sample sponsors, and returns the campaign that the printed journey uses.
pub(super) async fn seed(registry: &Arc<Registry>, address: SocketAddr) -> Result<CampaignId, Failure> {
    let toolset = registry.toolset::<ServicesToolset>();
    let toolset = toolset.ok_or_else(|| Failure::new("the demo serves no services"))?;
    let services = toolset.open().await?.local()?;
    let word_count = draft(json!({
        "name": "Word count", "sponsor": "Kotoba Ltd", "service_key": "word-count", "price_cents": 5, "budget_cents": 0,
        "upstream_url": format!("http://{address}{WORD_COUNT}"), "description": "Counts words and characters.",
    }))?;
    services.create_sponsored_api(word_count, registry, None).await?;
    let answers = draft(json!({
        "name": "Web answers", "sponsor": "Annai Demo", "service_key": "answer", "price_cents": 10, "budget_cents": 200,
        "upstream_url": "tool:answer", "description": "Answers a question from the web, with sources.",
    }))?;
    services.create_sponsored_api(answers, registry, None).await?;
    let tea = draft(json!({
        "name": "Tea survey", "sponsor": "Sencha Co", "required_task": "tea survey", "subsidy_per_call_cents": 20,
        "budget_cents": 1000, "target_tools": ["word-count", "answer"], "tags": ["tea", "お茶", "writing"],
        "task_schema": { "task_type": "survey", "required_fields": ["email", "favorite_tea"],
            "instructions": "Tell us which tea you drink most.", "description": "A survey of one question about tea." },
    }))?;
    let tea = services.store().create_campaign(tea, None).await?;
    let paper = draft(json!({
        "name": "Newsletter of a paper maker", "sponsor": "Washi Paper", "required_task": "registration",
        "subsidy_per_call_cents": 50, "budget_cents": 5000, "target_tools": ["word-count"], "tags": ["paper", "和紙"],
        "task_schema": { "task_type": "registration", "required_fields": ["email"],
            "instructions": "Register for the newsletter with your e-mail address.",
            "description": "A monthly newsletter about paper." },
    }))?;
    services.store().create_campaign(paper, None).await?;
    Ok(tea.id)
}

fn draft<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| Failure::new(error.to_string()))
}
