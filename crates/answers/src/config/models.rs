//! The section `model_profiles`: the model of each answer tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model of each answer tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelProfiles {
    /// The profile of `answer`. It is required. Once the configuration file sets it, or `openai.base_url` is not OpenAI's, the
    /// other profiles take from it what is not set for them.
    pub answer: Option<ModelProfile>,
    /// The profile of `answer_detailed`. When null, the profile of `answer` is used.
    pub answer_detailed: Option<ModelProfile>,
    /// The profile of `answer_quick`. When null, the profile of `answer` is used.
    pub answer_quick: Option<ModelProfile>,
}

impl Default for ModelProfiles {
    fn default() -> Self {
        let profile = |model: &str, reasoning_effort, verbosity| {
            Some(ModelProfile {
                model: model.to_owned(),
                reasoning_effort: Some(reasoning_effort),
                verbosity: Some(verbosity),
            })
        };
        Self {
            answer: profile("gpt-6.1-terra", ReasoningEffort::Medium, Verbosity::Medium),
            answer_detailed: profile("gpt-6.1-sol", ReasoningEffort::High, Verbosity::High),
            answer_quick: profile("gpt-6-luna", ReasoningEffort::Low, Verbosity::Low),
        }
    }
}

/// A model and its options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelProfile {
    /// The model's id. The model must support the Responses API and web search. Once the file sets the profile `answer`, or
    /// `openai.base_url` is not OpenAI's, what is not set for the other two profiles is taken from `answer` as it is in
    /// effect, also when `MODEL_ANSWER` or `--model` changes it, instead of from these defaults.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Optional. How much the model reasons before it answers. Not sent to models that do not support it.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Optional. How long the model's answers are. Not sent to models that do not support it.
    pub verbosity: Option<Verbosity>,
}

/// How much a model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API defines these words")]
pub enum ReasoningEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How long a model's answers are; also how much page content a search gives to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the API defines these words")]
pub enum Verbosity {
    Low,
    Medium,
    High,
}
