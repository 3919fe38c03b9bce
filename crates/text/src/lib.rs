//! Text: encodings, lines, file formats and what they have in common, rendered text, references, values, and the normalized
//! form in which finds compare text. All positions refer to the original text.

mod decoding;
mod document;
mod formats;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod lines;
mod normalization;
mod references;
mod rendering;
mod sections;
pub mod values;

pub use decoding::{
    AsciiStart, DecodedText, Encoding, decode, decode_after_ascii, has_japanese_escape, looks_like_utf8,
    strip_utf8_bom,
};
pub use document::Document;
pub use formats::{
    FORMATS, Format, Html, Json, Markdown, Paragraphs, Plain, PointerError, Structure, extension_list,
    format_of, name_list, note_format_of, page_name,
};
pub use lines::{
    Excerpt, ExcerptBuilder, ExcerptRequest, LineEnding, LineEndingCounter, LineIndex, Position, Span,
    cut_around, cut_length, cut_length_with, cut_start, line_ranges, truncate_chars,
};
pub use normalization::{
    Growth, Normalized, is_separator, kanji_number, kanji_numeral, loose_pattern, normalize_line,
    normalize_line_within, normalize_text,
};
pub use references::{
    ReferenceStep, RelativeReference, Unit, leading_number, named, part_number, percent_decoded, references,
    relative_references, title_labels,
};
pub use rendering::Rendering;
pub use sections::{Anchors, Heading, Link, Node, NodeKind, node_id};
