//! Text: encodings, lines, excerpts, the nodes of Markdown and HTML, rendered text, section labels, and the normalized form in which finds compare text. All
//! positions refer to the original text.

mod anchors;
mod cut;
mod decode;
mod excerpt;
mod front_matter;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod headings;
mod html;
mod html_elements;
mod html_nodes;
mod html_rows;
mod html_tags;
mod json_passages;
mod json_pointer;
mod labels;
mod line_ending;
mod lines;
mod loose;
mod markdown_pieces;
mod names;
mod nodes;
mod normalize;
mod page_title;
mod plausibility;
mod position;
mod relative;
mod rendering;
pub mod values;

pub use anchors::{Anchors, slug};
pub use cut::{cut_around, cut_length, cut_length_with, cut_length_within_line, cut_start};
pub use decode::{
    AsciiStart, DecodedText, Encoding, decode, decode_after_ascii, has_japanese_escape, looks_like_utf8,
    strip_utf8_bom,
};
pub use excerpt::{Excerpt, ExcerptBuilder, ExcerptRequest};
pub use headings::{MAX_TITLE_CHARS, explicit_anchor, plain_title};
pub use html::{HtmlText, parse_html};
pub use json_passages::passages as json_passages;
pub use json_pointer::{PointerError, locate as locate_json};
pub use labels::{Unit, leading_number, part_number, percent_decoded, references};
pub use line_ending::{LineEnding, LineEndingCounter};
pub use lines::{LineIndex, TextPosition, truncate_chars};
pub use loose::{is_separator, loose_pattern};
pub use names::{named, title_labels};
pub use nodes::{MarkdownPage, Node, NodeKind, first_text_line, json_node, markdown_page, node_id};
pub use normalize::{
    Growth, Normalized, kanji_number, kanji_numeral, normalize_line, normalize_line_within, normalize_text,
};
pub use page_title::{is_page_number, page_name};
pub use position::{Position, Span};
pub use relative::{RelativeReference, Step, relative_references};
pub use rendering::Rendering;
