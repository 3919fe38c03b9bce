//! Checks on settings that a JSON Schema cannot express.

use reqwest::Url;
use reqwest::header::HeaderName;

use super::{AnswersSettings, OpenaiSettings, PROFILE_REQUIRED};
use crate::domains::parse_domain;

/// Headers that belong to the HTTP connection; setting one would break the request.
const RESERVED_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Body fields that are derived from the question, so that `extra_body` must not replace them.
const RESERVED_BODY_FIELDS: &[&str] = &["input", "instructions", "stream"];

/// The longest accepted name of an environment variable, in bytes; longer text is more likely a key than a name.
const MAX_VARIABLE_NAME_BYTES: usize = 128;

impl AnswersSettings {
    /// The invalid settings: each key with its problem. Values are not repeated, because somebody may have written an
    /// API key where the name of its variable belongs.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = openai_problems(&self.openai);
        if self.model_profiles.answer.is_none() {
            problems.push(problem("model_profiles.answer", &format!("is null, but {PROFILE_REQUIRED}")));
        }
        for (index, domain) in self.search.defaults.domains.iter().enumerate() {
            if parse_domain(domain).is_none() {
                problems.push(problem(
                    &format!("search.defaults.domains[{index}]"),
                    "expected a site such as jma.go.jp",
                ));
            }
        }
        let location = self.search.user_location.as_ref();
        if location.is_some_and(|location| location.timezone.is_some()) && self.search.zone().is_none() {
            problems.push(problem(
                "search.user_location.timezone",
                "expected an IANA time zone such as Asia/Tokyo or Europe/Berlin",
            ));
        }
        problems
    }

    /// Settings that have no effect.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.responses.json_mode {
            warnings.push("responses.json_mode is ignored: it would remove the citations".to_owned());
        }
        warnings
    }
}

fn problem(key: &str, sentence: &str) -> (String, String) {
    (key.to_owned(), sentence.to_owned())
}

fn openai_problems(openai: &OpenaiSettings) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    if !is_variable_name(&openai.api_key_env) {
        problems.push(problem(
            "openai.api_key_env",
            "expected the name of an environment variable, such as OPENAI_API_KEY; the key itself belongs in that variable",
        ));
    }
    if let Ok(url) = Url::parse(openai.base_url.trim()) {
        if !url.username().is_empty() || url.password().is_some() {
            problems.push(problem(
                "openai.base_url",
                "no user or password belongs there; use openai.extra_headers",
            ));
        }
        if url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
            problems.push(problem("openai.base_url", "no key belongs there; use openai.extra_headers"));
        }
    }
    for name in openai.extra_headers.keys() {
        let lower = name.to_ascii_lowercase();
        if HeaderName::from_bytes(lower.as_bytes()).is_err() || RESERVED_HEADERS.contains(&lower.as_str()) {
            problems.push(problem(
                &format!("openai.extra_headers.{name}"),
                "expected a valid header name that HTTP itself does not use",
            ));
        }
    }
    for key in RESERVED_BODY_FIELDS.iter().filter(|key| openai.extra_body.contains_key(**key)) {
        problems.push(problem(
            &format!("openai.extra_body.{key}"),
            "is made from the question and cannot be set",
        ));
    }
    problems
}

fn is_variable_name(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(is_allowed)
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name.len() <= MAX_VARIABLE_NAME_BYTES
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "sig"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use annai_core::config::Secret;
    use serde_json::json;

    use super::*;
    use crate::config::UserLocation;

    #[test]
    fn the_defaults_are_valid() {
        let settings = AnswersSettings::default();
        assert_eq!((settings.problems(), settings.warnings()), (vec![], vec![]));
    }

    #[test]
    fn every_invalid_setting_is_reported_without_its_value() {
        let mut settings = AnswersSettings::default();
        settings.openai.api_key_env = "sk-proj-1234".into();
        settings.openai.base_url = "https://user:pw@gateway.example/v1?api-key=1".into();
        for name in ["Host", "bad name", "x-fine"] {
            settings.openai.extra_headers.insert(name.into(), Secret::new("s"));
        }
        settings.openai.extra_body = json!({ "stream": true, "user": "u" }).as_object().cloned().unwrap();
        settings.search.defaults.domains = vec!["jma.go.jp".into(), "not a site".into()];
        settings.model_profiles.answer = None;
        let timezone = Some("JST".to_owned());
        settings.search.user_location = Some(UserLocation { timezone, ..UserLocation::default() });
        let problems = settings.problems();
        let keys: Vec<_> = problems.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "openai.api_key_env",
                "openai.base_url",
                "openai.base_url",
                "openai.extra_headers.Host",
                "openai.extra_headers.bad name",
                "openai.extra_body.stream",
                "model_profiles.answer",
                "search.defaults.domains[1]",
                "search.user_location.timezone",
            ]
        );
        assert!(problems.iter().all(|(_, sentence)| !sentence.contains("1234") && !sentence.contains("pw@")));
    }

    #[test]
    fn settings_without_effect_are_warned_about() {
        let mut settings = AnswersSettings::default();
        settings.responses.json_mode = true;
        assert_eq!(settings.warnings(), ["responses.json_mode is ignored: it would remove the citations"]);
    }

    #[test]
    fn a_variable_name_has_letters_digits_and_underscores() {
        for (name, is_valid) in
            [("OPENAI_API_KEY", true), ("_k1", true), ("1KEY", false), ("sk-1", false), ("a b", false)]
        {
            assert_eq!(is_variable_name(name), is_valid, "{name}");
        }
        assert!(!is_variable_name(&"K".repeat(MAX_VARIABLE_NAME_BYTES + 1)));
    }
}
