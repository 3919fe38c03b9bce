use serde_json::{Value, json};

use super::*;
use crate::domain::tool_offers::ToolOffer;

/// An offer of the tool `answer` for at least 5 cents.
pub fn tools() -> ToolOffers {
    let offer = ToolOffer { argument: "query", min_price: Cents::parse(5).unwrap() };
    ToolOffers::from_iter([("answer".to_owned(), offer)])
}

/// An API with the changes of `json`; without any: `scrape` for 10 cents, with a budget of its own of 20.
pub fn api(json: &Value) -> Result<SponsoredApi, FieldError> {
    let mut draft = json!({
        "name": "Scrape", "sponsor": "Acme", "upstream_url": "https://up.example/run", "price_cents": 10,
        "budget_cents": 20,
    });
    draft.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
    let draft: SponsoredApiDraft = serde_json::from_value(draft).unwrap();
    draft.into_api(&tools(), SponsoredApiId::random(), Timestamp::UNIX_EPOCH)
}

fn field(json: &Value) -> String {
    api(json).unwrap_err().field
}

#[test]
fn the_key_is_made_from_the_name() {
    let key = |json: &Value| api(json).unwrap().service_key;
    assert_eq!(key(&json!({ "name": "Web  Answers (β)!" })), "web-answers-β");
    assert_eq!(key(&json!({ "name": "案内" })), "案内");
    assert_eq!(field(&json!({ "name": "!!!" })), "service_key");
    assert_eq!(field(&json!({ "service_key": "a/b" })), "service_key");
    assert_eq!(field(&json!({ "service_key": ".." })), "service_key");
}

#[test]
fn an_upstream_is_a_url_or_a_tool_that_may_be_bought() {
    assert_eq!(api(&json!({ "upstream_url": "tool:answer" })).unwrap().tool(), Some("answer"));
    assert_eq!(field(&json!({ "upstream_url": "tool:run_service" })), "upstream_url");
    assert_eq!(field(&json!({ "upstream_url": "ftp://up.example" })), "upstream_url");
    assert_eq!(field(&json!({ "upstream_url": "https://up.example/\n" })), "upstream_url");
}

#[test]
fn a_sponsor_does_not_set_the_price_of_the_operators_bill() {
    assert_eq!(field(&json!({ "upstream_url": "tool:answer", "price_cents": 4 })), "price_cents");
    let mut api = api(&json!({ "upstream_url": "tool:answer" })).unwrap();
    let cheaper = SponsoredApiPatch { price_cents: Some(Cents::ZERO), ..SponsoredApiPatch::default() };
    assert_eq!(cheaper.apply(&mut api, &tools()).unwrap_err().field, "price_cents");
}

#[test]
fn a_key_that_names_a_tool_needs_that_tool() {
    assert_eq!(field(&json!({ "service_key": "answer" })), "service_key");
    assert!(api(&json!({ "service_key": "answer", "upstream_url": "tool:answer" })).is_ok());
}

#[test]
fn headers_cannot_change_the_request_itself() {
    let headers = |json| serde_json::from_value::<UpstreamHeaders>(json).is_ok();
    assert!(headers(json!({ "Authorization": "Bearer k", "X-Key": "1" })));
    for wrong in [
        json!({ "Host": "internal" }),
        json!({ "idempotency-key": "1" }),
        json!({ "a b": "1" }),
        json!({ "a": "1\r\nHost: x" }),
        json!({ "": "1" }),
    ] {
        assert!(!headers(wrong.clone()), "{wrong}");
    }
}

#[test]
fn the_upstream_is_never_serialized() {
    let api = api(&json!({ "upstream_headers": { "Authorization": "Bearer secret" } })).unwrap();
    let text = serde_json::to_string(&api).unwrap();
    assert!(!text.contains("upstream") && !text.contains("secret"), "{text}");
}
