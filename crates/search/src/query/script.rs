//! The scripts that words of Japanese change between.

/// The script of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Japanese words are inflected in it.
    Hiragana,
    /// Chinese characters.
    Kanji,
    /// Foreign words of Japanese.
    Katakana,
    /// Letters and digits of any other script.
    Word,
    /// Everything else.
    Other,
}

/// The script of a character.
pub fn script(character: char) -> Script {
    match character {
        '\u{3041}'..='\u{3096}' => Script::Hiragana,
        '\u{30a1}'..='\u{30fa}' | 'ー' => Script::Katakana,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '々'
        | '〇'
        | '〆'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Script::Kanji,
        _ if character.is_alphanumeric() => Script::Word,
        _ => Script::Other,
    }
}
