//! `chatgpt_o3_search`: search results, only from pages that a real search returned.

use std::time::SystemTime;

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, Widget, World};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::errors::AnswersError;
use crate::in_flight::RequestKey;
use crate::question::check_not_blank;
use crate::responses::ProgressStep;
use crate::schema::{SearchOutput, Timeframe};
use crate::search_query::{CompletedSearch, SearchQuery, search_timeout};
use crate::toolset::{ANSWERS_USE, Search};

/// The input of `chatgpt_o3_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// The search query, in any language. / 検索クエリ
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// Optional. The maximum number of results (default 10). / 返す結果の最大数
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    pub limit: u64,
    /// Optional. The language of the results: a BCP-47 tag such as `ja` or `en-US`, or `auto` for the language of the query (default `auto`). / 結果の言語
    #[serde(default = "default_language")]
    pub language: String,
    /// Optional. The maximum age of the results: `recent` (3 days), `past_week`, `past_month` or `past_year` (default: any age). Pages whose publication date is unknown are included. / 時間範囲フィルタ
    pub timeframe: Option<Timeframe>,
}

const fn default_limit() -> u64 {
    10
}

fn default_language() -> String {
    "auto".to_owned()
}

/// The search tool.
pub struct O3Search;

impl Tool for O3Search {
    const FACTS: Facts = Facts {
        name: "chatgpt_o3_search",
        title: "Search the web / ウェブ検索",
        description: "Search the web and return titles, links and snippets of real pages. Web検索を実行します。Usually takes up to half a minute. Use it to read the pages yourself or to collect links; for a finished answer with sources use answer, or answer_quick for a single fact.",
        effect: Effect::Read,
        world: World::Open,
        access: Access::Local(ANSWERS_USE),
        sponsor: Sponsor::Input("query"),
        status: None,
        widget: Widget::None,
        guide: Guide {
            when: "You need links and snippets rather than a finished answer. Usually takes up to half a minute.",
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
        check_not_blank(&input.query)?;
        let SearchInput { query, limit, language, timeframe } = input;
        let (context, settings) = (set.context.clone(), &set.context.settings);
        let (zone, today) = (context.zone.clone(), context.zone.date_at(SystemTime::now()));
        let query = SearchQuery::new(query, limit, language, timeframe, zone, today)?;
        let body = query.body(&context);
        let stream = call.progress.is_requested() || settings.responses.stream;
        let timeout = search_timeout(settings, call.progress.is_requested());
        let key = RequestKey { body: body.json().clone(), stream, timeout };
        let asking = ProgressStep::Asking(settings.o3_search.model.clone());
        let start = move |progress| {
            async move { query.search(&context, body, stream, timeout, &progress).await }.boxed()
        };
        match set.in_flight.join(key, call, asking, start).await {
            Ok(search) => {
                call.note("results", search.output.results.len());
                call.note("retries", search.retries);
                Ok(reply(&search))
            }
            Err(failure) => {
                call.note("retries", failure.retries);
                call.note("status", failure.status);
                Err(AnswersError::Request(failure).into())
            }
        }
    }
}

fn reply(search: &CompletedSearch) -> Reply<SearchOutput> {
    let latency_ms = u64::try_from(search.elapsed.as_millis()).unwrap_or(u64::MAX);
    Reply::new(search.output.clone())
        .with_meta("annai/latency_ms", latency_ms)
        .with_meta("annai/retries", search.retries)
}
