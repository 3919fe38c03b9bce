//! The list of toolsets. Each toolset registers its own tools; `tools/list`, dispatch, access checks and the documentation
//! are derived from what the tools declare.

use std::sync::Arc;
use std::time::Duration;

use annai_answers::AnswersSettings;
use annai_core::config::{ConfigError, ConfigSchema};
use annai_core::tool::RegistryError;
use annai_core::{Registry, TokenScope, ToolSelection, Toolset as _};
use annai_server::http::METRICS_READ;
use annai_server::{ServerName, ServerSettings};
use annai_services::{ServicesConfig, ServicesSettings, ServicesToolset};

use crate::app::App;
use crate::library::{self, LibrarySettings};
use crate::toolset_name::ToolsetName;

/// The configuration keys of every crate.
pub fn keys() -> ConfigSchema {
    ConfigSchema::default()
        .with_settings::<ServerSettings>()
        .with_settings::<AnswersSettings>()
        .with_settings::<LibrarySettings>()
        .with_settings::<ServicesSettings>()
}

/// The tools of all toolsets. A toolset is opened on its first call.
fn all_tools(app: &App) -> Result<Arc<Registry>, RegistryError> {
    let mut registry = Registry::builder(Duration::from_millis(app.server.call_timeout_ms));
    annai_answers::register_answers(&mut registry, app.answers.clone());
    annai_answers::register_search(&mut registry, app.answers.clone());
    library::register(&mut registry, app.library.clone());
    let has_issuer = app.server.oauth_issuer.is_some();
    let services = ServicesConfig::new(app.services.clone(), app.server.public_url.clone(), has_issuer);
    annai_services::register(&mut registry, services);
    registry.build()
}

/// The tools that the options and settings choose.
pub fn registry(app: &App) -> Result<Arc<Registry>, ConfigError> {
    if let (Some(absence), true) = (library::ABSENCE, app.toolsets.contains(&ToolsetName::Library)) {
        return Err(ConfigError(vec![format!("--toolset library: {absence}")]));
    }
    let all = all_tools(app).map_err(|error| ConfigError(vec![error.to_string()]))?;
    let toolsets = app.toolsets.iter().map(|toolset| toolset.as_str().to_owned()).collect::<Vec<_>>();
    let selection = ToolSelection {
        toolsets: (!toolsets.is_empty()).then_some(toolsets),
        tools: app.server.tools.clone(),
        read_only: app.server.read_only,
    };
    let wrong_key = |key: &str, problem: &str| ConfigError(vec![app.config.key_error(key, problem)]);
    let chosen = all.select(&selection).map_err(|error| wrong_key("server.tools", &error.to_string()))?;
    if chosen.tools().len() == 0 && !chosen.has_toolset(ServicesToolset::NAME) {
        let key = if app.server.read_only { "server.read_only" } else { "server.tools" };
        return Err(wrong_key(key, "no tool is left to serve"));
    }
    Ok(chosen)
}

/// The scopes that a static token may have, whichever toolsets are served: those that need permission, but no person.
pub fn static_token_scopes(app: &App) -> Result<Vec<&'static str>, ConfigError> {
    let all = all_tools(app).map_err(|error| ConfigError(vec![error.to_string()]))?;
    let scopes = all.local_scopes().into_iter().chain([METRICS_READ]);
    Ok(scopes.map(TokenScope::as_str).collect())
}

/// The name that the server reports. A server of a single toolset keeps the name of the separate server that it replaces,
/// because clients and their settings may refer to that name.
pub const fn server_name(chosen: &[ToolsetName]) -> ServerName {
    let name = match chosen {
        [ToolsetName::Answers] => "openai-responses-mcp",
        [ToolsetName::Search] => "mcp-o3-search",
        [ToolsetName::Library] => "annai-library",
        [ToolsetName::Services] => "subsidypayment",
        _ => "annai",
    };
    ServerName { name, version: env!("CARGO_PKG_VERSION") }
}

#[cfg(test)]
mod tests {
    use annai_answers::{Answers, Search};
    use annai_core::tool::{MAX_INSTRUCTIONS_BYTES, tools_in};
    use annai_core::{Identity, schema};
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;
    use crate::library::Library;
    use crate::start;

    fn app(arguments: &[&str]) -> App {
        let arguments = ["annai"].iter().chain(arguments);
        start::without_environment(&Cli::parse_from(arguments).options).unwrap()
    }

    #[test]
    fn every_input_schema_is_complete_closed_and_without_null() {
        let registry = registry(&app(&[])).unwrap();
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

    #[test]
    fn the_instructions_of_any_toolsets_are_short_and_name_only_tools_that_are_served() {
        let all = ["answers", "search", "library", "services"];
        for combination in 1..1 << all.len() {
            let chosen = all.iter().enumerate().filter(|(bit, _)| combination & (1 << bit) != 0);
            let mut arguments: Vec<_> = chosen.flat_map(|(_, name)| ["--toolset", *name]).collect();
            for read_only in [false, true] {
                arguments.extend(read_only.then_some("--read-only"));
                let registry = registry(&app(&arguments)).unwrap();
                let instructions = registry.instructions(&Identity::Owner).unwrap();
                assert!(instructions.len() < MAX_INSTRUCTIONS_BYTES, "{arguments:?}: {}", instructions.len());
                for tool in tools_in(&instructions) {
                    assert!(registry.get(tool).is_some(), "{arguments:?}: {tool} in {instructions}");
                }
                // Only the tools of the services are listed for strangers.
                let for_strangers = registry.instructions(&Identity::Anonymous);
                assert_eq!(for_strangers.is_some(), arguments.contains(&"services"), "{for_strangers:?}");
            }
        }
        // A sentence with a name that no tool has would never be shown.
        let registry = registry(&app(&[])).unwrap();
        let instructions = registry.instructions(&Identity::Owner).unwrap();
        let sentences = [
            Answers::INSTRUCTIONS,
            Search::INSTRUCTIONS,
            Library::INSTRUCTIONS,
            ServicesToolset::INSTRUCTIONS,
        ];
        for sentence in sentences.into_iter().flatten() {
            assert!(instructions.contains(sentence), "{sentence}");
        }
    }
}
