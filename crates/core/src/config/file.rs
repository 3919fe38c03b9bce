//! Which configuration file is read.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::ConfigError;

/// A configuration file is a page, not a database.
const MOST_BYTES: u64 = 1 << 20;
/// Our own folder, then that of the server that came before: its users keep their file.
const FOLDERS: [&str; 2] = ["annai", "openai-responses-mcp"];

/// A configuration file's path and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Reads the file named on the command line, else the first that exists in the user's configuration
/// folder. A named file that does not exist is no error: the second value says so.
pub fn find(
    named: Option<&Path>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<(Option<ConfigFile>, Option<String>), ConfigError> {
    if let Some(path) = named {
        let found = read(path)?;
        let missing = format!("{}: no such file; --config is skipped", path.display());
        let warning = found.is_none().then_some(missing);
        return Ok((found, warning));
    }
    let Some(home) = config_home(env) else { return Ok((None, None)) };
    for folder in FOLDERS {
        if let Some(file) = read(&home.join(folder).join("config.yaml"))? {
            return Ok((Some(file), None));
        }
    }
    Ok((None, None))
}

fn config_home(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return set("APPDATA");
    }
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}

fn read(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    let fail = |what: String| ConfigError(vec![format!("{}: {what}", path.display())]);
    match std::fs::metadata(path) {
        // A pipe would block the start.
        Ok(metadata) if !metadata.is_file() => return Err(fail("is not a file".to_owned())),
        _ => {}
    }
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(format!("cannot be read: {error}"))),
    };
    let mut text = String::new();
    file.take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| fail(format!("cannot be read: {error}")))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(fail(format!("is larger than {MOST_BYTES} bytes")));
    }
    Ok(Some(ConfigFile { path: path.to_owned(), text }))
}
