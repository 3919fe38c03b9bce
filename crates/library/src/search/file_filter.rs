//! Restricts a search or a find in the vault to a folder and to the files that match a glob.

use annai_core::ToolError;
use globset::{GlobBuilder, GlobMatcher};

use crate::error::LibraryError;
use crate::fs::{RelPath, nfc};

/// A filter of vault files.
#[derive(Debug, Clone)]
pub struct FileFilter {
    folder: Option<RelPath>,
    /// The glob as the caller wrote it.
    written_glob: Option<String>,
    glob: Option<(GlobMatcher, GlobMatch)>,
}

/// How a glob is applied.
#[derive(Debug, Clone, Copy)]
struct GlobMatch {
    /// Whether it is matched against the whole path; otherwise against the file name.
    matches_path: bool,
    /// Whether matching files are included; otherwise they are excluded.
    includes: bool,
}

impl FileFilter {
    /// The files below a folder (`None` for all) that match a glob; a leading `!` excludes them instead. `argument` is the
    /// argument that holds the glob.
    pub fn new(
        folder: Option<RelPath>,
        glob: Option<&str>,
        argument: &'static str,
    ) -> Result<Self, ToolError> {
        let written_glob = glob.map(str::to_owned);
        let glob = glob.map(|text| {
            let (text, includes) = text.strip_prefix('!').map_or((text, true), |rest| (rest, false));
            let text = nfc(&text.replace('\\', "/"));
            let text = text.trim_start_matches("./").trim_start_matches('/');
            // `!a.md` excludes that one file, and not files of the same name in other folders.
            let matches_path = text.contains('/') || (!includes && !text.contains(['*', '?', '[', '{']));
            let built = GlobBuilder::new(text).literal_separator(true).build();
            let built = built.map_err(|error| LibraryError::invalid(argument, error.kind().to_string()))?;
            Ok::<_, LibraryError>((built.compile_matcher(), GlobMatch { matches_path, includes }))
        });
        Ok(Self { folder, written_glob, glob: glob.transpose()? })
    }

    /// Whether a file, by its path from the root, is in the folder and matches the glob.
    pub fn has(&self, path: &str) -> bool {
        let inside = self.folder.as_ref().is_none_or(|folder| {
            nfc(path).strip_prefix(&nfc(folder.as_str())).is_some_and(|rest| rest.starts_with('/'))
        });
        inside && self.matches_glob(path)
    }

    /// The glob as the caller wrote it.
    pub fn glob(&self) -> Option<&str> {
        self.written_glob.as_deref()
    }

    /// Whether its glob leaves files out.
    pub fn is_exclusion(&self) -> bool {
        self.glob.as_ref().is_some_and(|(_, how)| !how.includes)
    }

    /// Whether it has a glob.
    pub fn has_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// The folder that it is restricted to.
    pub fn folder(&self) -> Option<&RelPath> {
        self.folder.as_ref()
    }

    /// Whether a path matches the glob.
    pub fn matches_glob(&self, path: &str) -> bool {
        self.glob.as_ref().is_none_or(|(glob, how)| {
            let path = &nfc(path);
            let name = path.rsplit('/').next().unwrap_or(path);
            glob.is_match(if how.matches_path { path } else { name }) == how.includes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_names_or_paths_and_can_exclude() {
        let fits =
            |glob: &str, path: &str| FileFilter::new(None, Some(glob), "glob").unwrap().matches_glob(path);
        assert!(fits("*.md", "a/b.md") && fits("a/*.md", "a/b.md") && fits("**/*.md", "a/b/c.md"));
        assert!(!fits("a/*.md", "a/b/c.md") && !fits("*.txt", "a.md"));
        assert!(!fits("!a.md", "a.md") && fits("!a.md", "b/a.md") && !fits("!*.md", "b/a.md"));
        assert!(fits("!*.txt", "a.md") && !fits("!a/b.md", "a/b.md") && fits("*.{md,json}", "x.json"));
        assert!(FileFilter::new(None, Some("a["), "glob").is_err());
        assert!(fits("がく*.md", "か\u{3099}くX.md") && fits(".\\a\\*.md", "a/b.md"));
    }
}
