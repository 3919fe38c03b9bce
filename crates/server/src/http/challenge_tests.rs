use std::sync::Arc;

use annai_core::{Person, TokenScope};
use http_body_util::BodyExt as _;

use super::*;

const READ: TokenScope = TokenScope::new("library.read");
const METADATA: &str = "https://a.example/.well-known/oauth-protected-resource/mcp";

fn challenger(issuer: bool) -> Challenger {
    Challenger { metadata_url: issuer.then(|| METADATA.to_owned()) }
}

async fn parts(response: Response) -> (u16, Option<String>, Value) {
    let header = response.headers().get(WWW_AUTHENTICATE).map(|header| header.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, header, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_missing_token_is_401_with_an_error_in_the_body_alone() {
    let scopes = ["library.read", "library.write"].into();
    let denied = challenger(true).denied(Denied::SignIn(READ), &Identity::Anonymous, &scopes).unwrap();
    let (status, header, body) = parts(denied.to_call(&RequestId::Number(7), Era::Handshake, None)).await;
    assert_eq!(status, 401);
    let scope = "scope=\"library.read library.write\"";
    assert_eq!(header.unwrap(), format!("Bearer resource_metadata=\"{METADATA}\", {scope}"));
    let message = "sign in first: this needs an access token with the scope library.read library.write";
    let error = json!({ "code": "unauthorized", "message": message });
    let challenge = format!(
        "Bearer resource_metadata=\"{METADATA}\", error=\"invalid_token\", error_description=\"{message}\", {scope}"
    );
    assert_eq!(
        body,
        json!({ "jsonrpc": "2.0", "id": 7, "result": {
            "content": [{ "type": "text", "text": error.to_string() }],
            "isError": true,
            "_meta": { "annai/error": error, "mcp/www_authenticate": [challenge] },
        } })
    );
}

#[tokio::test]
async fn without_an_issuer_the_operator_is_asked_for_a_token() {
    let denied = challenger(false).no_token(&["library.read"].into());
    let (status, header, body) = parts(denied.to_request(None)).await;
    assert_eq!((status, header.as_deref()), (401, Some("Bearer scope=\"library.read\"")));
    assert!(body["error"]["message"].as_str().unwrap().contains("ask the operator"), "{body}");
    assert_eq!(body["id"], Value::Null);
}

#[tokio::test]
async fn a_missing_scope_is_403_with_the_scopes_of_the_token_and_of_the_tool() {
    let person = Person {
        issuer: "i".into(),
        subject: "s".into(),
        email: None,
        scopes: ["answers.use".to_owned(), "odd\"\\é".to_owned()].into(),
    };
    let identity = Identity::Person(Arc::new(person));
    let denied = challenger(true).denied(Denied::Scope(READ), &identity, &["x"].into()).unwrap();
    let (status, header, body) = parts(denied.to_call(&RequestId::Number(7), Era::PerRequest, None)).await;
    let header = header.unwrap();
    assert_eq!(status, 403);
    assert!(header.contains("error=\"insufficient_scope\""), "{header}");
    assert!(header.ends_with("scope=\"answers.use library.read odd\""), "{header}");
    assert_eq!(body["result"]["resultType"], "complete");
    assert_eq!(body["result"]["_meta"]["mcp/www_authenticate"][0], header);
}

#[tokio::test]
async fn a_token_that_cannot_be_verified_now_is_503_without_a_challenge() {
    let refused = challenger(true).refused_token(TokenRefusal::IssuerUnavailable, &BTreeSet::new());
    let response = refused.to_request(None);
    assert_eq!(response.headers()[RETRY_AFTER], "10");
    let (status, header, _) = parts(response).await;
    assert_eq!((status, header), (503, None));
    let refused = challenger(true).refused_token(TokenRefusal::Invalid("it has expired"), &BTreeSet::new());
    let (status, header, body) = parts(refused.to_route()).await;
    assert_eq!(status, 401);
    assert!(header.unwrap().contains("error=\"invalid_token\", error_description=\"it has expired\""));
    assert_eq!(
        body,
        json!({ "error": { "code": "unauthorized", "message": "it has expired; sign in again" } })
    );
}
