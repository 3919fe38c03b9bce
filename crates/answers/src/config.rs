//! The sections of the configuration that answers and search read.

use std::collections::BTreeMap;

use annai_core::JsonObject;
use annai_core::config::{Env, Inherits, Secret, Settings};
use reqwest::Url;
use reqwest::header::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnswersSettings {
    /// The API and how to reach it.
    pub openai: Openai,
    /// Time and retries of one request.
    pub request: Request,
    /// How replies travel.
    pub responses: Responses,
    /// The model of each answer tool.
    pub model_profiles: ModelProfiles,
    /// What the model is told, and what is made of its answer.
    pub policy: Policy,
    /// What is asked of the web search.
    pub search: Search,
    /// Answers that are kept for a while.
    pub cache: Cache,
    /// The tool `chatgpt_o3_search`.
    pub o3_search: O3Search,
}

/// The API and how to reach it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Openai {
    /// The environment variable that holds the key. The key itself is never written here.
    #[schemars(length(min = 1))]
    pub api_key_env: String,
    /// Where the API is: OpenAI, Azure, a gateway or a server of your own that speaks Responses.
    pub base_url: String,
    /// Let `http://` reach hosts other than this machine. The key then travels in the clear.
    pub allow_insecure: bool,
    /// More fields for the request body, for gateways; they are never shown.
    #[schemars(extend("writeOnly" = true))]
    pub extra_body: JsonObject,
    /// More headers for every request, for gateways; their values are never shown.
    pub extra_headers: BTreeMap<String, Secret>,
    /// The type of the search tool, where a gateway calls it something else.
    #[schemars(length(min = 1))]
    pub web_search_type: String,
}

impl Default for Openai {
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

/// Time and retries of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The longest that one attempt may take, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
    /// How often a failed request is made again, in total.
    #[schemars(range(min = 0, max = 10))]
    pub max_retries: u32,
    /// Whether a time-out is tried again; each attempt may be billed.
    pub retry_timeouts: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self { timeout_ms: 120_000, max_retries: 3, retry_timeouts: true }
    }
}

/// How replies travel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Responses {
    /// Stream replies even when the client asked for no progress.
    pub stream: bool,
    /// Accepted so that existing files load, and ignored: it empties the citations.
    pub json_mode: bool,
}

/// The model of each answer tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelProfiles {
    /// Used by `answer`; the others start from it once the file sets it.
    pub answer: Option<Profile>,
    /// Used by `answer_detailed`; without it, `answer` is.
    pub answer_detailed: Option<Profile>,
    /// Used by `answer_quick`; without it, `answer` is.
    pub answer_quick: Option<Profile>,
}

impl Default for ModelProfiles {
    fn default() -> Self {
        let profile = |model: &str, reasoning_effort, verbosity| {
            Some(Profile {
                model: model.to_owned(),
                reasoning_effort: Some(reasoning_effort),
                verbosity: Some(verbosity),
            })
        };
        Self {
            answer: profile("gpt-6.1-terra", Effort::Medium, Verbosity::Medium),
            answer_detailed: profile("gpt-6.1-sol", Effort::High, Verbosity::High),
            answer_quick: profile("gpt-6-luna", Effort::Low, Verbosity::Low),
        }
    }
}

/// A model and how it works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The model's id; it must know the Responses API and web search.
    #[schemars(length(min = 1))]
    pub model: String,
    /// How long it thinks, where the model takes it.
    pub reasoning_effort: Option<Effort>,
    /// How much it writes, where the model takes it.
    pub verbosity: Option<Verbosity>,
}

/// How long a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API's own words")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How much a model writes, and how much a search reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API's own words")]
pub enum Verbosity {
    Low,
    Medium,
    High,
}

/// What the model is told, and what is made of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Words of a question that call for a search; an English word of the list also stands for its Japanese ones.
    pub search_triggers: Vec<String>,
    /// Tell the model to search when it is unsure.
    pub prefer_search_when_unsure: bool,
    /// The most citations of one answer.
    #[schemars(range(min = 1, max = 10))]
    pub max_citations: usize,
    /// How often a question with a trigger is asked again when the answer came without a search.
    #[schemars(range(min = 0, max = 3))]
    pub requery_attempts: u32,
    /// Ask for ISO dates beside the sources, and add the day of access where none is known.
    pub require_dates_iso: bool,
    /// Where the instructions come from.
    pub system: System,
}

impl Default for Policy {
    fn default() -> Self {
        let triggers = "today now latest breaking price cost release version security vulnerability weather \
                        exchange news EOL";
        Self {
            search_triggers: triggers.split_whitespace().map(str::to_owned).collect(),
            prefer_search_when_unsure: true,
            max_citations: 3,
            requery_attempts: 1,
            require_dates_iso: true,
            system: System::default(),
        }
    }
}

/// Where the instructions come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct System {
    /// The built-in policy, or a file of your own.
    pub source: Source,
    /// That file; a relative path starts at the configuration's folder.
    pub path: Option<String>,
    /// What the file does to the built-in policy.
    pub merge: Merge,
}

/// The built-in policy, or a file of your own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Source {
    #[default]
    Builtin,
    File,
}

/// What a policy file does to the built-in policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Merge {
    #[default]
    Replace,
    Prepend,
    Append,
}

/// What is asked of the web search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// What a call that says nothing else gets.
    pub defaults: SearchDefaults,
    /// Whether `domains` filter the search and its citations, or are only a wish.
    pub domain_mode: DomainMode,
    /// Where the question comes from; null leaves it out, and the API then assumes the US.
    pub user_location: Option<UserLocation>,
    /// How much of the pages the model gets to read; null leaves it to the API.
    pub context_size: Option<Verbosity>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            defaults: SearchDefaults::default(),
            domain_mode: DomainMode::Filter,
            user_location: Some(UserLocation::default()),
            context_size: None,
        }
    }
}

/// What a call that says nothing else gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchDefaults {
    /// Prefer pages of the last so many days; 0 = any age. A hint: the API has no such filter.
    pub recency_days: u64,
    /// Use about so many sources. A hint: the API has no such limit.
    #[schemars(range(min = 1, max = 10))]
    pub max_results: u64,
    /// Use these sites only.
    #[schemars(length(max = 100))]
    pub domains: Vec<String>,
}

impl Default for SearchDefaults {
    fn default() -> Self {
        Self { recency_days: 60, max_results: 5, domains: Vec::new() }
    }
}

/// What `domains` mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DomainMode {
    Filter,
    Hint,
}

/// Where the question comes from, roughly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserLocation {
    /// The API knows no other kind.
    #[serde(rename = "type")]
    pub kind: LocationKind,
    /// Two letters, as in `JP`.
    #[schemars(length(min = 2, max = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// A region or state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// A city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// An IANA time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

impl Default for UserLocation {
    fn default() -> Self {
        let timezone = Some("Asia/Tokyo".to_owned());
        Self { kind: LocationKind::Approximate, country: None, region: None, city: None, timezone }
    }
}

/// How exact a location is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API's own word")]
pub enum LocationKind {
    Approximate,
}

/// Answers that are kept for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// How long an answer is given again to the same question, in seconds; 0 = never.
    #[schemars(range(min = 0, max = 2_592_000))]
    pub ttl_s: u64,
    /// How many answers are kept.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_entries: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self { ttl_s: 0, max_entries: 256 }
    }
}

/// The tool `chatgpt_o3_search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct O3Search {
    /// The model that searches.
    #[schemars(length(min = 1))]
    pub model: String,
    /// How long it thinks, where the model takes it.
    pub reasoning_effort: Option<Effort>,
    /// The longest that one attempt may take while no progress is reported, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
}

impl Default for O3Search {
    fn default() -> Self {
        Self { model: "gpt-6.1-sol".to_owned(), reasoning_effort: Some(Effort::Low), timeout_ms: 30_000 }
    }
}

impl Settings for AnswersSettings {
    const ENV: &'static [Env] = &[
        Env::new("OPENAI_BASE_URL", "openai.base_url"),
        Env::new("OPENAI_API_TIMEOUT", "request.timeout_ms"),
        Env::new("OPENAI_MAX_RETRIES", "request.max_retries"),
        Env::new("SEARCH_RECENCY_DAYS", "search.defaults.recency_days"),
        Env::new("SEARCH_MAX_RESULTS", "search.defaults.max_results"),
        Env::new("MAX_CITATIONS", "policy.max_citations"),
        Env::new("REQUERY_ATTEMPTS", "policy.requery_attempts"),
        Env::new("MODEL_ANSWER", "model_profiles.answer.model"),
        Env::new("MODEL_DETAILED", "model_profiles.answer_detailed.model"),
        Env::new("MODEL_QUICK", "model_profiles.answer_quick.model"),
        Env::new("ANSWER_EFFORT", "model_profiles.answer.reasoning_effort"),
        Env::new("ANSWER_VERBOSITY", "model_profiles.answer.verbosity"),
        Env::new("O3_SEARCH_MODEL", "o3_search.model"),
        Env::new("O3_SEARCH_TIMEOUT_MS", "o3_search.timeout_ms"),
    ];
    const RETIRED: &'static [&'static str] = &["openai.model"];
    const INHERITS: &'static [Inherits] = &[
        Inherits { key: "model_profiles.answer_detailed", from: "model_profiles.answer" },
        Inherits { key: "model_profiles.answer_quick", from: "model_profiles.answer" },
    ];
}

impl AnswersSettings {
    /// What is wrong with values whose form a schema cannot tell: the key, and the problem. Values are not repeated:
    /// a key may stand where its variable's name belongs.
    #[must_use]
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut say = |key: &str, problem: &str| found.push((key.to_owned(), problem.to_owned()));
        let openai = &self.openai;
        if !is_variable(&openai.api_key_env) {
            say(
                "openai.api_key_env",
                "expected the name of an environment variable, such as OPENAI_API_KEY; the key itself belongs into that variable",
            );
        }
        if let Ok(url) = Url::parse(openai.base_url.trim()) {
            if !url.username().is_empty() || url.password().is_some() {
                say("openai.base_url", "no user or password belongs there; use openai.extra_headers");
            }
            if url.query_pairs().any(|(name, _)| is_secret_name(&name)) {
                say("openai.base_url", "no key belongs there; use openai.extra_headers");
            }
        }
        for name in openai.extra_headers.keys() {
            let lower = name.to_ascii_lowercase();
            if HeaderName::from_bytes(lower.as_bytes()).is_err() || RESERVED_HEADERS.contains(&lower.as_str())
            {
                say(
                    &format!("openai.extra_headers.{name}"),
                    "expected a header's name that is not one of HTTP's own",
                );
            }
        }
        for key in ["input", "instructions", "stream"] {
            if openai.extra_body.contains_key(key) {
                say(&format!("openai.extra_body.{key}"), "is made from the question and cannot be set");
            }
        }
        for (index, domain) in self.search.defaults.domains.iter().enumerate() {
            if crate::citations::domain(domain).is_none() {
                say(&format!("search.defaults.domains[{index}]"), "expected a site such as jma.go.jp");
            }
        }
        found
    }

    /// What deserves a word but does not stop the start.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.responses.json_mode {
            warnings.push("responses.json_mode is ignored: it would empty the citations".to_owned());
        }
        if self.model_profiles.answer.is_none() {
            warnings.push(format!("{PROFILE_REQUIRED}: the answer tools will fail until it is set"));
        }
        warnings
    }
}

/// What the answer tools say when their profile is null.
pub(crate) const PROFILE_REQUIRED: &str = "model_profiles.answer is required";

/// Headers that belong to the connection, not to the gateway.
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

fn is_variable(name: &str) -> bool {
    let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(good) && !name.starts_with(|letter: char| letter.is_ascii_digit()) && name.len() <= 128
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "sig"].iter().any(|word| name.contains(word))
}
