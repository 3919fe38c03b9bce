//! The one list of toolsets. Each registers its own tools; everything else (`tools/list`, dispatch, access checks, docs)
//! is derived from what they declare.

use std::sync::Arc;
use std::time::Duration;

use annai_answers::AnswersSettings;
use annai_core::Registry;
use annai_core::config::Keys;
use annai_core::tool::RegistryError;
use annai_library::LibrarySettings;
use annai_server::{ServerName, ServerSettings};
use clap::ValueEnum;

use crate::app::App;

/// The toolsets that `--toolset` can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolsetName {
    /// Answers from the web, with sources
    Answers,
    /// Web search results
    Search,
    /// Local manuals and a vault
    Library,
}

/// The configuration keys of every crate.
pub fn keys() -> Keys {
    Keys::default().with::<ServerSettings>().with::<AnswersSettings>().with::<LibrarySettings>()
}

/// The tools of the chosen toolsets, with their settings; nothing of them is opened yet.
pub fn registry(app: &App) -> Result<Arc<Registry>, RegistryError> {
    let mut registry = Registry::builder(Duration::from_millis(app.server.call_timeout_ms));
    if app.serves(ToolsetName::Answers) {
        annai_answers::register_answers(&mut registry, app.answers.clone());
    }
    if app.serves(ToolsetName::Search) {
        annai_answers::register_search(&mut registry, app.answers.clone());
    }
    if app.serves(ToolsetName::Library) {
        annai_library::register(&mut registry, app.library.clone());
    }
    registry.build()
}

/// What the server calls itself: a server of one toolset has the name that its users know from the server before it.
pub const fn server_name(chosen: &[ToolsetName]) -> ServerName {
    let name = match chosen {
        [ToolsetName::Answers] => "openai-responses-mcp",
        [ToolsetName::Search] => "mcp-o3-search",
        [ToolsetName::Library] => "annai-library",
        _ => "annai",
    };
    ServerName { name, version: env!("CARGO_PKG_VERSION") }
}

#[cfg(test)]
mod tests {
    use annai_core::schema;
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_schema_holds_callers_to_its_contract() {
        let app = App::without_environment(&Cli::parse_from(["annai"]).options).unwrap();
        let registry = registry(&app).unwrap();
        assert!(registry.tools().len() > 20, "all toolsets are served by default");
        for tool in registry.tools() {
            assert_eq!(schema::faults(tool.input_schema()), Vec::<String>::new(), "{}", tool.facts.name);
        }
    }
}
