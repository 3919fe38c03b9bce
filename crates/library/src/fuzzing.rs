//! Entrances for fuzz targets: each takes any input through one reader of the library, and panics when what the reader
//! promises does not hold. Only built with the feature `fuzzing`.

use crate::audit::fuzzing as audits;
use crate::explore::{Dictionary, Query};
use crate::fs::{RelPath, Sha256};
use crate::index::Shape;
use crate::index::fuzzing as indexes;
use crate::paging::{LineKey, Pager};
use crate::text::{self, LineIndex, Normalized};

/// A path: it stays below its root, and parsing what was parsed changes nothing.
pub fn path(input: &str) {
    if let Ok(path) = RelPath::parse(input) {
        assert!(
            !path.as_str().starts_with('/') && path.segments().all(|part| !matches!(part, "" | "." | ".."))
        );
        assert_eq!(
            RelPath::parse(path.as_str()).map(|again| again.as_str().to_owned()).ok().as_deref(),
            Some(path.as_str())
        );
        let _ = (path.folded(), path.parent(), path.name(), path.check_portable());
    }
    let _ = RelPath::parse_folder(input);
}

/// The nodes of a text, normalized: every node is indexed, and its text is part of the whole.
pub fn nodes(input: &str) {
    for (path, shape) in [
        ("a.md", Shape::Markdown),
        ("a.md", Shape::Paragraphs),
        ("a.txt", Shape::Text),
        ("a.json", Shape::Json),
        ("a.html", Shape::Html),
    ] {
        indexes::build_and_check(path, shape, input, Sha256::of(input.as_bytes()));
    }
    let normal = Normalized::new(input);
    let whole = normal.original(0..normal.text.len());
    assert!(whole.end <= input.len());
    assert!(normal.text.len() <= 2 * input.len() + (64 << 10));
}

/// A cursor of a list: it is accepted or refused, whatever it is.
pub fn cursor(input: &str) {
    let list = ["vault_search", "x"];
    if let Ok(pager) = Pager::<LineKey, String>::new(&list, Some(input), Some(5), 1000) {
        let _ = pager.finish(false);
    }
}

/// A question: it is parsed the same twice.
pub fn query(input: &str) {
    let dictionary = Dictionary::new(&[]);
    let (one, other) = (Query::new(input, None, &dictionary), Query::new(input, None, &dictionary));
    assert_eq!(one.ok(), other.ok());
}

/// A Markdown artifact with flowcharts, and a file that is one.
pub fn mermaid(input: &str) {
    audits::read_markdown(input);
    audits::read_flowchart(input);
}

/// A JSON artifact, and the places and passages of a JSON text.
pub fn json(input: &str) {
    audits::read_json(input);
    let passages = text::json_passages(input, 200);
    assert!(passages.iter().all(|(_, range)| input.get(range.clone()).is_some()));
    for (pointer, _) in passages.iter().take(20) {
        if let Ok(range) = text::locate_json(input, pointer) {
            assert!(input.get(range).is_some());
        }
    }
}

/// A segment of the disk cache: it is refused, or can be used.
pub fn segment(input: &[u8]) {
    indexes::decode_and_use(input);
}

/// An HTML file.
pub fn html(input: &str) {
    let parsed = text::parse_html(input, "a.html");
    assert!(parsed.starts.iter().all(|start| parsed.text.is_char_boundary(*start)));
}

/// The bytes of a file in any encoding: what is decoded has no NUL, and its lines are in it.
pub fn encodings(input: &[u8]) {
    let _ = text::looks_like_utf8(input);
    if let Some(decoded) = text::decode(input.to_vec()) {
        assert!(!decoded.text.contains('\0'));
        let lines = LineIndex::new(&decoded.text);
        assert!(
            (1..=lines.count())
                .all(|number| lines.line(number).is_some_and(|line| decoded.text.get(line).is_some()))
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Pieces of the languages that the readers read.
    const PIECES: &[&str] = &[
        "# ",
        "## ",
        "\n",
        "\r\n",
        "\t",
        "- ",
        "> ",
        "```mermaid\n",
        "```\n",
        "flowchart TD\n",
        "A-->B",
        "B{x}",
        "subgraph s\n",
        "end\n",
        "A & B --- C",
        "-- t -->",
        "|x|",
        "%%",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        "`",
        ":",
        ",",
        ";",
        "<h1>",
        "</h1>",
        "<p>",
        "<table>",
        "<!-- source: m/a.md#L1-2 -->",
        "&amp;",
        "source_lines: 1-2",
        "derived:",
        "../",
        "/",
        ".",
        "~",
        "\\u00e9",
        "\\",
        "1",
        "23",
        "4,500円",
        "30日",
        "第三条",
        "給付金",
        "ガ",
        "か\u{3099}",
        "\u{fdfa}",
        "\u{feff}",
        "\u{0}",
        "foo",
        " and ",
        " not ",
        "-bar",
        "{\"nodes\":[{\"id\":1",
        "true",
        "null",
        "e5",
    ];

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_reader(text in text()) {
            super::path(&text);
            super::nodes(&text);
            super::cursor(&text);
            super::query(&text);
            super::mermaid(&text);
            super::json(&text);
            super::html(&text);
        }

        #[test]
        fn no_bytes_break_a_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in text()) {
            super::segment(&bytes);
            super::encodings(&bytes);
            let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(&text);
            super::encodings(&shift_jis);
            super::encodings(&[&shift_jis, bytes.as_slice()].concat());
        }
    }
}
