//! Loose matching: ignores separators between the characters of a query, and Japanese long-vowel and iteration marks.

/// The characters that loose matching ignores besides white space: punctuation, brackets, long-vowel and iteration
/// marks.
const SEPARATORS: &str = "・·•‧∙⋅･.,、。/／\\＼|｜-‐‑‒–—―−－﹣_＿~'’‘\"“”「」『』()（）[]［］【】{}｛｝<>〈〉《》:：;；ー〜～々ゝゞヽヾ゛゜";
/// Zero-width characters and direction marks.
const INVISIBLE: std::ops::RangeInclusive<char> = '\u{200b}'..='\u{200f}';

/// Whether loose matching ignores a character.
pub fn is_separator(ch: char) -> bool {
    ch.is_whitespace() || SEPARATORS.contains(ch) || INVISIBLE.contains(&ch) || ch == '\u{feff}'
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
        ] {
            assert!(finds(query, text), "{query} in {text}");
        }
        assert!(!finds("userid", "user has an id"));
        assert_eq!(loose_pattern(" ・-ー"), None);
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
