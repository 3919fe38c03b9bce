//! What must not be repeated: keys, header values, the question and the instructions. Servers like to
//! echo what they were sent, so their words are looked through before anybody sees them.

use std::collections::HashSet;

/// So many characters in a row that stand in both the question and a message are an echo.
const ECHO: usize = 16;
/// Questions shorter than this are words that any message may hold.
const WORD: usize = 4;
/// What a masked or unknown key looks like.
const KEY_MARKS: [&str; 2] = ["sk-", "Bearer "];

/// What to keep out of messages.
pub struct Private<'a> {
    /// Texts that are blotted out wherever they stand.
    pub secrets: Vec<&'a str>,
    /// Texts of which no part may be repeated.
    pub texts: [&'a str; 2],
}

impl Private<'_> {
    /// The text without secrets and no longer than `most` characters; `None` when it repeats the question or
    /// the instructions.
    pub fn show(&self, text: &str, most: usize) -> Option<String> {
        let plain = plain(text);
        if self.texts.iter().any(|private| echoes(&plain, private)) {
            return None;
        }
        let mut shown = plain;
        for secret in self.secrets.iter().filter(|secret| !secret.is_empty()) {
            shown = shown.replace(secret, "***");
        }
        let words = shown.split(' ').map(|word| {
            if KEY_MARKS.iter().any(|mark| word.contains(mark.trim_end())) { "***" } else { word }
        });
        let shown = words.collect::<Vec<_>>().join(" ");
        Some(match shown.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
            None => shown,
        })
    }
}

/// The text with JSON's escapes undone and white space evened out, so that an echo is seen through them.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        let next = match next {
            '\\' => match rest.next() {
                Some('n' | 'r' | 't') => ' ',
                Some('u') => {
                    let digits: String = rest.clone().take(4).collect();
                    match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                        Some(letter) => {
                            rest.nth(3);
                            letter
                        }
                        None => 'u',
                    }
                }
                Some(other) => other,
                None => '\\',
            },
            other => other,
        };
        let next = if next.is_whitespace() || next.is_control() { ' ' } else { next };
        if next != ' ' || !out.ends_with(' ') {
            out.push(next);
        }
    }
    out.trim().to_owned()
}

fn echoes(message: &str, private: &str) -> bool {
    let private: Vec<char> = plain(private).chars().collect();
    let message: Vec<char> = message.chars().collect();
    if private.len() < WORD {
        return false;
    }
    let size = private.len().min(ECHO);
    let known: HashSet<&[char]> = message.windows(size).collect();
    !known.is_empty() && private.windows(size).any(|window| known.contains(window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_withheld_and_keys_blotted_out() {
        let question = "Why did the zebra cross the 東京 street?\nTell me.";
        let private = Private {
            secrets: vec!["key-123", "header-9", ""],
            texts: [question, "You answer questions for an assistant."],
        };
        for echo in [
            "bad input: Why did the zebra cross the 東京 street?",
            r#"{"input":"Why did the zebra cross the \u6771\u4eac street?\nTell me."}"#,
            "… zebra   cross the … zebra cross the 東京",
            "instructions were: You answer questions for",
        ] {
            assert_eq!(private.show(echo, 400), None, "{echo}");
        }
        assert_eq!(
            private.show("Incorrect key-123 header-9 sk-proj-****abcd, Bearer x", 400).as_deref(),
            Some("Incorrect *** *** *** *** x")
        );
        assert_eq!(private.show("the zebra", 3).as_deref(), Some("the…"));
        assert_eq!(private.show("", 3).as_deref(), Some(""));
    }

    #[test]
    fn short_questions_are_echoes_only_as_a_whole() {
        let private = Private { secrets: vec![], texts: ["404 の意味", "ok"] };
        assert_eq!(private.show("query 404 の意味 is odd", 400), None);
        assert!(private.show("status 404", 400).is_some() && private.show("ok", 400).is_some());
    }
}
