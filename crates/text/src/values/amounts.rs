//! Amounts: numbers with their units, in one part or in several.

use super::dates::{FISCAL_YEAR, NO_NUMBER, Parsed};
use super::numerals::{Number, Style, number};
use super::units::{Kind, NO_UNIT, Unit, unit_at};
use super::words;

/// The unit of a number that counts a place in an order: `3日目`.
pub const ORDINAL: &str = "ordinal";

/// `fy2026`.
pub fn fiscal_year(text: &str, start: usize) -> Option<Parsed> {
    let year = number(text.get(start..)?).filter(|year| year.plain_digits == 4 && year.value >= 1600.0)?;
    Some(Parsed::new(FISCAL_YEAR, year.value, year.value, start + year.len))
}

/// Money whose sign or code ends at `start`.
pub fn money_at(text: &str, start: usize, currency: &'static str) -> Option<Parsed> {
    let found =
        number(text.get(start..)?).filter(|found| found.style == Style::Digits && !found.is_identifier)?;
    let (value, len) = scaled(text.get(start..)?, &found);
    Some(Parsed::new(currency, value, value, start + len))
}

/// A number of digits with the word that multiplies it: `1.5 million`.
fn scaled(text: &str, found: &Number) -> (f64, usize) {
    let after = text.get(found.len..).unwrap_or_default();
    let word = after.strip_prefix(' ').map(words::letters).unwrap_or_default();
    match words::scale(word).filter(|_| found.style == Style::Digits) {
        Some(scale) => (found.value * scale, found.len + 1 + word.len()),
        None => (found.value, found.len),
    }
}

/// `3分の2`: two thirds.
pub fn part_of(text: &str, whole: &Number) -> Option<Parsed> {
    let rest = text.get(whole.len..)?.strip_prefix("分の")?;
    let part = number(rest).filter(|part| !part.is_identifier && part.value <= whole.value)?;
    let len = whole.len + "分の".len() + part.len;
    let numbers = [whole.value, part.value, NO_NUMBER];
    Some(Parsed { unit: "%", value: part.value / whole.value * 100.0, numbers, len })
}

/// A number with its unit, and the parts that follow it: `1時間30分`, `1年半`, `八割五分`.
pub fn with_unit(text: &str, found: &Number) -> Option<(Parsed, &'static Unit)> {
    let (value, len) = scaled(text, found);
    let found = Number { value, len, ..*found };
    let after = text.get(len..)?;
    let Some((unit, unit_len)) = unit_at(after, &found) else {
        let is_scaled = value != 0.0
            && len > 0
            && found.style == Style::Digits
            && text.get(..len).is_some_and(|text| text.contains(' '));
        return is_scaled.then(|| (Parsed::new("", value, value, len), &NO_UNIT));
    };
    let mut parsed = Parsed::new(unit.name, value * unit.size, value, len + unit_len);
    let mut rest = text.get(parsed.len..)?;
    // 3日目 is a place in an order.
    if rest.starts_with('目') && !["目標", "目的", "目安"].iter().any(|word| rest.starts_with(word)) {
        return Some((Parsed::new(ORDINAL, value, value, parsed.len + '目'.len_utf8()), unit));
    }
    if rest.starts_with('半')
        && unit.kind == Kind::Duration
        && !["半分", "半数", "半期"].iter().any(|word| rest.starts_with(word))
    {
        parsed.value += unit.size / 2.0;
        parsed.len += '半'.len_utf8();
        return Some((parsed, unit));
    }
    let mut size = unit.size;
    // Smaller parts of the same: at most as many as a value keeps numbers.
    for slot in 1..parsed.numbers.len() {
        let Some((value, part_size, len)) = smaller_part(rest, unit, size) else { break };
        parsed.value += value * part_size;
        if let Some(number) = parsed.numbers.get_mut(slot) {
            *number = value;
        }
        parsed.len += len;
        size = part_size;
        rest = text.get(parsed.len..)?;
    }
    Some((parsed, unit))
}

/// The smaller part that follows a value: its number, the size of its unit, and the length of both.
fn smaller_part(rest: &str, unit: &Unit, size: f64) -> Option<(f64, f64, usize)> {
    let is_share = unit.name == "%" && unit.size == 10.0;
    if unit.kind != Kind::Duration && !is_share {
        return None;
    }
    let gap = if rest.starts_with(" and ") { 5 } else { usize::from(rest.starts_with(' ')) };
    let text = rest.get(gap..)?;
    let part = number(text).filter(|part| !part.is_identifier)?;
    let after = text.get(part.len..)?;
    if is_share {
        let parts = [("分", 1.0), ("厘", 0.1)];
        let (sign, part_size) =
            parts.iter().find(|(sign, part_size)| after.starts_with(sign) && *part_size < size)?;
        return Some((part.value, *part_size, gap + part.len + sign.len()));
    }
    // In `1h 30m` the minutes are short.
    let space = usize::from(after.starts_with(' '));
    let is_minutes = after.get(space..)?.strip_prefix('m').is_some_and(words::ends_word);
    if is_minutes && size == 3600.0 {
        return Some((part.value, 60.0, gap + part.len + space + 1));
    }
    let (next, len) = unit_at(after, &part)?;
    let fits = next.kind == Kind::Duration && next.name == unit.name && next.size < size;
    fits.then_some((part.value, next.size, gap + part.len + len))
}
