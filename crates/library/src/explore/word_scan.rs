//! The words of a normalized text, found quickly and without a dictionary: words of scripts with spaces, and runs of
//! Kanji and Katakana.

use crate::index::{Class, class};

/// The minimum number of characters of a word in a script with spaces; shorter ones are rarely distinctive.
const MIN_WORD_CHARS: usize = 3;
/// The range of the numbers of characters of a compound of Kanji and Katakana. Longer runs are titles and lists.
const COMPOUND_CHARS: std::ops::RangeInclusive<usize> = 2..=12;

/// How a character takes part in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordScript {
    /// A character with a meaning of its own.
    Kanji,
    /// A character of a script that spells sounds without spaces between words: Katakana and Hangul.
    Sound,
    /// A letter or digit of a script with spaces.
    Letter,
    /// Anything else: it ends a word.
    Break,
}

/// How a character takes part in words.
pub fn word_script(character: char) -> WordScript {
    match character {
        'a'..='z' | '0'..='9' => WordScript::Letter,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '々' => {
            WordScript::Kanji
        }
        '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{ac00}'..='\u{d7a3}' => WordScript::Sound,
        _ if class(character) == Class::Word => WordScript::Letter,
        _ => WordScript::Break,
    }
}

/// Passes on each word of a normalized text. Numbers, and units and article signs next to them, are not words. A compound
/// of Kanji and Katakana is passed on as a whole, and then its parts.
pub fn for_each_word<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    let (mut at, mut follows_number) = (0, false);
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let (length, is_number) = match word_script(first) {
            WordScript::Break => (first.len_utf8(), false),
            WordScript::Letter => {
                let word = rest.get(..letters_length(rest)).unwrap_or(rest);
                // Fewer bytes are fewer characters, and counting is left out for most words.
                let is_long = word.len() >= MIN_WORD_CHARS && word.chars().nth(MIN_WORD_CHARS - 1).is_some();
                if is_long && !first.is_ascii_digit() {
                    each(word);
                }
                let is_number = first.is_ascii_digit() && word.bytes().all(|byte| byte.is_ascii_digit());
                (word.len(), is_number)
            }
            WordScript::Kanji | WordScript::Sound => {
                let (compound, after) = rest.split_at(compound_length(rest));
                // What follows a number begins with a unit, and `第` before a number belongs to it.
                let is_numbered = after.starts_with(|next: char| next.is_ascii_digit());
                let stem = if is_numbered { compound.strip_suffix('第') } else { None };
                if !follows_number {
                    emit_compound(stem.unwrap_or(compound), &mut each);
                }
                (compound.len(), false)
            }
        };
        follows_number = is_number;
        at += length;
    }
}

/// The length in bytes of the letters and digits at the start of a text.
fn letters_length(text: &str) -> usize {
    let plain = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    match text.as_bytes().get(plain) {
        Some(byte) if !byte.is_ascii() => {
            let is_end = |character: char| word_script(character) != WordScript::Letter;
            text.find(is_end).unwrap_or(text.len())
        }
        _ => plain,
    }
}

/// The length in bytes of the compound at the start of a text.
fn compound_length(text: &str) -> usize {
    let is_end = |character| !matches!(word_script(character), WordScript::Kanji | WordScript::Sound);
    text.find(is_end).unwrap_or(text.len())
}

/// Passes on a compound, and its parts of one script where it has several.
fn emit_compound<'a>(compound: &'a str, each: &mut impl FnMut(&'a str)) {
    let mut emit = |word: &'a str| {
        if COMPOUND_CHARS.contains(&word.chars().count()) && !word.starts_with('ー') {
            each(word);
        }
    };
    emit(compound);
    let mut rest = compound;
    while let Some(first) = rest.chars().next() {
        let script = word_script(first);
        // The long vowel mark belongs to what precedes it.
        let end = rest.find(|next| word_script(next) != script && next != 'ー').unwrap_or(rest.len());
        let (part, after) = rest.split_at(end.max(first.len_utf8()));
        if part.len() < compound.len() {
            emit(part);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for_each_word(text, |word| found.push(word));
        found
    }

    #[test]
    fn words_are_runs_of_one_kind_of_script() {
        for (text, expected) in [
            ("# the user-id of api", &["the", "user", "api"][..]),
            ("年次有給休暇の取得", &["年次有給休暇", "取得"]),
            ("フレックスタイム制", &["フレックスタイム制", "フレックスタイム"]),
            ("サーバー", &["サーバー"]),
            ("oauth2仕様 2fa 404", &["oauth2", "仕様"]),
            ("휴가 신청", &["휴가", "신청"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_with_their_units_and_article_signs_are_no_words() {
        assert_eq!(words("第8条 服務"), ["服務"]);
        assert_eq!(words("30日以内の届出 第2"), ["届出"]);
        assert_eq!(words("別表第2 通勤費"), ["別表", "通勤費"]);
    }

    proptest! {
        #[test]
        fn every_word_stands_in_the_text_and_is_no_number(text in "[a-c0-9 第条有給休ー・カキ_]{0,30}") {
            for word in words(&text) {
                prop_assert!(text.contains(word) && word.chars().count() >= 2);
                prop_assert!(!word.starts_with(|first: char| first.is_ascii_digit() || first == 'ー'));
            }
        }
    }
}
