//! Splits the text of a long section into passages, so that a match in it can be ranked, named and read on its own.

use std::ops::Range;

use annai_core::cancellation::checkpoint;
use annai_text::LineIndex;

/// The maximum length of a section that is ranked as a whole.
pub const MAX_NODE_CHARS: usize = 4000;
/// The maximum length of a passage: a screen of text, about 500 tokens.
const MAX_PASSAGE_CHARS: usize = 2000;
/// What is shorter, such as a heading, stays with the text after it, which it would say nothing without. A passage of
/// whole lines may therefore exceed the maximum by this much.
const MIN_PASSAGE_CHARS: usize = 200;

/// The passages of a part of a text, in order and without gaps: the part itself when it is short. A passage consists of
/// whole lines and ends at a blank line where there is one in its second half; a line that is too long alone is split
/// at the end of a sentence or word.
pub fn passages(text: &str, lines: &LineIndex, part: Range<usize>) -> Vec<Range<usize>> {
    let whole = text.get(part.clone()).unwrap_or_default();
    if whole.len() <= MAX_NODE_CHARS || whole.chars().nth(MAX_NODE_CHARS).is_none() {
        return vec![part];
    }
    let mut splitter = Splitter { passages: Vec::new(), start: part.start, chars: 0, blank: None };
    let (first, last) = (lines.line_at(part.start), lines.line_at(part.end - 1));
    for number in first..=last {
        checkpoint();
        let line = lines.line(number).map_or(part.start, |line| line.start).max(part.start);
        let end = lines.line(number + 1).map_or(part.end, |next| next.start).min(part.end);
        splitter.add_line(text, line..end.max(line));
    }
    splitter.close(part.end);
    splitter.passages
}

struct Splitter {
    passages: Vec<Range<usize>>,
    /// The start of the current passage.
    start: usize,
    /// Its length so far.
    chars: usize,
    /// The last place in it where a blank line ends, and its length up to there.
    blank: Option<(usize, usize)>,
}

impl Splitter {
    /// Ends the current passage here.
    fn close(&mut self, end: usize) {
        if end > self.start {
            self.passages.push(self.start..end);
        }
        (self.start, self.chars, self.blank) = (end, 0, None);
    }

    fn add_line(&mut self, text: &str, line: Range<usize>) {
        let content = text.get(line.clone()).unwrap_or_default();
        let chars = content.chars().count();
        while self.chars + chars > MAX_PASSAGE_CHARS && self.chars >= MIN_PASSAGE_CHARS {
            match self.blank.filter(|(_, length)| *length * 2 > MAX_PASSAGE_CHARS) {
                Some((end, length)) => {
                    let rest = self.chars - length;
                    self.close(end);
                    self.chars = rest;
                }
                None => self.close(line.start),
            }
        }
        if chars > MAX_PASSAGE_CHARS {
            let mut start = line.start;
            while let Some(length) =
                split_length(text.get(start..line.end).unwrap_or_default(), MAX_PASSAGE_CHARS - self.chars)
            {
                start += length;
                self.close(start);
            }
        }
        self.chars += text.get(self.start.max(line.start)..line.end).map_or(0, |rest| rest.chars().count());
        if content.trim().is_empty() {
            self.blank = Some((line.end, self.chars));
        }
    }
}

/// The length in bytes of the first passage of a long line, of at most so many characters; none when the rest is short
/// enough.
fn split_length(rest: &str, max_chars: usize) -> Option<usize> {
    let (limit, _) = rest.char_indices().nth(max_chars)?;
    let window = rest.get(..limit)?;
    let half = window.char_indices().nth(max_chars / 2).map_or(0, |(at, _)| at);
    let later = window.get(half..)?;
    let after = |found: Option<(usize, &str)>| found.map(|(at, mark)| half + at + mark.len());
    let sentence = later.rmatch_indices(['。', '．', '！', '？']).next();
    let sentence = after(sentence).or_else(|| after(later.rmatch_indices(". ").next()));
    Some(sentence.or_else(|| after(later.rmatch_indices(' ').next())).unwrap_or(limit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let lines = LineIndex::new(text);
        passages(text, &lines, 0..text.len()).into_iter().map(|passage| &text[passage]).collect()
    }

    #[test]
    fn a_short_text_is_one_passage_and_a_long_one_is_split_at_blank_lines() {
        let paragraph = format!("{}\n\n", "word ".repeat(150));
        assert_eq!(split(&paragraph.repeat(2)).len(), 1);
        let long = paragraph.repeat(10);
        let parts = split(&long);
        assert_eq!(parts.len(), 5);
        assert!(parts.iter().all(|part| part.ends_with("\n\n")), "{parts:?}");
    }

    #[test]
    fn a_passage_that_ends_at_a_blank_line_leaves_no_more_than_fits_for_the_next_one() {
        let line = |chars: usize| "x".repeat(chars);
        let text = format!("{}\n\n{}\n{}\n{}\n", line(1001), line(990), line(1500), line(1990));
        let lengths: Vec<_> = split(&text).iter().map(|part| part.len()).collect();
        assert_eq!(lengths, [1003, 991, 1501, 1991]);
    }

    #[test]
    fn a_long_line_is_split_at_sentences_then_words_then_anywhere() {
        let sentences = "これは文である。".repeat(700);
        assert!(split(&sentences).iter().all(|part| part.ends_with('。') && part.chars().count() <= 2000));
        let words = "word ".repeat(1000);
        assert!(split(&words).iter().all(|part| part.ends_with(' ')));
        assert_eq!(split(&"あ".repeat(4500)).len(), 3);
    }

    proptest! {
        #[test]
        fn passages_cover_the_text_without_gaps(
            pieces in proptest::collection::vec(("[a。 \\n\\rあ]{0,9}", 1_usize..900), 1..8)
        ) {
            let text: String = pieces.iter().map(|(piece, count)| piece.repeat(*count)).collect();
            let parts = split(&text);
            prop_assert_eq!(parts.concat(), text.clone());
            let is_short = text.chars().count() <= MAX_NODE_CHARS;
            let max_chars = MAX_PASSAGE_CHARS + MIN_PASSAGE_CHARS;
            prop_assert!(is_short || parts.iter().all(|part| part.chars().count() <= max_chars));
            // Only the last passage may be a mere remainder.
            let (_, full) = parts.split_last().unwrap_or((&"", &[]));
            prop_assert!(full.iter().all(|part| part.chars().count() >= MIN_PASSAGE_CHARS));
        }
    }
}
