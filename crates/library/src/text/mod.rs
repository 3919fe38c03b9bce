//! Text: lines, excerpts, Markdown nodes, section labels, and the normalized form in which finds compare text. All
//! positions refer to the original text.

mod excerpt;
mod labels;
mod lines;
mod loose;
mod nodes;
mod normalize;

pub use excerpt::{Excerpt, ExcerptBuilder, ExcerptRequest};
pub use labels::{find_anchor, labels, percent_decoded, references};
pub use lines::{LineIndex, truncate_chars};
pub use loose::{is_separator, loose_pattern};
pub use nodes::{MAX_TITLE_CHARS, Node, json_node, markdown_nodes};
pub use normalize::{Normalized, kanji_number, kanji_numeral, normalize_line, normalize_text};
