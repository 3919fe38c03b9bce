//! Loose matching: separators between the characters of a query, and marks that lengthen or repeat, hide nothing.

/// What sets letters apart besides white space, and what only lengthens or repeats the one before.
const SEPARATORS: &str = "・·•‧∙⋅･.,、。/／\\＼|｜-‐‑‒–—―−－﹣_＿~'’‘\"“”「」『』()（）[]［］【】{}｛｝<>〈〉《》:：;；ー〜～々ゝゞヽヾ゛゜";
/// Letters without a width.
const INVISIBLE: std::ops::RangeInclusive<char> = '\u{200b}'..='\u{200f}';

/// Whether a letter only sets others apart.
pub fn is_separator(letter: char) -> bool {
    letter.is_whitespace()
        || SEPARATORS.contains(letter)
        || INVISIBLE.contains(&letter)
        || letter == '\u{feff}'
}

/// A regular expression that finds a query loosely; `None` when the query has nothing but separators.
pub fn loose_pattern(query: &str) -> Option<String> {
    let between =
        format!(r"[\s{}\x{{200b}}-\x{{200f}}\x{{feff}}]*", regex::escape(SEPARATORS).replace('~', r"\~"));
    let letters = query.chars().filter(|letter| !is_separator(*letter));
    let letters: Vec<_> = letters.map(|letter| regex::escape(&letter.to_string())).collect();
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
    fn separators_and_marks_hide_nothing() {
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
        fn every_query_finds_itself(query in "[a-z\u{3042}-\u{3093} ・/_.-]{1,12}") {
            if loose_pattern(&query).is_some() {
                let short = query.split(|letter: char| is_separator(letter)).collect::<String>();
                prop_assert!(finds(&query, &short) && finds(&short, &short));
            }
        }

        #[test]
        fn what_is_a_separator_may_stand_between(letter in any::<char>()) {
            if is_separator(letter) {
                prop_assert!(finds("ab", &format!("a{letter}b")), "{letter:?}");
            }
        }
    }
}
