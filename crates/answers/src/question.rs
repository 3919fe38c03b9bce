//! One question, from its arguments to a finished answer.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{Date, ToolError};
use bytes::Bytes;
use tokio::sync::watch;

use crate::api_context::ApiContext;
use crate::citations::{cited_pages, without_api_tracking};
use crate::config::{AnswersSettings, DomainMode, ModelProfile};
use crate::domains::parse_domain;
use crate::links::{CheckedText, without_other_links};
use crate::responses::{
    ApiRequest, FailureKind, ModelCapabilities, ParsedResponse, ProgressStep, RequestBody, RequestFailure,
    RequestSpec, SearchMode, TokenUsage, count_requery, parse_response,
};
use crate::schema::{AnswerOutput, Citation, Style};
use crate::search_triggers::requires_search;
use crate::source_list::{self, SplitAnswer};
use crate::unverified_links::{KnownPages, MarkedText, mark_unverified_links};
use crate::visible_text::visible_text;
use crate::zone::Zone;

/// The maximum length of a model id in the output, in bytes; real ids are shorter. The id of the request replaces a
/// longer one.
const MAX_MODEL_ID_BYTES: usize = 100;

/// What marks the end of an answer that was too long.
const CUT_MARK: &str = "[The answer was too long and was cut off here.]";
/// The answer when the model wrote nothing but sources and none of them may be shown.
const NOTHING_LEFT: &str = "No source can be named: the API names none that was searched and is allowed.";

/// A question with everything that shapes its answer.
pub struct Question {
    /// The text of the question.
    pub query: String,
    /// The preferred maximum age of pages, in days; 0 means any age.
    pub recency_days: u64,
    /// The approximate maximum number of sources, which the model is told.
    pub max_results: u64,
    /// The maximum number of citations and of links in the list of sources.
    pub max_citations: usize,
    /// The domains to search or to prefer; an empty list means all.
    pub domains: Vec<String>,
    /// The form of the answer.
    pub style: Option<Style>,
    /// The model and its options.
    pub profile: ModelProfile,
    /// The settings that select the model, for the error that it does not exist.
    pub model_settings: &'static str,
    /// Whether the question may be asked again when it calls for a search and the model made none.
    pub may_requery: bool,
    /// The time zone of the person who asks.
    pub zone: Zone,
    /// The current date there.
    pub today: Date,
}

/// An answer, and what it took to get it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedAnswer {
    /// The output of the tool.
    pub output: AnswerOutput,
    /// The duration of all requests.
    pub elapsed: Duration,
    /// The number of retries.
    pub retries: u32,
}

/// Refuses a query of white space only.
pub fn check_not_blank(query: &str) -> Result<(), ToolError> {
    if query.trim().is_empty() {
        return Err(ToolError::invalid("query: expected text, got only white space"));
    }
    Ok(())
}

/// Parses the argument `timezone`.
pub fn parse_zone(name: &str) -> Result<Zone, ToolError> {
    let expected = "timezone: expected an IANA time zone such as Asia/Tokyo or Europe/Berlin";
    Zone::parse(name).ok_or_else(|| ToolError::invalid(expected))
}

/// Parses the argument `domains`, without duplicates.
pub fn parse_domains(arguments: &[String]) -> Result<Vec<String>, ToolError> {
    let mut domains = Vec::new();
    for (index, text) in arguments.iter().enumerate() {
        let domain = parse_domain(text).ok_or_else(|| {
            ToolError::invalid(format!("domains[{index}]: expected a site such as jma.go.jp"))
        })?;
        if !domains.contains(&domain) {
            domains.push(domain);
        }
    }
    Ok(domains)
}

impl Question {
    /// The body of the first request.
    pub fn body(&self, context: &ApiContext) -> RequestBody {
        let settings = &context.settings;
        let spec = RequestSpec {
            model: &self.profile.model,
            instructions: &context.instructions,
            input: &self.input(settings.search.domain_mode, 0),
            effort: self.profile.reasoning_effort,
            verbosity: self.profile.verbosity,
            domains: self.allowed_domains(settings),
            search: SearchMode::Optional,
            timezone: self.zone.name(),
        };
        spec.body(settings)
    }

    /// What identifies this question: equal ones share a request and a cached answer. The body does not tell how many
    /// sources the answer names, nor whether the question may be asked again.
    pub fn identity(&self, profile: &str, body: &RequestBody) -> Bytes {
        let shape = format!("\n{profile} {}", self.max_citations);
        [body.json().as_ref(), shape.as_bytes()].concat().into()
    }

    /// The domains that filter the search and its citations; an empty list allows all.
    fn allowed_domains(&self, settings: &AnswersSettings) -> &[String] {
        match settings.search.domain_mode {
            DomainMode::Filter => &self.domains,
            DomainMode::Hint => &[],
        }
    }

    /// The question and its hints, with a firmer one when the question is asked again.
    fn input(&self, domain_mode: DomainMode, requeries: u32) -> String {
        let mut hints = vec![self.zone.hint(self.today)];
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
            hints.push(match domain_mode {
                DomainMode::Filter => format!("Use only these sites and their subdomains: {sites}."),
                DomainMode::Hint => format!("Prefer these sites and their subdomains: {sites}."),
            });
        }
        hints.extend(self.style.map(|style| style.hint().to_owned()));
        format!("{}\n\nHints:\n- {}", self.query.trim(), hints.join("\n- "))
    }

    /// Asks the model, and asks again if the question requires a search and the model made none.
    pub async fn answer(
        self,
        context: &ApiContext,
        mut body: RequestBody,
        stream: bool,
        progress: &watch::Sender<ProgressStep>,
    ) -> Result<Arc<CompletedAnswer>, Arc<RequestFailure>> {
        let settings = &context.settings;
        let needs_search = self.may_requery && requires_search(&self.query, &settings.policy.search_triggers);
        let mut best: Option<ParsedResponse> = None;
        let mut totals = Totals::default();
        loop {
            let request = self.request(context, &body, stream, totals.retries, progress);
            let sent = match (context.client.send(request).await, &best) {
                (Ok(sent), _) => sent,
                // An answer without a search is better than none.
                (Err(_), Some(_)) => break,
                (Err(failure), None) => return Err(Arc::new(failure)),
            };
            let response = parse_response(&sent.response);
            totals.usage += response.usage;
            totals.elapsed += sent.elapsed;
            totals.retries += sent.retries;
            totals.omitted_fields = sent.omitted_fields;
            let is_empty = response.text.trim().is_empty();
            let lacks_search = needs_search && !response.used_search;
            if !is_empty {
                best = Some(response);
            }
            if is_empty || !lacks_search || totals.requeries >= settings.policy.requery_attempts {
                break;
            }
            totals.requeries += 1;
            count_requery();
            let requeries = totals.requeries;
            tracing::debug!("no search although the question calls for one; asking again ({requeries})");
            body = body.with_input(self.input(settings.search.domain_mode, requeries));
        }
        self.complete(context, best, totals).map(Arc::new).map_err(Arc::new)
    }

    /// One request; the retries of earlier ones count against the limit.
    fn request<'a>(
        &'a self,
        context: &ApiContext,
        body: &'a RequestBody,
        stream: bool,
        used_retries: u32,
        progress: &'a watch::Sender<ProgressStep>,
    ) -> ApiRequest<'a> {
        let mut retry_policy = context.retry_policy();
        retry_policy.max_retries = retry_policy.max_retries.saturating_sub(used_retries);
        let (question, model_settings) = (self.query.as_str(), self.model_settings);
        ApiRequest { body, question, model_settings, stream, retry_policy, progress }
    }

    fn complete(
        &self,
        context: &ApiContext,
        response: Option<ParsedResponse>,
        totals: Totals,
    ) -> Result<CompletedAnswer, RequestFailure> {
        let (elapsed, retries) = (totals.elapsed, totals.retries);
        let Some(response) = response else {
            let failure = RequestFailure::new(FailureKind::Incomplete, "the API answered without any text");
            return Err(RequestFailure { retries, ..failure });
        };
        let reported = response.model.as_deref();
        let model = reported.filter(|model| is_model_id(model) && !context.client.contains_secret(model));
        let model = model.unwrap_or(&self.profile.model).to_owned();
        let mut output = self.output(&context.settings, &response, model, totals);
        output.mask(|text| context.client.masked(text));
        Ok(CompletedAnswer { output, elapsed, retries })
    }

    /// The output of the tool.
    fn output(
        &self,
        settings: &AnswersSettings,
        response: &ParsedResponse,
        model: String,
        totals: Totals,
    ) -> AnswerOutput {
        let domains = self.allowed_domains(settings);
        // What cannot be seen goes first, because it could hide a heading or a link.
        let text = visible_text(&without_api_tracking(response.text.trim()));
        let SplitAnswer { body, entries } = source_list::split(&text);
        let mut cited = cited_pages(response, &entries, domains, self.max_citations, self.today);
        let CheckedText { text: body, mut removed } = without_other_links(&body, domains);
        cited.dropped.append(&mut removed);
        cited.dropped.extend(entries.iter().flat_map(|entry| without_other_links(entry, domains).removed));
        let accessed = settings.policy.require_dates_iso.then_some(self.today);
        // The list of sources that the server adds names only pages of the API, so it is not checked.
        let known = KnownPages::new(response, &self.query);
        let MarkedText { text: body, unverified } = match self.style {
            Some(Style::CitationsOnly) => MarkedText::default(),
            _ => mark_unverified_links(body.trim(), &known),
        };
        let body = match (body.as_str(), response.truncated) {
            ("", _) if cited.pages.is_empty() => NOTHING_LEFT.to_owned(),
            (body, false) | (body @ "", true) => body.to_owned(),
            (body, true) => format!("{body}\n\n{CUT_MARK}"),
        };
        let answer = source_list::with_sources(&body, &cited.pages, accessed);
        let citations = cited.pages.into_iter().map(|page| Citation {
            url: page.url,
            title: page.title,
            published_at: page.published.map(|date| date.to_string()),
        });
        AnswerOutput {
            answer,
            used_search: response.used_search,
            citations: citations.collect(),
            model,
            dropped_citations: cited.dropped.len(),
            unverified_links: unverified.len(),
            left_out: totals.omitted_fields,
            requeries: totals.requeries,
            usage: totals.usage,
            truncated: response.truncated,
        }
    }

    /// Logs which parts the request has, never their contents.
    pub fn log(&self, profile: &str, body: &RequestBody) {
        let ModelCapabilities { verbosity, reasoning } = ModelCapabilities::of(&self.profile.model);
        let model = &self.profile.model;
        tracing::debug!(
            "profile={profile} model={model} supports={{verbosity:{verbosity}, reasoning:{reasoning}}}"
        );
        let on_or_off = |key: &str| if body.fields().contains_key(key) { "on" } else { "off" };
        let (tools, reasoning, text) = (on_or_off("tools"), on_or_off("reasoning"), on_or_off("text"));
        tracing::debug!(
            "request summary tools=web_search({tools}) reasoning={reasoning} text.verbosity={text}"
        );
    }
}

/// What all requests of one question took together.
#[derive(Default)]
struct Totals {
    usage: TokenUsage,
    elapsed: Duration,
    retries: u32,
    requeries: u32,
    omitted_fields: Vec<&'static str>,
}

/// Whether a text can be the id of a model.
fn is_model_id(text: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._:/@-".contains(letter);
    text.len() <= MAX_MODEL_ID_BYTES && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::responses::Link;

    fn question() -> Question {
        Question {
            query: " Will it rain? ".into(),
            recency_days: 7,
            max_results: 3,
            max_citations: 3,
            domains: vec!["jma.go.jp".into()],
            style: Some(Style::Bullets),
            profile: ModelProfile { model: "m".into(), reasoning_effort: None, verbosity: None },
            model_settings: "",
            may_requery: true,
            zone: Zone::parse("Europe/Berlin").unwrap(),
            today: Date::parse("2026-11-16").unwrap(),
        }
    }

    #[test]
    fn the_input_is_the_question_with_its_hints() {
        assert_eq!(
            question().input(DomainMode::Filter, 1),
            "Will it rain?\n\nHints:\n- Today is 2026-11-16 in the time zone Europe/Berlin.\n- This question needs facts of the present. \
             You must use web_search before you answer, and cite what you find.\n- If you search: prefer pages of the \
             last 7 days, unless the question is about an earlier time.\n- If you search: use at most 3 sources.\n- Use \
             only these sites and their subdomains: jma.go.jp.\n- Form: bullet points, one fact each."
        );
        let plain = Question { recency_days: 0, domains: vec![], style: None, ..question() };
        assert_eq!(
            plain.input(DomainMode::Filter, 0),
            "Will it rain?\n\nHints:\n- Today is 2026-11-16 in the time zone Europe/Berlin.\n- If you search: use at most 3 sources."
        );
        assert!(
            question()
                .input(DomainMode::Hint, 0)
                .contains("- Prefer these sites and their subdomains: jma.go.jp.")
        );
    }

    #[test]
    fn the_output_has_only_citations_within_the_domains() {
        let link = |url: &str| Link { url: url.into(), ..Link::default() };
        let response = ParsedResponse {
            text: "Yes. (https://www.jma.go.jp/x?utm_source=openai)".into(),
            citations: vec![link("https://www.jma.go.jp/x"), link("https://evil.example/")],
            used_search: true,
            ..ParsedResponse::default()
        };
        let totals = Totals { requeries: 2, omitted_fields: vec!["reasoning"], ..Totals::default() };
        let output = question().output(&AnswersSettings::default(), &response, "m".into(), totals);
        let expected = AnswerOutput {
            answer:
                "Yes. (https://www.jma.go.jp/x)\n\nSources:\n- https://www.jma.go.jp/x (accessed 2026-11-16)"
                    .into(),
            used_search: true,
            citations: vec![Citation {
                url: "https://www.jma.go.jp/x".into(),
                title: None,
                published_at: None,
            }],
            model: "m".into(),
            dropped_citations: 1,
            unverified_links: 0,
            left_out: vec!["reasoning"],
            requeries: 2,
            usage: TokenUsage::default(),
            truncated: false,
        };
        assert_eq!(output, expected);
    }

    #[test]
    fn arguments_are_checked() {
        assert_eq!(
            check_not_blank("\u{3000}\n").unwrap_err().message(),
            "query: expected text, got only white space"
        );
        let domains = ["a.jp", "https://A.jp/x", "b.jp"].map(str::to_owned);
        assert_eq!(parse_domains(&domains).unwrap(), ["a.jp", "b.jp"]);
        let error = parse_domains(&["a.jp".to_owned(), "no site".to_owned()]).unwrap_err();
        assert_eq!(error.message(), "domains[1]: expected a site such as jma.go.jp");
    }

    #[test]
    fn a_model_id_is_short_and_plain() {
        for (text, expected) in
            [("gpt-6.1-terra", true), ("ft:gpt/x@1", true), ("a b", false), ("<b>", false)]
        {
            assert_eq!(is_model_id(text), expected, "{text}");
        }
        assert!(!is_model_id(&"m".repeat(MAX_MODEL_ID_BYTES + 1)));
    }
}
