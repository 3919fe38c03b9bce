//! What stands for the library toolset where it cannot be built: no tools, no settings, nothing to check.

use annai_core::config::{Config, ConfigError, EnvironmentVariable, Settings};
use annai_core::{Finding, JsonObject, RegistryBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the toolset.
pub struct Library;

impl Library {
    pub const NAME: &'static str = "library";
}

/// The keys of the toolset, which are refused with the reason.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LibrarySettings {
    /// Manuals and the vault, which this program does not have.
    pub library: LibrarySection,
}

/// Whatever the section contains.
pub type LibrarySection = JsonObject;

impl Settings for LibrarySettings {
    const ENV: &'static [EnvironmentVariable] = &[];
}

/// Refuses every key of the section: those of the file, `--manuals` and `--vault`.
pub fn section(
    config: &Config,
    _home: Option<&str>,
    _cache_folder: Option<String>,
) -> Result<LibrarySection, ConfigError> {
    let section = config.get::<LibrarySettings>()?.library;
    let refusal = |key: &String| config.key_error(&format!("library.{key}"), super::NEEDS_UNIX);
    let refusals: Vec<_> = section.keys().map(refusal).collect();
    if refusals.is_empty() { Ok(section) } else { Err(ConfigError(refusals)) }
}

pub fn register(_registry: &mut RegistryBuilder, _section: LibrarySection) {}

pub const fn check(_section: &LibrarySection) -> Vec<Finding> {
    Vec::new()
}

pub const fn folder_exists(_section: &LibrarySection) -> bool {
    false
}

pub const fn has_manuals(_section: &LibrarySection, _folder: &std::path::Path) -> bool {
    false
}

pub const fn readable(_output: &Value) -> Option<String> {
    None
}

pub mod error_reference {
    use annai_core::ErrorKind;

    pub const ERRORS: &[(ErrorKind, &str)] = &[];
}
