//! The pieces in which a long Markdown text is parsed. The parser takes many times the size of a text that consists of markup,
//! and cannot be interrupted before it has seen all of it.

use annai_core::cancellation::checkpoint;

/// The maximum size of a piece. The parser takes 50 bytes for each mark, so this is 100 MB of memory and a tenth of a second
/// at the very worst.
pub const MAX_PIECE_BYTES: usize = 2 << 20;

/// The end of the piece that begins at a byte: the end of a line, except in a very long one.
pub fn piece_end(text: &str, start: usize) -> usize {
    let end = text.floor_char_boundary(start + MAX_PIECE_BYTES);
    let last_line = text.get(start..end).filter(|_| end < text.len()).and_then(|piece| piece.rfind('\n'));
    last_line.map_or(end, |length| start + length + 1)
}

/// Where to go on after a piece that ended in the middle of a block, which may be the code block that begins at a byte. The
/// rest of a line and of a code block has no markup.
pub fn after_cut(text: &str, end: usize, code_block: Option<usize>) -> usize {
    let rest = text.get(end..).filter(|_| !text.get(..end).is_some_and(|before| before.ends_with('\n')));
    let end = end + rest.map_or(0, |rest| rest.find('\n').map_or(rest.len(), |length| length + 1));
    let Some(code) = code_block.and_then(|start| text.get(start..)) else { return end };
    let mark = code.chars().next().filter(|mark| matches!(mark, '`' | '~'));
    let Some(mark) = mark else { return end };
    let fence = code.len() - code.trim_start_matches(mark).len();
    let mut at = text.len() - code.len();
    for (index, line) in code.split_inclusive('\n').enumerate() {
        checkpoint();
        at += line.len();
        let marks = line.trim_start_matches(['>', ' ']).trim_end();
        if index > 0 && marks.len() >= fence && marks.chars().all(|letter| letter == mark) {
            break;
        }
    }
    at.max(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_a_line_where_it_can() {
        let lines = "line\n".repeat(MAX_PIECE_BYTES);
        let end = piece_end(&lines, 5);
        assert!(end <= 5 + MAX_PIECE_BYTES && end > MAX_PIECE_BYTES - 5 && end.is_multiple_of(5));
        let long = "あ".repeat(MAX_PIECE_BYTES);
        assert_eq!(piece_end(&long, 0), MAX_PIECE_BYTES / 3 * 3);
        assert_eq!((piece_end("a\nb", 0), piece_end("a\nb", 2)), (3, 3));
    }

    #[test]
    fn the_rest_of_a_line_and_of_a_code_block_is_left_out() {
        for (text, end, code_block, next) in [
            ("a\nb\nc", 2, None, 2),
            ("a\nb\nc", 3, None, 4),
            ("abc", 2, None, 3),
            ("```\na\nb\n```\nc", 6, Some(0), 12),
            ("~~~~\na\n```\n~~~\n > ~~~~\nc", 7, Some(0), 23),
            ("```\na\nb", 6, Some(0), 7),
            ("    a\n    b\nc", 6, Some(4), 6),
        ] {
            assert_eq!(after_cut(text, end, code_block), next, "{text}");
        }
    }
}
