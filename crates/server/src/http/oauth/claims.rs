//! The claims of an access token: who it is about, who issued it for whom, and until when it is valid.

use std::collections::BTreeSet;

use annai_core::{JsonObject, Person};
use serde::Deserialize;

use super::email::{self, EmailClaim};
use super::jws::is_present;

/// How far the clocks of issuer and server may differ for `nbf`, in seconds.
const NOT_BEFORE_LEEWAY: f64 = 60.0;
/// The latest `exp` that is accepted: JSON numbers are exact up to here, and it is millions of years away.
const MAX_EXPIRY: f64 = 9_007_199_254_740_992.0;
/// The maximum length of a subject, the limit that OpenID Connect sets.
const MAX_SUBJECT_BYTES: usize = 255;

/// What a token must say to be accepted.
pub struct Expected<'a> {
    /// The issuer, exactly as its discovery document names it.
    pub issuer: &'a str,
    /// The audiences, of which the token must name one; a slash at the end does not matter.
    pub audiences: &'a [String],
    /// The current time in seconds since 1970.
    pub now: f64,
}

/// The result of the check: the person, and what the token says about the e-mail address.
#[derive(Debug, PartialEq)]
pub struct Accepted {
    /// The person. The e-mail address is set if the token says that it is verified.
    pub person: Person,
    /// What the token says about the e-mail address.
    pub email: EmailClaim,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: TextOrList,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<TextOrList>,
    scopes: Option<TextOrList>,
    permissions: Option<TextOrList>,
    // An ID token has one of these. It tells a client who signed in, and gives no access.
    #[serde(default, deserialize_with = "is_present")]
    nonce: bool,
    #[serde(default, deserialize_with = "is_present")]
    at_hash: bool,
    #[serde(default, deserialize_with = "is_present")]
    c_hash: bool,
    #[serde(flatten)]
    others: JsonObject,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrList {
    Text(String),
    List(Vec<String>),
}

impl TextOrList {
    fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(list) => list.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }
}

/// Checks the claims of a token whose signature is valid.
///
/// # Errors
///
/// Why the token is refused.
pub fn check(payload: &str, expected: &Expected<'_>) -> Result<Accepted, &'static str> {
    let claims: Claims = serde_json::from_str(payload).map_err(
        |_| "the token lacks a claim that is required (iss, sub, aud, exp), or one has the wrong type",
    )?;
    if claims.nonce || claims.at_hash || claims.c_hash {
        return Err("the token is an ID token, not an access token");
    }
    if claims.iss != expected.issuer {
        return Err("the token is from another issuer");
    }
    let is_for_us = |audience: &str| {
        let audience = without_slash(audience);
        expected.audiences.iter().any(|own| without_slash(own) == audience)
    };
    if !claims.aud.iter().any(is_for_us) {
        return Err("the token is for another audience");
    }
    if claims.exp > MAX_EXPIRY || claims.exp <= expected.now {
        return Err("the token has expired");
    }
    if claims.nbf.is_some_and(|not_before| not_before > expected.now + NOT_BEFORE_LEEWAY) {
        return Err("the token is not valid yet");
    }
    if claims.sub.is_empty() || claims.sub.len() > MAX_SUBJECT_BYTES {
        return Err("the token has no subject");
    }
    // `permissions` may list everything that a person is allowed to do; `scope` is what was granted to this client.
    let lists: Vec<_> = match &claims.scope {
        Some(scope) => vec![scope],
        None => [&claims.scopes, &claims.permissions].into_iter().flatten().collect(),
    };
    let lists = lists.into_iter();
    let scopes: BTreeSet<String> =
        lists.flat_map(TextOrList::iter).flat_map(str::split_ascii_whitespace).map(str::to_owned).collect();
    let email = email::in_claims(&claims.others);
    let person = Person {
        issuer: claims.iss,
        subject: claims.sub,
        email: email.verified().map(str::to_owned),
        scopes,
    };
    Ok(Accepted { person, email })
}

/// A URL without the slash at its end, which clients add to some.
fn without_slash(url: &str) -> &str {
    url.strip_suffix('/').unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check_with(change: &Value) -> Result<Accepted, &'static str> {
        let mut claims = json!({
            "iss": "https://login.example/", "sub": "a|1", "aud": "https://annai.example/mcp", "exp": 1000,
            "scope": "library.read answers.use",
        });
        for (key, value) in change.as_object().unwrap() {
            match value {
                Value::Null => drop(claims.as_object_mut().unwrap().shift_remove(key)),
                value => claims[key] = value.clone(),
            }
        }
        let audiences = ["https://annai.example".to_owned(), "https://annai.example/mcp".to_owned()];
        let expected = Expected { issuer: "https://login.example/", audiences: &audiences, now: 900.0 };
        check(&claims.to_string(), &expected)
    }

    #[test]
    fn a_good_token_names_the_person_and_the_scopes() {
        let accepted = check_with(&json!({ "permissions": ["library.write"], "scopes": "a b" })).unwrap();
        let scopes = ["answers.use", "library.read"].map(str::to_owned).into();
        let person =
            Person { issuer: "https://login.example/".into(), subject: "a|1".into(), email: None, scopes };
        assert_eq!(accepted.person, person);
        let change = json!({ "scope": null, "permissions": ["library.write"], "scopes": "a b" });
        let others = ["a", "b", "library.write"].map(str::to_owned).into();
        assert_eq!(check_with(&change).unwrap().person.scopes, others);
        for aud in [json!("https://annai.example/"), json!(["x", "https://annai.example"])] {
            assert!(check_with(&json!({ "aud": aud })).is_ok(), "{aud}");
        }
        assert!(check_with(&json!({ "nbf": 950, "exp": 900.5 })).is_ok());
    }

    #[test]
    fn every_wrong_claim_is_refused() {
        for (change, reason) in [
            (json!({ "iss": "https://login.example" }), "another issuer"),
            (json!({ "aud": "https://other.example" }), "another audience"),
            (json!({ "aud": [] }), "another audience"),
            (json!({ "aud": null }), "lacks a claim"),
            (json!({ "exp": null }), "lacks a claim"),
            (json!({ "exp": "2000" }), "lacks a claim"),
            (json!({ "exp": 900 }), "expired"),
            (json!({ "exp": 1e300 }), "expired"),
            (json!({ "nbf": 961 }), "not valid yet"),
            (json!({ "sub": "" }), "no subject"),
            (json!({ "sub": "x".repeat(256) }), "no subject"),
            (json!({ "nonce": "n" }), "ID token"),
            (json!({ "at_hash": "h" }), "ID token"),
            (json!({ "c_hash": "h" }), "ID token"),
        ] {
            let refused = check_with(&change).unwrap_err();
            assert!(refused.contains(reason), "{change}: {refused}");
        }
    }
}
