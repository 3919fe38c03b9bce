//! `chatgpt_o3_search`: search results, only from what a real search returned.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::asking::{not_blank, today};
use crate::responses::Step;
use crate::searching::Query;
use crate::toolset::{ANSWERS_USE, Search};
use crate::wire;

/// What `chatgpt_o3_search` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// What to search for / 検索クエリ
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// The most results / 返す結果の最大数
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    pub limit: u64,
    /// The language of the results, as a BCP-47 tag such as ja or en-US, or auto / 結果の言語
    #[serde(default = "default_language")]
    pub language: String,
    /// How new the results are: recent = 3 days / 時間範囲フィルタ
    pub timeframe: Option<Timeframe>,
}

const fn default_limit() -> u64 {
    10
}

fn default_language() -> String {
    "auto".to_owned()
}

/// How new results are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timeframe {
    Recent,
    PastWeek,
    PastMonth,
    PastYear,
}

impl Timeframe {
    /// How many days back it goes.
    pub(crate) const fn days(self) -> u64 {
        match self {
            Self::Recent => 3,
            Self::PastWeek => 7,
            Self::PastMonth => 31,
            Self::PastYear => 366,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchOutput {
    /// The pages, the most relevant first.
    pub results: Vec<SearchResult>,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Its title; where that is unknown, its host.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says about the query; empty where the search only names it.
    pub snippet: String,
    /// The day it was published (YYYY-MM-DD), where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_date: Option<String>,
    /// How well it fits, where the API says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<f64>,
}

/// Search results.
pub struct O3Search;

impl Tool for O3Search {
    const FACTS: Facts = Facts {
        name: "chatgpt_o3_search",
        title: "Search the web / ウェブ検索",
        description: "Search the web and return titles, links and snippets of real pages. ChatGPT o3の検索機能を使用してWeb検索を実行します",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        widget: None,
        guide: Guide {
            when: "Links and snippets are wanted rather than a finished answer.",
            safe_defaults: r#"{"query":"…","limit":10}"#,
            common_errors: &[
                ("-32001 Authentication Error", "set OPENAI_API_KEY in the server's environment"),
                ("-32003 Rate Limit Exceeded", "wait data.retryAfter seconds"),
            ],
        },
    };
    type Set = Search;
    type Input = SearchInput;
    type Output = SearchOutput;

    async fn run(set: &Search, call: &Call, input: SearchInput) -> Result<Reply<SearchOutput>, ToolError> {
        not_blank(&input.query)?;
        let query = Query::new(input, today())?;
        let (desk, stream) = (set.desk.clone(), call.progress.wanted() || set.desk.settings.responses.stream);
        let timeout = query.timeout(&desk, call.progress.wanted());
        let body = query.body(&desk);
        let key = serde_json::to_string(&body).map_err(ToolError::internal)?;
        let asking = Step::Asking(desk.settings.o3_search.model.clone());
        // Who wants progress waits for a stream, and longer.
        let key = format!("{stream} {} {key}", timeout.as_millis());
        let start =
            move |steps| async move { query.search(&desk, body, stream, timeout, &steps).await }.boxed();
        let found = set.flights.join(&key, call, asking, start).await;
        match found.as_ref() {
            Ok(found) => {
                call.note("results", found.output.results.len());
                call.note("retries", found.retries);
                let usage = serde_json::to_value(found.usage).map_err(ToolError::internal)?;
                let latency_ms = u64::try_from(found.took.as_millis()).unwrap_or(u64::MAX);
                Ok(Reply::new(found.output.clone(), found.text.clone())
                    .with_meta("annai/usage", usage)
                    .with_meta("annai/latency_ms", latency_ms)
                    .with_meta("annai/retries", found.retries))
            }
            Err(failed) => {
                call.note("retries", failed.retries);
                call.note("status", failed.status);
                Err(wire::tool_error(failed, set.desk.debug))
            }
        }
    }
}
