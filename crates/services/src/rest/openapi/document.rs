//! Puts the document together.

use annai_core::JsonObject;
use serde_json::{Value, json};

use super::super::error::ErrorReply;
use super::operation::{Access, Content, Operation, Parameters, Reply};
use super::route::Route;
use super::schemas::{Component, reference, reply, share};
use crate::domain::campaign::Campaign;
use crate::domain::sponsored_api::SponsoredApi;
use crate::domain::task_schema::TaskSchema;

/// The failures of the routes: status, name and description.
pub const FAILURES: [(u16, &str, &str); 13] = [
    (400, "ValidationError", "A parameter or a field of the body is wrong; `details.field` names it."),
    (401, "Unauthorized", "The key is missing, or the session is unknown or has expired."),
    (
        402,
        "PaymentRequired",
        "No sponsor pays for the service at present; `details.price_cents` is its price.",
    ),
    (403, "Forbidden", "The key is wrong, or does not permit this."),
    (404, "NotFound", "There is no such campaign, sponsored API or service."),
    (409, "Conflict", "The state does not permit this, or the idempotency key was used for another request."),
    (413, "TooLarge", "The body is too long."),
    (415, "UnsupportedMediaType", "The body is not JSON, or its content type does not say so."),
    (428, "PreconditionRequired", "A sponsor pays after a task, which `details` names; complete it first."),
    (429, "RateLimited", "There were too many requests in the last minute."),
    (500, "Internal", "The server failed; its log has the cause."),
    (502, "UpstreamError", "The service failed; nothing was charged."),
    (503, "Unavailable", "The database or the tool behind a service cannot be used at present."),
];

/// The OpenAPI 3.1 document of routes, for clients that reach them at this URL; `None` where it is the origin of the
/// document.
pub fn document(routes: Vec<Route>, public_url: Option<&str>) -> Value {
    let url = public_url.map_or("/", |url| url.trim().trim_end_matches('/'));
    let (mut paths, mut schemas) = (JsonObject::new(), JsonObject::new());
    let mut shared = vec![reply::<Campaign>(), reply::<SponsoredApi>(), reply::<TaskSchema>()];
    for Route { method, path, operation } in routes {
        let (value, used) = operation_value(operation);
        shared.extend(used);
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item.as_object_mut().map(|item| item.insert(method.to_owned(), value));
    }
    shared.push(reply::<ErrorReply>());
    for (name, schema) in &shared {
        let mut members = schema.clone();
        members.values_mut().for_each(|value| share(value, &shared));
        schemas.insert(name.clone(), Value::Object(members));
    }
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Annai services",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Paid services that sponsors make free.",
            "description": "A user searches for a service, completes the small task of a sponsor's campaign and consents to it; then the campaign pays for the runs. Amounts are US cents.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": url }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "gptKey": {
                    "type": "http", "scheme": "bearer",
                    "description": "The setting services.gpt_actions_api_key (GPT_ACTIONS_API_KEY), or services.mcp_internal_api_key (MCP_INTERNAL_API_KEY).",
                },
                "sponsorKey": {
                    "type": "http", "scheme": "bearer",
                    "description": "The setting services.sponsor_api_key (SPONSOR_API_KEY).",
                },
            },
            "schemas": schemas,
            "responses": FAILURES.iter().map(failure).collect::<JsonObject>(),
        },
    })
}

/// An operation, and the components that it refers to.
pub fn operation_value(operation: Operation) -> (Value, Vec<Component>) {
    let Operation { id, access, summary, description, parameters, body, reply, failures } = operation;
    let mut used = Vec::new();
    let mut value = json!({ "operationId": id, "summary": summary, "description": description });
    let Value::Object(members) = &mut value else { return (value, used) };
    let security = match access {
        Access::Gpt => json!([{ "gptKey": [] }]),
        Access::Sponsor => json!([{ "sponsorKey": [] }]),
        Access::Public => json!([]),
    };
    members.insert("security".to_owned(), security);
    let parameters: Vec<_> = parameters.iter().flat_map(Parameters::values).collect();
    if !parameters.is_empty() {
        members.insert("parameters".to_owned(), parameters.into());
    }
    if let Some((name, schema)) = body.map(|component| component()) {
        let content = json!({ "application/json": { "schema": reference(&name) } });
        members.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
        used.push((name, schema));
    }
    let mut responses = JsonObject::new();
    let status = reply.status.to_string();
    responses.insert(status, success(reply, &mut used));
    let named = FAILURES.iter().filter(|(status, ..)| failures.contains(status));
    responses.extend(named.map(|(status, name, _)| {
        (status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }))
    }));
    members.insert("responses".to_owned(), responses.into());
    (value, used)
}

fn success(reply: Reply, used: &mut Vec<Component>) -> Value {
    let Reply { description, content, headers, .. } = reply;
    let (media_type, schema) = match content {
        Content::Json(component) => {
            let (name, schema) = component();
            let reference = reference(&name);
            used.push((name, schema));
            ("application/json", reference)
        }
        Content::Text(media_type) => (media_type, json!({ "type": "string" })),
    };
    let mut value = json!({ "description": description, "content": { media_type: { "schema": schema } } });
    let text = |(name, description): (&str, &str)| {
        (name.to_owned(), json!({ "description": description, "schema": { "type": "string" } }))
    };
    let headers: JsonObject = headers.into_iter().map(text).collect();
    if let (Value::Object(members), false) = (&mut value, headers.is_empty()) {
        members.insert("headers".to_owned(), headers.into());
    }
    value
}

fn failure((status, name, description): &(u16, &str, &str)) -> (String, Value) {
    let content = json!({ "application/json": { "schema": reference("ErrorReply") } });
    let mut value = json!({ "description": description, "content": content });
    if let (Value::Object(members), 429) = (&mut value, status) {
        let description = "The number of seconds to wait.";
        let header = json!({ "description": description, "schema": { "type": "integer", "minimum": 1 } });
        members.insert("headers".to_owned(), json!({ "Retry-After": header }));
    }
    ((*name).to_owned(), value)
}
