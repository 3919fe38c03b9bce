//! Loose matching: ignores separators between the characters of a query, and Japanese long-vowel and iteration marks.

use std::sync::LazyLock;

/// The characters that loose matching ignores besides white space: punctuation, brackets, marks of code and emphasis,
/// long-vowel and iteration marks.
const SEPARATORS: &str = "・·•‧∙⋅･.,、。/／\\＼|｜-‐‑‒–—―−－﹣_＿~`*'’‘\"“”「」『』()（）[]［］【】{}｛｝<>〈〉《》:：;；ー〜～々ゝゞヽヾ゛゜";
/// Zero-width characters and direction marks.
const INVISIBLE: std::ops::RangeInclusive<char> = '\u{200b}'..='\u{200f}';

/// The ASCII characters that loose matching ignores, by their codes: this is asked for every character of every text.
static ASCII_SEPARATORS: LazyLock<[bool; 128]> = LazyLock::new(|| {
    let mut table = [false; 128];
    for (code, is_separator) in (0_u8..).zip(&mut table) {
        let character = char::from(code);
        *is_separator = character.is_whitespace() || SEPARATORS.contains(character);
    }
    table
});

/// Whether loose matching ignores a character.
pub fn is_separator(ch: char) -> bool {
    match ch {
        '\0'..='\x7f' => ASCII_SEPARATORS.get(ch as usize).copied().unwrap_or_default(),
        // Most characters of a Japanese text.
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' => false,
        _ => ch.is_whitespace() || SEPARATORS.contains(ch) || INVISIBLE.contains(&ch) || ch == '\u{feff}',
    }
}

/// A regular expression that matches a query loosely; `None` when the query contains only separators.
pub fn loose_pattern(query: &str) -> Option<String> {
    let between =
        format!(r"[\s{}\x{{200b}}-\x{{200f}}\x{{feff}}]*", regex::escape(SEPARATORS).replace('~', r"\~"));
    let letters = query.chars().filter(|ch| !is_separator(*ch));
    let letters: Vec<_> = letters.map(|ch| regex::escape(&ch.to_string())).collect();
    (!letters.is_empty()).then(|| letters.join(&between))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;

    fn finds(query: &str, text: &str) -> bool {
        let pattern = loose_pattern(query).unwrap();
        RegexBuilder::new(&pattern).case_insensitive(true).build().unwrap().is_match(text)
    }

    #[test]
    fn separators_and_long_vowel_marks_are_ignored() {
        for (query, text) in [
            ("診断給付金", "診断 給付・金"),
            ("診断 給付金", "診断給付金"),
            ("user id", "User-ID"),
            ("userid", "user_id"),
            ("サーバ", "サーバー"),
            ("サーバー", "サーバ"),
            ("a/b", "A ／ b"),
            ("人々", "人々の"),
            ("foobar", "`foo`bar"),
            ("給付金", "`給付`金"),
            ("有給休暇", "**有給**休暇"),
        ] {
            assert!(finds(query, text), "{query} in {text}");
        }
        assert!(!finds("userid", "user has an id"));
        assert_eq!(loose_pattern(" ・-ー"), None);
    }

    #[test]
    fn the_ranges_of_letters_contain_no_separator() {
        let ranges = ['\u{3041}'..='\u{3096}', '\u{30a1}'..='\u{30fa}', '\u{4e00}'..='\u{9fff}'];
        assert!(!ranges.into_iter().flatten().any(|ch| SEPARATORS.contains(ch) || ch.is_whitespace()));
        assert!(is_separator('-') && is_separator('ー') && !is_separator('a') && !is_separator('漢'));
    }

    proptest! {
        #[test]
        fn every_query_matches_itself_with_and_without_separators(query in "[a-z\u{3042}-\u{3093} ・/_.-]{1,12}") {
            if loose_pattern(&query).is_some() {
                let short = query.split(|ch: char| is_separator(ch)).collect::<String>();
                prop_assert!(finds(&query, &short) && finds(&short, &short));
            }
        }

        #[test]
        fn every_separator_is_ignored_between_characters(ch in any::<char>()) {
            if is_separator(ch) {
                prop_assert!(finds("ab", &format!("a{ch}b")), "{ch:?}");
            }
        }
    }
}
