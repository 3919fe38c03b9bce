//! `answer`, `answer_detailed` and `answer_quick`: the same handler with three model profiles.

use std::time::{Duration, Instant, SystemTime};

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::{AnswersSettings, ModelProfile, ModelProfiles, ReasoningEffort, Verbosity};
use crate::errors::AnswersError;
use crate::in_flight::RequestKey;
use crate::question::{CompletedAnswer, Question, check_not_blank, parse_domains, parse_zone};
use crate::responses::{ProgressStep, TokenUsage};
use crate::schema::{ANSWER_MEMBERS, AnswerOutput, Style};
use crate::toolset::{ANSWERS_USE, Answers};
use crate::zone::Zone;

/// The input of `answer` and `answer_detailed`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInput {
    /// The question, in any language. The answer is in the same language.
    #[schemars(length(min = 1, max = 100_000))]
    pub query: String,
    /// Optional. The preferred maximum age of pages, in days; 0 means any age (default 60 unless the server is configured otherwise). This is a hint to the model, not a filter.
    #[schemars(extend("default" = 60))]
    pub recency_days: Option<u64>,
    /// Optional. The maximum number of citations and of links under `Sources:` (without it, `policy.max_citations` of the server's configuration, default 3). The model is also told to use about as many sources (default 5 unless the server is configured otherwise), which is a hint.
    #[schemars(range(min = 1, max = 10))]
    pub max_results: Option<u64>,
    /// Optional. Search only these sites and their subdomains, for example `["jma.go.jp"]`; at most 100 (default: all sites). If the server sets `search.domain_mode: hint`, these sites are only preferred.
    #[schemars(length(max = 100))]
    pub domains: Option<Vec<String>>,
    /// Optional. The form of the answer: `summary` (a short summary), `bullets` (bullet points) or `citations-only` (only the list of sources). By default the model chooses the form.
    pub style: Option<Style>,
    /// Optional. The IANA time zone of the person who asks, for example `Europe/Berlin`: words such as *today* are resolved in it, and the search is told it (default: that of the server's configuration).
    #[schemars(length(min = 1, max = 64))]
    pub timezone: Option<String>,
    /// Optional. The length of the answer. Overrides the model profile of this tool for this call.
    pub verbosity: Option<Verbosity>,
    /// Optional. How much the model reasons before it answers. Overrides the model profile of this tool for this call.
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// The input of `answer_quick`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuickInput {
    /// The question, in any language. The answer is in the same language.
    #[schemars(length(min = 1, max = 100_000))]
    pub query: String,
}

const ERRORS: &[(&str, &str)] = &[
    ("-32051 key not set", "set OPENAI_API_KEY in the server's environment"),
    ("-32050 openai responses failed", "data.reason contains the reason; after 429 or 5xx, try again later"),
];

/// The standard tool.
pub struct Answer;

impl Tool for Answer {
    const FACTS: Facts = Facts {
        name: "answer",
        title: "Answer from the web / ウェブで調べて答える",
        description: "Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool. Usually takes up to a minute. For a single fact use answer_quick, which takes seconds; for a comparison or an analysis use answer_detailed, which takes minutes; for links to read yourself use chatgpt_o3_search.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "A question about the world or current events, or any question that needs sources. Usually takes up to a minute.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = AnswerInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: AnswerInput) -> Result<Reply<AnswerOutput>, ToolError> {
        run_answer_tool(set, call, Profile::Answer, input).await
    }
}

/// The thorough tool.
pub struct AnswerDetailed;

impl Tool for AnswerDetailed {
    const FACTS: Facts = Facts {
        name: "answer_detailed",
        title: "Answer in depth / 詳しく調べて答える",
        description: "Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation. The slowest and most expensive of the answer tools: often takes several minutes. Use answer for a question that a few sources settle, and answer_quick for a single fact.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "A complex question: a comparison, an analysis, many sources. Often takes several minutes, and costs more than answer.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = AnswerInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: AnswerInput) -> Result<Reply<AnswerOutput>, ToolError> {
        run_answer_tool(set, call, Profile::Detailed, input).await
    }
}

/// The fast tool.
pub struct AnswerQuick;

impl Tool for AnswerQuick {
    const FACTS: Facts = Facts {
        name: "answer_quick",
        title: "Answer quickly / すばやく答える",
        description: "Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions. Usually takes seconds, and never asks twice to get a search. Use answer if the sources matter, or to choose sites, age or form; use answer_detailed for an analysis.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "A simple lookup where speed matters: takes seconds. If the sources matter, use answer.",
            safe_defaults: r#"{"query":"…"}"#,
            common_errors: ERRORS,
        },
    };
    type Set = Answers;
    type Input = QuickInput;
    type Output = AnswerOutput;

    async fn run(set: &Answers, call: &Call, input: QuickInput) -> Result<Reply<AnswerOutput>, ToolError> {
        let input = AnswerInput { query: input.query, ..AnswerInput::default() };
        run_answer_tool(set, call, Profile::Quick, input).await
    }
}

/// The model profile of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    Answer,
    Detailed,
    Quick,
}

impl Profile {
    /// The profile's name, which is also the name of the tool.
    const fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Detailed => "answer_detailed",
            Self::Quick => "answer_quick",
        }
    }

    /// The settings that select the model, for the error that it does not exist.
    const fn model_settings(self) -> &'static str {
        match self {
            Self::Answer => "--model, MODEL_ANSWER or model_profiles.answer.model",
            Self::Detailed => "MODEL_DETAILED or model_profiles.answer_detailed.model",
            Self::Quick => "MODEL_QUICK or model_profiles.answer_quick.model",
        }
    }

    /// The configured profile; that of `answer` replaces a missing one.
    fn select(self, profiles: &ModelProfiles) -> Option<&ModelProfile> {
        let own = match self {
            Self::Answer => None,
            Self::Detailed => profiles.answer_detailed.as_ref(),
            Self::Quick => profiles.answer_quick.as_ref(),
        };
        own.or(profiles.answer.as_ref())
    }
}

async fn run_answer_tool(
    set: &Answers,
    call: &Call,
    profile: Profile,
    input: AnswerInput,
) -> Result<Reply<AnswerOutput>, ToolError> {
    let (context, settings) = (set.context.clone(), &set.context.settings);
    let question = question(settings, &context.zone, profile, input)?;
    let body = question.body(&context);
    question.log(profile.name(), &body);
    let cache_key = question.identity(profile.name(), &body);
    if let Some(answer) = set.cache.get(&cache_key, Instant::now()) {
        call.note("cached", true);
        return Ok(reply(&without_cost(&answer)).with_meta("annai/cached", true));
    }
    let stream = call.progress.is_requested() || settings.responses.stream;
    let key = RequestKey { body: cache_key.clone(), stream, timeout: context.retry_policy().timeout };
    let asking = ProgressStep::Asking(question.profile.model.clone());
    let start =
        move |progress| async move { question.answer(&context, body, stream, &progress).await }.boxed();
    match set.in_flight.join(key, call, asking, start).await {
        Ok(answer) => {
            call.note("model", &answer.output.model);
            call.note("retries", answer.retries);
            call.note("used_search", answer.output.used_search);
            call.note("requeries", answer.output.requeries);
            call.note("tokens", answer.output.usage.total_tokens);
            set.cache.put(&cache_key, answer.clone(), answer.output.answer.len(), Instant::now());
            Ok(reply(&answer))
        }
        Err(failure) => {
            call.note("retries", failure.retries);
            call.note("status", failure.status);
            Err(AnswersError::Request(failure).into())
        }
    }
}

/// The question; the settings fill in the arguments that the call omits.
fn question(
    settings: &AnswersSettings,
    default_zone: &Zone,
    profile: Profile,
    input: AnswerInput,
) -> Result<Question, ToolError> {
    check_not_blank(&input.query)?;
    let zone = input.timezone.as_deref().map_or_else(|| Ok(default_zone.clone()), parse_zone)?;
    let configured = profile.select(&settings.model_profiles).ok_or(AnswersError::ProfileMissing)?;
    let defaults = &settings.search.defaults;
    Ok(Question {
        recency_days: input.recency_days.unwrap_or(defaults.recency_days),
        max_results: input.max_results.unwrap_or(defaults.max_results),
        max_citations: input
            .max_results
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(settings.policy.max_citations),
        domains: parse_domains(input.domains.as_ref().unwrap_or(&defaults.domains))?,
        style: input.style,
        model_settings: profile.model_settings(),
        // A caller that wants speed does not wait for a second request.
        may_requery: profile != Profile::Quick,
        profile: ModelProfile {
            model: configured.model.clone(),
            reasoning_effort: input.reasoning_effort.or(configured.reasoning_effort),
            verbosity: input.verbosity.or(configured.verbosity),
        },
        query: input.query,
        today: zone.date_at(SystemTime::now()),
        zone,
    })
}

/// A cached answer: it took no request.
fn without_cost(answer: &CompletedAnswer) -> CompletedAnswer {
    let output = AnswerOutput { usage: TokenUsage::default(), ..answer.output.clone() };
    CompletedAnswer { output, elapsed: Duration::ZERO, retries: 0 }
}

fn reply(answer: &CompletedAnswer) -> Reply<AnswerOutput> {
    let latency_ms = u64::try_from(answer.elapsed.as_millis()).unwrap_or(u64::MAX);
    Reply::split(answer.output.clone(), ANSWER_MEMBERS)
        .with_meta("annai/latency_ms", latency_ms)
        .with_meta("annai/retries", answer.retries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_override_the_profile_and_the_defaults() {
        let settings = AnswersSettings::default();
        let input = || AnswerInput { query: "q".into(), ..AnswerInput::default() };
        let plain = question(&settings, &Zone::utc(), Profile::Quick, input()).unwrap();
        assert_eq!((plain.recency_days, plain.max_results), (60, 5));
        assert_eq!(Some(plain.profile), settings.model_profiles.answer_quick);
        let input = AnswerInput {
            recency_days: Some(0),
            max_results: Some(2),
            verbosity: Some(Verbosity::Low),
            timezone: Some("europe/berlin".into()),
            ..input()
        };
        let own = question(&settings, &Zone::utc(), Profile::Detailed, input).unwrap();
        assert_eq!((own.recency_days, own.max_results), (0, 2));
        let expected = ModelProfile {
            verbosity: Some(Verbosity::Low),
            ..settings.model_profiles.answer_detailed.clone().unwrap()
        };
        assert_eq!(own.profile, expected);
        assert_eq!((plain.zone, own.zone.name()), (Zone::utc(), "Europe/Berlin"));
        let input = AnswerInput { query: "q".into(), timezone: Some("JST".into()), ..AnswerInput::default() };
        let error = question(&settings, &Zone::utc(), Profile::Answer, input).err().unwrap();
        assert_eq!(
            error.message(),
            "timezone: expected an IANA time zone such as Asia/Tokyo or Europe/Berlin"
        );
    }

    #[test]
    fn a_missing_profile_is_replaced_by_that_of_answer() {
        let profiles = ModelProfiles { answer_quick: None, ..ModelProfiles::default() };
        assert_eq!(Profile::Quick.select(&profiles), profiles.answer.as_ref());
        assert_eq!(Profile::Detailed.select(&profiles), profiles.answer_detailed.as_ref());
        let none = ModelProfiles { answer: None, answer_quick: None, answer_detailed: None };
        assert_eq!(Profile::Quick.select(&none), None);
    }
}
