//! What must not be repeated: keys, header values, the question and the instructions. Servers like to echo what they
//! were sent, in forms of their own, so their words are looked through before anybody sees them.

use std::borrow::Cow;
use std::collections::HashSet;

/// So many letters in a row that stand in both the question and a message are an echo; a letter beyond ASCII says as
/// much as three.
const ECHO: usize = 12;
/// The same for keys and header values.
const SECRET_ECHO: usize = 8;
/// The same for the instructions, which hold many common phrases.
const LONG_ECHO: usize = 40;
/// No more of a message is looked at, and so no more is shown.
const MOST_CHARS: usize = 2000;
/// A run of letters and digits as long as this is no word of a language.
const TOKEN: usize = 24;

/// What to keep out of messages.
pub struct Private<'a> {
    /// Keys and header values.
    pub secrets: Vec<&'a str>,
    /// What was asked.
    pub question: &'a str,
    /// What the model was told.
    pub instructions: &'a str,
}

impl Private<'_> {
    /// The text on one line, no longer than `most` characters, without what looks like a key; `None` when it
    /// repeats something private.
    pub fn show(&self, text: &str, most: usize) -> Option<String> {
        let text: String = text.chars().take(MOST_CHARS).collect();
        let plain = unescape(&text);
        let message = letters(&plain);
        let repeats = |private: &str, window: usize| echoes(&message, &letters(private), window);
        let secret = self.secrets.iter().flat_map(|secret| secret.split_whitespace());
        if secret.filter(|secret| secret.len() >= 4).any(|secret| repeats(secret, SECRET_ECHO))
            || repeats(self.question, ECHO)
            || repeats(self.instructions, LONG_ECHO)
        {
            return None;
        }
        let words = plain.split_whitespace().map(|word| if is_token(word) { "***" } else { word });
        Some(cut(&words.collect::<Vec<_>>().join(" "), most))
    }

    /// A word of the API's own vocabulary, such as `rate_limit_exceeded`, as it is; anything else like a message.
    pub fn show_word(&self, text: &str) -> Option<String> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-[]".contains(letter);
        let is_word = text.len() <= 64 && text.chars().all(plain) && !self.holds_secret(text);
        if is_word { Some(text.to_owned()) } else { self.show(text, 64) }
    }

    /// Whether a text holds a key or a header value, in whatever spelling.
    pub fn holds_secret(&self, text: &str) -> bool {
        let text = letters(text);
        let secret = self.secrets.iter().flat_map(|secret| secret.split_whitespace());
        secret.filter(|secret| secret.len() >= 4).any(|secret| echoes(&text, &letters(secret), SECRET_ECHO))
    }
}

/// The text, no longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Whether a word looks like a key, an id or something encoded.
fn is_token(word: &str) -> bool {
    let part = |letter: char| letter.is_ascii_alphanumeric() || "+/=_*-".contains(letter);
    word.contains("sk-")
        || word.split(|letter| !part(letter)).filter(|run| run.len() >= TOKEN).any(|run| {
            let has = |is: fn(&char) -> bool| run.chars().any(|letter| is(&letter));
            let digit = has(char::is_ascii_digit);
            let (upper, lower) = (has(char::is_ascii_uppercase), has(char::is_ascii_lowercase));
            (digit && (upper || lower)) || (upper && lower && !run.contains('_') && !run.contains('/'))
        })
}

/// Undoes the escapes of JSON, URLs and HTML, also where one stands in the other.
fn unescape(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for _ in 0..4 {
        let next = unescape_once(&text);
        if next == text {
            break;
        }
        text = Cow::Owned(next);
    }
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn unescape_once(text: &str) -> String {
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

/// The letter that a text begins with as a JSON escape, and how many bytes that takes.
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

/// The same for HTML.
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

/// A text's letters and digits in lower case: what is left of it in any spelling.
fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a message repeats a run of a text that is as long as `window`, or all of a shorter text.
fn echoes(message: &[char], text: &[char], window: usize) -> bool {
    if text.is_empty() || message.is_empty() {
        return false;
    }
    let weight = |letter: &char| if letter.is_ascii() { 1 } else { 3 };
    // The lengths of runs that weigh enough differ, so the lightest and the heaviest letters are tried.
    let whole: usize = text.iter().map(weight).sum();
    let sizes = if whole <= window { vec![text.len()] } else { vec![window, window.div_ceil(3)] };
    sizes.into_iter().filter(|size| *size <= text.len()).any(|size| {
        let heavy = |run: &&[char]| whole <= window || run.iter().map(weight).sum::<usize>() >= window;
        let known: HashSet<&[char]> = message.windows(size).filter(heavy).collect();
        !known.is_empty() && text.windows(size).any(|run| known.contains(run))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-proj-Abcdefgh1234567890";
    const QUESTION: &str = "Why did the zebra cross the 渋谷駅前 street?\nTell me.";

    fn private() -> Private<'static> {
        Private {
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
            assert_eq!(private().show(echo, 400), None, "{echo}");
        }
    }

    #[test]
    fn what_is_not_private_is_shown() {
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
            assert_eq!(private().show(text, 400).as_deref(), Some(shown), "{text}");
        }
        assert_eq!(private().show("the zebra", 4).as_deref(), Some("the…"));
    }

    #[test]
    fn short_questions_are_echoes_as_a_whole() {
        let private = |question| Private { secrets: vec![], question, instructions: "" };
        assert_eq!(private("404 の意味").show("query 404 の意味 is odd", 400), None);
        assert!(private("404 の意味").show("status 404", 400).is_some());
        assert_eq!(private("乳がん").show("bad input: 乳がん", 400), None);
    }

    #[test]
    fn words_of_the_api_are_shown_whatever_was_asked() {
        let private = Private { question: "What is insufficient_quota?", ..private() };
        assert_eq!(private.show_word("insufficient_quota").as_deref(), Some("insufficient_quota"));
        assert_eq!(private.show_word(KEY), None);
        assert!(private.holds_secret("x-Abcdefgh1234567890") && !private.holds_secret("gpt-6.1-terra"));
    }

    #[test]
    fn long_texts_take_no_long_time() {
        let question = "zebra ".repeat(100_000);
        let private = Private { secrets: vec![KEY], question: &question, instructions: "" };
        let started = std::time::Instant::now();
        assert_eq!(private.show(&"x ".repeat(4_000_000), 9).as_deref(), Some("x x x x …"));
        assert!(started.elapsed() < std::time::Duration::from_secs(3), "{:?}", started.elapsed());
    }
}
