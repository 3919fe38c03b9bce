//! The keys of the items of lists, as cursors name them.

use std::fmt::Display;
use std::str::FromStr;

/// The key of a file of a manual.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileKey {
    /// The id of the manual, which contains no `/`.
    pub(crate) manual_id: String,
    pub(crate) path: String,
}

impl Display for FileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.manual_id, self.path)
    }
}

impl FromStr for FileKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (manual_id, path) = text.split_once('/').ok_or(())?;
        Ok(Self { manual_id: manual_id.to_owned(), path: path.to_owned() })
    }
}

/// The key of a line of a file, or of a place in that line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineKey {
    pub(crate) path: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// How many characters of the line come before the place.
    pub(crate) char: usize,
}

impl Display for LineKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#L{}", self.path, self.line)?;
        if self.char > 0 { write!(f, ".{}", self.char) } else { Ok(()) }
    }
}

impl FromStr for LineKey {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, place) = text.rsplit_once("#L").unwrap_or((text, ""));
        let (line, char) = place.split_once('.').unwrap_or((place, "0"));
        Ok(Self { path: path.to_owned(), line: line.parse()?, char: char.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back() {
        for key in ["m/a/b.md", "m/"] {
            assert_eq!(key.parse::<FileKey>().unwrap().to_string(), key);
        }
        for key in ["a#L1.md#L12", "a#L3.40"] {
            assert_eq!(key.parse::<LineKey>().unwrap().to_string(), key);
        }
        for key in ["a.md", "a#Lx", "a#L1.", "a#L1.-2", "#L", "a#L99999999999999999999999"] {
            assert!(key.parse::<LineKey>().is_err(), "{key}");
        }
    }
}
