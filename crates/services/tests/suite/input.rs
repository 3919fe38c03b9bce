use annai_services::domain::campaign::CampaignDraft;
use annai_services::domain::sponsored_api::SponsoredApiDraft;
use annai_services::domain::task::TaskSubmission;
use annai_services::domain::user::SignIn;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::World;

const HOSTILE: [&str; 8] = [
    "'; DROP TABLE users; --",
    "\" OR \"\"=\"",
    "{\"$ne\": null}",
    "]}',[{\"a\":1}]",
    "%_\\%",
    "\u{202e}\u{feff}\u{1f4a9}",
    "?1 ?2 :a @b $c",
    "line\r\nbreak\ttab",
];

#[tokio::test]
async fn hostile_texts_are_only_texts() {
    needs_database!();
    let world = World::new();
    world.api(0, json!({})).await.unwrap();
    for text in HOSTILE {
        let list = json!([text, "scrape"]);
        let schema = json!({ "task_type": text, "required_fields": [text], "instructions": text, "description": text });
        let changes = json!({
            "name": text, "sponsor": text, "required_task": text, "tags": list, "target_roles": list,
            "target_tools": list, "task_schema": schema,
        });
        let campaign = world.campaign(20, changes).await;
        let read = world.store().campaign(campaign.id).await.unwrap();
        assert_eq!((read.name.as_str(), read.sponsor.as_str(), read.tags[0].as_str()), (text, text, text));
        assert_eq!(read.task_schema.as_ref().unwrap().required_fields.texts(), [text]);

        let sign_in: SignIn = serde_json::from_value(json!({
            "email": "a@example.com", "region": text, "roles": [text], "tools_used": [text],
        }))
        .unwrap();
        let session = world.store().sign_in(sign_in, None).await.unwrap().session_token;
        assert_eq!(world.store().authenticate(session).await.unwrap().roles, [text]);
        let submission: TaskSubmission = serde_json::from_value(json!({
            "task_name": text, "details": text,
            "consent": { "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": true },
        }))
        .unwrap();
        let completion = world.store().complete_task(session, campaign.id, submission).await.unwrap();
        assert_eq!(completion.completion.details.as_deref(), Some(text));
        let query = serde_json::from_value(json!({ "q": text, "intent": text, "category": text })).unwrap();
        let found = world.store().search(query, Some(session), Default::default()).await.unwrap();
        assert!(found.total_count <= 1);
        let key = format!("key ' -- {}", campaign.id);
        assert_eq!(world.run(session, text, Some(&key)).await.unwrap().sponsored_by, text);
        assert_eq!(world.run(session, text, Some(&key)).await.unwrap().output, text.to_uppercase());
    }
    assert_eq!(world.number("SELECT count(*) FROM users"), 1);
    assert_eq!(world.number("SELECT count(*) FROM campaigns"), HOSTILE.len() as i64);
    world.books().await;
}

/// The problem of a value in a field, or none.
fn problem<T: DeserializeOwned>(mut valid: Value, path: &str, value: &Value) -> Option<String> {
    *valid.pointer_mut(path).unwrap() = value.clone();
    serde_json::from_value::<T>(valid).err().map(|error| error.to_string())
}

#[test]
fn nul_a_megabyte_and_lone_surrogates_are_refused_in_every_text_field() {
    needs_database!();
    let campaign = json!({
        "name": "C", "sponsor": "S", "required_task": "T", "subsidy_per_call_cents": 1, "budget_cents": 1,
        "target_roles": ["r"], "target_tools": ["t"], "tags": ["t"], "query_urls": ["https://a.example"],
        "sponsor_wallet_address": "w",
        "task_schema": { "task_type": "t", "required_fields": ["f"], "instructions": "i", "description": "d" },
    });
    let api = json!({
        "name": "A", "sponsor": "S", "price_cents": 1, "budget_cents": 1, "service_key": "k", "description": "d",
        "upstream_url": "https://a.example", "upstream_headers": { "x": "v" },
    });
    let sign_in = json!({ "email": "a@b.example", "region": "r", "roles": ["r"], "tools_used": ["t"] });
    let consent =
        json!({ "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": true });
    let task = json!({ "task_name": "t", "details": "d", "consent": consent });
    for value in [json!("a\0b"), json!("x".repeat(1 << 20)), json!(7), json!({}), Value::Null] {
        for path in [
            "/name",
            "/sponsor",
            "/required_task",
            "/target_roles/0",
            "/target_tools/0",
            "/tags/0",
            "/query_urls/0",
            "/task_schema/task_type",
            "/task_schema/required_fields/0",
            "/task_schema/instructions",
        ] {
            assert!(problem::<CampaignDraft>(campaign.clone(), path, &value).is_some(), "{path} {value:.20}");
        }
        for path in ["/name", "/sponsor", "/upstream_headers/x"] {
            assert!(problem::<SponsoredApiDraft>(api.clone(), path, &value).is_some(), "{path}");
        }
        for path in ["/email", "/region", "/roles/0", "/tools_used/0"] {
            assert!(problem::<SignIn>(sign_in.clone(), path, &value).is_some(), "{path}");
        }
        assert!(problem::<TaskSubmission>(task.clone(), "/task_name", &value).is_some());
        if !value.is_null() {
            assert!(problem::<TaskSubmission>(task.clone(), "/details", &value).is_some());
            assert!(problem::<CampaignDraft>(campaign.clone(), "/task_schema/description", &value).is_some());
            assert!(problem::<CampaignDraft>(campaign.clone(), "/sponsor_wallet_address", &value).is_some());
            assert!(problem::<SponsoredApiDraft>(api.clone(), "/description", &value).is_some());
            assert!(problem::<SponsoredApiDraft>(api.clone(), "/service_key", &value).is_some());
        }
    }
    // JSON itself has no lone surrogates for Rust's strings.
    assert!(serde_json::from_str::<SignIn>(r#"{"email":"a@b.example","region":"\ud800"}"#).is_err());
}
