//! Amounts: numbers with their units, in one part or in several, and parts of a whole.

use annai_language::{ENGLISH, Unit, UnitKind};

use super::numerals::number;
use super::units::unit_at;
use super::value::{Amount, NO_NUMBER, Number, Parsed, Style};
use super::words::{after_sign, ends_word, letters, unspaced};

/// The unit of a number that counts a place in an order: `3日目`.
pub const ORDINAL: &str = "ordinal";
/// The unit of two numbers with a slash between them, which may be a day or a fraction. The value is the first one times
/// a million plus the second.
pub const SLASH: &str = "slash";

/// Money whose sign or code stands before this text.
pub fn money<'a>(currency: &'static Unit, text: &'a str) -> Option<Parsed<'a>> {
    let (found, rest) = number(text)?;
    let is_amount = found.style == Style::Digits && !found.is_identifier;
    is_amount.then(|| (Amount::new(&currency.name, found.value), rest))
}

/// A part of a whole: `3分の2`, `two thirds`. `4/1` may be one, or a day.
pub fn fraction<'a>(first: &Number, after: &'a str) -> Option<Parsed<'a>> {
    if first.style == Style::Words {
        let (word, rest) = letters(after.strip_prefix([' ', '-'])?);
        let known = ENGLISH.fractions.get(word).or_else(|| ENGLISH.fractions.get(word.strip_suffix('s')?));
        let parts = known.filter(|parts| first.value < **parts && first.value > 0.0)?;
        return Some((Amount::of_numbers("%", first.value / parts * 100.0, [NO_NUMBER; 3]), rest));
    }
    if let Some((part, rest)) = after.strip_prefix("分の").and_then(number) {
        let is_part = !part.is_identifier && part.value <= first.value && first.value > 0.0;
        let numbers = [first.value, part.value, NO_NUMBER];
        return is_part.then(|| (Amount::of_numbers("%", part.value / first.value * 100.0, numbers), rest));
    }
    let (second, rest) = number(after.strip_prefix('/')?)?;
    let are_short = [first, &second].iter().all(|number| (1..=4).contains(&number.plain_digits));
    let fits = are_short && second.value > 0.0 && ends_word(rest) && !rest.starts_with('/');
    let numbers = [first.value, second.value, NO_NUMBER];
    fits.then(|| (Amount::of_numbers(SLASH, first.value * 1e6 + second.value, numbers), rest))
}

/// A number with its unit, and the parts that follow it: `1時間30分`, `1年半`, `八割五分`.
pub fn with_unit<'a>(found: &Number, after: &'a str) -> Option<Parsed<'a>> {
    let (unit, mut rest) = unit_at(found, after)?;
    let mut amount = Amount { written_unit: Some(unit), ..Amount::new(&unit.name, found.value) };
    // 3日目 is a place in an order.
    if let Some(rest) = after_sign(rest, "目") {
        return Some((Amount { unit: ORDINAL, ..amount }, rest));
    }
    amount.value *= unit.size;
    if let Some(rest) = after_sign(rest, "半").filter(|_| unit.kind == UnitKind::Duration) {
        amount.value += unit.size / 2.0;
        return Some((amount, rest));
    }
    let mut size = unit.size;
    for slot in amount.numbers.iter_mut().skip(1) {
        let Some((value, part_size, after)) = smaller_part(rest, unit, size) else { break };
        *slot = value;
        amount.value += value * part_size;
        (size, rest) = (part_size, after);
    }
    Some((amount, rest))
}

/// The smaller part that follows a value: its number, the size of its unit, and the rest.
fn smaller_part<'a>(text: &'a str, unit: &Unit, size: f64) -> Option<(f64, f64, &'a str)> {
    if unit.kind != UnitKind::Duration && unit.parts.is_empty() {
        return None;
    }
    let text = text.strip_prefix(" and ").unwrap_or_else(|| unspaced(text));
    let (part, after) = number(text).filter(|(part, _)| !part.is_identifier)?;
    let own = unit.parts.iter().find_map(|(sign, part_size)| {
        let rest = unspaced(after).strip_prefix(sign.as_str())?;
        (ends_word(rest) || !sign.is_ascii()).then_some((*part_size, rest))
    });
    let (part_size, rest) = own.or_else(|| {
        let (next, rest) = unit_at(&part, after)?;
        (next.kind == UnitKind::Duration && next.name == unit.name).then_some((next.size, rest))
    })?;
    (part_size < size).then_some((part.value, part_size, rest))
}
