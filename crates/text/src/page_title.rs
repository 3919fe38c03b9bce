//! What a page is called where nothing in it says so, and which headings are page numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::normalize::normalize_text;

/// A heading that is only the number of a page, normalized.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static PAGE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:page ?\d+(?: ?(?:of|/) ?\d+)?|pp?\. ?\d+|\d+ ?(?:ページ|頁)|(?:ページ|頁) ?\d+|- ?\d+ ?-)$",
    )
    .expect("the pattern of page numbers is valid")
});

/// Whether a heading is only the number of a page.
pub fn is_page_number(heading: &str) -> bool {
    // Most headings have no digits at all.
    heading.bytes().any(|byte| byte.is_ascii_digit() || !byte.is_ascii())
        && heading.len() <= 40
        && PAGE_NUMBER.is_match(&normalize_text(heading))
}

/// The name of a file; of a file that stands for its folder (`index.md`, `README.md`), the name of that folder. At the top
/// of a collection that is the collection, if it has a name.
pub fn page_name<'a>(path: &'a str, collection: &'a str) -> &'a str {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is = |word: &str, names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let stands_for_folder =
        is(stem, &["index", "_index", "readme"]) && is(extension, &["md", "markdown", "mdx", "html", "htm"]);
    let folder = folders.rsplit('/').next().filter(|folder| !folder.is_empty()).unwrap_or(collection);
    if stands_for_folder && !folder.is_empty() { folder } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_that_is_only_a_page_number_is_told_from_others() {
        for heading in [
            "page12",
            "Page 12",
            "PAGE 3 of 40",
            "p. 12",
            "p.12",
            "12ページ",
            "12 頁",
            "ページ12",
            "ページ　１２",
            "- 12 -",
            "—12—",
        ] {
            assert!(is_page_number(heading), "{heading}");
        }
        for heading in
            ["P1", "Page layout", "12", "2024年", "Page 12: Limits", "12ページの注", "page", "- 12", ""]
        {
            assert!(!is_page_number(heading), "{heading}");
        }
    }

    #[test]
    fn a_file_that_stands_for_its_folder_has_its_name() {
        for (path, name) in [
            ("a/limits.md", "limits.md"),
            ("docs/a/index.md", "a"),
            ("a/_index.md", "a"),
            ("a/ReadMe.MD", "a"),
            ("a/index.mdx", "a"),
            ("index.md", "manual"),
            ("a/index.json", "index.json"),
            ("a/indexes.md", "indexes.md"),
            ("", ""),
        ] {
            assert_eq!(page_name(path, "manual"), name, "{path}");
        }
        assert_eq!(page_name("README.md", ""), "README.md");
    }
}
