//! One search, from its arguments to its results.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{Date, ToolError};
use reqwest::Url;
use tokio::sync::watch;

use crate::api_context::ApiContext;
use crate::citations::{CitedPage, fill_dates, select_pages};
use crate::config::AnswersSettings;
use crate::responses::{
    ApiRequest, FailureKind, ParsedResponse, ProgressStep, RequestBody, RequestFailure, RequestSpec,
    RetryPolicy, SearchMode, parse_response,
};
use crate::schema::{SearchOutput, SearchResult, Timeframe};
use crate::snippet::snippet;
use crate::zone::Zone;

/// The delay before the first retry of a search; as in `mcp-o3-search`.
const FIRST_SEARCH_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How many pages are examined for each result that the caller wants. Some may be older than the timeframe, so there
/// must be spare ones; the factor bounds the work, and pages beyond it are ignored.
const CANDIDATES_PER_RESULT: usize = 4;
/// The maximum length of a language tag, in bytes: RFC 5646 recommends that implementations support 35 characters.
const MAX_LANGUAGE_TAG_BYTES: usize = 35;

/// A search with everything that shapes its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    query: String,
    limit: usize,
    language: String,
    timeframe: Option<Timeframe>,
    zone: Zone,
    today: Date,
}

/// The results of a search, and what it took to get them.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedSearch {
    /// The output of the tool.
    pub output: SearchOutput,
    /// The duration of the request.
    pub elapsed: Duration,
    /// The number of retries.
    pub retries: u32,
}

impl SearchQuery {
    /// A search with these arguments, if the language is a language tag.
    pub fn new(
        query: String,
        limit: u64,
        language: String,
        timeframe: Option<Timeframe>,
        zone: Zone,
        today: Date,
    ) -> Result<Self, ToolError> {
        if !is_language(&language) {
            return Err(ToolError::invalid("language: expected auto or a BCP-47 tag such as ja or en-US"));
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Self { query, limit, language, timeframe, zone, today })
    }

    /// The body of the request.
    pub fn body(&self, context: &ApiContext) -> RequestBody {
        let settings = &context.settings.o3_search;
        let spec = RequestSpec {
            model: &settings.model,
            instructions: &context.instructions,
            input: &self.input(),
            effort: settings.reasoning_effort,
            verbosity: None,
            domains: &[],
            search: SearchMode::Required,
            timezone: self.zone.name(),
        };
        spec.body(&context.settings)
    }

    /// The query and its hints.
    fn input(&self) -> String {
        let mut hints = vec![self.zone.hint(self.today)];
        hints.push(format!("Results: up to {}.", self.limit));
        if self.language == "auto" {
            hints.push("Language: that of the query.".to_owned());
        } else {
            hints.push(format!(
                "Language: write in {0} and prefer pages in {0} (a BCP-47 tag).",
                self.language
            ));
        }
        if let Some(timeframe) = self.timeframe {
            hints.push(format!("Period: only pages of the last {} days.", timeframe.days()));
        }
        format!("{}\n\nHints:\n- {}", self.query.trim(), hints.join("\n- "))
    }

    /// Searches the web and reads the results.
    pub async fn search(
        self,
        context: &ApiContext,
        body: RequestBody,
        stream: bool,
        timeout: Duration,
        progress: &watch::Sender<ProgressStep>,
    ) -> Result<Arc<CompletedSearch>, Arc<RequestFailure>> {
        let request = ApiRequest {
            body: &body,
            question: &self.query,
            model_settings: "O3_SEARCH_MODEL or o3_search.model",
            stream,
            retry_policy: RetryPolicy {
                timeout,
                max_retries: context.settings.o3_search.max_attempts.saturating_sub(1),
                first_delay: FIRST_SEARCH_RETRY_DELAY,
                retry_timeouts: context.settings.request.retry_timeouts,
            },
            progress,
        };
        let sent = context.client.send(request).await.map_err(Arc::new)?;
        let response = parse_response(&sent.response);
        if !response.used_search {
            let summary = "the model answered without a search; try other words";
            let failure = RequestFailure::new(FailureKind::Incomplete, summary);
            return Err(Arc::new(RequestFailure { retries: sent.retries, ..failure }));
        }
        let mut output = SearchOutput { results: self.results(&response), usage: response.usage };
        output.mask(|text| context.client.masked(text));
        Ok(Arc::new(CompletedSearch { output, elapsed: sent.elapsed, retries: sent.retries }))
    }

    /// The cited pages, then the other pages that the search used, and nothing else.
    fn results(&self, response: &ParsedResponse) -> Vec<SearchResult> {
        let links = response.citations.iter().chain(&response.sources);
        let mut pages = select_pages(links, &[]).pages;
        // A service of the API has no page that a caller could open.
        pages.retain(|page| !page.is_service);
        pages.truncate(self.limit.saturating_mul(CANDIDATES_PER_RESULT));
        fill_dates(&mut pages, &response.text, &[], self.today);
        let mut citations: Vec<_> = response.citations.iter().map(|link| link.range.clone()).collect();
        citations.sort_by_key(|range| range.start);
        let recent = pages.into_iter().filter(|page| !self.is_too_old(page)).take(self.limit);
        recent
            .map(|page| {
                let host = Url::parse(&page.url).ok().and_then(|url| url.host_str().map(str::to_owned));
                SearchResult {
                    title: page.title.or(host).unwrap_or_default(),
                    snippet: snippet(&response.text, &page.range, &citations),
                    url: page.url,
                    published_date: page.published.map(|date| date.to_string()),
                    relevance_score: page.score,
                }
            })
            .collect()
    }

    fn is_too_old(&self, page: &CitedPage) -> bool {
        match (self.timeframe, page.published) {
            (Some(timeframe), Some(date)) => date.days() + timeframe.days() < self.today.days(),
            _ => false,
        }
    }
}

/// The timeout of one attempt: a caller that sees the progress waits longer.
pub fn search_timeout(settings: &AnswersSettings, reports_progress: bool) -> Duration {
    Duration::from_millis(if reports_progress {
        settings.request.timeout_ms
    } else {
        settings.o3_search.timeout_ms
    })
}

/// Whether a text is `auto` or a language tag such as `zh-Hant-TW`.
fn is_language(tag: &str) -> bool {
    let mut subtags = tag.split('-');
    let language = subtags.next().unwrap_or_default();
    let is_alphabetic = language.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_subtag = |subtag: &str| {
        (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    tag == "auto"
        || ((2..=3).contains(&language.len())
            && is_alphabetic
            && subtags.all(is_subtag)
            && tag.len() <= MAX_LANGUAGE_TAG_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::responses::Link;

    fn query(limit: u64, timeframe: Option<Timeframe>) -> SearchQuery {
        let today = Date::parse("2026-11-16").unwrap();
        SearchQuery::new(" rust ".into(), limit, "ja".into(), timeframe, Zone::utc(), today).unwrap()
    }

    #[test]
    fn languages_are_tags() {
        for tag in ["auto", "ja", "en-US", "zh-Hant-TW", "fil", "de-1996"] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in ["", "j", "japanese", "en_US", "ja-", "12", "en--US", "日本語", "en-thisistoolong"] {
            assert!(!is_language(tag), "{tag}");
        }
    }

    #[test]
    fn the_input_is_the_query_with_its_hints() {
        assert_eq!(
            query(5, Some(Timeframe::PastWeek)).input(),
            "rust\n\nHints:\n- Today is 2026-11-16 in the time zone UTC.\n- Results: up to 5.\n- Language: write in ja and \
             prefer pages in ja (a BCP-47 tag).\n- Period: only pages of the last 7 days."
        );
    }

    #[test]
    fn results_are_recent_pages_in_order() {
        let text = "Rust is out. (https://a.example/)";
        let dated =
            |url: &str, date: &str| Link { url: url.into(), published: Some(date.into()), ..Link::default() };
        let response = ParsedResponse {
            text: text.into(),
            citations: vec![Link { range: 13..text.len(), ..dated("https://a.example/", "2026-11-10") }],
            sources: vec![
                dated("https://old.example/", "2026-11-08"),
                Link { url: "oai-news".into(), is_service: true, ..Link::default() },
                Link { title: Some("B".into()), ..dated("https://b.example/", "2026-11-09") },
                dated("https://c.example/", "2026-11-16"),
            ],
            ..ParsedResponse::default()
        };
        let result = |title: &str, url: &str, snippet: &str, date: &str| SearchResult {
            title: title.into(),
            url: url.into(),
            snippet: snippet.into(),
            published_date: Some(date.into()),
            relevance_score: None,
        };
        let expected = [
            result("a.example", "https://a.example/", "Rust is out.", "2026-11-10"),
            result("B", "https://b.example/", "", "2026-11-09"),
        ];
        assert_eq!(query(2, Some(Timeframe::PastWeek)).results(&response), expected);
    }

    #[test]
    fn a_caller_that_sees_progress_waits_longer() {
        let settings = AnswersSettings::default();
        assert_eq!(search_timeout(&settings, false), Duration::from_secs(30));
        assert_eq!(search_timeout(&settings, true), Duration::from_secs(120));
    }
}
