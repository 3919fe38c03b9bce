use annai_services::domain::campaign::{CampaignDraft, CampaignPatch};
use annai_services::domain::idempotency::IdempotencyKey;
use annai_services::domain::ids::CampaignId;
use annai_services::store::{PageCursor, PageRequest};
use serde_json::{Value, json};

use crate::support::{World, code};

fn draft(changes: &Value) -> CampaignDraft {
    let mut draft = json!({
        "name": "C", "sponsor": "Acme", "required_task": "survey", "subsidy_per_call_cents": 5, "budget_cents": 50,
    });
    draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(draft).unwrap()
}

fn key(key: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(key).unwrap())
}

#[tokio::test]
async fn a_sponsors_key_creates_and_changes_once() {
    needs_database!();
    let world = World::new();
    let first = world.store().create_campaign(draft(&json!({})), key("c")).await.unwrap();
    let again = world.store().create_campaign(draft(&json!({})), key("c")).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(
        code(world.store().create_campaign(draft(&json!({ "name": "D" })), key("c")).await),
        "conflict"
    );
    let patch = || serde_json::from_value::<CampaignPatch>(json!({ "add_budget_cents": 7 })).unwrap();
    for _ in 0..3 {
        let patched = world.store().patch_campaign(first.id, patch(), key("p")).await.unwrap();
        assert_eq!((patched.budget_total_cents.get(), patched.budget_remaining_cents.get()), (57, 57));
    }
    world.store().patch_campaign(first.id, patch(), None).await.unwrap();
    assert_eq!(world.store().campaign(first.id).await.unwrap().budget_total_cents.get(), 64);
    assert_eq!(world.number("SELECT count(*) FROM campaigns"), 1);
    world.books().await;
}

#[tokio::test]
async fn what_is_created_is_read_back_and_a_refused_patch_changes_nothing() {
    needs_database!();
    let world = World::new();
    let schema =
        json!({ "task_type": "survey", "required_fields": ["age"], "instructions": "i", "description": "d" });
    let full = draft(&json!({
        "target_roles": ["dev"], "target_tools": ["a", "b", "a"], "tags": ["t"], "task_schema": schema,
        "query_urls": ["https://c.example"], "sponsor_wallet_address": "0xw",
    }));
    let created = world.store().create_campaign(full, None).await.unwrap();
    assert_eq!(created, world.store().campaign(created.id).await.unwrap());
    assert_eq!((created.target_tools.len(), created.sponsor_wallet_address.as_deref()), (2, Some("0xw")));
    let patch = json!({ "add_budget_cents": 1_000_000_000_000_i64, "name": "Other" });
    let refused =
        world.store().patch_campaign(created.id, serde_json::from_value(patch).unwrap(), None).await;
    assert_eq!(code(refused), "validation_error");
    assert_eq!(created, world.store().campaign(created.id).await.unwrap());
    let patch: CampaignPatch = serde_json::from_value(json!({ "target_tools": ["c"] })).unwrap();
    world.store().patch_campaign(created.id, patch.clone(), None).await.unwrap();
    assert_eq!(world.number("SELECT count(*) FROM campaign_tools WHERE tool = 'c'"), 1);
    assert_eq!(world.number("SELECT count(*) FROM campaign_tools"), 1);
    assert_eq!(code(world.store().patch_campaign(CampaignId::random(), patch, None).await), "not_found");
    assert_eq!(code(world.store().dashboard(CampaignId::random()).await), "not_found");
}

#[tokio::test]
async fn lists_are_paged_newest_first() {
    needs_database!();
    let world = World::new();
    let mut created = Vec::new();
    for number in 0..7 {
        let draft = draft(&json!({ "name": number.to_string() }));
        created.insert(0, world.store().create_campaign(draft, None).await.unwrap());
    }
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let limit = serde_json::from_value(json!(3)).unwrap();
        let page = world.store().campaigns(PageRequest { limit, cursor }).await.unwrap();
        listed.extend(page.entries);
        let Some(next) = page.next else { break };
        cursor = Some(PageCursor::parse(&next.to_string()).unwrap());
    }
    assert_eq!(listed, created);
}

#[tokio::test]
async fn a_service_key_is_unique_and_upstreams_are_checked() {
    needs_database!();
    let world = World::new();
    world.api(0, json!({})).await.unwrap();
    let taken = world.api(0, json!({ "name": "scrape!" })).await.unwrap_err();
    assert_eq!((taken.status(), taken.code()), (409, "conflict"));
    let error = world.api(0, json!({ "upstream_url": "https://localhost/x" })).await.unwrap_err();
    assert_eq!((error.status(), error.details().unwrap()["field"].clone()), (400, json!("upstream_url")));
    let unknown =
        world.api(0, json!({ "upstream_url": "tool:nothing", "service_key": "t" })).await.unwrap_err();
    assert_eq!(unknown.code(), "validation_error");
    assert_eq!(world.number("SELECT count(*) FROM sponsored_apis"), 1);
}
