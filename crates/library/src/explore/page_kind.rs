//! The kind of a page: what was new once, such as release notes and blogs, yields to reference and guide pages, unless
//! the question asks for news or versions.

use super::tokens::tokens;
use crate::index::FileEntry;

/// What names a page of news in its path or its title, in lower case.
const NEWS: &[&str] = &[
    "release-note",
    "release_note",
    "release note",
    "releasenote",
    "changelog",
    "change-log",
    "change_log",
    "change log",
    "whats-new",
    "whats_new",
    "what's new",
    "what’s new",
    "previous-versions",
    "old-releases",
    "edge-releases",
    "version history",
    "リリースノート",
    "変更履歴",
    "更新履歴",
    "改訂履歴",
    "お知らせ",
];
/// The same as a whole word.
const NEWS_WORDS: &[&str] = &["blog", "blogs", "news", "announcements", "changes", "history"];
/// Words of a question that asks for news or versions.
const ASKING_WORDS: &[&str] = &[
    "release",
    "released",
    "releases",
    "version",
    "versions",
    "changelog",
    "changed",
    "deprecated",
    "deprecation",
    "since",
    "upgrade",
    "upgrading",
    "news",
    "announced",
];
/// The same within Japanese text.
const ASKING_PARTS: &[&str] = &[
    "リリース",
    "バージョン",
    "変更点",
    "変更履歴",
    "新機能",
    "アップグレード",
    "非推奨",
    "廃止",
    "版で",
    "版から",
    "改訂",
];

/// Whether a page tells what was new at some time.
pub fn is_news(file: &FileEntry) -> bool {
    let contains = |text: &str| {
        let text = text.to_lowercase();
        let mut words = text.split(|character: char| !character.is_alphanumeric());
        NEWS.iter().any(|name| text.contains(name)) || words.any(|word| NEWS_WORDS.contains(&word))
    };
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let folder = file.path.get(..file.path.len() - name.len()).unwrap_or_default();
    contains(stem) || contains(folder) || contains(&file.title)
}

/// Whether a normalized question asks for news or versions.
pub fn asks_for_news(question: &str) -> bool {
    tokens(question).iter().any(|token| ASKING_WORDS.contains(&token.word))
        || ASKING_PARTS.iter().any(|part| question.contains(part))
}

#[cfg(test)]
mod tests {
    use super::super::test_corpus::manual;
    use super::*;

    #[test]
    fn pages_of_news_are_recognised_by_path_and_title() {
        for (path, text, expected) in [
            ("release-notes.md", "# 4.2\nx\n", true),
            ("docs/blog/a.md", "# A\nx\n", true),
            ("CHANGELOG.md", "# A\nx\n", true),
            ("a.md", "# 変更履歴\nx\n", true),
            ("a.md", "---\ntitle: What's new in 3.0\n---\nx\n", true),
            ("releasing.md", "# How to release\nx\n", false),
            ("guide/newsletters.md", "# Newsletters\nx\n", false),
            ("a.md", "# A\nrelease notes\n", false),
        ] {
            let views = [manual("m", &[(path, text)])];
            assert_eq!(is_news(&views[0].segments[0].files[0]), expected, "{path} {text}");
        }
    }

    #[test]
    fn questions_for_news_are_recognised() {
        for (question, expected) in [
            ("in which version was it added?", true),
            ("what changed in the last release", true),
            ("新機能は何ですか", true),
            ("バージョン2の変更点", true),
            ("how do i mount a volume", false),
            ("返品の期限", false),
        ] {
            assert_eq!(asks_for_news(question), expected, "{question}");
        }
    }
}
