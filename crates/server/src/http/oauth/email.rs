//! The e-mail address of a person. The address and the statement that it is verified must come from one place: the plain
//! claims, one namespace of claims, or the issuer's userinfo.

use annai_core::JsonObject;
use serde_json::Value;

/// The maximum length of an e-mail address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;

/// What one source says about the e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmailClaim {
    /// The address is verified.
    Verified(String),
    /// The source says that the address is not verified. No other source is asked then.
    Refused,
    /// The source has no verified address.
    Absent,
}

impl EmailClaim {
    /// The verified address.
    pub fn verified(&self) -> Option<&str> {
        match self {
            Self::Verified(email) => Some(email),
            Self::Refused | Self::Absent => None,
        }
    }
}

/// What the claims of a token, or a userinfo document, say about the e-mail address: plain claims, or claims in a
/// namespace such as `https://annai.example/email`.
pub fn in_claims(claims: &JsonObject) -> EmailClaim {
    let is_denied = |(name, value): (&String, &Value)| {
        prefix_of(name, "email_verified").is_some() && (value == &Value::Bool(false) || value == "false")
    };
    if claims.iter().any(is_denied) {
        return EmailClaim::Refused;
    }
    let mut found = EmailClaim::Absent;
    for (name, value) in claims {
        let Some(prefix) = prefix_of(name, "email") else { continue };
        let verified = claims.get(&format!("{prefix}email_verified"));
        let email = value.as_str().filter(|email| !email.is_empty() && email.len() <= MAX_EMAIL_BYTES);
        match (email, verified) {
            (Some(email), Some(Value::Bool(true))) => found = prefer(found, email, prefix),
            // Some issuers write all claims as text.
            (Some(email), Some(Value::String(text))) if text == "true" => {
                found = prefer(found, email, prefix);
            }
            _ => {}
        }
    }
    found
}

/// The namespace of a claim, which ends with a slash; empty for a plain claim. `None` if it is another claim.
fn prefix_of<'a>(name: &'a str, claim: &str) -> Option<&'a str> {
    name.strip_suffix(claim).filter(|prefix| prefix.is_empty() || prefix.ends_with('/'))
}

/// The plain claim, if there is one, else the first of the others.
fn prefer(found: EmailClaim, email: &str, prefix: &str) -> EmailClaim {
    match found {
        EmailClaim::Verified(_) if !prefix.is_empty() => found,
        _ => EmailClaim::Verified(email.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(claims: &Value) -> EmailClaim {
        in_claims(claims.as_object().unwrap())
    }

    #[test]
    fn address_and_verification_must_come_from_one_place() {
        let verified = |email: &str| EmailClaim::Verified(email.to_owned());
        for (claims, expected) in [
            (json!({ "email": "a@x.example", "email_verified": true }), verified("a@x.example")),
            (json!({ "email": "a@x.example", "email_verified": "true" }), verified("a@x.example")),
            (
                json!({ "https://n/email": "a@x.example", "https://n/email_verified": true }),
                verified("a@x.example"),
            ),
            (
                json!({ "https://n/email": "b@x.example", "https://n/email_verified": true,
                        "email": "a@x.example", "email_verified": true }),
                verified("a@x.example"),
            ),
            (json!({ "email": "a@x.example" }), EmailClaim::Absent),
            (json!({ "email": "a@x.example", "https://n/email_verified": true }), EmailClaim::Absent),
            (json!({ "https://n/email": "a@x.example", "email_verified": true }), EmailClaim::Absent),
            (json!({ "notemail": "a@x.example", "notemail_verified": true }), EmailClaim::Absent),
            (json!({ "email": "a@x.example", "email_verified": false }), EmailClaim::Refused),
            (
                json!({ "email": "a@x.example", "email_verified": false,
                        "https://n/email": "a@x.example", "https://n/email_verified": true }),
                EmailClaim::Refused,
            ),
            (
                json!({ "email_verified": false, "https://n/email": "a@x.example", "https://n/email_verified": true }),
                EmailClaim::Refused,
            ),
            (json!({ "email": 3, "email_verified": true }), EmailClaim::Absent),
            (json!({}), EmailClaim::Absent),
        ] {
            assert_eq!(of(&claims), expected, "{claims}");
        }
    }
}
