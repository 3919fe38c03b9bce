//! The entry of a tool in `tools/list`, derived from its declaration.

use serde_json::{Value, json};

use crate::{Identity, JsonObject, TokenScope};

use super::{Access, Effect, Facts, RegisteredTool, TokenScopes, Widget, World};

/// The entry of one tool in the list of a caller. Security schemes are repeated in `_meta`, for clients that look for extensions only there.
pub(super) fn entry(tool: &RegisteredTool, identity: &Identity) -> Value {
    let facts = tool.facts;
    let schemes = security_schemes(facts.access, identity);
    let mut meta = JsonObject::from_iter([("securitySchemes".to_owned(), schemes.clone())]);
    if let Widget::Page(uri) = facts.widget {
        meta.insert("ui".to_owned(), json!({ "resourceUri": uri }));
        meta.insert("openai/outputTemplate".to_owned(), uri.into());
    }
    if facts.widget != Widget::None {
        meta.insert("openai/widgetAccessible".to_owned(), true.into());
    }
    if let Some(status) = facts.status {
        meta.insert("openai/toolInvocation/invoking".to_owned(), status.invoking.into());
        meta.insert("openai/toolInvocation/invoked".to_owned(), status.invoked.into());
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

/// The `securitySchemes` extension of OpenAI's Apps SDK. The owner needs no token for a local tool; others do.
fn security_schemes(access: Access, identity: &Identity) -> Value {
    let no_token = json!({ "type": "noauth" });
    let token = |scopes: TokenScopes| {
        let scopes: Vec<_> = scopes.iter().map(TokenScope::as_str).collect();
        json!({ "type": "oauth2", "scopes": scopes })
    };
    match (access, access.required()) {
        (Access::AnyoneOr(scope), _) => json!([no_token, token(scope.into())]),
        (_, None) => json!([no_token]),
        (_, Some(scopes)) if access.is_local() && *identity == Identity::Owner => {
            json!([no_token, token(scopes)])
        }
        (_, Some(scopes)) => json!([token(scopes)]),
    }
}
