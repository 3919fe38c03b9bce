//! The sections `search`, `cache` and `o3_search`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::{ReasoningEffort, Verbosity};
use crate::zone::Zone;

/// Defaults and options of the web search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSettings {
    /// The values for arguments that a call omits.
    pub defaults: SearchDefaults,
    /// How `domains` are applied: `filter` restricts the search and its citations to these sites, `hint` only prefers them.
    pub domain_mode: DomainMode,
    /// The user's location, for local results; it is sent with the time zone of the question. When null, none is sent, and the API assumes the United States; the question itself still names the day and the time zone.
    pub user_location: Option<UserLocation>,
    /// Optional. How much content of the found pages the model reads. When null, the API decides.
    pub context_size: Option<Verbosity>,
}

impl SearchSettings {
    /// The configured time zone, if it is valid.
    #[must_use]
    pub fn zone(&self) -> Option<Zone> {
        Zone::parse(self.user_location.as_ref()?.timezone.as_deref()?)
    }
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            defaults: SearchDefaults::default(),
            domain_mode: DomainMode::Filter,
            user_location: Some(UserLocation::default()),
            context_size: None,
        }
    }
}

/// The values for arguments that a call omits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchDefaults {
    /// The preferred maximum age of pages, in days; 0 means any age. This is a hint to the model, because the API has no such filter.
    pub recency_days: u64,
    /// The approximate maximum number of sources to use. This is a hint to the model, because the API has no such limit; the
    /// number of citations is limited by `max_results` of a call, else by `policy.max_citations`.
    #[schemars(range(min = 1, max = 10))]
    pub max_results: u64,
    /// Search only these sites and their subdomains, for example `["jma.go.jp"]`. An empty list allows all sites.
    #[schemars(length(max = 100))]
    pub domains: Vec<String>,
}

impl Default for SearchDefaults {
    fn default() -> Self {
        Self { recency_days: 60, max_results: 5, domains: Vec::new() }
    }
}

/// How `domains` are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum DomainMode {
    Filter,
    Hint,
}

/// The user's approximate location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserLocation {
    /// The kind of location. The API supports only `approximate`.
    #[serde(rename = "type")]
    pub kind: LocationKind,
    /// Optional. The ISO 3166 country code, two letters, for example `JP`.
    #[schemars(length(min = 2, max = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Optional. The region or state, for example `Hokkaido`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Optional. The city, for example `Sapporo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Optional. The IANA time zone, for example `Europe/Berlin`; relative dates such as *yesterday* are resolved in it, too. When absent: that of the machine over stdio and on the command line, UTC over HTTP, and Asia/Tokyo for a server with `--toolset answers` or `--toolset search` alone. The argument `timezone` of a call overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl Default for UserLocation {
    fn default() -> Self {
        Self { kind: LocationKind::Approximate, country: None, region: None, city: None, timezone: None }
    }
}

/// The precision of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API defines this word")]
pub enum LocationKind {
    Approximate,
}

/// The answer cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheSettings {
    /// How long the cached answer to an identical question is returned, in seconds; 0 disables the cache.
    #[schemars(range(min = 0, max = 2_592_000))]
    pub ttl_s: u64,
    /// The maximum number of cached answers. The oldest answer is removed when a new one exceeds this limit or 32 MiB in total.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_entries: usize,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { ttl_s: 0, max_entries: 256 }
    }
}

/// The tool `chatgpt_o3_search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct O3SearchSettings {
    /// The model that searches. It must support the Responses API and web search.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Optional. How much the model reasons during the search. Not sent to models that do not support it.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The timeout of one attempt, in milliseconds. Calls that report progress use `request.timeout_ms` instead.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
    /// The maximum number of attempts of one search, the first one included.
    #[schemars(range(min = 1, max = 11))]
    pub max_attempts: u32,
}

impl Default for O3SearchSettings {
    fn default() -> Self {
        Self {
            model: "gpt-6.1-sol".to_owned(),
            reasoning_effort: Some(ReasoningEffort::Low),
            timeout_ms: 30_000,
            max_attempts: 3,
        }
    }
}
