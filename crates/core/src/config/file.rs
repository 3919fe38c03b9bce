//! Finds and reads the configuration file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::ConfigError;

/// A configuration file has a few kilobytes. A file beyond 1 MiB is most likely a wrong path; it is an error, so that it
/// cannot fill the memory.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The directories below the user's configuration directory, in the order in which they are tried: Annai's own, then
/// that of the server that Annai replaces, so that its users keep their file.
const DIRECTORIES: [&str; 2] = ["annai", "openai-responses-mcp"];

/// The path and the text of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// The path, as errors show it.
    pub path: PathBuf,
    /// The YAML text.
    pub text: String,
}

/// Reads the file that `--config` names, or else the first that exists in the user's configuration directory. When the
/// file that `--config` names does not exist, the second value is a warning.
///
/// # Errors
///
/// A file that exists but cannot be read.
pub fn find(
    config_option: Option<&Path>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<(Option<ConfigFile>, Option<String>), ConfigError> {
    if let Some(path) = config_option {
        let path = &expand_home(path, env("HOME").as_deref());
        let file = read(path)?;
        let warning = format!("{}: no such file; --config is ignored", path.display());
        let warning = file.is_none().then_some(warning);
        return Ok((file, warning));
    }
    let Some(home) = config_home(env) else { return Ok((None, None)) };
    for directory in DIRECTORIES {
        if let Some(file) = read(&home.join(directory).join("config.yaml"))? {
            return Ok((Some(file), None));
        }
    }
    Ok((None, None))
}

/// A path whose leading `~` is replaced by the home folder. Shells do that for their users, but not for the settings of an
/// MCP client, and not for a file.
#[must_use]
pub fn expand_home(path: &Path, home: Option<&str>) -> PathBuf {
    match (path.strip_prefix("~"), home.filter(|home| !home.is_empty())) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => PathBuf::from(home),
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
}

/// The directory where the platform keeps a user's configuration.
fn config_home(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path_from = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return path_from("APPDATA");
    }
    path_from("XDG_CONFIG_HOME").or_else(|| path_from("HOME").map(|home| home.join(".config")))
}

/// Reads a file; `None` when it does not exist.
fn read(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    let fail = |problem: String| ConfigError(vec![format!("{}: {problem}", path.display())]);
    match std::fs::metadata(path) {
        // Reading a named pipe would block until somebody writes to it.
        Ok(metadata) if !metadata.is_file() => return Err(fail("is not a regular file".to_owned())),
        _ => {}
    }
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(format!("cannot be read: {error}"))),
    };
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| fail(format!("cannot be read: {error}")))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(fail(format!("is larger than {MAX_FILE_BYTES} bytes")));
    }
    Ok(Some(ConfigFile { path: path.to_owned(), text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_configuration_directory_is_xdg_config_home_or_else_below_home() {
        let home = |variables: &[(&str, &str)]| {
            let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
            config_home(&|name| value(name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(home(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]), Some("/x".into()));
        assert_eq!(home(&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")]), Some("/h/.config".into()));
        assert_eq!(home(&[]), None);
    }

    #[test]
    fn a_leading_tilde_is_the_home_folder() {
        for (path, home, expected) in [
            ("~/x/y", Some("/h"), "/h/x/y"),
            ("~", Some("/h"), "/h"),
            ("~me/x", Some("/h"), "~me/x"),
            ("/a/~/x", Some("/h"), "/a/~/x"),
            ("~/x", Some(""), "~/x"),
            ("~/x", None, "~/x"),
        ] {
            assert_eq!(expand_home(Path::new(path), home), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_missing_file_of_the_config_option_is_a_warning_and_a_directory_is_an_error() {
        let missing = find(Some(Path::new("/nowhere/c.yaml")), &|_| None);
        assert_eq!(
            missing,
            Ok((None, Some("/nowhere/c.yaml: no such file; --config is ignored".to_owned())))
        );
        let directory = find(Some(Path::new("/")), &|_| None);
        assert_eq!(directory, Err(ConfigError(vec!["/: is not a regular file".to_owned()])));
    }
}
