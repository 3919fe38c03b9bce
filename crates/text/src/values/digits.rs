//! Decimal digits of every script, and runs of them with thousands separators and decimals.

use super::value::{Number, Style};

/// The zeros of the scripts that have decimal digits of their own, sorted; the nine digits after each zero follow it. The
/// full-width and mathematical digits are here too, although normalized text has none of them.
const ZEROS: [u32; 77] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50,
    0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40,
    0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40,
    0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da,
    0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11de0, 0x11f50, 0x16130, 0x16a60,
    0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0,
    0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];
/// The most digits of a number. A longer run is an identifier, and `f64` could not tell two of them apart.
const MAX_DIGITS: usize = 15;

/// The value of a decimal digit of any script.
pub fn digit(ch: char) -> Option<u32> {
    if ch.is_ascii() {
        return ch.to_digit(10);
    }
    // Most text is Japanese, whose letters are no digits.
    if matches!(ch, '\u{3000}'..='\u{a61f}') {
        return None;
    }
    let code = u32::from(ch);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let zero = after.checked_sub(1).and_then(|index| ZEROS.get(index))?;
    Some(code - zero).filter(|value| *value < 10)
}

/// The digits that a text begins with, and the rest.
fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|ch| digit(ch).is_none()).unwrap_or(text.len()))
}

fn ascii(digits: &str) -> impl Iterator<Item = char> {
    digits.chars().filter_map(|ch| char::from_digit(digit(ch)?, 10))
}

/// The number that a text begins with, with thousands separators and decimals, and the rest.
pub fn digits(text: &str) -> Option<(Number, &str)> {
    let (integer, mut rest) = leading_digits(text);
    if integer.is_empty() {
        return None;
    }
    let mut written: String = ascii(integer).collect();
    let mut plain_digits = written.len();
    if plain_digits <= 3 {
        while let Some((group, after)) = rest.strip_prefix([',', '٬', '_']).map(leading_digits)
            && group.chars().count() == 3
        {
            written.extend(ascii(group));
            (rest, plain_digits) = (after, 0);
        }
    }
    let mut is_identifier = written.len() > MAX_DIGITS;
    while let Some((decimals, after)) = rest.strip_prefix(['.', '٫']).map(leading_digits)
        && !decimals.is_empty()
    {
        is_identifier |= written.contains('.');
        written.push('.');
        written.extend(ascii(decimals));
        (rest, plain_digits) = (after, 0);
    }
    let value = if is_identifier { 0.0 } else { written.parse().ok()? };
    Some((Number { value, style: Style::Digits, plain_digits, is_identifier }, rest))
}

/// The number of at most four digits that a text begins with, and the rest.
pub fn few_digits(text: &str) -> Option<(f64, &str)> {
    let (found, rest) = leading_digits(text);
    let is_few = (1..=4).contains(&found.chars().count());
    let value = ascii(found).collect::<String>().parse();
    is_few.then_some((value.ok()?, rest))
}

/// Whether a text begins with a digit.
pub fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|ch| digit(ch).is_some())
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn every_decimal_digit_of_unicode_has_its_value() {
        let decimal = Regex::new(r"^\p{Nd}$").unwrap();
        for ch in '\0'..=char::MAX {
            // Digits of a newer version of Unicode are known here, and may not be there.
            if decimal.is_match(ch.encode_utf8(&mut [0; 4])) {
                assert!(digit(ch).is_some(), "{ch} {:x}", u32::from(ch));
            }
        }
        assert!(ZEROS.is_sorted());
        for (ch, value) in [('7', 7), ('٣', 3), ('۹', 9), ('४', 4), ('๕', 5), ('５', 5), ('𝟘', 0)] {
            assert_eq!(digit(ch), Some(value), "{ch}");
        }
        assert_eq!((digit('一'), digit('a'), digit('½'), digit('Ⅳ')), (None, None, None, None));
    }

    #[test]
    fn separators_and_decimals_belong_to_a_number() {
        for (text, value, len) in [
            ("20,000円", 20_000.0, 6),
            ("1,2,3", 1.0, 1),
            ("1,2345", 1.0, 1),
            ("1234,567", 1234.0, 4),
            ("1.5 h", 1.5, 3),
            ("5. ", 5.0, 1),
            ("10_000", 10_000.0, 6),
            ("٣٬٠٠٠٫٥", 3000.5, 14),
        ] {
            let (found, rest) = digits(text).unwrap();
            assert_eq!(
                (found.value, text.len() - rest.len(), found.is_identifier),
                (value, len, false),
                "{text}"
            );
        }
        assert!(digits("1.2.3").unwrap().0.is_identifier);
        assert!(digits("1234567890123456").unwrap().0.is_identifier);
        assert_eq!(digits("x"), None);
    }
}
