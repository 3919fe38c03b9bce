//! One question, from its arguments to a finished answer.

use std::time::{Duration, SystemTime};

use annai_core::{Date, JsonObject, ToolError};
use tokio::sync::watch;

use crate::config::{AnswersSettings, DomainMode, Profile};
use crate::responses::{Ask, Cause, Failed, Reading, Request, Searching, Step, Supports, Usage, read};
use crate::tools::{AnswerOutput, Citation, Style};
use crate::toolset::Desk;
use crate::{citations, policy, sources};

/// A question with everything that shapes its answer.
pub struct Question {
    pub query: String,
    pub recency_days: u64,
    pub max_results: u64,
    pub domains: Vec<String>,
    pub style: Option<Style>,
    pub profile: Profile,
    /// What chooses the model, for an error that says it does not exist.
    pub model_settings: &'static str,
    pub today: Date,
}

/// An answer, and what it took.
#[derive(Debug, Clone)]
pub struct Answered {
    pub output: AnswerOutput,
    pub usage: Usage,
    pub took: Duration,
    pub retries: u32,
    /// How often it was asked again because it came without a search.
    pub requeries: u32,
    /// Fields that the model does not take.
    pub left_out: Vec<&'static str>,
    /// Citations outside the allowed sites.
    pub dropped: usize,
}

/// A query that says something.
pub fn not_blank(query: &str) -> Result<(), ToolError> {
    if query.trim().is_empty() {
        return Err(ToolError::invalid("query: expected text, got only white space"));
    }
    Ok(())
}

/// The sites as the API wants them, each once.
pub fn domains(given: &[String]) -> Result<Vec<String>, ToolError> {
    let mut domains = Vec::new();
    for (index, text) in given.iter().enumerate() {
        let domain = citations::domain(text).ok_or_else(|| {
            ToolError::invalid(format!("domains[{index}]: expected a site such as jma.go.jp"))
        })?;
        if !domains.contains(&domain) {
            domains.push(domain);
        }
    }
    Ok(domains)
}

/// Today in Tokyo.
pub fn today() -> Date {
    Date::in_tokyo(SystemTime::now())
}

impl Question {
    /// What is sent, before anything is asked again.
    pub fn body(&self, desk: &Desk) -> JsonObject {
        let settings = &desk.settings;
        let filter = settings.search.domain_mode == DomainMode::Filter;
        let request = Request {
            model: &self.profile.model,
            instructions: &desk.instructions,
            input: &self.input(settings, 0),
            effort: self.profile.reasoning_effort,
            verbosity: self.profile.verbosity,
            domains: if filter { &self.domains } else { &[] },
            search: Searching::Free,
        };
        request.body(settings)
    }

    /// The question, then its hints; firmer ones when it is asked again.
    fn input(&self, settings: &AnswersSettings, requeries: u32) -> String {
        let mut hints = vec![format!("Today is {} in Asia/Tokyo.", self.today)];
        if requeries > 0 {
            hints.push(
                "This question needs facts of the present. You must use web_search before you answer, and cite what you find."
                    .to_owned(),
            );
        }
        if self.recency_days > 0 {
            let days = self.recency_days;
            hints.push(format!("If you search: prefer pages of the last {days} days, unless the question is about an earlier time."));
        }
        hints.push(format!("If you search: use at most {} sources.", self.max_results));
        if !self.domains.is_empty() {
            let sites = self.domains.join(", ");
            hints.push(match settings.search.domain_mode {
                DomainMode::Filter => format!("Use only these sites and their subdomains: {sites}."),
                DomainMode::Hint => format!("Prefer these sites and their subdomains: {sites}."),
            });
        }
        hints.extend(self.style.map(|style| style.hint().to_owned()));
        format!("{}\n\nHints:\n- {}", self.query.trim(), hints.join("\n- "))
    }

    /// Asks, and asks again where a search was called for and none was made.
    pub async fn answer(
        self,
        desk: &Desk,
        mut body: JsonObject,
        stream: bool,
        steps: &watch::Sender<Step>,
    ) -> Result<Answered, Failed> {
        let policy = &desk.settings.policy;
        let wants_search = policy::calls_for_search(&self.query, &policy.search_triggers);
        let mut best: Option<Reading> = None;
        let (mut usage, mut took, mut retries, mut requeries) = (Usage::default(), Duration::ZERO, 0, 0);
        let mut left_out = Vec::new();
        loop {
            let mut patience = desk.patience();
            patience.max_retries = patience.max_retries.saturating_sub(retries);
            let ask = Ask {
                body: body.clone(),
                question: &self.query,
                model_settings: self.model_settings,
                stream,
                patience,
                steps,
            };
            let exchange = match (desk.client.ask(ask).await, &best) {
                (Ok(exchange), _) => exchange,
                // The first answer is better than none.
                (Err(_), Some(_)) => break,
                (Err(failed), None) => return Err(failed),
            };
            let reading = read(&exchange.response);
            usage += reading.usage;
            took += exchange.took;
            retries += exchange.retries;
            left_out = exchange.left_out;
            let empty = reading.text.trim().is_empty();
            let done = empty || reading.searched || !wants_search || requeries >= policy.requery_attempts;
            if !empty {
                best = Some(reading);
            }
            if done {
                break;
            }
            requeries += 1;
            tracing::debug!("no search although the question calls for one; asking again ({requeries})");
            body.insert("input".to_owned(), self.input(&desk.settings, requeries).into());
        }
        let Some(reading) = best else {
            return Err(Failed {
                retries,
                ..Failed::new(Cause::Unfinished, "the API answered without any text")
            });
        };
        let (output, dropped) = self.output(desk, reading);
        Ok(Answered { output, usage, took, retries, requeries, left_out, dropped })
    }

    /// The answer as it is handed out, and how many citations lie outside the allowed sites.
    fn output(&self, desk: &Desk, reading: Reading) -> (AnswerOutput, usize) {
        let policy = &desk.settings.policy;
        let allowed: &[String] = match desk.settings.search.domain_mode {
            DomainMode::Filter => &self.domains,
            DomainMode::Hint => &[],
        };
        let cited = citations::cited(&reading, allowed, policy.max_citations, self.today);
        let mut answer = citations::without_marks(reading.text.trim());
        if reading.searched {
            let accessed = policy.require_dates_iso.then_some(self.today);
            answer = sources::complete(&answer, &cited.pages, allowed, accessed);
        }
        let citations = cited.pages.into_iter().map(|page| Citation {
            url: page.url,
            title: page.title,
            published_at: page.published.map(|date| date.to_string()),
        });
        let model = reading.model.filter(|model| is_model(model) && !desk.client.holds_secret(model));
        let output = AnswerOutput {
            answer,
            used_search: reading.searched,
            citations: citations.collect(),
            model: model.unwrap_or_else(|| self.profile.model.clone()),
        };
        (output, cited.dropped)
    }

    /// What is logged of the request: which parts it has, never what is in them.
    pub fn log(&self, profile: &str, body: &JsonObject) {
        let Supports { verbosity, reasoning } = Supports::of(&self.profile.model);
        let model = &self.profile.model;
        tracing::debug!(
            "profile={profile} model={model} supports={{verbosity:{verbosity}, reasoning:{reasoning}}}"
        );
        let on = |key: &str| if body.contains_key(key) { "on" } else { "off" };
        let (tools, reasoning, text) = (on("tools"), on("reasoning"), on("text"));
        tracing::debug!(
            "request summary tools=web_search({tools}) reasoning={reasoning} text.verbosity={text}"
        );
    }
}

/// Whether a text can be a model's id.
fn is_model(text: &str) -> bool {
    let part = |letter: char| letter.is_ascii_alphanumeric() || "._:/@-".contains(letter);
    text.len() <= 100 && text.chars().all(part)
}
