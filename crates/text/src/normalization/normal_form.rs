//! Normalized text, in which finds compare: NFKC, case-folded, with one spelling of white space, dashes and brackets. A
//! [`Normalized`] text maps every position back to the original.

use std::ops::Range;

use annai_core::cancellation::checkpoint;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// A normalized text with its mapping to the original.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Normalized {
    /// The normalized text.
    pub text: String,
    /// For each character: its start in `text`, and the bytes of the original that it comes from.
    letters: Vec<(usize, Range<usize>)>,
}

impl Normalized {
    /// Normalizes a text: unifies compatibility forms, case, white space, dashes, dots, brackets and slashes, and
    /// writes the Kanji numerals of articles as digits.
    pub fn new(original: &str) -> Self {
        let mut letters: Vec<(char, Range<usize>)> = Vec::with_capacity(original.len() / 2);
        let growth = &mut Growth::of(original.len());
        for_each_char(original, growth, &mut |ch, range| match letters.last_mut() {
            // A run of white space becomes one space.
            Some((' ', last)) if ch == ' ' => last.end = range.end,
            _ => letters.push((ch, range)),
        });
        let mut normalized = Self::default();
        for (ch, range) in with_article_digits(&letters) {
            normalized.letters.push((normalized.text.len(), range));
            normalized.text.push(ch);
        }
        normalized
    }

    /// The bytes of the original that a part of the normalized text comes from.
    pub fn original(&self, part: Range<usize>) -> Range<usize> {
        let first = self.letters.partition_point(|(start, _)| *start <= part.start).saturating_sub(1);
        let last = self.letters.partition_point(|(start, _)| *start < part.end).saturating_sub(1);
        let start = self.letters.get(first).map_or(0, |(_, range)| range.start);
        let end = self.letters.get(last.max(first)).map_or(start, |(_, range)| range.end);
        start..end
    }
}

/// Appends a normalized line to `out`, without a mapping to the original.
pub fn normalize_line(line: &str, out: &mut String) {
    normalize_line_within(line, &mut Growth::of(line.len()), out);
}

/// The same for a line of a text that as a whole may grow only so far.
pub fn normalize_line_within(line: &str, growth: &mut Growth, out: &mut String) {
    let start = out.len();
    for_each_char(line, growth, &mut |ch, _| {
        if ch != ' ' || out.len() == start || !out.ends_with(' ') {
            out.push(ch);
        }
    });
    let numbered = |line: &str| {
        let mut parts = line.split('第').skip(1);
        parts.any(|part| part.chars().next().is_some_and(|ch| kanji_value(ch).is_some()))
    };
    if out.get(start..).is_some_and(numbered) {
        let letters: Vec<_> = out.split_off(start).chars().map(|ch| (ch, 0..0)).collect();
        out.extend(with_article_digits(&letters).into_iter().map(|(ch, _)| ch));
    }
}

/// Normalizes a short text, and trims it.
pub fn normalize_text(text: &str) -> String {
    let mut normal = String::new();
    normalize_line(text, &mut normal);
    normal.trim().to_owned()
}

/// Emits every normalized character with the bytes of the original that it comes from. Runs of white space are not yet
/// collapsed.
fn for_each_char(original: &str, growth: &mut Growth, emit: &mut impl FnMut(char, Range<usize>)) {
    let mut rest = original.char_indices().peekable();
    let mut next_check = CHECK_BYTES;
    while let Some((start, first)) = rest.next() {
        if start > next_check {
            checkpoint();
            next_check = start + CHECK_BYTES;
        }
        let mut end = start + first.len_utf8();
        let is_single = rest.peek().is_none_or(|(_, next)| !is_combining(*next));
        if is_single && first.is_ascii() {
            emit(unified_spelling(first.to_ascii_lowercase()), start..end);
            continue;
        }
        if is_single && is_normalized(first) {
            emit(first, start..end);
            continue;
        }
        while let Some((at, next)) = rest.next_if(|(_, next)| is_combining(*next)) {
            end = at + next.len_utf8();
        }
        let cluster = original.get(start..end).unwrap_or_default();
        let folded = fold_cluster(cluster);
        let length: usize = folded.iter().map(|ch| ch.len_utf8()).sum();
        if growth.allows(length.saturating_sub(cluster.len())) {
            folded.into_iter().for_each(|ch| emit(ch, start..end));
        } else {
            cluster.chars().for_each(|ch| emit(unified_spelling(ch), start..end));
        }
    }
}

/// How often a long line is checked for cancellation, in bytes of the original.
const CHECK_BYTES: usize = 4096;
/// How many bytes longer a normalized text may become than twice its original.
const MIN_GROWTH_BYTES: usize = 64 << 10;

/// How many bytes a text may still grow by normalization. A few characters become whole phrases (U+FDFA has 18 characters);
/// real texts contain them now and then. In a text that consists of them, those beyond the limit stay as they are, so that
/// no text takes many times its size in memory.
#[derive(Debug, Clone)]
pub struct Growth(usize);

impl Growth {
    /// The growth of a text of so many bytes: as much again, and a little for short ones.
    pub const fn of(bytes: usize) -> Self {
        Self(bytes.saturating_add(MIN_GROWTH_BYTES))
    }

    /// Takes so many bytes; `false` when fewer are left.
    fn allows(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Whether a character is its own normalized form, as most Japanese characters are.
const fn is_normalized(ch: char) -> bool {
    matches!(ch, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{4e00}'..='\u{9fff}' | '、' | '。')
}

/// Whether a character combines with the one before it: combining marks, half-width sound marks, and the later parts of
/// a Hangul syllable.
fn is_combining(ch: char) -> bool {
    if ch.is_ascii() || is_normalized(ch) {
        return false;
    }
    canonical_combining_class(ch) != 0 || matches!(ch, '\u{ff9e}' | '\u{ff9f}' | '\u{1160}'..='\u{11ff}')
}

/// Normalizes one character with its combining marks.
fn fold_cluster(cluster: &str) -> Vec<char> {
    let compatible: String = cluster.nfkc().collect();
    let folded: String = caseless::default_case_fold_str(&compatible).nfkc().collect();
    folded.chars().map(unified_spelling).collect()
}

/// The spelling that stands for all variants of a character.
const fn unified_spelling(ch: char) -> char {
    match ch {
        '\t'
        | '\n'
        | '\r'
        | '\u{b}'
        | '\u{c}'
        | '\u{85}'
        | '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => ' ',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' | '⁃' | '˗' => '-',
        '·' | '•' | '‧' | '∙' | '⋅' | '･' | '●' => '・',
        '「' | '『' | '【' | '〔' | '〈' | '《' | '〖' | '⟨' => '[',
        '」' | '』' | '】' | '〕' | '〉' | '》' | '〗' | '⟩' => ']',
        '⁄' | '∕' | '⧸' => '/',
        other => other,
    }
}

/// Writes `第三条` as `第3条`: Kanji numerals between 第 and 条, 章, 節, 項 or 号 become digits.
fn with_article_digits(letters: &[(char, Range<usize>)]) -> Vec<(char, Range<usize>)> {
    let mut out: Vec<(char, Range<usize>)> = Vec::with_capacity(letters.len());
    let mut rest = letters;
    while let Some(((ch, range), after)) = rest.split_first() {
        out.push((*ch, range.clone()));
        rest = after;
        if *ch != '第' {
            continue;
        }
        let length = rest.iter().take_while(|(ch, _)| kanji_value(*ch).is_some()).count();
        let (number, behind) = rest.split_at(length);
        let unit = behind.first().is_some_and(|(ch, _)| matches!(ch, '条' | '章' | '節' | '項' | '号'));
        let (Some((_, first)), Some((_, last)), true) = (number.first(), number.last(), unit) else {
            continue;
        };
        let Some(value) = kanji_number(number.iter().map(|(ch, _)| *ch)) else { continue };
        let range = first.start..last.end;
        out.extend(value.to_string().chars().map(|digit| (digit, range.clone())));
        rest = behind;
    }
    out
}

/// The Kanji digits, each at its value.
const KANJI_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// The value of a Kanji numeral: a digit below 10, otherwise a multiplier.
fn kanji_value(ch: char) -> Option<u64> {
    match ch {
        '零' => Some(0),
        '十' => Some(10),
        '百' => Some(100),
        '千' => Some(1000),
        _ => (0..).zip(KANJI_DIGITS).find_map(|(value, digit)| (digit == ch).then_some(value)),
    }
}

/// The Kanji spellings of a number: `三十` and `三〇` for 30. Empty outside of 1 to 9999.
pub fn kanji_numeral(number: u64) -> Vec<String> {
    if !(1..=9999).contains(&number) {
        return Vec::new();
    }
    let digit = |digit: u64| usize::try_from(digit).ok().and_then(|digit| KANJI_DIGITS.get(digit)).copied();
    let mut counted = String::new();
    for (unit, name) in [(1000, "千"), (100, "百"), (10, "十")] {
        match number / unit % 10 {
            0 => {}
            1 => counted.push_str(name),
            count => {
                counted.extend(digit(count));
                counted.push_str(name);
            }
        }
    }
    counted.extend(digit(number % 10).filter(|last| *last != '〇'));
    let spelled: String =
        number.to_string().bytes().filter_map(|byte| digit(u64::from(byte - b'0'))).collect();
    if spelled == counted { vec![counted] } else { vec![counted, spelled] }
}

/// The value of a Kanji number: 123 for `百二十三` and for `一二三`.
pub fn kanji_number(letters: impl Iterator<Item = char>) -> Option<u64> {
    let (mut total, mut digits, mut any) = (0_u64, None, false);
    for ch in letters {
        any = true;
        match kanji_value(ch)? {
            digit @ 0..=9 => digits = Some(digits.unwrap_or(0_u64).checked_mul(10)?.checked_add(digit)?),
            unit => total = total.checked_add(digits.take().unwrap_or(1).checked_mul(unit)?)?,
        }
    }
    any.then(|| total.checked_add(digits.unwrap_or(0))).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variants_of_a_spelling_are_unified() {
        for (text, normal) in [
            ("ＡＢＣ　１２３", "abc 123"),
            ("Straße", "strasse"),
            ("ｶﾞｲﾄﾞ", "ガイド"),
            ("か\u{3099}", "が"),
            ("a –  b\r\n\tc", "a - b c"),
            ("東京・大阪･A·B", "東京・大阪・a・b"),
            ("【重要】『注』", "[重要][注]"),
            ("第三条 第十二章 第百二十三項 第一二号", "第3条 第12章 第123項 第12号"),
            ("第三者", "第三者"),
            ("Ⅳ型 ①", "iv型 1"),
            ("㈱", "(株)"),
            ("ﬁne", "fine"),
        ] {
            assert_eq!(Normalized::new(text).text, normal, "{text}");
        }
    }

    #[test]
    fn a_text_of_characters_that_become_phrases_does_not_grow_without_limit() {
        assert_eq!(normalize_text("\u{fdfa}").chars().count(), 18);
        let text = "\u{fdfa}".repeat(100_000);
        let mut normal = String::new();
        normalize_line(&text, &mut normal);
        assert!(normal.len() <= 2 * text.len() + MIN_GROWTH_BYTES, "{}", normal.len());
        assert!(normal.ends_with('\u{fdfa}'));
        let mut growth = Growth::of(text.len());
        let mut lines = String::new();
        for _ in 0..100_000 {
            normalize_line_within("\u{fdfa}", &mut growth, &mut lines);
        }
        assert!(lines.len() <= 2 * text.len() + MIN_GROWTH_BYTES, "{}", lines.len());
    }

    #[test]
    fn every_kanji_spelling_of_a_number_has_its_value() {
        assert_eq!(kanji_numeral(30), ["三十", "三〇"]);
        assert_eq!(
            (kanji_numeral(7), kanji_numeral(0).len(), kanji_numeral(10_000).len()),
            (vec!["七".to_owned()], 0, 0)
        );
        for number in 1..=9999 {
            for numeral in kanji_numeral(number) {
                assert_eq!(kanji_number(numeral.chars()), Some(number), "{numeral}");
            }
        }
    }

    #[test]
    fn a_match_is_mapped_back_to_the_original() {
        let original = "x ㈱ Ｇo 第十二条 ｶﾞ";
        let normal = Normalized::new(original);
        for (part, expected) in
            [("(株)", "㈱"), ("株", "㈱"), ("go", "Ｇo"), ("12", "十二"), ("第12条", "第十二条"), ("ガ", "ｶﾞ")]
        {
            let start = normal.text.find(part).unwrap();
            assert_eq!(&original[normal.original(start..start + part.len())], expected, "{part}");
        }
    }

    proptest! {
        #[test]
        fn every_part_maps_to_a_valid_range_of_the_original(text in "[a-zA-Z0-9 \u{3000}-\u{30ff}\u{ff01}-\u{ff9f}一-三第条\r\n・–-]{0,40}", cut in 0_usize..40, length in 0_usize..20) {
            let normal = Normalized::new(&text);
            let chars: Vec<_> = normal.text.char_indices().map(|(at, _)| at).chain([normal.text.len()]).collect();
            let start = chars[cut.min(chars.len() - 1)];
            let end = chars[(cut + length).min(chars.len() - 1)].max(start);
            let place = normal.original(start..end);
            prop_assert!(place.start <= place.end && text.is_char_boundary(place.start) && text.is_char_boundary(place.end));
            prop_assert_eq!(normal.original(0..normal.text.len()), 0..text.len());
        }

        #[test]
        fn a_line_is_normalized_as_a_whole_text_is(line in "[a-zA-Z0-9 \u{3000}-\u{30ff}\u{ff01}-\u{ff9f}\u{300}-\u{302}一-三第条・–-]{0,40}") {
            let mut out = "before ".to_owned();
            normalize_line(&line, &mut out);
            prop_assert_eq!(&out["before ".len()..], Normalized::new(&line).text);
        }

        #[test]
        fn normalizing_twice_is_stable(text in "\\PC{0,40}") {
            let once = Normalized::new(&text).text;
            let twice = Normalized::new(&once).text;
            prop_assert_eq!(Normalized::new(&twice).text, twice);
        }
    }
}
