//! The library toolset itself.

use annai_core::ErrorKind;
use annai_core::config::{Config, ConfigError};

pub use annai_library::config::LibrarySection;
pub use annai_library::{Library, LibrarySettings, check, error_reference, readable, register};

/// The `library` section, with the home folder in its paths and a folder for its caches.
pub fn section(
    config: &Config,
    home: Option<&str>,
    cache_folder: Option<String>,
) -> Result<LibrarySection, ConfigError> {
    let mut section = config.get::<LibrarySettings>()?.library;
    if let Some(problem) = section.manual_dirs_problem() {
        return Err(ConfigError(vec![config.key_error("library.manual_dirs", &problem)]));
    }
    section.expand_home(home);
    section.cache_dir = section.cache_dir.or(cache_folder);
    Ok(section)
}

/// Whether a folder, given with `--manuals`, contains manuals.
pub fn has_manuals(settings: &LibrarySection, folder: &std::path::Path) -> bool {
    let manuals = vec![folder.display().to_string()];
    let section = LibrarySection { manuals, ..settings.clone() };
    annai_library::manual_paths(&section).is_ok_and(|manuals| !manuals.is_empty())
}

/// Whether the folders that manuals are looked for in exist.
pub fn folder_exists(settings: &LibrarySection) -> bool {
    !annai_library::manual_paths(settings).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
