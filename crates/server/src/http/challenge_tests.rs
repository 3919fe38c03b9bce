use std::sync::Arc;

use annai_core::{Access, Person, TokenScope};
use http_body_util::BodyExt as _;

use super::*;

const READ: TokenScope = TokenScope::new("library.read");
const METADATA: &str = "https://a.example/.well-known/oauth-protected-resource/mcp";

const PERSONAL: TokenScope = TokenScope::new("user.read");

/// The challenger of a server whose static tokens can have the scopes of the library.
fn challenger(issuer: bool) -> Challenger {
    let metadata_url = issuer.then(|| METADATA.to_owned());
    Challenger { metadata_url, static_scopes: ["library.read", "library.write"].into() }
}

fn person(issuer: &str) -> Person {
    Person {
        issuer: issuer.into(),
        subject: "s".into(),
        email: None,
        scopes: ["answers.use".to_owned(), "odd\"\\é".to_owned()].into(),
    }
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
    let denied = challenger(true).denied(Denied::SignIn(READ.into()), &Identity::Anonymous, &scopes).unwrap();
    let (status, header, body) = parts(denied.to_call(&RequestId::Number(7), Era::Handshake, None)).await;
    assert_eq!(status, 401);
    let scope = "scope=\"library.read library.write\"";
    assert_eq!(header.unwrap(), format!("Bearer resource_metadata=\"{METADATA}\", {scope}"));
    // The header asks for more than this tool needs, so that one sign-in suffices.
    let message = "sign in first: this needs an access token with the scope library.read";
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
    let scopes = ["library.read", "library.write"].into();
    let denied = challenger(false).no_token(None, &scopes);
    let (status, header, body) = parts(denied.to_request(None)).await;
    assert_eq!((status, header.as_deref()), (401, Some("Bearer scope=\"library.read library.write\"")));
    let ask = "ask the operator of this server for one (annai token new)";
    assert_eq!(body["error"]["message"], format!("this server needs a token; {ask}"));
    assert_eq!(body["id"], Value::Null);
    let denied =
        challenger(false).denied(Denied::SignIn(READ.into()), &Identity::Anonymous, &scopes).unwrap();
    assert_eq!(denied.reason.message(), format!("this needs a token with the scope library.read; {ask}"));
}

#[test]
fn a_scope_that_no_static_token_can_have_needs_an_issuer() {
    let without_issuer = challenger(false);
    let scopes = ["user.read", "user.write"].into();
    let denied = |challenger: &Challenger, denied, identity: &Identity| {
        challenger.denied(denied, identity, &scopes).unwrap().reason.message().to_owned()
    };
    assert_eq!(
        denied(&without_issuer, Denied::SignIn(PERSONAL.into()), &Identity::Anonymous),
        "this needs an access token with the scope user.read, and this server has no sign-in yet: its operator has to set \
         OAUTH_ISSUER"
    );
    let no_sign_in = "this server has no sign-in yet: its operator has to set OAUTH_ISSUER";
    let refused = without_issuer.refused_token(TokenRefusal::Invalid("it has expired"), &scopes);
    assert_eq!(refused.reason.message(), format!("it has expired; {no_sign_in}"));
    let team_mate = Identity::Person(Arc::new(person(TOKEN_ISSUER)));
    let lacks = "the token lacks the scope user.read, which this needs; a static token cannot have it";
    assert_eq!(
        denied(&without_issuer, Denied::Scope(PERSONAL.into()), &team_mate),
        format!("{lacks}, and {no_sign_in}")
    );
    assert_eq!(
        denied(&challenger(true), Denied::Scope(PERSONAL.into()), &team_mate),
        format!("{lacks}: sign in instead")
    );
}

#[test]
fn a_missing_scope_comes_with_the_next_step() {
    let lacks = "the token lacks the scope library.read, which this needs";
    let by_token = challenger(true).missing_scope("library.read", &person(TOKEN_ISSUER));
    let ask = "ask the operator of this server for a token with it (annai token new)";
    assert_eq!(by_token.reason.message(), format!("{lacks}; {ask}"));
    let by_sign_in = challenger(true).missing_scope("library.read", &person("https://login.example.com"));
    assert_eq!(by_sign_in.reason.message(), format!("{lacks}; sign in again and allow it"));
}

#[test]
fn a_tool_that_needs_two_scopes_names_both_or_the_one_that_is_missing() {
    const BOTH: Access = Access::LocalBoth(READ, TokenScope::new("library.write"));
    let message = |identity: &Identity| {
        let denied = BOTH.check(identity).unwrap_err();
        challenger(false).denied(denied, identity, &BTreeSet::new()).unwrap().reason.message().to_owned()
    };
    let ask = "ask the operator of this server for";
    assert_eq!(
        message(&Identity::Anonymous),
        format!(
            "this needs a token with the scopes library.read and library.write; {ask} one (annai token new)"
        )
    );
    assert_eq!(
        message(&Identity::Person(Arc::new(person(TOKEN_ISSUER)))),
        format!(
            "the token lacks the scopes library.read and library.write, which this needs; {ask} a token with them (annai token new)"
        )
    );
    let scopes = ["library.read".to_owned()].into();
    let reader = Person { scopes, ..person(TOKEN_ISSUER) };
    assert_eq!(
        message(&Identity::Person(Arc::new(reader))),
        format!(
            "the token lacks the scope library.write, which this needs; {ask} a token with it (annai token new)"
        )
    );
}

#[tokio::test]
async fn a_missing_scope_is_403_with_the_scopes_of_the_token_and_of_the_tool() {
    let identity = Identity::Person(Arc::new(person("i")));
    let denied = challenger(true).denied(Denied::Scope(READ.into()), &identity, &["x"].into()).unwrap();
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
