//! Entrances for fuzz targets: each takes any input through one reader of the library, and panics when what the reader
//! promises does not hold. Only built with the feature `fuzzing`.

use crate::audit::fuzzing as audits;
use crate::line_search::fuzzing as searches;
use crate::paging::{FileKey, LineKey, Pager};
use crate::resources::uri::ResourceUri;
use annai_files::fs::{RelPath, fuzzing as files};
use annai_search::fuzzing as finds;
use annai_search::index::fuzzing as indexes;
use annai_text::fuzzing as texts;
use annai_text::{FORMATS, Format, Html, Markdown, Paragraphs};

/// A path: it stays below its root, and parsing what was parsed changes nothing. The same for the URI of a file.
pub fn path(input: &str) {
    if let Ok(path) = RelPath::parse(input) {
        assert!(
            !path.as_str().starts_with('/') && path.segments().all(|part| !matches!(part, "" | "." | ".."))
        );
        assert!(!path.as_str().contains(['\\', '\0']));
        assert_eq!(RelPath::parse(path.as_str()).ok().as_ref(), Some(&path));
        assert_eq!(RelPath::parse_folder(input).ok().flatten().as_ref(), Some(&path));
        assert!(
            path.parent()
                .is_none_or(|parent| RelPath::parse(parent.as_str()).is_ok_and(|again| again == parent))
        );
        assert_eq!(path.folded().len(), path.segments().count());
        let uri = ResourceUri::vault(path.as_str());
        assert_eq!(ResourceUri::parse(&uri.to_string()), Some(uri));
        let _ = path.check_portable();
    }
    if let Some(uri) = ResourceUri::parse(input) {
        let written = uri.to_string();
        assert!(written.is_ascii());
        assert_eq!(ResourceUri::parse(&written).map(|uri| uri.to_string()), Some(written));
    }
}

/// A text as a file: its nodes, its normal form and its rendering. Its length chooses what kind of file it is.
pub fn nodes(input: &str) {
    texts::check_normal_form(input);
    texts::check_rendering(input);
    let paragraphs: &dyn Format = &Paragraphs { has_tags: true };
    let formats: Vec<_> = FORMATS.iter().copied().chain([paragraphs]).collect();
    if let Some(format) = formats.get(input.len() % formats.len()) {
        let extension = format.extensions().first().unwrap_or(&"md");
        indexes::build_and_check(&format!("a.{extension}"), *format, input);
    }
}

/// A cursor of a list, which is accepted or refused, and a list whose keys are the lines: its pages have every item once.
pub fn cursor(input: &str) {
    let list = ["vault_search", "x"];
    if let Ok(pager) = Pager::<LineKey, String>::new(&list, Some(input), Some(5), 1000) {
        assert!(pager.after().is_some());
    }
    let mut keys: Vec<LineKey> = (0..).zip(input.lines()).map(|(number, line)| key(number, line)).collect();
    keys.sort();
    keys.dedup();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let pager = Pager::<LineKey, String>::new(&list, cursor.as_deref(), Some(1 + input.len() % 5), 60);
        assert!(pager.is_ok(), "the cursor {cursor:?} of the list itself is refused");
        let Ok(mut pager) = pager else { return };
        keys.iter().for_each(|key| pager.add(key.clone(), || key.to_string()));
        let page = pager.finish(false);
        assert!(page.total == keys.len() && (keys.is_empty() || !page.items.is_empty()));
        seen.extend(page.items);
        cursor = page.next_cursor;
        let Some(next) = cursor.as_deref() else { break };
        assert!(Pager::<LineKey, String>::new(&["vault_ls"], Some(next), None, 60).is_err());
    }
    assert_eq!(seen, keys.iter().map(ToString::to_string).collect::<Vec<_>>());
}

fn key(number: usize, line: &str) -> LineKey {
    let key = LineKey { path: line.to_owned(), line: number, char: line.len() % 3 };
    assert_eq!(key.to_string().parse().as_ref(), Ok(&key));
    if let Ok(file) = line.parse::<FileKey>() {
        assert_eq!(file.to_string(), line);
    }
    key
}

/// A question, which is the first line, about a manual, which is the rest.
pub fn query(input: &str) {
    let (question, text) = input.split_once('\n').unwrap_or((input, input));
    finds::highlight(question, text);
    finds::find(indexes::build_and_check("a.md", &Markdown, text), question);
}

/// A search pattern or a glob, which is the first line, and a text, which is the rest.
pub fn pattern(input: &str) {
    let (query, text) = input.split_once('\n').unwrap_or((input, input));
    searches::check_pattern(query, text);
    searches::check_glob(query, text);
}

/// A Markdown artifact with flowcharts, or a file that is one. Its length chooses which.
pub fn mermaid(input: &str) {
    match input.len() % 2 {
        0 => audits::read_markdown(input),
        _ => audits::read_flowchart(input),
    }
}

/// A JSON artifact, and the places and passages of a JSON text.
pub fn json(input: &str) {
    audits::read_json(input);
    texts::check_json(input);
}

/// A segment of the disk cache: it is refused, or can be searched.
pub fn segment(input: &[u8]) {
    let Some(segment) = indexes::decode_and_use(input) else { return };
    let node = segment.nodes.first();
    let words: String = node.map_or("", |node| segment.text_of(node)).chars().take(40).collect();
    let title = node.map_or("", |node| node.title.as_str());
    let question = format!("{title} {words}");
    finds::find(segment, &question);
}

/// An HTML file.
pub fn html(input: &str) {
    texts::check_html(input);
    indexes::build_and_check("a.html", &Html, input);
}

/// The bytes of a file in any encoding, read as a whole and in pieces.
pub fn encodings(input: &[u8], piece_bytes: usize) {
    texts::check_encoding(input);
    files::check_pieces(input, piece_bytes.max(1));
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod tests;
