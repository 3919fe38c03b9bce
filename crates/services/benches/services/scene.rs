//! The world of the benchmark: 1,000 campaigns, 50 sponsored APIs, and somebody who may run them all.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{Identity, Registry};
use annai_services::clock::SystemClock;
use annai_services::domain::ids::SessionToken;
use annai_services::domain::text::{Input, Name};
use annai_services::runs::{RunOptions, RunRequest, Runs};
use annai_services::store::Store;
use annai_services::upstream::{HttpTarget, Upstream, UpstreamFailure, UpstreamReply, UpstreamRequest};
use futures_util::future::BoxFuture;
use serde_json::json;

pub const CAMPAIGNS: usize = 1000;
pub const SERVICES: usize = 50;

/// An upstream that answers after a pause.
pub struct Pausing(pub Duration);

impl Upstream for Pausing {
    fn check<'a>(&'a self, _: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>> {
        Box::pin(async move {
            if !self.0.is_zero() {
                tokio::time::sleep(self.0).await;
            }
            Ok(UpstreamReply { status: 200, body: request.input.to_string() })
        })
    }
}

/// A store with its world.
pub struct Scene {
    pub store: Arc<dyn Store>,
    pub session: SessionToken,
    registry: Arc<Registry>,
}

impl Scene {
    /// Fills an empty store.
    pub async fn fill(store: Arc<dyn Store>) -> Self {
        let person = json!({ "email": "a@example.com", "region": "JP", "roles": ["developer"] });
        let person = serde_json::from_value(person).expect("a person");
        let session = store.sign_in(person, None).await.expect("a session").session_token;
        for number in 0..SERVICES {
            let api = json!({
                "name": format!("service {number}"), "sponsor": "Acme", "upstream_url": "https://up.example/run",
                "price_cents": 10, "budget_cents": 0,
            });
            let api = serde_json::from_value(api).expect("a draft");
            store.create_sponsored_api(api, Arc::default(), None).await.expect("an API");
        }
        for number in 0..CAMPAIGNS {
            let service = format!("service-{}", number % SERVICES);
            let campaign = json!({
                "name": format!("Campaign {number} ウェブ検索"), "sponsor": format!("Sponsor {}", number % 97),
                "required_task": "アンケート", "subsidy_per_call_cents": 10 + number % 40,
                "budget_cents": 1_000_000_000, "target_tools": [service], "tags": ["web", "検索", "data"],
            });
            let campaign = serde_json::from_value(campaign).expect("a draft");
            let campaign = store.create_campaign(campaign, None).await.expect("a campaign");
            if number >= CAMPAIGNS - SERVICES {
                let consent = json!({
                    "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": true,
                });
                let task = json!({ "task_name": "アンケート", "consent": consent });
                let task = serde_json::from_value(task).expect("a task");
                store.complete_task(session, campaign.id, task).await.expect("a completion");
            }
        }
        Self::of(store, session)
    }

    /// A store that was filled before.
    pub fn of(store: Arc<dyn Store>, session: SessionToken) -> Self {
        let registry = Registry::builder(Duration::from_secs(60)).build().expect("a registry");
        Self { store, session, registry }
    }

    pub fn request(&self, number: usize) -> RunRequest {
        RunRequest {
            session: self.session,
            service: Name::parse(format!("service-{}", number % SERVICES)).expect("a name"),
            input: Input::parse("x").expect("an input"),
            key: None,
            registry: self.registry.clone(),
            identity: Identity::Owner,
            request_id: "1".into(),
        }
    }

    pub fn runs(&self, pause: Duration) -> Runs {
        Runs::new(self.store.clone(), Arc::new(Pausing(pause)), Arc::new(SystemClock), RunOptions::default())
    }
}
