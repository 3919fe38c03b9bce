//! The entry of a tool in `tools/list`, derived from its declaration.

use serde_json::{Value, json};

use crate::JsonObject;

use super::{Access, Effect, Facts, RegisteredTool, World};

/// The entry of one tool. Security schemes are repeated in `_meta`, for clients that look for extensions only there.
pub(super) fn entry(tool: &RegisteredTool) -> Value {
    let facts = tool.facts;
    let schemes = security_schemes(facts.access);
    let mut meta = JsonObject::from_iter([("securitySchemes".to_owned(), schemes.clone())]);
    if let Some(widget) = facts.widget {
        meta.insert("ui".to_owned(), json!({ "resourceUri": widget.uri }));
        meta.insert("openai/toolInvocation/invoking".to_owned(), widget.invoking.into());
        meta.insert("openai/toolInvocation/invoked".to_owned(), widget.invoked.into());
    }
    json!({
        "name": facts.name,
        "title": facts.title,
        "description": facts.description,
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
        "annotations": annotations(facts),
        "securitySchemes": schemes,
        "_meta": meta,
    })
}

fn annotations(facts: &Facts) -> Value {
    json!({
        "title": facts.title,
        "readOnlyHint": facts.effect == Effect::Read,
        "destructiveHint": facts.effect == Effect::Destroy,
        "openWorldHint": facts.world == World::Open,
    })
}

/// The `securitySchemes` extension of OpenAI's Apps SDK. For a local tool either scheme is enough: the owner needs no
/// token, and others need one with the scope.
fn security_schemes(access: Access) -> Value {
    match access {
        Access::Anyone => json!([{ "type": "noauth" }]),
        Access::Local(scope) => {
            json!([{ "type": "noauth" }, { "type": "oauth2", "scopes": [scope.as_str()] }])
        }
        Access::SignedIn(scope) => json!([{ "type": "oauth2", "scopes": [scope.as_str()] }]),
    }
}
