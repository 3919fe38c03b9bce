//! The sections of the configuration that the toolsets `answers` and `search` read.

mod api;
mod models;
mod policy_settings;
mod search;
mod validation;

pub use api::{OpenaiSettings, RequestSettings, ResponsesSettings};
pub use models::{ModelProfile, ModelProfiles, ReasoningEffort, Verbosity};
pub use policy_settings::{PolicyMerge, PolicySettings, PolicySource, SystemPolicySettings};
pub use search::{
    CacheSettings, DomainMode, LocationKind, O3SearchSettings, SearchDefaults, SearchSettings, UserLocation,
};

use annai_core::JsonObject;
use annai_core::config::{EnvironmentVariable, Inherits, Settings};
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domains::is_within;

/// The error message for a missing `answer` profile; the wording of `openai-responses-mcp`.
pub(crate) const PROFILE_REQUIRED: &str = "model_profiles.answer is required";

/// All keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnswersSettings {
    /// The API and the connection to it.
    pub openai: OpenaiSettings,
    /// The timeout and the retries of a request to the API.
    pub request: RequestSettings,
    /// The transfer of responses from the API.
    pub responses: ResponsesSettings,
    /// The model of each answer tool.
    pub model_profiles: ModelProfiles,
    /// The instructions for the model, and the checks on its answers.
    pub policy: PolicySettings,
    /// Defaults and options of the web search.
    pub search: SearchSettings,
    /// The answer cache.
    pub cache: CacheSettings,
    /// The tool `chatgpt_o3_search`.
    pub o3_search: O3SearchSettings,
}

impl Settings for AnswersSettings {
    const ENV: &'static [EnvironmentVariable] = &[
        EnvironmentVariable::new("OPENAI_BASE_URL", "openai.base_url"),
        EnvironmentVariable::new("OPENAI_API_TIMEOUT", "request.timeout_ms"),
        EnvironmentVariable::new("OPENAI_MAX_RETRIES", "request.max_retries"),
        EnvironmentVariable::new("SEARCH_RECENCY_DAYS", "search.defaults.recency_days"),
        EnvironmentVariable::new("SEARCH_MAX_RESULTS", "search.defaults.max_results"),
        EnvironmentVariable::new("MAX_CITATIONS", "policy.max_citations"),
        EnvironmentVariable::new("REQUERY_ATTEMPTS", "policy.requery_attempts"),
        EnvironmentVariable::new("MODEL_ANSWER", "model_profiles.answer.model"),
        EnvironmentVariable::new("MODEL_DETAILED", "model_profiles.answer_detailed.model"),
        EnvironmentVariable::new("MODEL_QUICK", "model_profiles.answer_quick.model"),
        EnvironmentVariable::new("ANSWER_EFFORT", "model_profiles.answer.reasoning_effort"),
        EnvironmentVariable::new("ANSWER_VERBOSITY", "model_profiles.answer.verbosity"),
        EnvironmentVariable::new("O3_SEARCH_MODEL", "o3_search.model"),
        EnvironmentVariable::new("O3_SEARCH_TIMEOUT_MS", "o3_search.timeout_ms"),
        EnvironmentVariable::new("O3_SEARCH_MAX_ATTEMPTS", "o3_search.max_attempts"),
    ];
    const RETIRED: &'static [&'static str] = &["openai.model"];
    const INHERITS: &'static [Inherits] =
        &[inherits_answer("model_profiles.answer_detailed"), inherits_answer("model_profiles.answer_quick")];
}

/// A profile that takes from that of `answer` what no layer sets. At another API than OpenAI's, the built-in models do not
/// exist.
const fn inherits_answer(key: &'static str) -> Inherits {
    Inherits { key, from: "model_profiles.answer", also_when: uses_another_api }
}

/// Whether `openai.base_url` is not a host of OpenAI.
fn uses_another_api(values: &JsonObject) -> bool {
    let url = values.get("openai").and_then(|openai| openai.get("base_url")).and_then(Value::as_str);
    let url = Url::parse(url.unwrap_or_default().trim());
    !url.is_ok_and(|url| url.host_str().is_some_and(|host| is_within(host, &["openai.com".to_owned()])))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn openai_has_several_hosts() {
        for (url, expected) in [
            ("https://api.openai.com/v1", false),
            (" https://eu.api.openai.com/v1/ ", false),
            ("https://openai.com.evil.example/v1", true),
            ("https://mine.openai.azure.com/openai/v1", true),
            ("http://127.0.0.1:8080/v1", true),
            ("nonsense", true),
        ] {
            let values = json!({ "openai": { "base_url": url } });
            assert_eq!(uses_another_api(values.as_object().unwrap()), expected, "{url}");
        }
    }
}
