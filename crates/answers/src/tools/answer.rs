//! `answer`, `answer_detailed` and `answer_quick`: one way of answering, three profiles.

use std::time::Duration;

use annai_core::{Access, Call, Effect, ErrorKind, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::asking::{Answered, Question, domains, not_blank, today};
use crate::config::{Effort, PROFILE_REQUIRED, Profile, Verbosity};
use crate::responses::{Step, Usage};
use crate::toolset::{ANSWERS_USE, Answers};
use crate::wire;

/// What `answer` and `answer_detailed` take.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInput {
    /// The question, in any language.
    #[schemars(length(min = 1, max = 100_000))]
    pub query: String,
    /// Prefer pages of the last so many days; 0 = any age. A hint to the model, not a filter.
    pub recency_days: Option<u64>,
    /// Use about so many sources. A hint to the model, not a limit.
    #[schemars(range(min = 1, max = 10))]
    pub max_results: Option<u64>,
    /// Search only these sites and their subdomains, as in `["jma.go.jp"]` (`search.domain_mode: hint` only prefers them).
    #[schemars(length(max = 100))]
    pub domains: Option<Vec<String>>,
    /// The form of the answer.
    pub style: Option<Style>,
    /// How much to write, for this call.
    pub verbosity: Option<Verbosity>,
    /// How long to think, for this call.
    pub reasoning_effort: Option<Effort>,
}

/// What `answer_quick` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickInput {
    /// The question, in any language.
    #[schemars(length(min = 1, max = 100_000))]
    pub query: String,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    Summary,
    Bullets,
    CitationsOnly,
}

impl Style {
    /// What the model is told.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Summary => "Form: a short summary in whole sentences.",
            Self::Bullets => "Form: bullet points, one fact each.",
            Self::CitationsOnly => {
                "Form: no prose; only the list of sources, each with half a line on what it holds."
            }
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerOutput {
    /// The text: the answer, bullet points where they help, and `Sources:` where the web was searched.
    pub answer: String,
    /// Whether the web was searched.
    pub used_search: bool,
    /// The pages that the answer rests on.
    pub citations: Vec<Citation>,
    /// The model that answered.
    pub model: String,
}

/// A page that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Citation {
    /// Its address, or the name of a service of the API's own.
    pub url: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The day it was published (YYYY-MM-DD), where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
}

const ERRORS: &[(&str, &str)] = &[
    ("-32051 key not set", "set OPENAI_API_KEY in the server's environment"),
    ("-32050 openai responses failed", "data.reason says why; 429 and 5xx pass, so ask again later"),
];

/// The baseline.
pub struct Answer;

impl Tool for Answer {
    const FACTS: Facts = Facts {
        name: "answer",
        title: "Answer from the web / ウェブで調べて答える",
        description: "Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        widget: None,
        guide: Guide {
            when: "A question about the world, the present, or anything that wants sources.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = AnswerInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: AnswerInput) -> Result<Reply<AnswerOutput>, ToolError> {
        run(set, call, "answer", input).await
    }
}

/// Thorough.
pub struct AnswerDetailed;

impl Tool for AnswerDetailed {
    const FACTS: Facts = Facts {
        name: "answer_detailed",
        title: "Answer in depth / 詳しく調べて答える",
        description: "Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        widget: None,
        guide: Guide {
            when: "A hard question: comparison, analysis, many sources. Slower and dearer than answer.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = AnswerInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: AnswerInput) -> Result<Reply<AnswerOutput>, ToolError> {
        run(set, call, "answer_detailed", input).await
    }
}

/// Brief.
pub struct AnswerQuick;

impl Tool for AnswerQuick {
    const FACTS: Facts = Facts {
        name: "answer_quick",
        title: "Answer quickly / すばやく答える",
        description: "Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        widget: None,
        guide: Guide {
            when: "A simple look-up where seconds count.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = QuickInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: QuickInput) -> Result<Reply<AnswerOutput>, ToolError> {
        run(set, call, "answer_quick", AnswerInput { query: input.query, ..AnswerInput::default() }).await
    }
}

async fn run(
    set: &Answers,
    call: &Call,
    name: &'static str,
    input: AnswerInput,
) -> Result<Reply<AnswerOutput>, ToolError> {
    let question = question(set, name, input)?;
    let (model, body) = (question.profile.model.clone(), question.body(&set.desk));
    question.log(name, &body);
    // Everything that shapes the answer is in what is sent.
    let key = serde_json::to_string(&body).map_err(ToolError::internal)?;
    if let Some(kept) = set.cache.get(&key)
        && let Ok(kept) = kept.as_ref()
    {
        call.note("cached", true);
        let now = Answered { usage: Usage::default(), took: Duration::ZERO, retries: 0, ..kept.clone() };
        return Ok(reply(&now)?.with_meta("annai/cached", true));
    }
    let (desk, stream) = (set.desk.clone(), call.progress.wanted() || set.desk.settings.responses.stream);
    let start = move |steps| async move { question.answer(&desk, body, stream, &steps).await }.boxed();
    // Who wants progress waits for a stream.
    let flight = format!("{stream} {key}");
    let answered = set.flights.join(&flight, call, Step::Asking(model), start).await;
    match answered.as_ref() {
        Ok(done) => {
            call.note("model", &done.output.model);
            call.note("retries", done.retries);
            call.note("used_search", done.output.used_search);
            call.note("tokens", done.usage.total_tokens);
            set.cache.put(&key, answered.clone(), done.output.answer.len());
            reply(done)
        }
        Err(failed) => {
            call.note("retries", failed.retries);
            call.note("status", failed.status);
            Err(wire::tool_error(failed, set.desk.debug))
        }
    }
}

/// The question, with the settings filling what the call leaves open.
fn question(set: &Answers, name: &str, input: AnswerInput) -> Result<Question, ToolError> {
    not_blank(&input.query)?;
    let settings = &set.desk.settings;
    let profiles = &settings.model_profiles;
    let own = match name {
        "answer_detailed" => profiles.answer_detailed.as_ref(),
        "answer_quick" => profiles.answer_quick.as_ref(),
        _ => None,
    };
    let profile = own.or(profiles.answer.as_ref());
    let profile = profile.ok_or_else(|| ToolError::new(ErrorKind::NotConfigured, PROFILE_REQUIRED))?;
    let defaults = &settings.search.defaults;
    Ok(Question {
        recency_days: input.recency_days.unwrap_or(defaults.recency_days),
        max_results: input.max_results.unwrap_or(defaults.max_results),
        domains: domains(input.domains.as_ref().unwrap_or(&defaults.domains))?,
        style: input.style,
        model_settings: match name {
            "answer_detailed" => "MODEL_DETAILED or model_profiles.answer_detailed.model",
            "answer_quick" => "MODEL_QUICK or model_profiles.answer_quick.model",
            _ => "--model, MODEL_ANSWER or model_profiles.answer.model",
        },
        profile: Profile {
            model: profile.model.clone(),
            reasoning_effort: input.reasoning_effort.or(profile.reasoning_effort),
            verbosity: input.verbosity.or(profile.verbosity),
        },
        query: input.query,
        today: today(),
    })
}

fn reply(answered: &Answered) -> Result<Reply<AnswerOutput>, ToolError> {
    let latency_ms = u64::try_from(answered.took.as_millis()).unwrap_or(u64::MAX);
    let usage = serde_json::to_value(answered.usage).map_err(ToolError::internal)?;
    let mut reply = Reply::as_json(answered.output.clone())?
        .with_meta("annai/usage", usage)
        .with_meta("annai/latency_ms", latency_ms)
        .with_meta("annai/retries", answered.retries);
    if answered.requeries > 0 {
        reply = reply.with_meta("annai/requeries", answered.requeries);
    }
    if !answered.left_out.is_empty() {
        reply = reply.with_meta("annai/left_out", answered.left_out.clone());
    }
    if answered.dropped > 0 {
        reply = reply.with_meta("annai/dropped_citations", answered.dropped);
    }
    Ok(reply)
}
