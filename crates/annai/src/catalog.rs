//! The one list of tools. Everything else (`tools/list`, dispatch, access checks, docs) is derived from it.

use std::sync::Arc;
use std::time::Duration;

use annai_answers::tools::{Answer, AnswerDetailed, AnswerQuick, O3Search};
use annai_answers::{Answers, AnswersConfig, AnswersSettings, Search};
use annai_core::Registry;
use annai_core::config::Keys;
use annai_core::tool::RegistryError;
use annai_server::{Server, ServerName, ServerSettings};
use clap::ValueEnum;

/// The families of tools that `--toolset` can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Answers from the web, with sources
    Answers,
    /// Web search results
    Search,
    /// Local manuals and a vault
    Library,
    /// Sponsored services
    Services,
}

/// The keys of the configuration, of every crate.
pub fn keys() -> Keys {
    Keys::default().with::<ServerSettings>().with::<AnswersSettings>()
}

/// The tools of the chosen families (none = all), with their settings; nothing of them is opened yet.
pub fn registry(
    chosen: &[Family],
    server: &Server,
    answers: &AnswersConfig,
) -> Result<Arc<Registry>, RegistryError> {
    let serves = |family| chosen.is_empty() || chosen.contains(&family);
    let mut tools = Registry::builder(Duration::from_millis(server.call_timeout_ms));
    if serves(Family::Answers) {
        let family = tools.toolset::<Answers>(answers.clone());
        family.tool::<Answer>().tool::<AnswerDetailed>().tool::<AnswerQuick>();
    }
    if serves(Family::Search) {
        tools.toolset::<Search>(answers.clone()).tool::<O3Search>();
    }
    tools.build()
}

/// What the server calls itself: a server of one family goes by the name that its users know.
pub fn server_name(chosen: &[Family]) -> ServerName {
    let name = match chosen {
        [Family::Answers] => "openai-responses-mcp",
        [Family::Search] => "mcp-o3-search",
        [Family::Library] => "annai-library",
        [Family::Services] => "subsidypayment",
        _ => "annai",
    };
    ServerName { name, version: env!("CARGO_PKG_VERSION") }
}
