//! Words that direct whoever answers (教えてください, tell me, please) and mean nothing for the search.

use std::ops::Range;

use super::japanese_directing::japanese_ranges;
use super::tokens::{Token, longest_phrase_at, phrase_at, tokens, without};

/// A question without the words that direct.
#[derive(Debug, PartialEq, Eq)]
pub struct Subject {
    /// What is left, normalized; empty where the question has nothing else.
    pub text: String,
    /// The number of words that were taken away from its beginning.
    pub leading_words: usize,
}

/// A normalized question without the words that direct. The original tells a command in capital letters, such as
/// `SHOW TABLES`, from a verb.
pub fn without_directing_words(original: &str, normal: &str) -> Subject {
    let (mut ranges, leading_words) = english_ranges(original, normal);
    ranges.extend(japanese_ranges(normal));
    Subject { text: without(normal, &ranges), leading_words }
}

/// Phrases that direct at the beginning of a clause.
const LEADING: &[&str] = &[
    "please",
    "kindly",
    "tell me",
    "tell us",
    "tell me about",
    "tell us about",
    "show me",
    "show us",
    "give me",
    "give us",
    "let me know",
    "help me understand",
    "help me find",
    "walk me through",
    "teach me",
    "i want to know",
    "i want to know about",
    "i would like to know",
    "i'd like to know",
    "i need to know",
    "i want to understand",
    "i'd like to understand",
    "i would like to understand",
    "i wonder",
    "i am wondering",
    "i'm wondering",
    "i am looking for",
    "i'm looking for",
    "do you know",
    "find out",
    "search for",
    "meaning of",
    "the meaning of",
    "what is the meaning of",
    "what's the meaning of",
];
/// Phrases that direct at the end of a clause.
const TRAILING: &[&str] = &[
    "please",
    "please explain",
    "please tell me",
    "please advise",
    "thanks",
    "thanks in advance",
    "thank you",
    "thank you in advance",
    "tell me",
    "let me know",
    "in detail",
    "in more detail",
    "briefly",
];
/// Requests, after which a verb directs whatever follows it.
const REQUESTS: &[&str] = &[
    "can you",
    "could you",
    "would you",
    "will you",
    "can you please",
    "could you please",
    "would you please",
    "i want you to",
    "i need you to",
    "i'd like you to",
    "i would like you to",
    "help me",
    "help me to",
];
/// Greetings, which direct only before punctuation: `hello world` is a program.
const GREETINGS: &[&str] = &["hi", "hello", "hey"];
/// Verbs that direct before a determiner or a question word: `list comprehension` and `find method` are things.
const VERBS: &[&str] =
    &["list", "find", "show", "name", "display", "enumerate", "give", "provide", "state", "look up"];
/// Verbs that direct whatever follows, except a noun that makes a name of them.
const SPEAKING_VERBS: &[&str] = &["explain", "describe", "summarize", "summarise", "outline", "clarify"];
/// What follows a verb that directs.
const DETERMINERS: &[&str] = &[
    "the",
    "all",
    "every",
    "each",
    "any",
    "me",
    "us",
    "a",
    "an",
    "my",
    "our",
    "your",
    "this",
    "these",
    "those",
    "its",
    "their",
    "what",
    "which",
    "how",
    "when",
    "where",
    "who",
    "why",
    "whether",
    "if",
    "about",
    "some",
    "both",
    "everything",
];
/// Nouns that make a name of the verb before them: `explain plan`, `describe command`.
const NAMED_NOUNS: &[&str] = &[
    "analyze",
    "api",
    "block",
    "button",
    "clause",
    "command",
    "endpoint",
    "expression",
    "field",
    "flag",
    "function",
    "keyword",
    "method",
    "operator",
    "option",
    "output",
    "parameter",
    "plan",
    "query",
    "statement",
    "syntax",
    "table",
    "verb",
];

/// The words that direct in English, as byte ranges, and how many of them begin the question.
fn english_ranges(original: &str, normal: &str) -> (Vec<Range<usize>>, usize) {
    let tokens = tokens(normal);
    let spelled: Vec<&str> = original.split_whitespace().collect();
    let is_command = |at: usize| {
        let word = spelled.get(at).copied().unwrap_or_default();
        word.chars().filter(|character| character.is_alphabetic()).count() > 1
            && !word.chars().any(char::is_lowercase)
    };
    let (mut ranges, mut leading_words) = (Vec::new(), 0);
    let mut start = 0;
    while start < tokens.len() {
        let after = tokens.get(start..).unwrap_or_default();
        let length = after.iter().position(|token| token.ends_clause).map_or(after.len(), |at| at + 1);
        let clause = after.get(..length).unwrap_or_default();
        let kept = length - trailing_words(clause);
        let directing =
            leading_words_of(clause.get(..kept).unwrap_or_default(), &|at| is_command(start + at));
        if start == leading_words {
            leading_words += directing;
        }
        let removed = clause.iter().take(directing).chain(clause.iter().skip(kept));
        ranges.extend(removed.map(|token| token.range.clone()));
        start += length;
    }
    (ranges, leading_words)
}

/// The number of words that direct at the end of a clause.
fn trailing_words(clause: &[Token<'_>]) -> usize {
    let mut kept = clause.len();
    loop {
        let ends = |phrase: &str| {
            let count = phrase.split(' ').count();
            let start = kept.checked_sub(count)?;
            phrase_at(clause.get(start..kept)?, phrase)
        };
        match TRAILING.iter().filter_map(|phrase| ends(phrase)).max() {
            Some(count) => kept -= count,
            None => return clause.len() - kept,
        }
    }
}

/// The number of words that direct at the beginning of a clause.
fn leading_words_of(clause: &[Token<'_>], is_command: &dyn Fn(usize) -> bool) -> usize {
    let mut taken = 0;
    loop {
        let rest = clause.get(taken..).unwrap_or_default();
        let count = longest_phrase_at(rest, LEADING).max(greeting(rest));
        let count = if count > 0 { count } else { directing_verb(rest, &|at| is_command(taken + at)) };
        if count == 0 {
            return taken;
        }
        taken += count;
    }
}

fn greeting(words: &[Token<'_>]) -> usize {
    usize::from(words.first().is_some_and(|word| word.ends_clause && GREETINGS.contains(&word.word)))
}

/// The number of words up to the end of a verb that directs, with the request before it; 0 where none does.
fn directing_verb(words: &[Token<'_>], is_command: &dyn Fn(usize) -> bool) -> usize {
    let request = longest_phrase_at(words, REQUESTS);
    let rest = words.get(request..).unwrap_or_default();
    if request > 0 && longest_phrase_at(rest, LEADING) > 0 {
        return request;
    }
    if is_command(request) {
        return 0;
    }
    let (verb, speaking) = (longest_phrase_at(rest, VERBS), longest_phrase_at(rest, SPEAKING_VERBS));
    let next = rest.get(verb.max(speaking)).map(|token| token.word);
    let directs = match next {
        None => false,
        Some(_) if request > 0 => verb.max(speaking) > 0,
        Some(next) if verb > 0 => DETERMINERS.contains(&next),
        Some(next) => speaking > 0 && !NAMED_NOUNS.contains(&next),
    };
    if directs { request + verb.max(speaking) } else { 0 }
}

#[cfg(test)]
#[path = "directing_tests.rs"]
mod tests;
