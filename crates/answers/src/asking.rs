//! One question, from its arguments to a finished answer.

use std::time::{Duration, SystemTime};

use annai_core::{Date, JsonObject, ToolError};
use tokio::sync::watch;

use crate::config::{AnswersSettings, DomainMode, Profile};
use crate::responses::{
    Ask, Cause, Exchange, Failed, Reading, Request, Searching, Step, Supports, Usage, read,
};
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
    /// Citations outside the allowed sites.
    pub dropped: usize,
}

/// A query that says something.
pub fn not_blank(query: &str) -> Result<(), ToolError> {
    if query.trim().is_empty() {
        return Err(ToolError::invalid("query: expected a question, got only white space"));
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
        hints.push(format!("If you search: use about {} sources, at most.", self.max_results));
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
        let mut best: Option<(Exchange, Reading)> = None;
        let (mut usage, mut took, mut retries, mut requeries) = (Usage::default(), Duration::ZERO, 0, 0);
        loop {
            let patience = desk.patience();
            let ask = Ask { body: body.clone(), question: &self.query, stream, patience, steps };
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
            let done = reading.searched || !wants_search || requeries >= policy.requery_attempts;
            best = Some((exchange, reading));
            if done {
                break;
            }
            requeries += 1;
            tracing::debug!("no search although the question calls for one; asking again ({requeries})");
            body.insert("input".to_owned(), self.input(&desk.settings, requeries).into());
        }
        let reading = best.map(|(_, reading)| reading).unwrap_or_default();
        let (output, dropped) = self.output(&desk.settings, reading)?;
        Ok(Answered { output, usage, took, retries, requeries, dropped })
    }

    /// The answer as it is handed out, and how many citations lie outside the allowed sites.
    fn output(&self, settings: &AnswersSettings, reading: Reading) -> Result<(AnswerOutput, usize), Failed> {
        if reading.text.trim().is_empty() {
            return Err(Failed::new(Cause::Unfinished, "the API answered without any text"));
        }
        let policy = &settings.policy;
        let allowed: &[String] = match settings.search.domain_mode {
            DomainMode::Filter => &self.domains,
            DomainMode::Hint => &[],
        };
        let mut cited = citations::cited(&reading, allowed);
        cited.pages.truncate(policy.max_citations);
        let mut answer = citations::without_marks(reading.text.trim());
        if reading.searched {
            let accessed = policy.require_dates_iso.then_some(self.today);
            answer = sources::complete(&answer, &cited.pages, accessed);
        }
        let citations = cited.pages.into_iter().map(|page| Citation {
            url: page.url,
            title: page.title,
            published_at: page.published.map(|date| date.to_string()),
        });
        let output = AnswerOutput {
            answer,
            used_search: reading.searched,
            citations: citations.collect(),
            model: reading.model.unwrap_or_else(|| self.profile.model.clone()),
        };
        Ok((output, cited.dropped))
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
