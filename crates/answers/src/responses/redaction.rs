//! Keeps secrets out of messages: keys, header values, the question and the instructions. Servers repeat parts of a
//! request in their error messages, in various encodings, so every message of a server is checked before it is shown.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::plain_text::truncate_within;

/// A message that shares this many consecutive letters with the question repeats it: fewer occur in common phrases. A
/// letter outside ASCII counts three, because it carries more information.
const MIN_QUESTION_ECHO: usize = 12;
/// The same for keys and header values, which contain no common phrases, so that a shorter run is telling.
const MIN_SECRET_ECHO: usize = 8;
/// The same for the instructions, which contain many common phrases, so that only a longer run is telling.
const MIN_INSTRUCTIONS_ECHO: usize = 40;
/// The part of a message that is checked and shown, in characters. It bounds the work on a huge message; the rest is
/// cut off.
const MAX_CHECKED_CHARS: usize = 2000;
/// A run of letters and digits of this length is rather a key or an id than a word, and is masked.
const MIN_TOKEN_CHARS: usize = 24;
/// Secrets shorter than this are not searched for: they would match ordinary words.
const MIN_SECRET_BYTES: usize = 4;
/// How many encodings inside each other are decoded (JSON in a URL in HTML …). More do not occur in practice.
const MAX_DECODING_PASSES: usize = 4;

/// The maximum length of an identifier such as `rate_limit_exceeded`, in bytes; longer text is treated as a message.
const MAX_IDENTIFIER_BYTES: usize = 64;

/// The values that must not appear in messages.
pub struct Redactor<'a> {
    /// Keys and header values.
    pub secrets: Vec<&'a str>,
    /// The user's question.
    pub question: &'a str,
    /// The instructions for the model.
    pub instructions: &'a str,
}

impl Redactor<'_> {
    /// The message on one line, at most `max_chars` characters, with everything masked that looks like a key. Returns
    /// `None` if the message repeats a secret, the question or the instructions.
    pub fn redact(&self, message: &str, max_chars: usize) -> Option<String> {
        let message: String = message.chars().take(MAX_CHECKED_CHARS).collect();
        let decoded = decode(&message);
        let letters = letters_of(&decoded);
        if self.repeats_secret(&letters)
            || shares_run(&letters, &letters_of(self.question), MIN_QUESTION_ECHO)
            || shares_run(&letters, &letters_of(self.instructions), MIN_INSTRUCTIONS_ECHO)
        {
            return None;
        }
        let words = decoded.split_whitespace().map(|word| if is_token(word) { "***" } else { word });
        Some(truncate_within(&words.collect::<Vec<_>>().join(" "), max_chars))
    }

    /// The beginning of a body for the log, without URLs; a remark instead if it repeats something that must not appear.
    pub fn excerpt(&self, body: &str, max_chars: usize) -> String {
        let Some(text) = self.redact(body, MAX_CHECKED_CHARS) else { return "(withheld)".to_owned() };
        let words = text.split(' ').map(|word| if word.contains("://") { "***" } else { word });
        truncate_within(&words.collect::<Vec<_>>().join(" "), max_chars)
    }

    /// An identifier of the API, such as `rate_limit_exceeded`, unchanged; any other text like a message.
    pub fn redact_identifier(&self, text: &str) -> Option<String> {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_.-[]".contains(letter);
        let is_identifier =
            text.len() <= MAX_IDENTIFIER_BYTES && text.chars().all(is_allowed) && !self.contains_secret(text);
        if is_identifier { Some(text.to_owned()) } else { self.redact(text, MAX_IDENTIFIER_BYTES) }
    }

    /// Whether a text contains a key or a header value, in any spelling.
    pub fn contains_secret(&self, text: &str) -> bool {
        self.repeats_secret(&letters_of(text))
    }

    fn repeats_secret(&self, letters: &[char]) -> bool {
        let words = self.secrets.iter().flat_map(|secret| secret.split_whitespace());
        let mut long_words = words.filter(|word| word.len() >= MIN_SECRET_BYTES);
        long_words.any(|word| shares_run(letters, &letters_of(word), MIN_SECRET_ECHO))
    }
}

/// Whether a word looks like a key, an id or encoded data.
fn is_token(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+/=_*-".contains(letter);
    word.contains("sk-")
        || word.split(|letter| !is_part(letter)).filter(|run| run.len() >= MIN_TOKEN_CHARS).any(|run| {
            let has = |is: fn(&char) -> bool| run.chars().any(|letter| is(&letter));
            let digit = has(char::is_ascii_digit);
            let (upper, lower) = (has(char::is_ascii_uppercase), has(char::is_ascii_lowercase));
            (digit && (upper || lower)) || (upper && lower && !run.contains('_') && !run.contains('/'))
        })
}

/// Decodes the escapes of JSON, URLs and HTML, also nested ones, and replaces control characters by spaces.
fn decode(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_DECODING_PASSES {
        let next = decode_once(&text);
        if next == text {
            break;
        }
        text = Cow::Owned(next);
    }
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn decode_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let encoded = rest.strip_prefix('%').and_then(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
        if let Some(byte) = encoded {
            bytes.push(byte);
            rest = rest.get(3..).unwrap_or_default();
            continue;
        }
        out.push_str(&String::from_utf8_lossy(&std::mem::take(&mut bytes)));
        let (letter, length) =
            json_escape(rest).or_else(|| html_escape(rest)).unwrap_or((first, first.len_utf8()));
        out.push(letter);
        rest = rest.get(length..).unwrap_or_default();
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
    out
}

/// Decodes the JSON escape at the start of a text; also returns its length in bytes.
fn json_escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let unit = |text: &str| u32::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok();
    match rest.chars().next()? {
        'u' => {
            let high = unit(rest)?;
            let low = rest.get(5..).and_then(|rest| rest.strip_prefix('\\')).and_then(unit);
            match low.filter(|low| (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(low)) {
                Some(low) => Some((char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?, 12)),
                None => Some((char::from_u32(high).unwrap_or(' '), 6)),
            }
        }
        'n' | 'r' | 't' => Some((' ', 2)),
        other => Some((other, 1 + other.len_utf8())),
    }
}

/// Decodes the HTML character reference at the start of a text; also returns its length in bytes.
fn html_escape(text: &str) -> Option<(char, usize)> {
    let end = text.get(..12.min(text.len())).unwrap_or(text).find(';')?;
    let name = text.get(1..end)?;
    let letter = match (text.starts_with('&'), name) {
        (false, _) => return None,
        (_, "amp") => '&',
        (_, "lt") => '<',
        (_, "gt") => '>',
        (_, "quot") => '"',
        (_, "apos") => '\'',
        (_, "nbsp") => ' ',
        (_, number) => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    Some((letter, end + 1))
}

/// The letters and digits of a text in lower case: what two spellings of the same text have in common.
fn letters_of(text: &str) -> Vec<char> {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a message and a text share a run of letters with at least this weight, or, if the whole text weighs less,
/// whether the message contains the whole text.
fn shares_run(message: &[char], text: &[char], min_weight: usize) -> bool {
    if text.is_empty() || message.is_empty() {
        return false;
    }
    let weight = |letter: &char| if letter.is_ascii() { 1 } else { 3 };
    let text_weight: usize = text.iter().map(weight).sum();
    let is_short = text_weight <= min_weight;
    // Runs of the same weight differ in length: the longest is all ASCII, the shortest has no ASCII.
    let lengths = if is_short { vec![text.len()] } else { vec![min_weight, min_weight.div_ceil(3)] };
    lengths.into_iter().filter(|length| *length <= text.len()).any(|length| {
        let is_telling = |run: &&[char]| is_short || run.iter().map(weight).sum::<usize>() >= min_weight;
        let runs: HashSet<&[char]> = message.windows(length).filter(is_telling).collect();
        !runs.is_empty() && text.windows(length).any(|run| runs.contains(run))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-proj-Abcdefgh1234567890";
    const QUESTION: &str = "Why did the zebra cross the 渋谷駅前 street?\nTell me.";

    fn redactor() -> Redactor<'static> {
        Redactor {
            secrets: vec![KEY, "Basic dXNlcjpodW50ZXIy", "a  b-secret-c", ""],
            question: QUESTION,
            instructions: "You answer questions for an assistant program, and you do so briefly and well.",
        }
    }

    #[test]
    fn echoes_are_withheld_in_whatever_spelling() {
        for echo in [
            "bad input: Why did the zebra cross the 渋谷駅前 street?",
            r#"{"input":"Why did the zebra cross \u6e0b\u8c37\u99c5\u524d"}"#,
            r"nested \\u6e0b\\u8c37\\u99c5\\u524d",
            "WHY DID THE ZEBRA",
            "Why%20did%20the%20zebra",
            "Why&nbsp;did&#32;the zebra",
            "W h y d i d t h e z e b r a",
            "why-did... the zeb",
            "about 渋谷駅前",
            "instructions were: You answer questions for an assistant program, and you do so",
            "key sk-proj-Abcdefgh1234567890",
            "key Abcdefgh1234567890",
            "KEY SK-PROJ-ABCDEFGH1234567890",
            "dXNlcjpodW50ZXIy",
            "b-secret-c",
        ] {
            assert_eq!(redactor().redact(echo, 400), None, "{echo}");
        }
    }

    #[test]
    fn other_messages_are_shown() {
        for (text, shown) in [
            ("Upstream returned HTTP status code 418", "Upstream returned HTTP status code 418"),
            ("the zebra", "the zebra"),
            ("line\none\t two", "line one two"),
            ("Incorrect API key provided: sk-other-****abcd.", "Incorrect API key provided: ***"),
            ("id req_9x8y7z6w5v4u3t2s1r0qponmlk", "id ***"),
            (
                "see https://platform.openai.com/account/rate-limits",
                "see https://platform.openai.com/account/rate-limits",
            ),
            ("", ""),
        ] {
            assert_eq!(redactor().redact(text, 400).as_deref(), Some(shown), "{text}");
        }
        assert_eq!(redactor().redact("the zebra", 4).as_deref(), Some("the…"));
    }

    #[test]
    fn short_questions_are_echoes_as_a_whole() {
        let with = |question| Redactor { secrets: vec![], question, instructions: "" };
        assert_eq!(with("404 の意味").redact("query 404 の意味 is odd", 400), None);
        assert!(with("404 の意味").redact("status 404", 400).is_some());
        assert_eq!(with("乳がん").redact("bad input: 乳がん", 400), None);
    }

    #[test]
    fn identifiers_of_the_api_are_shown_whatever_was_asked() {
        let redactor = Redactor { question: "What is insufficient_quota?", ..redactor() };
        assert_eq!(redactor.redact_identifier("insufficient_quota").as_deref(), Some("insufficient_quota"));
        assert_eq!(redactor.redact_identifier(KEY), None);
        assert!(
            redactor.contains_secret("x-Abcdefgh1234567890") && !redactor.contains_secret("gpt-6.1-terra")
        );
    }

    #[test]
    fn only_the_start_of_a_long_message_is_checked_and_shown() {
        let question = "zebra ".repeat(100_000);
        let redactor = Redactor { secrets: vec![KEY], question: &question, instructions: "" };
        assert_eq!(redactor.redact(&"x ".repeat(4_000_000), 9).as_deref(), Some("x x x x …"));
        let message = format!("{}{KEY}", "x ".repeat(MAX_CHECKED_CHARS / 2));
        let shown = redactor.redact(&message, usize::MAX);
        assert_eq!(shown.as_deref(), Some(message.trim_end_matches(KEY).trim_end()));
    }
}
