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
        super::pattern(&text);
        super::mermaid(&text);
        super::json(&text);
        super::html(&text);
    }

    #[test]
    fn no_bytes_break_a_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in text()) {
        super::segment(&bytes);
        super::encodings(&bytes, 16);
        let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(&text);
        super::encodings(&shift_jis, 16);
        super::encodings(&[&shift_jis, bytes.as_slice()].concat(), 16);
    }
}
