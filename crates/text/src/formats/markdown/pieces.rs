//! Splits a long Markdown text into pieces that are parsed one after the other. The parser takes many times the size of a
//! text that consists of markup, and cannot be interrupted before it has read all of it.

use std::ops::Range;

use annai_core::cancellation::checkpoint;

/// Texts up to this size are one piece. The parser takes 50 bytes for each mark, so this is 100 MB of memory and a tenth of a
/// second at the very worst.
const MAX_PIECE_BYTES: usize = 2 << 20;
/// A piece ends at the first suitable heading beyond this size.
const MIN_PIECE_BYTES: usize = MAX_PIECE_BYTES / 2;

/// What keeps a heading from being one until it ends: HTML that goes on over blank lines.
const SPANS: [(&str, &str); 6] = [
    ("<!--", "-->"),
    ("<script", "</script"),
    ("<pre", "</pre"),
    ("<style", "</style"),
    ("<textarea", "</textarea"),
    ("<?", "?>"),
];

/// The pieces of a text, without what certainly has no headings: very long code blocks, and the rest of very long lines. A
/// piece begins with a heading or a code block at the start of a line, which ends every list, quote and paragraph. Where there
/// is none for too long, it begins with any line.
pub fn markdown_pieces(text: &str) -> Vec<Range<usize>> {
    if text.len() <= MAX_PIECE_BYTES {
        return std::iter::once(0..text.len()).collect();
    }
    let mut pieces = Pieces { text, start: 0, next_boundary: MIN_PIECE_BYTES, found: Vec::new() };
    let mut fence: Option<Fence> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        checkpoint();
        let start = at;
        at += line.len();
        if let Some(open) = fence {
            if open.is_closed_by(line) {
                fence = None;
                pieces.leave_out_if_long(open.start, at);
            }
            continue;
        }
        fence = Fence::opened_by(line, start);
        if line.starts_with('#') || fence.is_some() {
            pieces.end_if_long(start);
        }
        if fence.is_none() && at - pieces.start > MAX_PIECE_BYTES {
            pieces.end(start);
        }
        if line.len() > MAX_PIECE_BYTES {
            pieces.end(text.floor_char_boundary(start + MAX_PIECE_BYTES));
            pieces.begin(at);
        }
    }
    if let Some(open) = fence {
        pieces.leave_out_if_long(open.start, at);
    }
    pieces.end(at);
    pieces.found
}

/// The pieces so far.
struct Pieces<'a> {
    text: &'a str,
    /// Where the piece begins that is not ended yet.
    start: usize,
    /// Where it may end.
    next_boundary: usize,
    found: Vec<Range<usize>>,
}

impl Pieces<'_> {
    fn begin(&mut self, at: usize) {
        (self.start, self.next_boundary) = (at, at + MIN_PIECE_BYTES);
    }

    /// Ends the piece and begins another one.
    fn end(&mut self, at: usize) {
        if at > self.start {
            self.found.push(self.start..at);
        }
        self.begin(at);
    }

    /// Ends the piece before a block that can begin another one, if it is long enough.
    fn end_if_long(&mut self, at: usize) {
        if at < self.next_boundary {
            return;
        }
        let (piece, rest) = self.text.split_at(at);
        let piece = piece.get(self.start..).unwrap_or_default();
        let open = SPANS.iter().filter(|(open, close)| piece.rfind(open) > piece.rfind(close));
        // The block may be a part of the HTML, up to where that ends.
        let end = open.map(|(_, close)| rest.find(close).map_or(self.text.len(), |end| at + end)).max();
        match end {
            Some(end) => self.next_boundary = end,
            None => self.end(at),
        }
    }

    /// Leaves a code block out that would make the piece too long.
    fn leave_out_if_long(&mut self, block: usize, end: usize) {
        if end - self.start > MAX_PIECE_BYTES {
            self.end(block);
            self.begin(end);
        }
    }
}

/// A code block that begins at the start of a line, so that it is in no list or quote.
#[derive(Clone, Copy)]
struct Fence {
    start: usize,
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str, start: usize) -> Option<Self> {
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // Backticks with another one behind them are code within a line.
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then_some(Self { start, mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let rest = marks.trim_start_matches(self.mark);
        line.len() - marks.len() <= 3 && marks.len() - rest.len() >= self.length && rest.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        markdown_pieces(text).into_iter().filter_map(|piece| text.get(piece)).collect()
    }

    #[test]
    fn a_short_text_is_one_piece_and_a_long_one_is_split_before_headings() {
        assert_eq!((markdown_pieces("a\n# b\n").len(), joined("a\n# b\n")), (1, "a\n# b\n".to_owned()));
        let section = format!("# Heading\n\n{}\n", "- item with text\n".repeat(1000));
        let text = section.repeat(500);
        let pieces = markdown_pieces(&text);
        assert!(pieces.len() > 3);
        for piece in &pieces {
            assert!(piece.len() <= MAX_PIECE_BYTES);
            assert!(text.get(piece.clone()).unwrap().starts_with("# Heading"));
        }
        assert_eq!(joined(&text), text);
    }

    #[test]
    fn no_piece_begins_in_a_code_block_or_a_comment() {
        for (open, close) in [("```sh\n", "```\n"), ("~~~~\n", "~~~~~\n"), ("<!--\n", "-->\n")] {
            let block = format!("{open}{}{close}", "# not a heading\n\n".repeat(20_000));
            let text = format!("# A\n{block}").repeat(20);
            let pieces = markdown_pieces(&text);
            assert!(pieces.len() > 3);
            for piece in pieces {
                let piece = text.get(piece).unwrap();
                assert!(
                    piece.starts_with("# A\n") || piece.starts_with("```sh") || piece.starts_with("~~~~")
                );
            }
            assert_eq!(joined(&text), text, "{open}");
        }
    }

    #[test]
    fn very_long_code_blocks_and_lines_are_left_out_and_markup_is_cut_anywhere() {
        let code = "# not a heading\n".repeat(300_000);
        let text = format!("# A\n\n```\n{code}```\n# B\n");
        assert_eq!(joined(&text), "# A\n\n# B\n");
        let open = format!("# A\n\n```\n{code}");
        assert_eq!(joined(&open), "# A\n\n");
        let line = format!("# {}\n# B\n", "あ".repeat(2_000_000));
        assert_eq!(joined(&line).chars().filter(|letter| *letter == '#').count(), 2);
        assert!(joined(&line).len() <= MAX_PIECE_BYTES + 10);
        let lines = "[[[\n".repeat(2_000_000);
        assert!(markdown_pieces(&lines).iter().all(|piece| piece.len() <= MAX_PIECE_BYTES));
        assert_eq!(joined(&lines), lines);
    }
}
