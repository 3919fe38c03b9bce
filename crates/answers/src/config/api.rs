//! The sections `openai`, `request` and `responses`: the API, the connection to it and the limits of a request.

use std::collections::BTreeMap;

use annai_core::JsonObject;
use annai_core::config::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The API and the connection to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OpenaiSettings {
    /// The name of the environment variable that contains the API key. Never write the key itself into the configuration.
    #[schemars(length(min = 1))]
    pub api_key_env: String,
    /// The base URL of the API: OpenAI, Azure, a gateway or any other server that implements the Responses API.
    pub base_url: String,
    /// Allow `http://` URLs for hosts other than this machine. The API key is then sent unencrypted.
    pub allow_insecure: bool,
    /// Additional fields for the request body, for gateways that need them. Their values are never shown.
    #[schemars(extend("writeOnly" = true))]
    pub extra_body: JsonObject,
    /// Additional headers for every request, for gateways that need them. Their values are never shown.
    pub extra_headers: BTreeMap<String, Secret>,
    /// The `type` of the web search tool in the request, for gateways that use another name.
    #[schemars(length(min = 1))]
    pub web_search_type: String,
}

impl Default for OpenaiSettings {
    fn default() -> Self {
        Self {
            api_key_env: "OPENAI_API_KEY".to_owned(),
            base_url: "https://api.openai.com/v1".to_owned(),
            allow_insecure: false,
            extra_body: JsonObject::new(),
            extra_headers: BTreeMap::new(),
            web_search_type: "web_search".to_owned(),
        }
    }
}

/// The timeout and the retries of a request to the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequestSettings {
    /// The timeout of one attempt, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
    /// The maximum number of retries of one call, over all its requests.
    #[schemars(range(min = 0, max = 10))]
    pub max_retries: u32,
    /// Retry an attempt that timed out. The API may bill every attempt.
    pub retry_timeouts: bool,
}

impl Default for RequestSettings {
    fn default() -> Self {
        Self { timeout_ms: 120_000, max_retries: 3, retry_timeouts: true }
    }
}

/// The transfer of responses from the API.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResponsesSettings {
    /// Request every response as an event stream. When false, only calls that report progress are streamed.
    pub stream: bool,
    /// Accepted for compatibility and ignored, because JSON mode removes the citations from answers.
    pub json_mode: bool,
}
