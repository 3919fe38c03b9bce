//! Restricts a search or a find in the vault to a folder and to the files that match a glob.

use annai_core::ToolError;
use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

use crate::error::LibraryError;
use crate::fs::{RelPath, nfc};

/// The maximum nesting of braces in a glob. People nest them once or twice; the parser recurses.
const MAX_BRACE_DEPTH: usize = 8;
/// The maximum number of braces in a glob.
const MAX_BRACES: usize = 64;
/// The maximum size of a compiled glob in bytes; a larger one is refused.
const MAX_GLOB_BYTES: usize = 1 << 20;

/// A filter of vault files.
#[derive(Debug, Clone)]
pub struct FileFilter {
    folder: Option<RelPath>,
    /// The glob as the caller wrote it.
    written_glob: Option<String>,
    glob: Option<(Regex, GlobMatch)>,
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
            Ok::<_, LibraryError>((compile(text, argument)?, GlobMatch { matches_path, includes }))
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
            glob.is_match(if how.matches_path { path } else { name }.as_bytes()) == how.includes
        })
    }
}

/// Compiles a glob. The library that parses it would panic where its own regular expression becomes too large, so that is
/// compiled here, within limits.
fn compile(glob: &str, argument: &'static str) -> Result<Regex, LibraryError> {
    let (mut depth, mut braces) = (0_usize, 0_usize);
    for byte in glob.bytes() {
        match byte {
            b'{' => (depth, braces) = (depth + 1, braces + 1),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACE_DEPTH || braces > MAX_BRACES {
            let problem =
                format!("expected at most {MAX_BRACES} braces, nested at most {MAX_BRACE_DEPTH} deep");
            return Err(LibraryError::invalid(argument, problem));
        }
    }
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    let built = built.map_err(|error| LibraryError::invalid(argument, error.kind().to_string()))?;
    let mut regex = RegexBuilder::new(built.regex());
    regex.dot_matches_new_line(true).size_limit(MAX_GLOB_BYTES).dfa_size_limit(MAX_GLOB_BYTES);
    regex.build().map_err(|_| LibraryError::invalid(argument, "the glob is too large; make it shorter"))
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
        assert!(fits("{a,{b,{c,d}}}.md", "d.md") && !fits("{a,{b,{c,d}}}.md", "e.md"));
        for (open, close) in [(250, 250), (9, 9), (250, 0), (0, 250)] {
            let nested = format!("{}a{}", "{".repeat(open), "}".repeat(close));
            assert!(FileFilter::new(None, Some(&nested), "glob").is_err(), "{nested}");
        }
        let wide = format!("{}.md", "{a,b}".repeat(65));
        assert!(FileFilter::new(None, Some(&wide), "glob").is_err());
        assert!(FileFilter::new(None, Some(&"*".repeat(1000)), "glob").is_ok());
        assert!(fits("がく*.md", "か\u{3099}くX.md") && fits(".\\a\\*.md", "a/b.md"));
    }
}
