//! The environment of the process: its variables, and the folders of this user. This is the one place that reads it.

use std::path::{Path, PathBuf};

use annai_core::config;

/// An environment variable that says where another program keeps its files.
pub fn folder(name: &str) -> Option<PathBuf> {
    variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// An environment variable; `HOME` is the home folder on every system.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    let variable = if cfg!(windows) && name == "HOME" { "USERPROFILE" } else { name };
    std::env::var(variable).ok()
}

/// The language of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Japanese,
}

/// The language of messages, as the locale of the process names it; English unless it is Japanese.
pub fn language() -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    match locale {
        Some(locale) if locale.starts_with("ja") => Language::Japanese,
        _ => Language::English,
    }
}

/// The cache folder of this user: `annai` in `XDG_CACHE_HOME`, else in the default cache folder of the system.
pub fn cache_folder(env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let default_folder = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    Some(user_folder(env, "XDG_CACHE_HOME", default_folder)?.display().to_string())
}

/// A file in the data folder of this user.
pub fn data_file(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let (variable, default_folder) = match std::env::consts::OS {
        "macos" => ("XDG_DATA_HOME", "Library/Application Support"),
        "windows" => ("LOCALAPPDATA", "AppData/Local"),
        _ => ("XDG_DATA_HOME", ".local/share"),
    };
    let folder = user_folder(env, variable, default_folder)?;
    Some(folder.join(name).display().to_string())
}

/// The folder `annai` in the folder that a variable names, else in the default folder of the system.
fn user_folder(
    env: &dyn Fn(&str) -> Option<String>,
    variable: &str,
    default_folder: &str,
) -> Option<PathBuf> {
    let given = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = given
        .or_else(|| Some(PathBuf::from(env("HOME").filter(|home| !home.is_empty())?).join(default_folder)))?;
    Some(folder.join("annai"))
}

/// A path of the settings with its leading `~` replaced by the home folder.
pub fn with_home(path: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    config::expand_home(Path::new(path), env("HOME").as_deref()).display().to_string()
}
