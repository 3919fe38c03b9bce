//! `search_services`: finds services that sponsors pay for.

use annai_core::{
    Access, Call, Effect, ErrorKind, Facts, Guide, Identity, Reply, Sponsor, StatusText, Tool, ToolError,
    Widget, World,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sponsors_text::before_sponsors_text;
use crate::backend::registry;
use crate::domain::money::Cents;
use crate::domain::search::{PageLimit, SearchQuery, SearchReport};
use crate::domain::text::Name;
use crate::scopes::USER_READ;
use crate::toolset::ServicesToolset;

/// What to search for. All filters must fit.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchInput {
    /// A part of the name of a service, or of its sponsor.
    q: Option<String>,
    /// A category, such as the key of a service, as a whole and in any case.
    category: Option<String>,
    /// The maximum price of a service in US cents.
    max_budget_cents: Option<Cents>,
    /// What the user wants to do, in their own words. It is compared with names, tasks, categories and tags.
    intent: Option<String>,
}

pub struct SearchServices;

impl Tool for SearchServices {
    const FACTS: Facts = Facts {
        name: "search_services",
        title: "サービス検索",
        description: "利用可能なスポンサー付きサービスを検索する。ユーザーがサービスを探している時に呼び出す。 Search the services that sponsors pay for; returns each service with its sponsor, its task, the amount and the keys that run_service takes.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::AnyoneOr(USER_READ),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "サービスを検索中...", invoked: "サービスが見つかりました"
        }),
        widget: Widget::Page("ui://widget/services-list.html"),
        guide: Guide {
            when: "The user looks for a service that somebody else pays for, or asks what can be had for free.",
            safe_defaults: "{}",
            common_errors: &[],
        },
    };
    type Set = ServicesToolset;
    type Input = SearchInput;
    type Output = SearchReport;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        input: SearchInput,
    ) -> Result<Reply<SearchReport>, ToolError> {
        let query = query(input)?;
        let mut report = search(set, call, query).await?;
        if !report.services.is_empty() || report.available_categories.is_some() {
            let members = "the names, tasks, categories and tags in the result";
            report.message = before_sponsors_text(&report.message, members);
        }
        call.note("results", report.total_count);
        // Widgets of the system before this one read it here.
        let full_response = serde_json::to_value(&report).map_err(ToolError::internal)?;
        Ok(Reply::prose(report, "message").with_meta("full_response", full_response))
    }
}

/// Searches as the user, so that their preferences apply, or as everybody for somebody who cannot sign in.
async fn search(set: &ServicesToolset, call: &Call, query: SearchQuery) -> Result<SearchReport, ToolError> {
    let registry = registry(call)?;
    if knows_user(set, call) {
        let as_user = |session| set.backend.search(&registry, query.clone(), Some(session));
        match set.people.in_session(&set.backend, call, as_user).await {
            Err(error) if error.kind() == ErrorKind::Forbidden => {}
            result => return result,
        }
    }
    Ok(set.backend.search(&registry, query, None).await?)
}

/// Whether the preferences of the caller can apply: their token allows to read them, or they are the development user.
fn knows_user(set: &ServicesToolset, call: &Call) -> bool {
    let may_read = match call.identity() {
        Identity::Person(person) => person.has(USER_READ),
        Identity::Owner => true,
        Identity::Anonymous => false,
    };
    may_read && set.people.identify(call).is_ok()
}

fn query(input: SearchInput) -> Result<SearchQuery, ToolError> {
    // Models send empty texts for filters that they do not use.
    let name = |field: &'static str, text: Option<String>| {
        let text = text.filter(|text| !text.trim().is_empty());
        text.map(Name::parse).transpose().map_err(|problem| crate::ServicesError::from(problem.of(field)))
    };
    Ok(SearchQuery {
        q: name("q", input.q)?,
        category: name("category", input.category)?,
        max_budget_cents: input.max_budget_cents,
        intent: name("intent", input.intent)?,
        limit: PageLimit::default(),
    })
}
