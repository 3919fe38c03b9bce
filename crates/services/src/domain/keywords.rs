//! The words of a search: case, width and composition do not matter, and Japanese needs no spaces.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Words that say nothing about what is wanted, so that `the` does not match every theme.
const STOP_WORDS: [&str; 26] = [
    "a", "an", "and", "any", "are", "at", "by", "can", "do", "find", "for", "from", "i", "in", "is", "it",
    "me", "my", "of", "on", "or", "some", "the", "to", "want", "with",
];

/// The form in which texts are compared: NFKC in lower case.
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        Cow::Owned(text.nfkc().flat_map(char::to_lowercase).collect())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Kinds of letters; a Japanese word usually ends where the kind changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Kanji,
    Other,
    None,
}

fn script(letter: char) -> Script {
    match letter {
        'ぁ'..='ゖ' | 'ゝ' | 'ゞ' => Script::Hiragana,
        'ァ'..='ヺ' | 'ー'..='ヿ' => Script::Katakana,
        '々' | '〆' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
            Script::Kanji
        }
        _ if letter.is_alphanumeric() => Script::Other,
        _ => Script::None,
    }
}

/// The runs of letters of one script in a folded text.
fn runs(folded: &str) -> Vec<(Script, &str)> {
    let mut runs = Vec::new();
    let mut rest = folded;
    while let Some(first) = rest.chars().next() {
        let kind = script(first);
        let end = rest.find(|letter| script(letter) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if kind != Script::None {
            runs.push((kind, run));
        }
        rest = after;
    }
    runs
}

/// What somebody intends, ready to be compared with fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    folded: String,
    keywords: Vec<Keyword>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Keyword {
    /// Found anywhere in a field.
    Part(String),
    /// Found as a whole word only: two letters are part of too many words (`ai` of `email`).
    Word(String),
}

impl Intent {
    /// Takes the keywords out of a text. Hiragana runs are mostly endings and particles (`したい`, `を`), so they are
    /// keywords only where there is nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let folded = fold(text).into_owned();
        let runs = runs(&folded);
        let keyword = |(script, run): &(Script, &str)| match script {
            Script::Kanji | Script::Katakana => Some(Keyword::Part((*run).to_owned())),
            Script::Other if STOP_WORDS.contains(run) => None,
            Script::Other if run.chars().count() <= 2 => Some(Keyword::Word((*run).to_owned())),
            Script::Other => Some(Keyword::Part((*run).to_owned())),
            Script::Hiragana | Script::None => None,
        };
        let mut keywords: Vec<_> = runs.iter().filter_map(keyword).collect();
        if keywords.is_empty() {
            keywords = runs.iter().map(|(_, run)| Keyword::Part((*run).to_owned())).collect();
        }
        Self { folded, keywords }
    }

    /// Whether a keyword is in the field, or the field is a phrase of the intent (the tag `おすすめ` of `おすすめを教えて`).
    #[must_use]
    pub fn matches(&self, field: &Field) -> bool {
        let has_keyword = self.keywords.iter().any(|keyword| match keyword {
            Keyword::Part(part) => field.folded.contains(part.as_str()),
            Keyword::Word(word) => runs(&field.folded).iter().any(|(_, run)| run == word),
        });
        has_keyword || (field.is_phrase && self.folded.contains(&field.folded))
    }
}

/// A text that is searched in, in the form in which texts are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    folded: String,
    /// Whether it is Japanese of at least two letters and nothing else.
    is_phrase: bool,
}

impl Field {
    /// Prepares a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let folded = fold(text).into_owned();
        let is_japanese = |letter| !matches!(script(letter), Script::Other | Script::None);
        let is_phrase = folded.chars().nth(1).is_some() && folded.chars().all(is_japanese);
        Self { folded, is_phrase }
    }

    /// The text as it is compared.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(intent: &str, field: &str) -> bool {
        Intent::parse(intent).matches(&Field::new(field))
    }

    #[test]
    fn japanese_needs_no_spaces() {
        let intent = "ウェブ検索を使いたいです";
        for field in ["ウェブ検索サービス", "検索", "ｳｪﾌﾞ", "全文検索エンジン"] {
            assert!(matches(intent, field), "{field}");
        }
        for field in ["翻訳", "したいこと", "デザイン"] {
            assert!(!matches(intent, field), "{field}");
        }
        assert!(matches("おすすめを教えて", "おすすめ"));
        assert!(matches("ためし", "おためし"));
    }

    #[test]
    fn case_width_and_short_words() {
        assert!(matches("I want to SCRAPE the web", "Ｗｅｂ scraper"));
        assert!(!matches("I want to find an AI", "email to friends"));
        assert!(matches("AI", "ai-answers"));
        assert!(!matches("the", "nothing"));
        assert!(matches("the", "the list"));
        assert!(!matches("!?", "anything"));
    }

    proptest! {
        #[test]
        fn a_field_matches_itself_unless_it_has_no_letters(field in "\\PC{0,20}") {
            let has_letters = fold(&field).chars().any(|letter| script(letter) != Script::None);
            prop_assert_eq!(matches(&field, &field), has_letters);
        }

        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,20}") {
            let once = fold(&text).into_owned();
            // A few letters fold to others that fold again (ẞ, İ); then once more is stable.
            let twice = fold(&once).into_owned();
            prop_assert_eq!(fold(&twice), twice.as_str());
        }
    }
}
