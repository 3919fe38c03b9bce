use super::*;
use crate::index::build::build;
use crate::index::segment::Segment;
use annai_text::{Html, Json, LineIndex, Markdown, Paragraphs, Plain, note_format_of};

/// The normalized text of a passage.
fn own_text<'a>(doc: &'a ParsedFile, section: &NodeEntry) -> &'a str {
    &doc.text[section.text.start as usize..section.text.end as usize]
}

fn doc(format: &dyn Format, text: &str) -> ParsedFile {
    ParsedFile::of_text("m", "a/b.md", format, text)
}

#[test]
fn each_node_has_its_own_normalized_lines_and_links() {
    let doc = doc(&Markdown, "Ｐre\n\n# One [x](y.md#z)\nＡ\n\nTwo\n---\nB [q](http://x)\n");
    let own: Vec<_> = doc
        .nodes
        .iter()
        .map(|section| (section.title.as_str(), section.heading_lines, own_text(&doc, section)))
        .collect();
    let expected = [("One x", 0, "pre\n\n"), ("One x", 1, "# one x\na\n\n"), ("Two", 2, "two\n---\nb q\n")];
    assert_eq!(own, expected);
    assert_eq!(doc.nodes[1].links, ["y.md#z"]);
    assert!(doc.nodes[2].links.is_empty());
}

#[test]
fn json_escapes_are_decoded_before_normalizing() {
    let doc = doc(&Json, "{\"a\": \"\\u4fdd\\u967a\\u91d1 \\ud83d\\ude00 \\uZ\"}");
    assert_eq!((doc.entry.sound, doc.text.as_str()), (false, "{\"a\": \"保険金 😀 \\uz\"}\n"));
}

#[test]
fn paragraphs_are_split_at_blank_lines_and_titled_by_headings() {
    let doc = doc(&Paragraphs { has_tags: true }, "a\nb\n\n# T\nc\n\nd");
    let own: Vec<_> = doc
        .nodes
        .iter()
        .map(|section| (section.title.as_str(), section.start_line, section.end_line))
        .collect();
    assert_eq!(own, [("T", 1, 2), ("T", 4, 5), ("T", 7, 7)]);
}

#[test]
fn a_paragraph_is_text_from_its_first_line_on() {
    // Neither a line of hyphens, nor a tag, nor a heading is taken out of the text.
    let text = "refund policy\n---\nmore\n\n#tag of a note\n\n# Title\nwords\n";
    let doc = doc(&Paragraphs { has_tags: true }, text);
    assert!(doc.nodes.iter().all(|section| section.heading_lines == 0), "{:?}", doc.nodes);
    let segment = build("", vec![doc]);
    let counts =
        ["refund", "tag", "titl", "word"].map(|word| segment.count(crate::index::tokens::word(word)));
    assert_eq!(counts, [1, 1, 1, 1]);
}

#[test]
fn a_byte_order_mark_does_not_hide_a_heading_that_is_the_name_of_the_file() {
    assert_eq!(doc(&Markdown, "\u{feff}# b.md\nx\n").nodes[0].heading_lines, 1);
    assert_eq!(doc(&Markdown, "b.md\nx\n").nodes[0].heading_lines, 0);
}

/// The text of a passage in the original, by its position and that of the next one.
fn originals<'a>(text: &'a str, doc: &ParsedFile) -> Vec<&'a str> {
    let lines = LineIndex::new(text);
    let start = |section: &NodeEntry| {
        let line = lines.line(section.start_line as usize).unwrap();
        let before: usize =
            text[line.clone()].chars().take(section.start_char as usize).map(char::len_utf8).sum();
        line.start + before
    };
    let starts: Vec<_> = doc.nodes.iter().map(start).chain([text.len()]).collect();
    starts.windows(2).map(|part| &text[part[0]..part[1]]).collect()
}

fn long_section() -> String {
    let paragraphs: String =
        (0..60).map(|number| format!("Paragraph {number} {}\n\n", "of some words ".repeat(10))).collect();
    format!(
        "Preface\n\n# Top\n## Long\n{paragraphs}### Child\nof the long one\n## Next\nlast\n### Below\nit\n"
    )
}

#[test]
fn a_long_section_is_split_into_passages_that_name_their_place() {
    let text = long_section();
    let doc = doc(&Markdown, &text);
    let shown: Vec<_> = doc
        .nodes
        .iter()
        .map(|section| {
            let NodeEntry { title, parent, .. } = section;
            (title.as_str(), section.is_continuation, section.heading_lines, *parent)
        })
        .collect();
    let passages = shown.iter().filter(|section| section.0 == "Long").count();
    assert!(passages >= 4, "{shown:?}");
    let mut expected = vec![("Top", false, 0, None), ("Top", false, 1, None), ("Long", false, 1, Some(1))];
    expected.extend(vec![("Long", true, 0, Some(2)); passages - 1]);
    // The children of a split section keep their parent, which is its first passage.
    let next = passages as u32 + 3;
    expected.extend([
        ("Child", false, 1, Some(2)),
        ("Next", false, 1, Some(1)),
        ("Below", false, 1, Some(next)),
    ]);
    assert_eq!(shown, expected);

    let parts = originals(&text, &doc);
    assert_eq!(parts.concat(), text);
    for (section, part) in doc.nodes.iter().zip(parts) {
        let NodeEntry { start_line, start_char, own_end_line, .. } = *section;
        assert_eq!(start_char, 0, "whole lines");
        assert_eq!(own_end_line, start_line + part.lines().count() as u32 - 1, "{part}");
        assert!(part.chars().count() <= 2200);
        assert_eq!(*own_text(&doc, section), part.to_lowercase());
    }
    let child = doc.nodes.iter().find(|section| section.title == "Child").unwrap();
    assert_eq!(doc.nodes[2].end_line, child.end_line, "a section includes its children");
    assert!(doc.nodes[3].end_line == doc.nodes[3].own_end_line);
}

#[test]
fn a_section_of_4000_characters_is_not_split() {
    let section = |chars: usize| format!("# A\n{}\n", "x".repeat(chars - "# A\n\n".len()));
    assert_eq!(doc(&Markdown, &section(4000)).nodes.len(), 1);
    assert_eq!(doc(&Markdown, &section(4001)).nodes.len(), 3);
    // Characters count, not bytes.
    assert_eq!(doc(&Markdown, &"給".repeat(4000)).nodes.len(), 1);
}

#[test]
fn a_line_of_100_000_characters_is_split() {
    let line: String = (0..12_500).map(|number| format!("給付金{number:05}")).collect();
    let text = format!("# A\n{line}\nend\n# B\nb\n");
    assert_eq!(line.chars().count(), 100_000);
    for (format, title) in [(&Markdown as &dyn Format, "A"), (&Paragraphs { has_tags: true }, "A")] {
        let doc = doc(format, &text);
        let parts = originals(&text, &doc);
        assert!(doc.nodes.len() > 50 && parts.concat() == text);
        assert!(parts.iter().all(|part| part.chars().count() <= 2200));
        let inside: Vec<_> = doc.nodes.iter().filter(|section| section.start_char > 0).collect();
        assert!(inside.len() >= 49 && inside.iter().all(|section| section.start_line == 2));
        assert!(inside.iter().all(|section| section.is_continuation && section.title == title));
        let before: Vec<_> = inside.iter().map(|section| section.start_char).collect();
        assert!(before.is_sorted() && before.last().is_some_and(|last| *last >= 97_000), "{before:?}");
        assert_eq!(doc.nodes.last().unwrap().start_line, 4);
    }
}

#[test]
fn a_heading_stays_with_the_text_below_it() {
    for text in ["x ".repeat(5000), format!("{}\n", "y".repeat(1999)).repeat(4)] {
        let text = format!("# A heading\n\n{text}");
        let doc = doc(&Markdown, &text);
        assert!(doc.nodes.len() > 1);
        let first = originals(&text, &doc)[0];
        assert!(first.len() > 1000, "{first}");
    }
}

#[test]
fn a_split_section_is_the_same_after_a_round_trip_through_a_segment() {
    let json = "{\n \"a\": \"x\"\n}\n";
    let docs = || -> Vec<ParsedFile> {
        let long = long_section();
        let line = format!("# L\n{}\n## C\nx\n", "word ".repeat(2000));
        let mut value = ParsedFile::of_text("m", "v.json", &Json, json);
        value.nodes[0].json_path = Some("/a/0".into());
        vec![
            ParsedFile::of_text("m", "first.md", &Markdown, "# First\nx\n"),
            ParsedFile::of_text("m", "long.md", &Markdown, &long),
            ParsedFile::of_text("m", "line.md", &Markdown, &line),
            ParsedFile::of_text("m", "note.md", &Paragraphs { has_tags: true }, &long),
            value,
            ParsedFile::of_text("m", "empty.md", &Markdown, ""),
        ]
    };
    let segment: Segment = build("m", docs());
    let again: Vec<_> = segment.files.iter().map(|file| segment.doc(file)).collect();
    assert_eq!(again, docs());
    assert_eq!(build("m", again), segment);
}

#[test]
fn the_text_is_rendered_with_one_line_for_each_line_of_the_file() {
    let text = "# A {#id}\n**有給**休暇 <b\n class=\"x\">x</b>\n<!-- no\n\nno -->\n[支払](x.md)方法 `**code**`\n\n[r]: y.md\n";
    for format in [&Markdown as &dyn Format, &Paragraphs { has_tags: true }] {
        let doc = doc(format, text);
        let shown: Vec<_> = doc.text.lines().filter(|line| !line.trim().is_empty()).collect();
        assert_eq!(shown, ["# a ", "有給休暇 ", "x", "支払方法 `**code**`"], "{}", format.name());
        let links: Vec<_> = doc.nodes.iter().flat_map(|section| &section.links).collect();
        assert_eq!(links, ["x.md", "y.md"]);
    }
    let parsed = doc(&Markdown, text);
    assert_eq!(parsed.text.lines().count(), text.lines().count());
    assert_eq!(parsed.nodes.iter().map(|section| section.bytes).sum::<u32>() as usize, text.len());
    // Other types of files are what they are.
    let plain = |path: &str, format: &dyn Format| ParsedFile::of_text("", path, format, "**a** <b>\n").text;
    assert_eq!(plain("a.txt", &Plain), "**a** <b>\n");
    assert_eq!(plain("a.txt", note_format_of("a.txt")), "**a** <b>\n");
    assert_eq!(plain("a.MD", note_format_of("a.MD")), "a \n");
}

#[test]
fn passages_of_a_long_line_are_rendered_as_parts_of_the_whole() {
    let line: String =
        (0..700).map(|number| format!("**給付**金{number:03} [支払](x/y{number}.md)方法。")).collect();
    let doc = doc(&Markdown, &format!("# A\n{line}\n"));
    assert!(doc.nodes.len() > 5);
    let rendered: String = (0..700).map(|number| format!("給付金{number:03} 支払方法。")).collect();
    // Every passage is a line of its own.
    assert_eq!(doc.text.replace('\n', ""), format!("# a{rendered}"));
}

#[test]
fn a_file_knows_the_title_of_its_page() {
    let title = |path: &str, format: &dyn Format, text: &str| {
        ParsedFile::of_text("m", path, format, text).entry.title
    };
    assert_eq!(title("a/b.md", &Markdown, "---\ntitle: Pods\n---\n# X\n"), "Pods");
    assert_eq!(title("a/b.md", &Paragraphs { has_tags: true }, "x\n\n# The *Title*\n"), "The Title");
    assert_eq!(title("a/index.md", &Markdown, "## x\n"), "a");
    assert_eq!(title("README.md", &Markdown, "x\n"), "m");
    assert_eq!(title("a.json", &Json, "{}"), "a.json");
    assert_eq!(title("a.html", &Html, "<title>T</title><h2>a</h2><h1>H</h1>"), "H");
    assert_eq!(title("a.html", &Html, "<title>T</title><h2>a</h2>"), "T");
    assert_eq!(title("a/index.html", &Html, "x<h2>a</h2>"), "a");
}

#[test]
fn the_title_in_the_front_matter_is_indexed_as_a_heading() {
    let text = "---\ntitle: Quotas\n---\nIntro.\n## Usage\nx\n";
    let segment = build("m", vec![doc(&Markdown, text)]);
    let found: Vec<_> = segment.find(crate::index::tokens::word("quota")).collect();
    let counts: Vec<_> =
        found.iter().map(|posting| (posting.node, posting.body, posting.title, posting.path)).collect();
    assert_eq!(counts, [(0, 1, 1, 0), (1, 0, 0, 1)]);
}

#[test]
fn a_page_number_is_text_of_its_page_and_not_its_title() {
    let doc = doc(&Markdown, "## page12\nThe first line.\nMore.\n");
    let section = &doc.nodes[0];
    assert_eq!((section.title.as_str(), section.heading_lines), ("The first line.", 0));
    let vault = ParsedFile::of_text(
        "",
        "v.md",
        &Paragraphs { has_tags: true },
        "# 12ページ\n\n最初の行\n\n# 13ページ\n# X\n",
    );
    let titles: Vec<_> = vault.nodes.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["最初の行", "13ページ", "X"]);
}
