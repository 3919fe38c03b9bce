use annai_core::ErrorKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use annai_text::{Encoding, LineIndex, NodeKind};

/// A file of a manual, whose page is called like its path.
pub(super) fn document(text: &str, path: &str) -> ManualFile {
    let format = format_of(path).unwrap();
    ManualFile {
        path: path.to_owned(),
        format,
        sha256: Sha256::of(text.as_bytes()),
        encoding: Encoding::Utf8,
        document: format.parse(text.to_owned(), path),
    }
}

/// The arguments of a read, as a caller gives them.
pub(super) struct Arguments {
    pub(super) place: Ref,
    pub(super) scope: Option<ReadScope>,
    pub(super) lines: Option<Lines>,
    pub(super) expand: Expand,
}

impl Arguments {
    pub(super) fn scope(line: u64, scope: ReadScope) -> Self {
        let place =
            Ref::new(annai_search::reference::Target::Manual, Some("m".into()), "a.md".into(), Some(line));
        Self { place, scope: Some(scope), lines: None, expand: Expand::default() }
    }

    pub(super) fn lines(start: u64, end: Option<u64>) -> Self {
        Self { scope: None, lines: Some(Lines { start, end }), ..Self::scope(1, ReadScope::Snippet) }
    }

    pub(super) fn pointer(pointer: &str) -> Self {
        let mut arguments = Self::scope(1, ReadScope::Snippet);
        arguments.place.json_path = Some(pointer.to_owned());
        arguments
    }

    pub(super) fn read(
        &self,
        file: &ManualFile,
        cursor: Value,
        limits: Value,
    ) -> Result<ReadPart, ToolError> {
        let settings =
            config::LibrarySection { hard_max_chars: 1_000_000, ..config::LibrarySection::default() };
        let request = ReadRequest {
            place: &self.place,
            scope: self.scope,
            lines: self.lines,
            cursor: serde_json::from_value(cursor).unwrap(),
            limits: serde_json::from_value(limits).unwrap(),
            expand: self.expand,
            runs_on: true,
        };
        let scope = request.scope(Some(file.format.structure()))?;
        read_file(file, &settings, &request, scope)
    }

    /// Reads on until the end, and returns all texts.
    pub(super) fn read_all(&self, file: &ManualFile, limits: &Value) -> Vec<String> {
        let (mut cursor, mut texts, mut before) = (json!(null), Vec::new(), None);
        loop {
            let part = self.read(file, cursor.clone(), limits.clone()).unwrap();
            assert!(part.text.chars().count() <= part.max_chars);
            // Only the beginning of a section may be missing at its end.
            assert!(part.truncated || part.next_cursor.is_none());
            texts.push(part.text);
            let Some(next) = part.next_cursor else { return texts };
            assert!(before < Some(next), "{before:?} {next:?}: every call advances");
            before = Some(next);
            cursor = json!({ "start_line": next.line, "char": next.char });
        }
    }
}

fn error(result: Result<ReadPart, ToolError>) -> (ErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind(), error.message().to_owned())
}

const GUIDE: &str = "Intro line.\n\n# Guide\n\nText A.\n\n## Setup\n\nStep one.\n\n### Deep\n\nDeeper.\n\n## Use\n\nUse it.\n\n# Appendix\n\nEnd.\n";

#[test]
fn a_read_states_where_it_is() {
    let guide = document(GUIDE, "guide.md");
    let part = Arguments::scope(13, ReadScope::Section).read(&guide, json!(null), json!({})).unwrap();
    assert_eq!((part.text.as_str(), part.start_line, part.end_line), ("### Deep\n\nDeeper.\n", 11, 13));
    assert_eq!((part.heading_path, part.sections), (vec!["Guide".into(), "Setup".into(), "Deep".into()], 1));
    assert_eq!((part.truncated, part.next_cursor, part.rev.len()), (false, None, REV_DIGITS));
    let part = Arguments::scope(3, ReadScope::Section)
        .read(&guide, json!(null), json!({ "max_chars": 20 }))
        .unwrap();
    assert_eq!((part.text.as_str(), part.end_line), ("# Guide\n\nText A.\n\n", 6));
    assert_eq!(part.next_cursor, Some(Position { line: 7, char: 0 }));
    let cursor = json!({ "start_line": 7 });
    let part =
        Arguments::scope(3, ReadScope::Section).read(&guide, cursor, json!({ "max_chars": 20 })).unwrap();
    assert_eq!((part.text.as_str(), part.start_line, part.end_line), ("## Setup\n\nStep one.\n", 7, 9));
    assert_eq!(part.heading_path, ["Guide", "Setup"]);
    let part = Arguments::lines(5, Some(7)).read(&guide, json!(null), json!({})).unwrap();
    assert_eq!(
        (part.text.as_str(), part.scope, part.node_line),
        ("Text A.\n\n## Setup", ReadScope::Lines, 3)
    );
    let part = Arguments::lines(20, None).read(&guide, json!(null), json!({})).unwrap();
    assert_eq!((part.text.as_str(), part.start_line, part.end_line), ("\nEnd.", 20, 21));
}

#[test]
fn every_limit_of_sections_can_be_continued() {
    let guide = document(GUIDE, "guide.md");
    let all = Arguments::scope(7, ReadScope::Sections);
    let texts = all.read_all(&guide, &json!({ "max_sections": 1 }));
    assert_eq!(
        texts,
        [
            "## Setup\n\nStep one.\n",
            "\n### Deep\n\nDeeper.\n",
            "\n## Use\n\nUse it.\n",
            "\n# Appendix\n\nEnd."
        ]
    );
}

#[test]
fn a_snippet_stays_in_its_section_and_contains_its_line() {
    let guide = document(GUIDE, "guide.md");
    let read = |line: u64, max_chars: usize| {
        let part = Arguments::scope(line, ReadScope::Snippet).read(
            &guide,
            json!(null),
            json!({ "max_chars": max_chars }),
        );
        part.unwrap()
    };
    assert_eq!(read(9, 8000).text, "## Setup\n\nStep one.\n\n### Deep\n\nDeeper.");
    assert_eq!((read(17, 8000).text.as_str(), read(17, 8000).truncated), ("## Use\n\nUse it.", false));
    assert_eq!((read(1, 8000).text.as_str(), read(2, 8000).text.as_str()), ("Intro line.", "Intro line.\n"));
    for line in 1..=21 {
        let wanted = guide.document.text_of(line as usize, line as usize);
        for max_chars in wanted.chars().count().max(1)..60 {
            let part = read(line, max_chars);
            assert!(part.text.contains(wanted), "{line} {max_chars} {:?}", part.text);
        }
    }
    // A line before the first heading.
    let blank = document("\n\n# A\n", "a.md");
    assert_eq!(
        Arguments::scope(1, ReadScope::Snippet).read(&blank, json!(null), json!({})).unwrap().start_line,
        1
    );
}

#[test]
fn a_snippet_of_a_long_line_is_around_the_place() {
    let line: String = (0..1000).map(|number| char::from_u32(0x4e00 + number).unwrap()).collect();
    let text = format!("# A\n\n{line}\n\nEnd.\n");
    let long = document(&text, "a.md");
    let mut arguments = Arguments::scope(3, ReadScope::Snippet);
    let part_of = |from: usize, to: usize| line.chars().take(to).skip(from).collect::<String>();
    // A place inside a line has 240 characters on each side, of which the limit leaves as many as fit.
    for (char, before, start, end) in [(500, 240, 450, 740), (300, 240, 250, 540)] {
        arguments.place.char = Some(char);
        let part = arguments.read(&long, json!(null), json!({ "max_chars": 100 })).unwrap();
        assert_eq!(part.text, part_of(start, start + 100), "{char:?}");
        let next = part.next_cursor.unwrap();
        assert_eq!((next.line, next.char, part.truncated), (3, start as u32 + 100, true));
        let cursor = json!({ "start_line": next.line, "char": next.char });
        let rest = arguments.read(&long, cursor, json!({})).unwrap();
        // The rest of the section follows.
        assert_eq!(rest.text, format!("{}\n\nEnd.", part_of(start + 100, 1000)));
        let part = arguments.read(&long, json!(null), json!({})).unwrap();
        assert_eq!(
            (part.text, part.next_cursor.unwrap().char),
            (part_of(char as usize - before, end), end as u32)
        );
    }
    arguments.place.char = Some(1000);
    let part = arguments.read(&long, json!(null), json!({})).unwrap();
    assert_eq!((part.text, part.next_cursor), (format!("{}\n\nEnd.", part_of(760, 1000)), None));
    assert!(part.truncated, "what comes before it is left out");
    // Without a place inside it, the line is read from its beginning.
    arguments.place.char = None;
    let part = arguments.read(&long, json!(null), json!({ "max_chars": 100 })).unwrap();
    assert_eq!((part.text, part.next_cursor.unwrap().char), (part_of(0, 100), 100));
    arguments.place.char = Some(1001);
    let (kind, message) = error(arguments.read(&long, json!(null), json!({})));
    assert_eq!((kind, message.contains("from 0 to 1000")), (ErrorKind::InvalidParameter, true));
}

#[test]
fn a_page_runs_on_into_the_next_page_when_it_is_read() {
    let text = "# page1\na sen\n## B\nb\n# page2\ntence.\n# page3\nc\n# Index\nd\n";
    let read = document(text, "a.md");
    let section = |line: u64| {
        let part = Arguments::scope(line, ReadScope::Section).read(&read, json!(null), json!({})).unwrap();
        (part.text, part.start_line, part.end_line)
    };
    assert_eq!(section(2), ("# page1\na sen\n## B\nb\n# page2\ntence.".into(), 1, 6));
    assert_eq!(section(4), ("## B\nb".into(), 3, 4));
    assert_eq!(section(5), ("# page2\ntence.\n# page3\nc".into(), 5, 8));
    assert_eq!(section(7), ("# page3\nc".into(), 7, 8));
    // The lines of the section itself, which are copied and listed, are those of one page.
    assert_eq!(read.document.nodes.iter().map(|node| node.end_line).collect::<Vec<_>>(), [4, 4, 6, 8, 10]);
    let whole = Arguments::scope(1, ReadScope::Section);
    assert_eq!(whole.read_all(&read, &json!({ "max_chars": 5 })).concat(), section(1).0);
}

#[test]
fn headings_on_one_line_are_told_apart_by_their_character() {
    let text = "One\nfirst Two\nsecond Three";
    let mut minified = document(text, "a.md").document;
    let node = |title: &str, level: u8, start_char: usize, parent: Option<usize>| Node {
        title: title.into(),
        level,
        start_line: 1,
        start_char,
        end_line: 1,
        own_end_line: 1,
        parent,
        kind: NodeKind::Heading,
        own: start_char..text.len(),
        ..Node::default()
    };
    minified.lines = LineIndex::new("");
    minified.nodes = vec![node("One", 1, 0, None), node("Two", 2, 10, Some(0)), node("Three", 1, 21, None)];
    let read = |char: Option<u64>, scope: ReadScope| {
        let mut arguments = Arguments::scope(1, scope);
        arguments.place.char = char;
        let place = Place { line: 1, char: char.map(|char| char as usize) };
        let unit = match scope {
            ReadScope::Section => ReadUnit::section(&minified, place),
            _ => ReadUnit::sections(&minified, place, 1),
        };
        text[unit.first..unit.end_of_call(&minified, unit.first)].to_owned()
    };
    assert_eq!(read(None, ReadScope::Section), "One\nfirst Two\nsecond ");
    assert_eq!(read(Some(9), ReadScope::Sections), "One\nfirst ");
    assert_eq!(read(Some(10), ReadScope::Section), "Two\nsecond ");
    assert_eq!(read(Some(22), ReadScope::Section), "Three");
}

#[test]
fn a_pointer_selects_a_json_value() {
    let text = "{\n  \"a\": [1, {\n    \"b\": \"長い\" }],\n  \"a\": 2\n}\n";
    let json = document(text, "t.json");
    let part = Arguments::pointer("/a/1").read(&json, json!(null), json!({})).unwrap();
    assert_eq!((part.text.as_str(), part.start_line, part.end_line), ("{\n    \"b\": \"長い\" }", 2, 3));
    assert_eq!(Arguments::pointer("/a/1/b").read_all(&json, &json!({ "max_chars": 1 })).concat(), "\"長い\"");
    assert_eq!(Arguments::pointer("").read(&json, json!(null), json!({})).unwrap().text, text.trim_end());
    let mut default = Arguments::pointer("/a/0");
    default.scope = None;
    assert_eq!(default.read(&json, json!(null), json!({})).unwrap().text, "1");
    default.place.json_path = None;
    assert_eq!(default.read(&json, json!(null), json!({})).unwrap().scope, ReadScope::File);
    let (kind, message) = error(Arguments::pointer("/a/1/c/d").read(&json, json!(null), json!({})));
    assert!(kind == ErrorKind::NotFound && message.ends_with("the part that exists is /a/1"), "{message}");
    assert_eq!(
        error(Arguments::pointer("a").read(&json, json!(null), json!({}))).0,
        ErrorKind::InvalidParameter
    );
    let cursor = json!({ "start_line": 1 });
    assert_eq!(error(Arguments::pointer("/a").read(&json, cursor, json!({}))).0, ErrorKind::InvalidParameter);
    for text in ["{\"a\": 1,}", "", &"[".repeat(1_000_000)] {
        let invalid = document(text, "t.json");
        let (kind, message) = error(Arguments::pointer("/a").read(&invalid, json!(null), json!({})));
        assert!(kind == ErrorKind::InvalidParameter && message.contains("is not valid JSON"), "{message}");
    }
}

#[test]
fn cursors_and_lines_outside_of_the_text_are_refused() {
    let guide = document(GUIDE, "guide.md");
    for (cursor, arguments) in [
        // Forged, or made for a longer version of the file or for another file.
        (json!({ "start_line": 99 }), Arguments::lines(1, None)),
        (json!({ "start_line": u64::MAX, "char": u64::MAX }), Arguments::lines(1, None)),
        (json!({ "start_line": 1, "char": 13 }), Arguments::lines(1, None)),
        // At the end of the text, where nothing is left to read.
        (json!({ "start_line": 21, "char": 4 }), Arguments::lines(1, None)),
        // In another section, before and after the lines.
        (json!({ "start_line": 1 }), Arguments::scope(7, ReadScope::Section)),
        (json!({ "start_line": 15 }), Arguments::scope(7, ReadScope::Section)),
        (json!({ "start_line": 3 }), Arguments::scope(7, ReadScope::Sections)),
        (json!({ "start_line": 3 }), Arguments::lines(4, Some(6))),
        (json!({ "start_line": 7 }), Arguments::lines(4, Some(6))),
        (json!({ "start_line": 1 }), Arguments::scope(17, ReadScope::Snippet)),
    ] {
        let (kind, message) = error(arguments.read(&guide, cursor.clone(), json!({})));
        assert!(
            kind == ErrorKind::InvalidParameter && message.starts_with("cursor: expected"),
            "{cursor} {message}"
        );
    }
    for (start, end, problem) in [
        (22, None, "lines.start: expected a line from 1 to 21, the last one of the file, got 22"),
        (u64::MAX, Some(u64::MAX), "lines.start: expected a line from 1 to 21"),
        (0, Some(3), "lines.start: expected a line from 1 to 21"),
        (5, Some(4), "lines.end: expected a line from 5 (lines.start) to 21, got 4"),
        (5, Some(0), "lines.end: expected a line from 5"),
    ] {
        let (kind, message) = error(Arguments::lines(start, end).read(&guide, json!(null), json!({})));
        assert!(kind == ErrorKind::InvalidParameter && message.starts_with(problem), "{message}");
    }
    // An end beyond the file means its last line.
    assert_eq!(
        Arguments::lines(21, Some(u64::MAX)).read(&guide, json!(null), json!({})).unwrap().text,
        "End."
    );
    let mut both = Arguments::lines(1, None);
    both.scope = Some(ReadScope::Section);
    assert_eq!(error(both.read(&guide, json!(null), json!({}))).0, ErrorKind::InvalidParameter);
    // An empty file has one empty line.
    let empty = document("", "a.md");
    for arguments in [
        Arguments::lines(1, None),
        Arguments::scope(1, ReadScope::Section),
        Arguments::scope(1, ReadScope::File),
    ] {
        assert_eq!(arguments.read_all(&empty, &json!({})), [""]);
        assert_eq!(arguments.read(&empty, json!({ "start_line": 1 }), json!({})).unwrap().text, "");
        assert!(arguments.read(&empty, json!({ "start_line": 2 }), json!({})).is_err());
    }
}

#[test]
fn lines_of_megabytes_are_read_to_their_end() {
    let long = "あいう\u{1f469}\u{200d}\u{1f467}か\u{3099}".repeat(150_000);
    assert!(long.len() > 3 << 20);
    let text = format!("# A\r\n{long}\r\n## B\r\nend");
    let large = document(&text, "a.md");
    let limits = json!({ "max_chars": 200_000 });
    for arguments in [
        Arguments::scope(1, ReadScope::Section),
        Arguments::scope(1, ReadScope::Sections),
        Arguments::scope(1, ReadScope::File),
        Arguments::lines(1, None),
    ] {
        assert_eq!(arguments.read_all(&large, &limits).concat(), text);
    }
    assert_eq!(Arguments::lines(2, Some(2)).read_all(&large, &limits).concat(), long);
    let json_text = format!("{{\"a\": \"{long}\"}}");
    let json = document(&json_text, "t.json");
    assert_eq!(Arguments::pointer("/a").read_all(&json, &limits).concat(), format!("\"{long}\""));
}

proptest! {
    #[test]
    fn reading_to_the_end_returns_every_character_once(
        text in "\u{feff}?(#{1,3} |[a\u{3042}\u{3099}\u{200d}\u{1f469} ]{0,7}|\r\n|\n|\r){0,24}",
        max_chars in 1_usize..30,
        max_sections in 1_usize..4,
        line in 1_usize..20,
        count in 0_usize..9,
    ) {
        let read = document(&text, "a.md");
        let last = read.document.lines.count().max(1);
        let line = line.min(last);
        let limits = json!({ "max_chars": max_chars, "max_sections": max_sections });
        let place = Place { line, char: None };
        let whole = |unit: ReadUnit| text[unit.range].to_owned();
        for (arguments, expected) in [
            (Arguments::scope(line as u64, ReadScope::File), text.clone()),
            (Arguments::scope(line as u64, ReadScope::Section), whole(ReadUnit::section(&read.document, place))),
            (Arguments::scope(line as u64, ReadScope::Sections), whole(ReadUnit::sections(&read.document, place, 1))),
            (
                Arguments::lines(line as u64, Some((line + count) as u64)),
                read.document.text_of(line, (line + count).min(last)).to_owned(),
            ),
        ] {
            prop_assert_eq!(arguments.read_all(&read, &limits).concat(), expected);
        }
        // The section is what its lines are.
        let node = &read.document.nodes[node_index(&read.document, place)];
        prop_assert_eq!(whole(ReadUnit::section(&read.document, place)), read.document.text_of(node.start_line, node.end_line));
        // A snippet is in its section, and contains its line.
        let part = Arguments::scope(line as u64, ReadScope::Snippet).read(&read, json!(null), json!({})).unwrap();
        prop_assert!(part.text.contains(read.document.text_of(line, line)));
        prop_assert!(part.end_line <= node.end_line);
    }

    #[test]
    fn any_cursor_has_an_answer(
        text in "([ab#\u{3042} ]{0,5}(\r\n|\n|\r)){0,8}",
        line in 0_u64..12,
        char in proptest::option::of(0_u64..9),
        from in 1_u64..8,
    ) {
        let read = document(&text, "a.md");
        let cursor = json!({ "start_line": line, "char": char });
        for arguments in [Arguments::scope(from, ReadScope::Section), Arguments::scope(from, ReadScope::Snippet), Arguments::lines(from, None)] {
            match arguments.read(&read, cursor.clone(), json!({ "max_chars": 4 })) {
                Ok(part) => prop_assert!(text.contains(&part.text)),
                Err(error) => prop_assert_eq!(error.kind(), ErrorKind::InvalidParameter),
            }
        }
    }

    #[test]
    fn json_values_are_read_to_their_end(
        names in proptest::collection::vec("[a-c\u{3042}]{1,2}", 1..5),
        strings in proptest::collection::vec("[x\u{1f469}\"\\\\]{0,9}", 1..5),
        pretty in any::<bool>(),
        max_chars in 1_usize..12,
    ) {
        let value: Value = names.iter().zip(&strings).map(|(name, text)| (name.clone(), json!([text, { "n": text }]))).collect::<serde_json::Map<_, _>>().into();
        let text = if pretty { format!("{value:#}\r\n") } else { value.to_string() };
        let read = document(&text, "t.json");
        for (name, member) in value.as_object().unwrap() {
            let found = Arguments::pointer(&format!("/{name}")).read_all(&read, &json!({ "max_chars": max_chars })).concat();
            prop_assert_eq!(&serde_json::from_str::<Value>(&found).unwrap(), member);
        }
    }
}
