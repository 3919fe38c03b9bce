//! One search, from its arguments to results.

use std::fmt::Write as _;
use std::time::Duration;

use annai_core::{Date, JsonObject, ToolError};
use reqwest::Url;
use tokio::sync::watch;

use crate::citations::{self, Page};
use crate::responses::{Ask, Cause, Failed, Patience, Reading, Request, Searching, Step, Usage, read};
use crate::snippet::snippet;
use crate::tools::{SearchInput, SearchOutput, SearchResult, Timeframe};
use crate::toolset::Desk;

const MAX_RETRIES: u32 = 3;
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// A search with everything that shapes its results.
pub struct Query {
    query: String,
    limit: usize,
    language: String,
    timeframe: Option<Timeframe>,
    today: Date,
}

/// What was found, and what it took.
#[derive(Debug)]
pub struct Found {
    pub output: SearchOutput,
    pub text: String,
    pub usage: Usage,
    pub took: Duration,
    pub retries: u32,
}

impl Query {
    pub fn new(input: SearchInput, today: Date) -> Result<Self, ToolError> {
        if !is_language(&input.language) {
            return Err(ToolError::invalid("language: expected auto or a BCP-47 tag such as ja or en-US"));
        }
        Ok(Self {
            query: input.query,
            limit: usize::try_from(input.limit).unwrap_or(usize::MAX),
            language: input.language,
            timeframe: input.timeframe,
            today,
        })
    }

    /// How long one attempt may take: somebody who sees progress waits longer.
    pub fn timeout(&self, desk: &Desk, reported: bool) -> Duration {
        let settings = &desk.settings;
        Duration::from_millis(if reported {
            settings.request.timeout_ms
        } else {
            settings.o3_search.timeout_ms
        })
    }

    /// What is sent.
    pub fn body(&self, desk: &Desk) -> JsonObject {
        let settings = &desk.settings.o3_search;
        let request = Request {
            model: &settings.model,
            instructions: &desk.instructions,
            input: &self.input(),
            effort: settings.reasoning_effort,
            verbosity: None,
            domains: &[],
            search: Searching::Forced,
        };
        request.body(&desk.settings)
    }

    fn input(&self) -> String {
        let mut hints = vec![format!("Today is {} in Asia/Tokyo.", self.today)];
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

    /// Searches and reads the results.
    pub async fn search(
        self,
        desk: &Desk,
        body: JsonObject,
        stream: bool,
        timeout: Duration,
        steps: &watch::Sender<Step>,
    ) -> Result<Found, Failed> {
        let patience = Patience {
            timeout,
            max_retries: MAX_RETRIES,
            first_delay: FIRST_DELAY,
            retry_timeouts: desk.settings.request.retry_timeouts,
        };
        let model_settings = "O3_SEARCH_MODEL or o3_search.model";
        let ask = Ask { body, question: &self.query, model_settings, stream, patience, steps };
        let exchange = desk.client.ask(ask).await?;
        let reading = read(&exchange.response);
        if !reading.searched {
            let failed =
                Failed::new(Cause::Unfinished, "the model answered without a search; try other words");
            return Err(Failed { retries: exchange.retries, ..failed });
        }
        let results = self.results(&reading);
        let text = readable(&results);
        let output = SearchOutput { results };
        Ok(Found { output, text, usage: reading.usage, took: exchange.took, retries: exchange.retries })
    }

    /// Pages that were cited, then those that the search used besides, and nothing else.
    fn results(&self, reading: &Reading) -> Vec<SearchResult> {
        let links = reading.citations.iter().chain(&reading.sources);
        let mut pages = citations::pages(links, &[]).pages;
        // A service has no page to go to.
        pages.retain(|page| !page.service);
        // Some may be too old, so more than the limit are looked at, but not all.
        pages.truncate(self.limit.saturating_mul(4));
        citations::find_dates(&mut pages, &reading.text, self.today);
        let pages = pages.into_iter().filter(|page| !self.is_too_old(page));
        let mut marks: Vec<_> = reading.citations.iter().map(|link| link.place.clone()).collect();
        marks.sort_by_key(|mark| mark.start);
        let result = |page: Page| {
            let host = Url::parse(&page.url).ok().and_then(|url| url.host_str().map(str::to_owned));
            SearchResult {
                title: page.title.or(host).unwrap_or_default(),
                snippet: snippet(&reading.text, &page.place, &marks),
                url: page.url,
                published_date: page.published.map(|date| date.to_string()),
                relevance_score: page.score,
            }
        };
        pages.map(result).take(self.limit).collect()
    }

    fn is_too_old(&self, page: &Page) -> bool {
        match (self.timeframe, page.published) {
            (Some(timeframe), Some(date)) => date.days() + timeframe.days() < self.today.days(),
            _ => false,
        }
    }
}

/// `auto`, or subtags of letters and digits as in `zh-Hant-TW`.
fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let good =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    tag == "auto" || ((2..=3).contains(&first.len()) && letters(first) && parts.all(good) && tag.len() <= 35)
}

/// The results for people.
fn readable(results: &[SearchResult]) -> String {
    if results.is_empty() {
        return "No results.".to_owned();
    }
    let mut text = String::new();
    for (index, result) in results.iter().enumerate() {
        let date = result.published_date.as_ref().map(|date| format!(" ({date})")).unwrap_or_default();
        let _ = write!(text, "{}. {}{date}\n   {}", index + 1, result.title, result.url);
        if !result.snippet.is_empty() {
            let _ = write!(text, "\n   {}", result.snippet);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_tags() {
        for tag in ["auto", "ja", "en-US", "zh-Hant-TW", "fil", "de-1996"] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in ["", "j", "japanese", "en_US", "ja-", "12", "en--US", "日本語", "en-thisistoolong"] {
            assert!(!is_language(tag), "{tag}");
        }
    }
}
