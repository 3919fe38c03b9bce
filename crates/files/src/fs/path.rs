//! Paths as callers give them: relative, and always inside their root.

use annai_core::ToolError;
use unicode_normalization::UnicodeNormalization as _;

use crate::error::LibraryError;

/// The longest name that common file systems allow; a path with a longer one is refused.
const MAX_NAME_BYTES: usize = 255;
/// The longest path that Linux opens; a longer one is refused.
pub const MAX_PATH_BYTES: usize = 4096;
/// How many characters of an invalid path an error message shows; the rest is left out.
const MAX_SHOWN_CHARS: usize = 120;
/// Names that Windows reserves for devices, with any extension.
const RESERVED_NAMES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];

/// A path below a root: segments joined by `/`, none of them empty, `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

/// The error for an invalid path.
fn invalid(path: &str, problem: &'static str) -> ToolError {
    let shown = path.chars().filter(|ch| !ch.is_control()).take(MAX_SHOWN_CHARS).collect();
    LibraryError::InvalidPath { shown, problem }.into()
}

impl RelPath {
    /// Parses a path. `\` counts as `/`; `.` and empty segments are dropped.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        match Self::parse_folder(text)? {
            Some(path) => Ok(path),
            None => Err(invalid(text, "names no file")),
        }
    }

    /// The same for a folder, where `.` is the root itself (`None`).
    pub fn parse_folder(text: &str) -> Result<Option<Self>, ToolError> {
        if text.is_empty() {
            return Err(invalid(text, "is empty"));
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(invalid(text, "is too long"));
        }
        if text.chars().any(char::is_control) {
            return Err(invalid(text, "contains control characters"));
        }
        let with_slashes = text.replace('\\', "/");
        if with_slashes.starts_with('/') {
            return Err(invalid(text, "is absolute"));
        }
        let mut path = String::with_capacity(text.len());
        for segment in with_slashes.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
            if segment == ".." {
                return Err(invalid(text, "contains `..`"));
            }
            if segment.len() > MAX_NAME_BYTES {
                return Err(invalid(text, "contains a name that is too long"));
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(segment);
        }
        let has_drive = matches!(path.as_bytes(), [ch, b':', ..] if ch.is_ascii_alphabetic());
        if has_drive || path == "~" || path.starts_with("~/") {
            return Err(invalid(text, "is absolute"));
        }
        Ok((!path.is_empty()).then_some(Self(path)))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its segments, from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.segments().next_back().unwrap_or_default()
    }

    /// The folder that contains it; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// Its segments as a file system compares them that ignores case, Unicode form and trailing dots.
    pub fn folded(&self) -> Vec<String> {
        self.segments().map(fold_name).collect()
    }

    /// Refuses names that other operating systems do not allow. Only new files are checked.
    pub fn check_portable(&self) -> Result<(), ToolError> {
        for segment in self.segments() {
            if segment.ends_with(['.', ' ']) {
                return Err(invalid(&self.0, "contains a name that ends with a dot or a space"));
            }
            let stem = segment.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
            let numbered = |prefix: &str| {
                stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']))
            };
            if RESERVED_NAMES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") {
                return Err(invalid(&self.0, "contains a name that Windows reserves for a device"));
            }
        }
        Ok(())
    }
}

/// A name without the differences that some file systems ignore: case, Unicode form, trailing dots and spaces.
pub fn fold_name(name: &str) -> String {
    let folded: String =
        caseless::default_case_fold_str(&nfc(name.trim_end_matches(['.', ' ']))).nfc().collect();
    folded
}

/// A name in Unicode normalization form C, in which names are compared.
pub fn nfc(name: &str) -> String {
    name.nfc().collect()
}

#[cfg(test)]
mod tests {
    use annai_core::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn separators_and_dot_segments_are_normalized() {
        for (text, path) in [
            ("a.md", "a.md"),
            ("./a//b/./c.md", "a/b/c.md"),
            ("a\\b\\c.md", "a/b/c.md"),
            ("日本語/メモ.md", "日本語/メモ.md"),
            ("a/b/", "a/b"),
            ("...", "..."),
            ("~draft.md", "~draft.md"),
            ("a b/c d.md", "a b/c d.md"),
        ] {
            assert_eq!(RelPath::parse(text).unwrap().as_str(), path, "{text}");
        }
        assert_eq!(RelPath::parse_folder(".").unwrap(), None);
        assert_eq!(RelPath::parse("a/b").unwrap().parent().unwrap().as_str(), "a");
        assert_eq!(RelPath::parse("a").unwrap().parent(), None);
    }

    #[test]
    fn absolute_upward_and_malformed_paths_are_refused() {
        let long = "x".repeat(256);
        let longer = "y/".repeat(2500);
        for text in [
            "",
            ".",
            "/",
            "/etc/passwd",
            "\\\\server\\share",
            "//server/share",
            "C:\\x",
            "c:x",
            "C:",
            "..",
            "a/../b",
            "a/..",
            "..\\x",
            "a\0b",
            "a\nb",
            "\u{7f}",
            "~",
            "~/x",
            &long,
            &longer,
            "./..",
        ] {
            let error = RelPath::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidPath, "{text:?}");
        }
    }

    #[test]
    fn new_names_must_be_portable() {
        for text in ["a/CON", "nul.md", "com1.txt", "LPT9", "a./b.md", "b ", "aux .md"] {
            assert!(RelPath::parse(text).unwrap().check_portable().is_err(), "{text}");
        }
        for text in ["a/console.md", "com.md", "com10.md", "b.c/d.md", ".hidden"] {
            assert!(RelPath::parse(text).unwrap().check_portable().is_ok(), "{text}");
        }
    }

    #[test]
    fn folding_ignores_what_file_systems_ignore() {
        for text in ["Artifacts/DAILY", "artifacts./daily ", "ARTIFACTS/Daily", "artifact\u{17f}/daily"] {
            assert_eq!(RelPath::parse(text).unwrap().folded(), ["artifacts", "daily"], "{text}");
        }
        assert_eq!(fold_name("か\u{3099}"), fold_name("が"));
    }

    proptest! {
        #[test]
        fn no_parsed_path_leaves_the_root(text in "[a./\\\\~: C\0\u{3042}]{0,20}") {
            if let Ok(path) = RelPath::parse(&text) {
                prop_assert!(!path.as_str().starts_with('/') && !path.as_str().is_empty());
                prop_assert!(path.segments().all(|segment| !matches!(segment, "" | "." | "..")));
                prop_assert!(!path.as_str().contains('\\') && !path.as_str().contains('\0'));
                prop_assert_eq!(RelPath::parse(path.as_str()).unwrap(), path);
            }
        }
    }
}
