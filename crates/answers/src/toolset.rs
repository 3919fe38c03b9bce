//! The state that the tools of each toolset share. It is created with the first call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use annai_core::config::Secret;
use annai_core::{Facts, NumberParsing, TokenScope, ToolError, Toolset, WireError};

use crate::answer_cache::AnswerCache;
use crate::api_context::ApiContext;
use crate::config::AnswersSettings;
use crate::errors::AnswersError;
use crate::in_flight::InFlightRequests;
use crate::question::CompletedAnswer;
use crate::responses::{RequestFailure, ResponsesClient};
use crate::search_query::CompletedSearch;
use crate::zone::Zone;
use crate::{policy, wire};

/// The token scope of the tools that call the API.
pub const ANSWERS_USE: TokenScope = TokenScope::new("answers.use");

/// The configuration of both toolsets.
#[derive(Debug, Clone)]
pub struct AnswersConfig {
    /// The settings of this crate.
    pub settings: Arc<AnswersSettings>,
    /// The value of the environment variable that `openai.api_key_env` names.
    pub key: Option<Secret>,
    /// The time zone of a person whose call names none.
    pub zone: Zone,
    /// The folder where relative paths start.
    pub folder: PathBuf,
    /// Whether errors contain additional members for debugging.
    pub debug: bool,
}

impl AnswersConfig {
    /// A client of the API, if its settings and the key are valid.
    pub(crate) fn client(&self) -> Result<ResponsesClient, AnswersError> {
        let key = self.checked_key()?;
        ResponsesClient::new(&self.settings.openai, key).map_err(AnswersError::Settings)
    }

    /// Why the instructions for the model cannot be read; the text names the key. `None` if they can.
    #[must_use]
    pub fn policy_problem(&self) -> Option<String> {
        policy::instructions(&self.settings.policy, &self.folder).err()
    }

    /// The key, without the line break that shells may append.
    fn checked_key(&self) -> Result<Secret, AnswersError> {
        let env = &self.settings.openai.api_key_env;
        let key = self.key.as_ref().map(|key| key.expose().trim()).unwrap_or_default();
        let problem = if key.is_empty() {
            format!("{env} is not set")
        } else if key.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            format!("{env} contains white space or control characters, which an API key cannot contain")
        } else {
            return Ok(Secret::new(key));
        };
        Err(AnswersError::KeyMissing { env: env.clone(), problem })
    }
}

/// The toolset `answers`.
pub struct Answers {
    pub(crate) context: Arc<ApiContext>,
    pub(crate) in_flight: InFlightRequests<Result<Arc<CompletedAnswer>, Arc<RequestFailure>>>,
    pub(crate) cache: AnswerCache<CompletedAnswer>,
}

impl Toolset for Answers {
    const NAME: &'static str = "answers";
    const INSTRUCTIONS: &'static [&'static str] = &[
        "To answer a question about the world, current events or anything that needs sources, call `answer`: it searches the web when needed and returns a finished answer with its citations, within about a minute.",
        "`answer_quick` takes seconds and suits a single fact.",
        "`answer_detailed` takes minutes and suits analyses.",
        "One call per question is enough; if used_search is false, the model answers alone.",
    ];
    const NUMBERS: NumberParsing = NumberParsing::Lenient;
    type Config = AnswersConfig;

    async fn open(config: &AnswersConfig) -> Result<Self, ToolError> {
        let settings = config.settings.clone();
        if settings.model_profiles.answer.is_none() {
            return Err(AnswersError::ProfileMissing.into());
        }
        let client = config.client()?;
        let instructions =
            policy::instructions(&settings.policy, &config.folder).map_err(AnswersError::Settings)?;
        tracing::debug!(
            "system policy rev=\"{}\" chars={}",
            policy::SYSTEM_POLICY_REV,
            instructions.chars().count()
        );
        let cache = AnswerCache::new(Duration::from_secs(settings.cache.ttl_s), settings.cache.max_entries);
        let zone = config.zone.clone();
        let context = Arc::new(ApiContext { settings, instructions, client, zone });
        Ok(Self { context, in_flight: InFlightRequests::new(), cache })
    }

    fn wire(config: &AnswersConfig, tool: &Facts, error: &ToolError) -> WireError {
        wire::answers_error(config.debug, tool, error)
    }
}

/// The toolset `search`.
pub struct Search {
    pub(crate) context: Arc<ApiContext>,
    pub(crate) in_flight: InFlightRequests<Result<Arc<CompletedSearch>, Arc<RequestFailure>>>,
}

impl Toolset for Search {
    const NAME: &'static str = "search";
    const INSTRUCTIONS: &'static [&'static str] = &[
        "To get links and snippets of web pages instead of a finished answer, call `chatgpt_o3_search`; it returns only pages that a search found.",
    ];
    const NUMBERS: NumberParsing = NumberParsing::Lenient;
    type Config = AnswersConfig;

    async fn open(config: &AnswersConfig) -> Result<Self, ToolError> {
        let (settings, client) = (config.settings.clone(), config.client()?);
        let instructions = policy::SEARCH_POLICY.to_owned();
        let zone = config.zone.clone();
        let context = Arc::new(ApiContext { settings, instructions, client, zone });
        Ok(Self { context, in_flight: InFlightRequests::new() })
    }

    fn wire(config: &AnswersConfig, _: &Facts, error: &ToolError) -> WireError {
        wire::search_error(config.debug, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: Option<&str>) -> AnswersConfig {
        AnswersConfig {
            settings: Arc::default(),
            key: key.map(Secret::new),
            zone: Zone::utc(),
            folder: PathBuf::new(),
            debug: false,
        }
    }

    #[test]
    fn the_key_is_trimmed_and_checked() {
        assert_eq!(config(Some("sk-1\n")).checked_key().unwrap().expose(), "sk-1");
        for (key, problem) in [
            (None, "OPENAI_API_KEY is not set"),
            (Some(" \n"), "OPENAI_API_KEY is not set"),
            (
                Some("sk 1"),
                "OPENAI_API_KEY contains white space or control characters, which an API key cannot contain",
            ),
        ] {
            let expected = AnswersError::KeyMissing { env: "OPENAI_API_KEY".into(), problem: problem.into() };
            assert_eq!(config(key).checked_key().unwrap_err(), expected, "{key:?}");
        }
    }
}
