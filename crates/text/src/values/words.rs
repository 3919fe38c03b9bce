//! Words and signs: where they end, and what those mean that values are made of.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use annai_language::{ENGLISH, JAPANESE, UNITS, Unit};

/// What a word means in a value, or before one.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// A number below 100.
    Number(f64),
    /// What multiplies the number before it.
    Scale(f64),
    /// A month, and whether the word means nothing else.
    Month(f64, bool),
    /// What stands before the number of an amount of money.
    Currency(&'static Unit),
    /// What stands before the number of a fiscal year.
    FiscalYear,
    /// What stands before the number of a section, a page, a version or the like, which states nothing.
    NumberedPart,
}

static MEANINGS: LazyLock<HashMap<String, Meaning>> = LazyLock::new(|| {
    let named = |(word, value): (&'static String, &f64)| (word.clone(), *value);
    let mut meanings = HashMap::new();
    for word in &ENGLISH.numbered_parts {
        meanings.insert(word.clone(), Meaning::NumberedPart);
        meanings.insert(format!("{word}s"), Meaning::NumberedPart);
    }
    meanings.extend(ENGLISH.fiscal_years.iter().map(|word| (word.clone(), Meaning::FiscalYear)));
    meanings.extend(ENGLISH.numbers.iter().map(named).map(|(word, value)| (word, Meaning::Number(value))));
    meanings.extend(ENGLISH.scales.iter().map(named).map(|(word, value)| (word, Meaning::Scale(value))));
    for unit in UNITS.iter() {
        meanings.extend(unit.signs.iter().map(|sign| (sign.clone(), Meaning::Currency(unit))));
    }
    for (number, name) in (1_u8..).zip(&ENGLISH.months) {
        // `jan`, `sept`
        for short in [name.get(..3), name.get(..4).filter(|short| *short == "sept")].into_iter().flatten() {
            meanings.insert(short.to_owned(), Meaning::Month(f64::from(number), false));
        }
        let is_certain = !ENGLISH.ambiguous_months.contains(name);
        meanings.insert(name.clone(), Meaning::Month(f64::from(number), is_certain));
    }
    meanings
});

/// What a word means in a value.
pub fn meaning(word: &str) -> Option<Meaning> {
    MEANINGS.get(word).copied()
}

/// How the words for numbers and months begin.
static BEGINNINGS: LazyLock<BTreeSet<[u8; 3]>> = LazyLock::new(|| {
    let is_start = |meaning: &Meaning| matches!(meaning, Meaning::Number(_) | Meaning::Month(..));
    let words = MEANINGS.iter().filter(|(_, meaning)| is_start(meaning));
    words.filter_map(|(word, _)| word.as_bytes().first_chunk().copied()).collect()
});

/// Whether a text has a word that may be a number or a month, in either case. It is quick and errs on the side of yes.
pub fn may_have_number_word(text: &str) -> bool {
    let words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words.filter_map(<[u8]>::first_chunk).any(|start: &[u8; 3]| {
        let start = start.map(|byte| byte.to_ascii_lowercase());
        BEGINNINGS.contains(&start)
    })
}

/// The letters that a text begins with, and the rest.
pub fn letters(text: &str) -> (&str, &str) {
    text.split_at(text.find(|ch: char| !ch.is_ascii_lowercase()).unwrap_or(text.len()))
}

const fn is_of_word(ch: char) -> bool {
    ch.is_ascii_alphanumeric() || matches!(ch, '_' | 'μ')
}

/// The word of Latin letters and digits that a text begins with, and the rest.
pub fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|ch| !is_of_word(ch)).unwrap_or(text.len()))
}

/// Whether a word ends before this text.
pub fn ends_word(text: &str) -> bool {
    !text.starts_with(is_of_word)
}

/// What follows one of these words at the beginning of a text.
pub fn after_any<'a>(text: &'a str, words: &[String]) -> Option<&'a str> {
    words.iter().find_map(|word| text.strip_prefix(word.as_str()))
}

/// A text without the space that it begins with.
pub fn unspaced(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

/// What follows a sign such as 年 or 目 at the beginning of a text, unless it is a part of another word there.
pub fn after_sign<'a>(text: &'a str, sign: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(sign)?;
    let others = JAPANESE.signs.get(sign).map_or("", String::as_str);
    (!rest.starts_with(|next| others.contains(next))).then_some(rest)
}
