//! The types that tools publish in their schemas and that the modules below the tools produce. The doc comments of
//! their fields become descriptions in `tools/list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::responses::TokenUsage;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    Summary,
    Bullets,
    CitationsOnly,
}

impl Style {
    /// The hint to the model.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Summary => "Form: a short summary in whole sentences.",
            Self::Bullets => "Form: bullet points, one fact each.",
            Self::CitationsOnly => "Form: no prose; only the list of sources.",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerOutput {
    /// The answer as text. If the web was searched, it ends with a list under `Sources:` that names the same pages as `citations`, each with its publication date or else the day of access.
    pub answer: String,
    /// Whether the web was searched.
    pub used_search: bool,
    /// The pages that support the answer, at most `max_results` of the call, else `policy.max_citations` of the server's configuration (default 3). Empty if the web was not searched.
    pub citations: Vec<Citation>,
    /// The id of the model that answered.
    pub model: String,
    /// How many different links were dropped from the citations and the text, because they are outside `domains` or not http or https.
    pub dropped_citations: usize,
    /// How many different links in the text no search returned, so that the model may have made them up. `(unverified link)` follows each of them, `（未確認のリンク）` in Japanese text; those in code are only counted.
    pub unverified_links: usize,
    /// The request fields that the model does not support and that were therefore left out, such as `reasoning`.
    pub left_out: Vec<&'static str>,
    /// How often the question was asked again because it needs a search and the answer came without one.
    pub requeries: u32,
    /// The tokens of all requests for this answer; all zero if the answer came from the server's cache.
    pub usage: TokenUsage,
    /// Whether the text of the answer was longer than 1 MiB and was cut off; a remark marks the place. An answer that the API itself did not finish is an error instead.
    pub truncated: bool,
}

impl AnswerOutput {
    /// Masks what must not be in any text that the API wrote. The model's id has been checked.
    pub fn mask(&mut self, masked: impl Fn(&str) -> String) {
        self.answer = masked(&self.answer);
        for citation in &mut self.citations {
            citation.url = masked(&citation.url);
            citation.title = citation.title.as_deref().map(&masked);
        }
    }
}

/// The members of [`AnswerOutput`] that are the first text item of the result, and nothing else: clients of
/// `openai-responses-mcp` parse that item.
pub const ANSWER_MEMBERS: &[&str] = &["answer", "used_search", "citations", "model"];

/// A page that supports the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Citation {
    /// The page's URL, or the name of a data service of the API such as `oai-weather`.
    pub url: String,
    /// The page's title. Absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The publication date (YYYY-MM-DD). Absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
}

/// The maximum age of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timeframe {
    Recent,
    PastWeek,
    PastMonth,
    PastYear,
}

impl Timeframe {
    /// The maximum age in days.
    pub const fn days(self) -> u64 {
        match self {
            Self::Recent => 3,
            Self::PastWeek => 7,
            Self::PastMonth => 31,
            Self::PastYear => 366,
        }
    }
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchOutput {
    /// The pages that were found, the most relevant first. Empty if nothing matches.
    pub results: Vec<SearchResult>,
    /// The tokens of the request.
    pub usage: TokenUsage,
}

impl SearchOutput {
    /// Masks what must not be in any text that the API wrote.
    pub fn mask(&mut self, masked: impl Fn(&str) -> String) {
        for result in &mut self.results {
            for text in [&mut result.title, &mut result.url, &mut result.snippet] {
                *text = masked(text);
            }
        }
    }
}

/// A search result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// The page's title, or its host name if the title is unknown.
    pub title: String,
    /// The page's URL.
    pub url: String,
    /// What the page says about the query, as plain text of at most 500 characters. Empty if the search only lists the page.
    pub snippet: String,
    /// The publication date (YYYY-MM-DD). Absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_date: Option<String>,
    /// The relevance score that the API assigned to the page. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<f64>,
}
