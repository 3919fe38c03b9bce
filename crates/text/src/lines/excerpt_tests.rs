use proptest::prelude::*;

use super::*;
use crate::LineIndex;

fn excerpt(pieces: &[&str], from: (u64, usize), last: u64, max_chars: usize) -> Excerpt {
    let request = ExcerptRequest { first_line: from.0, first_char: from.1, last_line: last, max_chars };
    let mut builder = ExcerptBuilder::new(request);
    pieces.iter().for_each(|piece| builder.push(piece));
    builder.finish()
}

#[test]
fn whole_lines_are_returned_up_to_the_limit() {
    for (pieces, from, last, max_chars, text, last_line, next, is_limited) in [
        (&["a\r\nbb\n", "ccc"][..], (1, 0), 9, 100, "a\r\nbb\nccc", 3, None, false),
        (&["a\nbb\nccc"], (1, 0), 9, 5, "a\nbb", 2, Some((3, 0)), true),
        (&["a\nbb\nccc"], (2, 0), 2, 5, "bb", 2, Some((3, 0)), false),
        (&["a\n"], (5, 0), 9, 9, "", 4, None, false),
        (&[""], (1, 0), 9, 9, "", 0, None, false),
        (&["a\n", "\n"], (1, 0), 9, 9, "a\n", 2, None, false),
    ] {
        let taken = excerpt(pieces, from, last, max_chars);
        assert_eq!(
            (taken.text.as_str(), taken.last_line, taken.next, taken.is_limited),
            (text, last_line, next, is_limited),
            "{pieces:?} {from:?}"
        );
    }
}

#[test]
fn a_line_longer_than_the_limit_is_continued() {
    let text = "あい\u{3099}うえ\nb";
    for (from, expected, next, complete) in [
        // The second character keeps its combining mark.
        ((1, 0), "あ", Some((1, 1)), 0),
        ((1, 1), "い\u{3099}", Some((1, 3)), 0),
        ((1, 3), "うえ", Some((2, 0)), 1),
        ((1, 5), "\nb", None, 2),
        ((2, 0), "b", None, 2),
    ] {
        let taken = excerpt(&[text], from, 9, 2);
        assert_eq!(
            (taken.text.as_str(), taken.next, taken.complete_line, taken.short_first_line),
            (expected, next, complete, None),
            "{from:?}"
        );
    }
    assert_eq!(excerpt(&[text], (1, 6), 9, 2).short_first_line, Some(5));
    assert_eq!(excerpt(&[text], (2, 2), 9, 2).short_first_line, Some(1));
    assert_eq!(excerpt(&[text], (2, usize::MAX), 9, 2).short_first_line, Some(1));
}

#[test]
fn a_line_longer_than_the_limit_is_cut_between_words() {
    let text = "one 1,250 three\n| Read | 600 |\n";
    for (from, expected, next) in
        [((1, 0), "one 1,250 ", (1, 10)), ((1, 10), "three", (2, 0)), ((2, 0), "| Read | ", (2, 9))]
    {
        let taken = excerpt(&[text], from, 9, 11);
        assert_eq!((taken.text.as_str(), taken.next, taken.is_limited), (expected, Some(next), true));
    }
}

#[test]
fn a_line_of_megabytes_is_read_in_parts() {
    let line = "あいうえお".repeat(200_000);
    let pieces: Vec<&str> =
        line.as_bytes().chunks(30_000).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let (mut from, mut seen) = ((1, 0), String::new());
    loop {
        let taken = excerpt(&pieces, from, 9, 20_000);
        assert!(taken.chars <= 20_000 && taken.complete_line == u64::from(taken.next.is_none()));
        seen.push_str(&taken.text);
        let Some(next) = taken.next else { break };
        from = next;
    }
    assert_eq!(seen, line);
}

proptest! {
    #[test]
    fn consecutive_excerpts_contain_every_character_exactly_once(
        text in "[ab\u{3042}\u{3099}\u{1f469}\u{feff}\r\n]{0,60}",
        chunk in 1_u64..5,
        max_chars in 1_usize..9,
        cuts in proptest::collection::vec(0_usize..80, 0..6),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| {
            let mut cut = cut.min(text.len());
            while !text.is_char_boundary(cut) { cut -= 1; }
            cut
        }).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        let index = LineIndex::new(&text);
        let (mut from, mut seen, mut complete) = ((1_u64, 0_usize), String::new(), 0);
        loop {
            let taken = excerpt(&pieces, from, from.0 + chunk - 1, max_chars);
            prop_assert_eq!(taken.total_lines as usize, index.count());
            prop_assert!(taken.text.chars().count() == taken.chars && taken.chars <= max_chars);
            prop_assert_eq!(taken.short_first_line, None);
            prop_assert!(taken.complete_line >= complete && taken.complete_line + 1 >= from.0);
            complete = taken.complete_line;
            seen.push_str(&taken.text);
            let Some(next) = taken.next else { break };
            prop_assert!(next > from, "every excerpt advances");
            if next.1 == 0 {
                // The break between two excerpts is left out.
                let (end, start) = (index.line(next.0 as usize - 1).unwrap().end, index.line(next.0 as usize).unwrap().start);
                seen.push_str(&text[end..start]);
            }
            from = next;
        }
        prop_assert_eq!(complete as usize, index.count());
        let end = index.line(index.count()).map_or(0, |line| line.end);
        prop_assert_eq!(seen, &text[..end]);
    }
}
