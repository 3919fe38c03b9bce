//! Text by lines, characters and nodes, always in terms of the original.

mod excerpt;
mod labels;
mod lines;
mod loose;
mod nodes;
mod normalize;

pub use excerpt::{Cutter, Excerpt, Lines};
pub use labels::{find_anchor, labels, percent_decoded, references};
pub use lines::LineIndex;
pub use loose::{is_separator, loose_pattern};
pub use nodes::{Node, json_node, markdown_nodes};
pub use normalize::{Normalized, kanji_number, kanji_numeral, normalize_line, normalize_text};

/// The first `most` characters of a text, and whether that is all of it.
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), false),
        None => (text, true),
    }
}
