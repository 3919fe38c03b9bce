//! What the tools of each family share, made with the first call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use annai_core::config::Secret;
use annai_core::{ErrorKind, Facts, NumberParsing, TokenScope, ToolError, Toolset, WireError};
use serde_json::json;

use crate::asking::Answered;
use crate::config::{AnswersSettings, PROFILE_REQUIRED};
use crate::flight::{Cache, Flights};
use crate::responses::{Client, Failed, Patience};
use crate::searching::Found;
use crate::{policy, wire};

/// The settings of both families, and what the environment adds to them.
#[derive(Debug, Clone)]
pub struct AnswersConfig {
    /// The sections of the configuration.
    pub settings: Arc<AnswersSettings>,
    /// What the variable named by `openai.api_key_env` holds.
    pub key: Option<Secret>,
    /// Where relative paths start.
    pub folder: PathBuf,
    /// Whether errors show callers what helps to debug.
    pub debug: bool,
}

impl AnswersConfig {
    /// A client for the API, if there is what it needs.
    pub(crate) fn client(&self) -> Result<Client, ToolError> {
        let openai = &self.settings.openai;
        Client::new(openai, self.good_key()?).map_err(not_configured)
    }

    /// The key, without the line break that shells leave behind it.
    fn good_key(&self) -> Result<Secret, ToolError> {
        let env = &self.settings.openai.api_key_env;
        let key = self.key.as_ref().map(|key| key.expose().trim()).unwrap_or_default();
        let problem = if key.is_empty() {
            format!("{env} is not set")
        } else if key.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            format!("{env} holds white space or control characters, which no key has")
        } else {
            return Ok(Secret::new(key));
        };
        let fix = format!("set {env} to an OpenAI API key in the environment of this server");
        let error = ToolError::new(ErrorKind::NotConfigured, format!("{problem}; {fix}"));
        Err(error.with_details(json!({ "env": env, "fix": fix })))
    }
}

/// Something other than the key has to be mended in the settings.
fn not_configured(problem: String) -> ToolError {
    ToolError::new(ErrorKind::NotConfigured, problem)
}

/// The token scope of the tools that ask the API.
pub const ANSWERS_USE: TokenScope = TokenScope::new("answers.use");

/// The toolset `answers`.
pub struct Answers {
    pub(crate) desk: Arc<Desk>,
    pub(crate) flights: Flights<Result<Answered, Failed>>,
    pub(crate) cache: Cache<Result<Answered, Failed>>,
}

/// Everything that asking needs; requests under way hold it too.
pub(crate) struct Desk {
    pub settings: Arc<AnswersSettings>,
    pub instructions: String,
    pub client: Client,
    /// Whether errors show callers what helps to debug.
    pub debug: bool,
}

impl Desk {
    /// How long to wait for an answer and how often to try.
    pub fn patience(&self) -> Patience {
        let request = &self.settings.request;
        Patience {
            timeout: Duration::from_millis(request.timeout_ms),
            max_retries: request.max_retries,
            first_delay: Duration::from_millis(500),
            retry_timeouts: request.retry_timeouts,
        }
    }
}

impl Toolset for Answers {
    const NAME: &'static str = "answers";
    const NUMBERS: NumberParsing = NumberParsing::Lenient;
    type Config = AnswersConfig;

    async fn open(config: &AnswersConfig) -> Result<Self, ToolError> {
        let settings = config.settings.clone();
        if settings.model_profiles.answer.is_none() {
            let error = ToolError::new(ErrorKind::NotConfigured, PROFILE_REQUIRED);
            return Err(error.with_details(json!({ "key": "model_profiles.answer" })));
        }
        let client = config.client()?;
        let instructions = policy::instructions(&settings.policy, &config.folder).map_err(not_configured)?;
        tracing::debug!(
            "system policy rev=\"{}\" chars={}",
            policy::SYSTEM_POLICY_REV,
            instructions.chars().count()
        );
        let cache = Cache::new(Duration::from_secs(settings.cache.ttl_s), settings.cache.max_entries);
        Ok(Self {
            desk: Arc::new(Desk { settings, instructions, client, debug: config.debug }),
            flights: Flights::new(),
            cache,
        })
    }

    fn wire(config: &AnswersConfig, tool: &Facts, error: &ToolError) -> WireError {
        wire::answers(config.debug, tool, error)
    }
}

/// The family `search`.
pub struct Search {
    pub(crate) desk: Arc<Desk>,
    pub(crate) flights: Flights<Result<Found, Failed>>,
}

impl Toolset for Search {
    const NAME: &'static str = "search";
    const NUMBERS: NumberParsing = NumberParsing::Lenient;
    type Config = AnswersConfig;

    async fn open(config: &AnswersConfig) -> Result<Self, ToolError> {
        let (settings, client) = (config.settings.clone(), config.client()?);
        let instructions = policy::SEARCH_POLICY.to_owned();
        Ok(Self {
            desk: Arc::new(Desk { settings, instructions, client, debug: config.debug }),
            flights: Flights::new(),
        })
    }

    fn wire(config: &AnswersConfig, _: &Facts, error: &ToolError) -> WireError {
        wire::search(config.debug, error)
    }
}
