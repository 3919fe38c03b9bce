//! Decimal digits of every script, and runs of them with thousands separators and decimals.

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

/// A number that is written with digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DigitRun {
    /// Its value.
    pub value: f64,
    /// Its length in bytes.
    pub len: usize,
    /// The number of digits before the decimal point.
    pub digits: usize,
    /// Whether it is only digits, without separators and decimals.
    pub is_plain: bool,
    /// Whether it is an identifier rather than a number: a version such as `1.2.3`, or too long.
    pub is_identifier: bool,
}

/// The digits that a text begins with.
fn leading_digits(text: &str, digits: &mut String) -> usize {
    let mut len = 0;
    for ch in text.chars() {
        let Some(value) = digit(ch).and_then(|value| char::from_digit(value, 10)) else { break };
        digits.push(value);
        len += ch.len_utf8();
    }
    len
}

/// The groups of three digits that a text begins with, each after a separator: `,000,000`.
fn leading_groups(text: &str, digits: &mut String) -> usize {
    let mut len = 0;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        let Some(group) = rest.strip_prefix([',', '٬', '_']) else { return len };
        let mut more = String::new();
        let group_len = leading_digits(group, &mut more);
        if more.len() != 3 {
            return len;
        }
        digits.push_str(&more);
        len += rest.len() - group.len() + group_len;
    }
}

/// The number that a text begins with, with thousands separators and decimals.
pub fn digit_run(text: &str) -> Option<DigitRun> {
    let mut digits = String::new();
    let mut len = leading_digits(text, &mut digits);
    if len == 0 {
        return None;
    }
    let groups = if digits.len() <= 3 { leading_groups(text.get(len..)?, &mut digits) } else { 0 };
    len += groups;
    let mut is_plain = groups == 0;
    let integer_digits = digits.len();
    let mut is_identifier = integer_digits > MAX_DIGITS;
    let mut points = 0;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        let Some(decimals) = rest.strip_prefix(['.', '٫']) else { break };
        let mut more = String::new();
        let decimals_len = leading_digits(decimals, &mut more);
        if decimals_len == 0 {
            break;
        }
        digits.push('.');
        digits.push_str(&more);
        len += rest.len() - decimals.len() + decimals_len;
        points += 1;
        is_plain = false;
    }
    is_identifier |= points > 1;
    let value = if is_identifier { 0.0 } else { digits.parse().ok()? };
    Some(DigitRun { value, len, digits: integer_digits, is_plain, is_identifier })
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
            let run = digit_run(text).unwrap();
            assert_eq!((run.value, run.len, run.is_identifier), (value, len, false), "{text}");
        }
        assert!(digit_run("1.2.3").unwrap().is_identifier);
        assert!(digit_run("1234567890123456").unwrap().is_identifier);
        assert_eq!(digit_run("x"), None);
    }
}
