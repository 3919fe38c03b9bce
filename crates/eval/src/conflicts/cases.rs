//! Conflict cases: small manuals, or pairs of sections in real ones, of which is known whether they contradict each other.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path};

use serde::Deserialize;

use crate::row::ALL;

/// The maximum length of the id of a case, which is the name of a folder.
const MAX_ID_BYTES: usize = 100;
/// Stands for all splits in the name of a row.
pub const ANY_SPLIT: &str = "*";

/// A case: the manual, what is asked, and what is to be reported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictCase {
    /// Its name, which is also that of the manual made of its files.
    pub id: String,
    /// The set that the case belongs to.
    pub split: String,
    /// What is to be reported.
    pub expect: Expectation,
    /// What kind of case it is.
    pub family: String,
    /// What is asked.
    pub query: String,
    /// The files of a manual that is made for the case.
    #[serde(default)]
    pub files: Vec<CaseFile>,
    /// Two sections in manuals that are served, instead of files.
    #[serde(default)]
    pub refs: Vec<SectionRef>,
}

/// What is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// A contradiction.
    Conflict,
    /// A difference by design, such as between two editions.
    Variant,
    /// Neither.
    None,
}

impl Expectation {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Variant => "variant",
            Self::None => "none",
        }
    }
}

/// A file of the manual of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// Relative to the manual.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// A section, by a line in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionRef {
    pub manual_id: String,
    pub path: String,
    pub line: usize,
}

impl ConflictCase {
    /// What is wrong with the fields, if anything is.
    pub fn problem(&self) -> Option<String> {
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.id.len() > MAX_ID_BYTES || self.id.starts_with('.') || !self.id.chars().all(is_safe) {
            return Some(format!(
                "id: must be at most {MAX_ID_BYTES} ASCII letters, digits, `-`, `_` and `.`, and not begin with `.`, \
                 because it names a folder"
            ));
        }
        if self.split.is_empty() || self.split.contains('/') || [ALL, ANY_SPLIT].contains(&&*self.split) {
            return Some(format!(
                "split: must be a name without `/`, and not `{ALL}` or `{ANY_SPLIT}`; got \"{}\"",
                self.split
            ));
        }
        match (self.files.as_slice(), self.refs.as_slice()) {
            ([], [_, _]) => None,
            ([], []) => Some("must have `files`, or `refs` with two sections".to_owned()),
            ([], refs) => Some(format!("refs: must have two sections, has {}", refs.len())),
            (files, []) => files_problem(files),
            _ => Some("must have either `files` or `refs`, not both".to_owned()),
        }
    }

    /// The two sections of a case about manuals that are served; `None` for a case with files.
    pub fn pair(&self) -> Option<[&SectionRef; 2]> {
        match self.refs.as_slice() {
            [one, other] => Some([one, other]),
            _ => None,
        }
    }

    /// Whether all manuals that the case needs are served.
    pub fn is_served(&self, manuals: &BTreeSet<String>) -> bool {
        self.refs.iter().all(|section| manuals.contains(&section.manual_id))
    }

    /// The rows that the case counts for, besides that of all.
    pub fn row_names(&self) -> [String; 3] {
        let Self { split, family, .. } = self;
        [format!("{split}/{family}"), format!("{ANY_SPLIT}/{family}"), split.clone()]
    }
}

fn files_problem(files: &[CaseFile]) -> Option<String> {
    let mut known = HashSet::new();
    for (number, CaseFile { path, .. }) in files.iter().enumerate() {
        let is_below =
            Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
        if path.is_empty() || path.contains('\\') || !is_below {
            return Some(format!(
                "files[{number}].path: must be a relative path below the manual, such as rules.md; got \"{path}\""
            ));
        }
        if !known.insert(path.to_lowercase()) {
            return Some(format!("files[{number}].path: \"{path}\" stands twice; use another name"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(fields: &str) -> ConflictCase {
        let start = r#""split": "dev", "expect": "none", "family": "f", "query": "q""#;
        serde_json::from_str(&format!("{{{start}, {fields}}}")).unwrap()
    }

    #[test]
    fn wrong_fields_are_named() {
        let file = |path: &str| format!(r#"{{"path": "{path}", "text": ""}}"#);
        let section = r#"{"manual_id": "m", "path": "a.md", "line": 1}"#;
        for (fields, start) in [
            (format!(r#""id": "../x", "files": [{}]"#, file("a.md")), "id: "),
            (format!(r#""id": ".x", "files": [{}]"#, file("a.md")), "id: "),
            (format!(r#""id": "a/b", "files": [{}]"#, file("a.md")), "id: "),
            (format!(r#""id": "x", "files": [{}, {}]"#, file("a.md"), file("../a.md")), "files[1].path: "),
            (format!(r#""id": "x", "files": [{}]"#, file("/etc/a.md")), "files[0].path: "),
            (format!(r#""id": "x", "files": [{}]"#, file("")), "files[0].path: "),
            (format!(r#""id": "x", "files": [{}, {}]"#, file("a.md"), file("A.md")), "files[1].path: "),
            (format!(r#""id": "x", "refs": [{section}]"#), "refs: must have two sections, has 1"),
            (
                format!(r#""id": "x", "refs": [{section}, {section}], "files": [{}]"#, file("a")),
                "must have either",
            ),
            (r#""id": "x""#.to_owned(), "must have `files`"),
        ] {
            let problem = case(&fields).problem();
            assert!(problem.as_deref().is_some_and(|problem| problem.starts_with(start)), "{problem:?}");
        }
        assert_eq!(case(&format!(r#""id": "x-1", "files": [{}]"#, file("b/a.md"))).problem(), None);
        assert_eq!(case(&format!(r#""id": "x", "refs": [{section}, {section}]"#)).problem(), None);
        let split =
            ConflictCase { split: "a/b".into(), ..case(&format!(r#""id": "x", "files": [{}]"#, file("a"))) };
        assert!(split.problem().unwrap().starts_with("split: "));
    }
}
