//! Which files of the vault a search or a find looks at: a folder, and a glob.

use annai_core::ToolError;
use globset::{GlobBuilder, GlobMatcher};

use crate::error::LibraryError;
use crate::fs::{RelPath, nfc};

/// Which files are looked into.
pub struct FileFilter {
    folder: Option<RelPath>,
    glob: Option<(GlobMatcher, GlobMatch)>,
}

/// What a glob is held against, and which way.
#[derive(Clone, Copy)]
struct GlobMatch {
    whole_path: bool,
    /// Whether files that the glob matches are in; otherwise they are left out.
    is_included: bool,
}

impl FileFilter {
    /// Below a folder (`None` = everywhere), and only files that fit `glob`; `!` in front turns it round.
    pub fn new(folder: Option<RelPath>, glob: Option<&str>) -> Result<Self, ToolError> {
        let glob = glob.map(|text| {
            let (text, is_included) = text.strip_prefix('!').map_or((text, true), |rest| (rest, false));
            let text = nfc(&text.replace('\\', "/"));
            let text = text.trim_start_matches("./").trim_start_matches('/');
            // What is left out without a wildcard is one file, wherever others of its name are.
            let whole_path = text.contains('/') || (!is_included && !text.contains(['*', '?', '[', '{']));
            let built = GlobBuilder::new(text).literal_separator(true).build();
            let built = built.map_err(|error| LibraryError::invalid("glob", error.kind().to_string()))?;
            Ok::<_, LibraryError>((built.compile_matcher(), GlobMatch { whole_path, is_included }))
        });
        Ok(Self { folder, glob: glob.transpose()? })
    }

    /// Whether a file is one of them, by its path from the root.
    pub fn has(&self, path: &str) -> bool {
        let inside = self.folder.as_ref().is_none_or(|folder| {
            nfc(path).strip_prefix(&nfc(folder.as_str())).is_some_and(|rest| rest.starts_with('/'))
        });
        inside && self.fits(path)
    }

    /// Whether any glob is set.
    pub fn has_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// The folder that it is limited to.
    pub fn folder(&self) -> Option<&RelPath> {
        self.folder.as_ref()
    }

    /// Whether a path fits the glob.
    pub fn fits(&self, path: &str) -> bool {
        self.glob.as_ref().is_none_or(|(glob, fits)| {
            let path = &nfc(path);
            let name = path.rsplit('/').next().unwrap_or(path);
            glob.is_match(if fits.whole_path { path } else { name }) == fits.is_included
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_names_or_paths() {
        let fits = |glob: &str, path: &str| FileFilter::new(None, Some(glob)).unwrap().fits(path);
        assert!(fits("*.md", "a/b.md") && fits("a/*.md", "a/b.md") && fits("**/*.md", "a/b/c.md"));
        assert!(!fits("a/*.md", "a/b/c.md") && !fits("*.txt", "a.md"));
        assert!(!fits("!a.md", "a.md") && fits("!a.md", "b/a.md") && !fits("!*.md", "b/a.md"));
        assert!(fits("!*.txt", "a.md") && !fits("!a/b.md", "a/b.md") && fits("*.{md,json}", "x.json"));
        assert!(FileFilter::new(None, Some("a[")).is_err());
        assert!(fits("がく*.md", "か\u{3099}くX.md") && fits(".\\a\\*.md", "a/b.md"));
    }
}
