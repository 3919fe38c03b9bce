//! Text: encodings, lines, excerpts, the nodes of Markdown and HTML, section labels, and the normalized form in which finds compare text. All
//! positions refer to the original text.

mod cut;
mod decode;
mod excerpt;
mod html;
mod html_nodes;
mod html_rows;
mod html_tags;
mod json_passages;
mod json_pointer;
mod labels;
mod line_ending;
mod lines;
mod loose;
mod nodes;
mod normalize;
mod plausibility;

pub use cut::{cut_length, cut_length_within_line};
pub use decode::{
    DecodedText, Encoding, decode, decode_without_bom, has_japanese_escape, looks_like_utf8, strip_utf8_bom,
};
pub use excerpt::{Excerpt, ExcerptBuilder, ExcerptRequest};
pub use html::{HtmlText, parse_html};
pub use json_passages::passages as json_passages;
pub use json_pointer::{PointerError, locate as locate_json};
pub use labels::{find_anchor, labels, percent_decoded, references};
pub use line_ending::{LineEnding, LineEndingCounter};
pub use lines::{LineIndex, TextPosition, truncate_chars};
pub use loose::{is_separator, loose_pattern};
pub use nodes::{MAX_TITLE_CHARS, Node, json_node, markdown_nodes, node_id};
pub use normalize::{Normalized, kanji_number, kanji_numeral, normalize_line, normalize_text};
