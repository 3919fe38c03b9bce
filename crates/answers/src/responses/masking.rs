//! Masks keys and header values in the text of an answer. A server that repeats what it was sent must not make us hand its
//! key on to the caller. An error message that repeats a secret is withheld as a whole (`redaction`); an answer is paid
//! for, so only the secret goes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// What stands in place of a secret.
const MASK: &str = "***";
/// A run of this many letters and digits of a secret is masked, so that one that was cut short is masked, too. Shorter
/// secrets are not searched for: no real key is so short, but the made-up keys of local servers, such as `ollama`, are, and
/// masking those would damage answers about them.
const MIN_RUN: usize = 12;

/// The runs of letters and digits that must not appear.
pub struct Mask(HashSet<Vec<u8>>);

impl Mask {
    /// A mask for these secrets. The words of a secret, such as `Bearer` and what follows it, are separate.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let words = secrets.into_iter().flat_map(str::split_whitespace);
        let letters = words.map(|word| {
            let letters = word.bytes().filter(u8::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect::<Vec<_>>()
        });
        Self(letters.flat_map(|word| word.windows(MIN_RUN).map(<[u8]>::to_vec).collect::<Vec<_>>()).collect())
    }

    /// The text with the secrets masked, in upper or lower case and whatever punctuation or markup is between their letters.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut at) = (String::with_capacity(text.len()), 0);
        for range in found {
            masked.push_str(text.get(at..range.start).unwrap_or_default());
            masked.push_str(MASK);
            at = range.end;
        }
        masked.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(masked)
    }

    /// Where secrets stand, in order and apart from each other.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.0.is_empty() {
            return found;
        }
        // The letters and digits of a word, and their positions; both begin again where a run cannot continue.
        let (mut letters, mut places) = (Vec::new(), Vec::new());
        for (place, letter) in text.char_indices() {
            if letter.is_whitespace() || (!letter.is_ascii() && letter.is_alphanumeric()) {
                letters.clear();
                places.clear();
            }
            if !letter.is_ascii_alphanumeric() {
                continue;
            }
            letters.extend(u8::try_from(letter.to_ascii_lowercase()));
            places.push(place);
            let Some(first) = letters.len().checked_sub(MIN_RUN) else { continue };
            if !letters.get(first..).is_some_and(|run| self.0.contains(run)) {
                continue;
            }
            let range = places.get(first).copied().unwrap_or(place)..place + 1;
            match found.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = range.end,
                None => found.push(range),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-proj-Abcdefgh1234567890";

    fn mask(text: &str) -> String {
        Mask::new([KEY, "Bearer gateway-token-4711", "ollama", "", "docs"]).apply(text).into_owned()
    }

    #[test]
    fn secrets_are_masked_in_whatever_spelling() {
        for (text, expected) in [
            (KEY, "***"),
            ("Your key is sk-proj-Abcdefgh1234567890, keep it.", "Your key is ***, keep it."),
            ("SK-PROJ-ABCDEFGH1234567890", "***"),
            ("`sk-proj-**Abcdefgh**1234567890`", "`***`"),
            ("sk\\-proj\\-Abcdefgh1234567890", "***"),
            ("https://e.example/?k=sk-proj-Abcdefgh1234567890&x=1", "https://e.example/?k=***&x=1"),
            ("鍵はsk-proj-Abcdefgh1234567890です。", "鍵は***です。"),
            ("cut: sk-proj-Abcdefgh12", "cut: ***"),
            ("Abcdefgh1234 and gateway-token-4711", "*** and ***"),
            ("xsk-proj-Abcdefgh1234567890x", "x***x"),
            ("sk-proj-Abcdefgh1234567890 sk-proj-Abcdefgh1234567890", "*** ***"),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "ollama and its docs",
            "A key begins with sk-proj-, a header with Bearer.",
            "sk-proj-Abcde",
            "gateway token 4711",
            "sk-proj- Abcdefgh 123 4567890",
            "東京の天気は晴れです。",
        ] {
            assert_eq!(mask(text), text);
        }
        assert!(matches!(Mask::new(["short"]).apply("short"), Cow::Borrowed("short")));
    }
}
