//! How units are written behind numbers.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use annai_language::{ENGLISH, UNITS, Unit, UnitKind};

use super::digits::starts_with_digit;
use super::value::{Number, Style};
use super::words::{after_any, ends_word};

/// Where a spelling of a unit stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// After a number, and letters may follow it.
    Joined,
    /// After a number, a space or a hyphen, and it is a whole word.
    Word,
    /// Directly after a number, and it is a whole word.
    Direct,
}

/// A spelling of a unit.
type Spelling = (&'static str, Place, &'static Unit);

/// The spellings of all units by their first letter, the longer first.
static SPELLINGS: LazyLock<HashMap<char, Vec<Spelling>>> = LazyLock::new(|| {
    let mut spellings: HashMap<char, Vec<Spelling>> = HashMap::new();
    for unit in UNITS.iter() {
        for (place, list) in
            [(Place::Joined, &unit.joined), (Place::Word, &unit.words), (Place::Direct, &unit.direct)]
        {
            for spelling in list {
                let first = spelling.chars().next().unwrap_or_default();
                spellings.entry(first).or_default().push((spelling, place, unit));
            }
        }
    }
    spellings.values_mut().for_each(|known| known.sort_by_key(|(spelling, ..)| Reverse(spelling.len())));
    spellings
});

/// The unit that follows a number directly, after a space or after a hyphen (`30-day`), and the rest.
pub fn unit_at<'a>(number: &Number, after: &'a str) -> Option<(&'static Unit, &'a str)> {
    let gap = after.chars().next().filter(|gap| matches!(gap, ' ' | '-'));
    let text = after.strip_prefix([' ', '-']).unwrap_or(after);
    spelled_at(number, gap, text).or_else(|| {
        let rest = gap.and_then(|_| after_any(text, &ENGLISH.unit_adjectives))?;
        spelled_at(number, gap, rest.strip_prefix(' ')?)
    })
}

/// The unit that a text begins with behind a number and a gap, and the rest.
fn spelled_at<'a>(number: &Number, gap: Option<char>, text: &'a str) -> Option<(&'static Unit, &'a str)> {
    SPELLINGS.get(&text.chars().next()?)?.iter().find_map(|(spelling, place, unit)| {
        let rest = text.strip_prefix(spelling)?;
        let is_counter = unit.kind == UnitKind::Counter;
        // In `1h30m` the minutes follow without a space.
        let has_part = || gap.is_none() && unit.kind == UnitKind::Duration && starts_with_digit(rest);
        let fits = match (place, gap) {
            (Place::Joined, Some('-')) => false,
            (Place::Joined, _) if number.style == Style::Kanji => !unit.digits_only,
            (Place::Joined, _) => number.style == Style::Digits,
            _ if !ends_word(rest) && !has_part() => false,
            // "One time" and "one person" count nothing.
            _ if number.style == Style::Words && is_counter && number.value <= 1.0 => false,
            // `1990s` is a decade, and `4096d` an identifier.
            (_, None) => number.value < 1000.0 || !matches!(*spelling, "s" | "d"),
            (Place::Direct, Some(_)) => false,
            (Place::Word, Some('-')) => spelling.len() > 1,
            // "37 time" is no number of times.
            (Place::Word, Some(_)) if is_counter && number.value != 1.0 => {
                spelling.ends_with('s') || spelling.contains(' ') || *spelling == "people"
            }
            (Place::Word, Some(_)) => true,
        };
        let is_other_word = rest.starts_with(|next| unit.not_before.contains(next));
        (fits && !is_other_word).then_some((*unit, rest))
    })
}

/// Whether a text spells a unit out, as a column heading does for the numbers below it. The text is normalized.
pub fn is_spelled_in(unit: &Unit, text: &str) -> bool {
    let mut spellings = unit.joined.iter().chain(&unit.words).chain(&unit.direct);
    spellings.any(|spelling| (spelling.len() > 1 || spelling == "%") && text.contains(spelling.as_str()))
}
