use proptest::prelude::*;

use super::*;

#[test]
fn a_cut_is_made_between_lines_and_else_between_words() {
    for (text, max_chars, expected) in [
        ("abc", 3, "abc"),
        // A word that is longer than the limit.
        ("abc", 2, "ab"),
        ("abcdef\ngh", 8, "abcdef\n"),
        ("ab\ncdefghi", 8, "ab\n"),
        ("abcdef\r\ngh", 8, "abcdef\r\n"),
        ("abcdef\rgh", 8, "abcdef\r"),
        // The break does not fit, but the line does.
        ("abcd\r\ngh", 5, "abcd"),
        ("abcd\ngh", 4, "abcd"),
        ("\r\n", 1, "\r"),
        ("| Search | 60 |\n| Read | 600 |\n", 26, "| Search | 60 |\n"),
        ("one two three", 9, "one two "),
        ("one two three", 7, "one two"),
        ("costs 1,250 yen", 9, "costs "),
        ("in 12.75 s", 5, "in "),
        ("see https://a.example/b", 12, "see "),
        // Nothing has a space: letters and numbers stay whole.
        ("[\"ab\",1.25,37]", 8, "[\"ab\","),
        // A line that is longer than the limit begins where it fits.
        ("a\nbcd efg hij", 8, "a\nbcd "),
        ("料金は600円です", 4, "料金は"),
        ("料金は六百円です", 4, "料金は"),
        ("料金は600万円です", 6, "料金は"),
        ("これはPDFです", 5, "これは"),
        ("か\u{3099}き", 1, "か"),
        ("xか\u{3099}き", 2, "x"),
        ("x👩\u{200d}👧y", 2, "x"),
        ("x👩\u{200d}👧y", 3, "x"),
        ("ﾊﾞﾊﾞ", 3, "ﾊﾞ"),
        ("あいう", 0, ""),
    ] {
        assert_eq!(&text[..cut_length(text, max_chars)], expected, "{text:?} {max_chars}");
    }
    let marks = "\u{301}".repeat(100);
    assert_eq!(cut_length(&marks, 50), 100);
}

#[test]
fn the_last_part_begins_with_a_line_and_else_with_a_word() {
    for (text, max_chars, expected) in [
        ("abc\n", 4, "abc\n"),
        ("abc\ndef\n", 6, "def\n"),
        ("abc\r\ndef\r\n", 6, "def\r\n"),
        ("abc\n", 0, ""),
        ("one two three", 9, "two three"),
        ("one two three\n", 10, "two three\n"),
        // A line that fits into the limit is never shown in part.
        ("one two\nabc\n", 8, "abc\n"),
        ("料金は600円", 3, "円"),
        ("abcdef", 3, ""),
    ] {
        assert_eq!(&text[cut_start(text, max_chars, max_chars)..], expected, "{text:?} {max_chars}");
    }
}

proptest! {
    #[test]
    fn a_cut_advances_and_keeps_the_limit(text in "[a1,. \u{3042}\u{3099}\u{200d}\u{1f469}\r\n]{1,40}", max_chars in 1_usize..20) {
        for length in [cut_length(&text, max_chars), cut_length_within_line(&text, max_chars)] {
            prop_assert!(length > 0);
            prop_assert!(text[..length].chars().count() <= max_chars);
        }
        prop_assert!(text[cut_start(&text, max_chars, max_chars)..].chars().count() <= max_chars);
    }

    #[test]
    fn a_line_that_fits_is_never_cut(text in "([a1|, \u{3042}]{0,12}(\r\n|\n|\r)){0,6}", max_chars in 12_usize..40) {
        let cut = cut_length(&text, max_chars);
        prop_assert!(cut == text.len() || is_line_end(&text, cut), "{:?}", &text[..cut]);
        let start = cut_start(&text, max_chars, max_chars);
        prop_assert!(is_line_start(&text, start), "{:?}", &text[start..]);
    }
}
