//! The words of a question between white space, for what is decided word by word: directing words, question words and
//! comparisons.

use std::ops::Range;

/// A word of a normalized question, without the punctuation around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// The word.
    pub word: &'a str,
    /// Its position in the question with the punctuation around it, in bytes.
    pub range: Range<usize>,
    /// Whether punctuation follows that ends a clause.
    pub ends_clause: bool,
}

/// The words of a normalized question.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for part in text.split(' ') {
        let range = start..start + part.len();
        start = range.end + 1;
        let word = part.trim_matches(|character: char| ",.;:!?()[]\"'。、".contains(character));
        if !word.is_empty() {
            let ends_clause = part.ends_with([',', '.', ';', ':', '!', '?', '。', '、']);
            tokens.push(Token { word, range, ends_clause });
        }
    }
    tokens
}

/// Whether words begin with those of a phrase, and how many they are.
pub fn phrase_at(tokens: &[Token<'_>], phrase: &str) -> Option<usize> {
    let mut count = 0;
    for word in phrase.split(' ') {
        let token = tokens.get(count)?;
        count += 1;
        if token.word != word {
            return None;
        }
    }
    Some(count)
}

/// The number of words in the longest of some phrases that words begin with; 0 where none does.
pub fn longest_phrase_at(tokens: &[Token<'_>], phrases: &[&str]) -> usize {
    phrases.iter().filter_map(|phrase| phrase_at(tokens, phrase)).max().unwrap_or_default()
}

/// A text in which a space stands for each of some ranges, without repeated white space.
pub fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut push = |part: &str| {
        for word in part.split(' ').filter(|word| !word.is_empty()) {
            if !kept.is_empty() && !kept.ends_with(' ') {
                kept.push(' ');
            }
            kept.push_str(word);
        }
    };
    let mut sorted: Vec<_> = ranges.iter().collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut from = 0;
    for range in sorted {
        push(text.get(from..range.start).unwrap_or_default());
        from = from.max(range.end);
    }
    push(text.get(from..).unwrap_or_default());
    kept
}

/// Whether a character is Hiragana.
pub const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{3096}')
}

/// Whether nothing but Hiragana and punctuation is in a text.
pub fn is_hiragana_only(text: &str) -> bool {
    text.chars().all(|character| is_hiragana(character) || " 、。?!.,".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_without_their_punctuation() {
        let words =
            |text| tokens(text).into_iter().map(|token| (token.word, token.ends_clause)).collect::<Vec<_>>();
        assert_eq!(
            words("list (all) limits, please?"),
            [("list", false), ("all", false), ("limits", true), ("please", true)]
        );
        assert_eq!(words(" ? - 返品 の、"), [("-", false), ("返品", false), ("の", true)]);
        let question = "a bc, d";
        assert!(tokens(question).iter().all(|token| question[token.range.clone()].contains(token.word)));
    }

    #[test]
    fn the_longest_phrase_counts() {
        let text = tokens("tell me more about");
        assert_eq!(longest_phrase_at(&text, &["tell", "tell me", "tell you all"]), 2);
        assert_eq!(longest_phrase_at(&text, &["me"]), 0);
        assert_eq!(longest_phrase_at(&[], &["me"]), 0);
    }

    #[test]
    fn ranges_are_replaced_by_one_space() {
        assert_eq!(without("ab cd ef", &[3..4, 4..5]), "ab ef");
        assert_eq!(without(" abcd ", &[2..3, 2..4]), "a d");
        assert_eq!(without("abcd", &[1..3, 2..2]), "a d");
        assert_eq!(without("abcd", &[0..4, 1..2]), "");
    }
}
