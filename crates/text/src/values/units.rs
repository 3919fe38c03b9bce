//! Units: how they are written, what they measure, and how large they are.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::numerals::{Number, Style};

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A span of time, which may have several parts: `1時間30分`.
    Duration,
    /// Money, bytes, lengths and other measures.
    Measure,
    /// A counter. Languages count with different ones, or with none.
    Counter,
}

/// A unit in all its spellings.
#[derive(Debug)]
pub struct Unit {
    /// What values are compared in.
    pub name: &'static str,
    /// Its size in that.
    pub size: f64,
    /// What it measures.
    pub kind: Kind,
    /// The spellings that follow a number directly.
    pub joined: Vec<&'static str>,
    /// The spellings that are whole words of Latin letters.
    pub words: Vec<&'static str>,
    /// The letters that make another word of a joined spelling: 3分 is a time, 3分野 is not.
    pub not_before: &'static str,
    /// Whether Kanji numerals count with it. 一部 and 一本 are words.
    pub after_kanji: bool,
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Unit {
    /// Reads a row of the table.
    fn parse(row: &'static str) -> Option<Self> {
        let mut cells = row.split('|').map(str::trim);
        let name = cells.next()?;
        let size = cells.next()?.parse().ok()?;
        let kind = match cells.next()? {
            "duration" => Duration,
            "measure" => Measure,
            "counter" => Counter,
            _ => return None,
        };
        let mut spellings = || {
            let cell = cells.next().unwrap_or_default();
            cell.split(", ").filter(|spelling| !spelling.is_empty()).collect()
        };
        let (joined, words) = (spellings(), spellings());
        let not_before = cells.next().unwrap_or_default();
        Some(Self {
            name,
            size,
            kind,
            joined,
            words,
            not_before,
            after_kanji: cells.next() != Some("digits"),
        })
    }
}

use Kind::{Counter, Duration, Measure};

/// What stands for the unit of a number that has none.
pub static NO_UNIT: Unit = Unit {
    name: "",
    size: 1.0,
    kind: Counter,
    joined: Vec::new(),
    words: Vec::new(),
    not_before: "",
    after_kanji: true,
};

/// All units, which are listed in `units.txt`.
#[expect(clippy::expect_used, reason = "the table is part of the program, and a test reads it")]
pub static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(|| {
    let rows = include_str!("units.txt").lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| Unit::parse(row).expect("the table of units is valid")).collect()
});

/// The words that may stand between a number and its unit without changing it.
const ADJECTIVES: &str =
    "calendar consecutive full additional more paid whole successive continuous complete extra";

/// The units by the first letter of their joined spellings, longer spellings first.
static JOINED: LazyLock<HashMap<char, Vec<(&'static str, &'static Unit)>>> = LazyLock::new(|| {
    let mut by_letter: HashMap<char, Vec<(&'static str, &'static Unit)>> = HashMap::new();
    for unit in UNITS.iter() {
        for spelling in &unit.joined {
            if let Some(first) = spelling.chars().next() {
                by_letter.entry(first).or_default().push((spelling, unit));
            }
        }
    }
    by_letter
        .values_mut()
        .for_each(|units| units.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len())));
    by_letter
});

/// The units by their whole words.
static WORDS: LazyLock<HashMap<&'static str, &'static Unit>> = LazyLock::new(|| {
    UNITS.iter().flat_map(|unit| unit.words.iter().map(move |word| (*word, unit))).collect()
});

/// The unit that follows a number, and its length with what stands before it.
pub fn unit_at(rest: &str, number: &Number) -> Option<(&'static Unit, usize)> {
    let after_space = || {
        let (unit, len) = joined_unit(rest.strip_prefix(' ')?, number.style)?;
        Some((unit, len + 1))
    };
    joined_unit(rest, number.style).or_else(after_space).or_else(|| word_unit(rest, number))
}

/// The unit that a text begins with, in a spelling without word boundaries.
fn joined_unit(text: &str, style: Style) -> Option<(&'static Unit, usize)> {
    let units = JOINED.get(&text.chars().next()?)?;
    let (spelling, unit) = units.iter().find(|(spelling, _)| text.starts_with(spelling))?;
    let next = text.get(spelling.len()..).and_then(|rest| rest.chars().next());
    // `%E6` in an address is no percentage.
    let is_code = *spelling == "%" && next.is_some_and(|next| next.is_ascii_alphanumeric());
    let is_other_word = is_code || next.is_some_and(|next| unit.not_before.contains(next));
    let fits = match style {
        Style::Digits => true,
        Style::Kanji => unit.after_kanji,
        Style::Words => *spelling == "%",
    };
    (fits && !is_other_word).then_some((*unit, spelling.len()))
}

/// The unit word that follows a number directly, after a space, or after a hyphen (`30-day`).
fn word_unit(rest: &str, number: &Number) -> Option<(&'static Unit, usize)> {
    let (gap, text) = match rest.strip_prefix([' ', '-']) {
        Some(text) => (1, text),
        None => (0, rest),
    };
    if number.style == Style::Kanji || !text.starts_with(|ch: char| ch.is_ascii_lowercase() || ch == 'μ') {
        return None;
    }
    let after_adjective = |word: &str| text.strip_prefix(word)?.strip_prefix(' ');
    let after = ADJECTIVES.split(' ').filter(|_| gap > 0).find_map(after_adjective);
    let adjective = after.map_or(0, |after| text.len() - after.len());
    let text = text.get(adjective..)?;
    let whole = text.get(..word_len(text))?;
    // In `1h30m` the minutes follow without a space.
    let letters = whole.get(..whole.find(|ch: char| ch.is_ascii_digit()).unwrap_or(whole.len()))?;
    let is_joined = gap == 0 && WORDS.get(letters).is_some_and(|unit| unit.kind == Duration);
    let word = if is_joined { letters } else { whole };
    // Units of several words: business days, years old.
    if gap > 0 && text.get(whole.len()..)?.starts_with(' ') {
        let is_whole = |word: &str| text.strip_prefix(word).is_some_and(|rest| word_len(rest) == 0);
        if let Some((word, unit)) = WORDS.iter().find(|(word, _)| word.contains(' ') && is_whole(word)) {
            return Some((*unit, gap + adjective + word.len()));
        }
    }
    let unit = WORDS.get(word)?;
    let fits = match (word, gap) {
        // `1990s` is a decade, and a letter after a space is seldom a unit.
        ("s", 0) => number.value < 1000.0,
        // 2D and 3D are shapes, and long ones with a `d` are identifiers.
        ("d", gap) => gap == 0 && number.value < 1000.0 && !matches!(number.value as u64, 2 | 3),
        ("v" | "w" | "x" | "ki" | "mi" | "gi" | "ti", gap) => gap == 0,
        // "37 time" is no number of times.
        (word, 1) if unit.kind == Counter && number.value != 1.0 && !rest.starts_with('-') => {
            word.ends_with('s') || word == "people"
        }
        (word, _) if word.len() == 1 => !rest.starts_with('-'),
        _ => true,
    };
    // "One time" and "one person" count nothing.
    let is_article = number.style == Style::Words && unit.kind == Counter && number.value <= 1.0;
    (fits && !is_article).then_some((*unit, gap + adjective + word.len()))
}

/// The length of the word that a text begins with.
pub fn word_len(text: &str) -> usize {
    text.find(|ch: char| !(ch.is_ascii_alphanumeric() || matches!(ch, '_' | 'μ'))).unwrap_or(text.len())
}

/// Whether a text spells a unit of this name and size out, as a column heading does for the numbers below it. The text is
/// normalized.
pub fn is_spelled_in(name: &str, size: f64, text: &str) -> bool {
    let same = UNITS.iter().filter(|unit| unit.name == name && unit.size == size);
    let mut spellings =
        same.flat_map(|unit| unit.joined.iter().chain(unit.words.iter().filter(|word| word.len() > 1)));
    spellings.any(|spelling| text.contains(spelling))
}
