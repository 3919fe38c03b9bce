//! The list of toolsets. Each toolset registers its own tools; `tools/list`, dispatch, access checks and the documentation
//! are derived from what the tools declare.

use std::sync::Arc;
use std::time::Duration;

use annai_answers::AnswersSettings;
use annai_core::Registry;
use annai_core::config::ConfigSchema;
use annai_core::tool::RegistryError;
use annai_library::LibrarySettings;
use annai_server::{ServerName, ServerSettings};
use clap::ValueEnum;

use crate::app::App;

/// The values of `--toolset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolsetName {
    /// Answer questions from the web, with sources
    Answers,
    /// Search the web
    Search,
    /// Search, read and write local documents: manuals and a vault
    Library,
}

/// The configuration keys of every crate.
pub fn keys() -> ConfigSchema {
    ConfigSchema::default()
        .with_settings::<ServerSettings>()
        .with_settings::<AnswersSettings>()
        .with_settings::<LibrarySettings>()
}

/// The tools of the chosen toolsets. A toolset is opened on its first call.
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

/// The name that the server reports. A server of a single toolset keeps the name of the separate server that it replaces,
/// because clients and their settings may refer to that name.
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
    fn every_input_schema_is_complete_and_closed() {
        let app = App::without_environment(&Cli::parse_from(["annai"]).options).unwrap();
        let registry = registry(&app).unwrap();
        assert!(registry.tools().len() > 20, "all toolsets are served by default");
        for tool in registry.tools() {
            assert_eq!(
                schema::contract_violations(tool.input_schema()),
                Vec::<String>::new(),
                "{}",
                tool.facts.name
            );
        }
    }
}
