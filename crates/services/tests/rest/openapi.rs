//! The OpenAPI document and the routes say the same.

use annai_core::{JsonObject, schema};
use serde_json::{Value, json};

use crate::site::{GPT, Reply, SPONSOR, Site, SiteOptions, completion};
use crate::upstream_server::UpstreamServer;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
const ID: &str = "00000000-0000-4000-8000-000000000000";

/// The document with its references resolved.
struct Document(Value);

impl Document {
    fn new() -> Self {
        let document = annai_services::openapi(None);
        Self(resolve(&document, &document))
    }

    fn operation(&self, method: &str, path: &str) -> &Value {
        let operation = &self.0["paths"][path][method];
        assert!(operation.is_object(), "{method} {path} is not in the document");
        operation
    }

    /// Sends a request with the key that the document asks for. The body and the reply must fit its schemas.
    async fn call(&self, site: &Site, method: &str, [route, path]: [&str; 2], body: Value) -> Value {
        let operation = self.operation(method, route);
        if !body.is_null() {
            assert_fits(&operation["requestBody"]["content"]["application/json"]["schema"], &body);
        }
        let key = if operation["security"][0].get("sponsorKey").is_some() { SPONSOR } else { GPT };
        let reply = site.call(key, &method.to_uppercase(), path, &body).await;
        assert!(reply.status < 300, "{method} {path}: {reply:?}");
        self.check(method, route, &reply);
        reply.json()
    }

    /// Checks that the document has the status of a reply, and that its body fits.
    fn check(&self, method: &str, route: &str, reply: &Reply) {
        let response = &self.operation(method, route)["responses"][reply.status.to_string()];
        assert!(response.is_object(), "{method} {route}: status {} is not declared", reply.status);
        let schema = &response["content"]["application/json"]["schema"];
        if schema.is_object() {
            assert_fits(schema, &reply.json());
        }
    }
}

fn resolve(value: &Value, document: &Value) -> Value {
    match value {
        Value::Object(object) => match object.get("$ref").and_then(Value::as_str) {
            Some(target) => resolve(document.pointer(&target[1..]).unwrap(), document),
            None => object.iter().map(|(key, value)| (key.clone(), resolve(value, document))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| resolve(item, document)).collect(),
        other => other.clone(),
    }
}

/// Validates a value, also against unknown members, which the schema of a reply permits and ours never have.
#[track_caller]
fn assert_fits(schema: &Value, value: &Value) {
    let mut strict = schema.clone();
    forbid_unknown_members(&mut strict);
    let errors = schema::validate(strict.as_object().unwrap(), value);
    assert_eq!(errors, [], "{value}");
}

fn forbid_unknown_members(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_unknown_members);
            if object.get("properties").is_some_and(Value::is_object) {
                object.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_unknown_members),
        _ => {}
    }
}

fn paths(document: &Document) -> impl Iterator<Item = (&String, &JsonObject)> {
    document.0["paths"].as_object().unwrap().iter().map(|(path, item)| (path, item.as_object().unwrap()))
}

#[tokio::test]
async fn the_router_has_exactly_the_operations_of_the_document() {
    let (site, document) = (Site::start().await, Document::new());
    let mut operations = 0;
    for (route, item) in paths(&document) {
        let path: String = route
            .split('/')
            .map(|part| if part.starts_with('{') { ID } else { part })
            .collect::<Vec<_>>()
            .join("/");
        for method in METHODS {
            let reply = site.send(&method.to_uppercase(), &path, &[], b"").await;
            let Some(operation) = item.get(method) else {
                assert_eq!(reply.status, 405, "{method} {route} is not in the document: {reply:?}");
                continue;
            };
            operations += 1;
            document.check(method, route, &reply);
            // Only an unknown id may be reported as not found; an unknown route may not.
            let expected: &[u16] = match operation["security"].as_array().unwrap().as_slice() {
                [] if route.contains('{') => &[404],
                [] => &[200],
                _ => &[401],
            };
            assert!(expected.contains(&reply.status), "{method} {route}: {reply:?}");
        }
    }
    assert_eq!(operations, 23);
    site.finish().await;
}

#[tokio::test]
async fn the_requests_and_replies_of_the_gpt_actions_fit_the_document() {
    let upstream = UpstreamServer::text("done").await;
    let (site, document) = (Site::start().await, Document::new());
    site.api(&upstream.url(), 0, json!({})).await;
    let campaign = site.campaign(1000, json!({})).await;

    let auth = json!({ "email": "a@example.com", "region": "JP", "roles": ["dev"], "tools_used": [] });
    let auth = document.call(&site, "post", ["/gpt/auth"; 2], auth).await;
    let session = auth["session_token"].as_str().unwrap();
    let query = format!("session_token={session}");

    let preferences = json!([{ "task_type": "survey", "level": "preferred" }]);
    let get_preferences = ["/gpt/preferences", &format!("/gpt/preferences?{query}")];
    document.call(&site, "get", get_preferences, Value::Null).await;
    let body = json!({ "session_token": session, "preferences": preferences });
    document.call(&site, "post", ["/gpt/preferences"; 2], body).await;
    document.call(&site, "get", get_preferences, Value::Null).await;

    for search in ["", "?max_budget_cents=100&intent=survey&limit=5", "?intent=zzz", &format!("?{query}")] {
        let path = format!("/gpt/services{search}");
        document.call(&site, "get", ["/gpt/services", &path], Value::Null).await;
    }
    let path = format!("/gpt/tasks/{campaign}?{query}");
    document.call(&site, "get", ["/gpt/tasks/{campaign_id}", &path], Value::Null).await;

    let run = json!({ "session_token": session, "input": "x" });
    let run_route = "/gpt/services/{service}/run";
    let early = site.post("/gpt/services/scrape/run", run.clone()).await;
    assert_eq!(early.status, 428);
    document.check("post", run_route, &early);
    let path = format!("/gpt/tasks/{campaign}/complete");
    let body = completion(session, [true, true, false]);
    document.call(&site, "post", ["/gpt/tasks/{campaign_id}/complete", &path], body).await;
    document.call(&site, "post", [run_route, "/gpt/services/scrape/run"], run).await;
    let path = format!("/gpt/user/status?{query}");
    document.call(&site, "get", ["/gpt/user/status", &path], Value::Null).await;
    site.finish().await;
}

#[tokio::test]
async fn the_requests_and_replies_of_sponsors_and_older_clients_fit_the_document() {
    let upstream = UpstreamServer::text("done").await;
    let (site, document) = (Site::start().await, Document::new());
    let draft = json!({
        "name": "Scrape", "sponsor": "Scraper Inc", "upstream_url": upstream.url(), "price_cents": 10,
        "budget_cents": 100, "description": "Reads pages", "upstream_headers": { "X-Api-Key": "k" },
    });
    let api = document.call(&site, "post", ["/sponsored-apis"; 2], draft).await;
    let api = format!("/sponsored-apis/{}", api["api"]["id"].as_str().unwrap());
    let form = json!({ "task_type": "survey", "required_fields": ["email"], "instructions": "Fill it in." });
    let draft = json!({
        "name": "Survey", "sponsor": "Acme", "required_task": "survey", "subsidy_per_call_cents": 50,
        "budget_cents": 100, "target_tools": ["scrape"], "task_schema": form, "query_urls": ["https://a.example"],
    });
    let campaign = document.call(&site, "post", ["/campaigns"; 2], draft).await;
    let id = campaign["campaign"]["id"].as_str().unwrap();

    for (route, path) in
        [("/campaigns/{id}", format!("/campaigns/{id}")), ("/sponsored-apis/{id}", api.clone())]
    {
        let patch = json!({ "active": true, "add_budget_cents": 5 });
        document.call(&site, "patch", [route, &path], patch).await;
        document.call(&site, "get", [route, &path], Value::Null).await;
    }
    for list in ["/campaigns", "/campaigns/discovery", "/sponsored-apis"] {
        document.call(&site, "get", [list, &format!("{list}?limit=1")], Value::Null).await;
    }
    site.campaign(100, json!({})).await;
    document.call(&site, "get", ["/campaigns", "/campaigns?limit=1"], Value::Null).await;

    let session = site.sign_in("a@example.com").await;
    let mut body = completion(&session, [true, true, false]);
    body["campaign_id"] = json!(id);
    document.call(&site, "post", ["/tasks/complete"; 2], body).await;
    let run = json!({ "session_token": session, "input": "x" });
    document.call(&site, "post", ["/proxy/{service}/run", "/proxy/scrape/run"], run.clone()).await;
    document.call(&site, "post", ["/sponsored-apis/{id}/run", &format!("{api}/run")], run).await;
    let path = format!("/dashboard/sponsor/{id}");
    document.call(&site, "get", ["/dashboard/sponsor/{campaign_id}", &path], Value::Null).await;
    site.finish().await;
}

#[tokio::test]
async fn the_document_is_served_to_everybody_with_the_public_url() {
    let mut options = SiteOptions::default();
    options.server.public_url = Some("https://annai.example/".to_owned());
    let site = options.start().await;
    let reply = site.send("GET", "/.well-known/openapi.yaml", &[], b"").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/yaml")));
    assert_eq!(reply.body, annai_services::openapi_yaml(Some("https://annai.example")));
    assert!(reply.body.starts_with("openapi: \"3.1.0\"\n"), "{}", &reply.body[..40]);
    site.finish().await;
}
