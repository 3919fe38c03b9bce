use proptest::prelude::*;

use super::*;
use crate::index::build::build;
use crate::index::entries::ParsedFile;
use annai_text::{Encoding, Html, Json, Markdown, NodeKind};

fn small() -> Segment {
    let text = "# A [x](y.md)\n給付金\n## B\nc\n";
    build("m", vec![ParsedFile::of_text("m", "a.md", &Markdown, text)])
}

/// Passages of a long section and of a long line, the value of a JSON file, HTML, and a page.
fn varied() -> Segment {
    let long = format!("# A\n{}## B\n{}\n", "words\n\n".repeat(900), "x ".repeat(3000));
    let mut json = ParsedFile::of_text("m", "v.json", &Json, "[1]");
    json.nodes[0].json_path = Some("/0".into());
    let long = ParsedFile::of_text("m", "a.md", &Markdown, &long);
    let html = "<h1>A</h1><p>x<p>y\n<h2>給付金</h2>";
    let mut doc = ParsedFile::of_text("m", "a.html", &Html, html);
    doc.entry.encoding = Encoding::EucJp;
    let page = "---\ntitle: P\n---\n## A {#a}\n## page1\nx\n";
    let page = ParsedFile::of_text("m", "p.md", &Markdown, page);
    build("m", vec![long, json, doc, page])
}

#[test]
fn an_encoded_segment_decodes_to_itself() {
    for segment in [small(), varied(), Segment::default()] {
        assert_eq!(decode(&encode(&segment).unwrap()), Some(segment));
    }
    let segment = varied();
    assert!(NodeKind::ALL.iter().all(|kind| segment.nodes.iter().any(|node| node.kind == *kind)));
    assert!(segment.nodes.iter().any(|node| node.anchor.as_deref() == Some("a")));
    assert!(segment.files.iter().any(|file| file.title == "P"));
    assert!(segment.nodes.iter().any(|node| node.is_continuation && node.start_char > 0));
    assert!(segment.nodes.iter().any(|node| node.json_path.as_deref() == Some("/0")));
}

#[test]
fn a_truncated_or_longer_text_is_rejected() {
    let bytes = encode(&small()).unwrap();
    for end in 0..bytes.len() {
        assert_eq!(decode(&bytes[..end]), None, "{end}");
    }
    assert_eq!(decode(&[bytes, vec![0]].concat()), None);
}

/// A change that makes a segment malformed, and what it is.
type Change = (&'static str, fn(&mut Segment));

/// Every reference that leads nowhere, backwards or in a circle.
#[test]
fn a_segment_that_is_not_well_formed_is_rejected() {
    let changes: [Change; 17] = [
        ("a node that is its own parent", |segment| segment.nodes[1].parent = Some(1)),
        ("a parent that comes later", |segment| segment.nodes[0].parent = Some(1)),
        ("a parent that does not exist", |segment| segment.nodes[1].parent = Some(99)),
        ("a text beyond the end", |segment| segment.nodes[1].text.end += 1000),
        ("a text that is reversed", |segment| segment.nodes[1].text.start = segment.nodes[1].text.end + 1),
        ("a text that overlaps", |segment| segment.nodes[1].text.start = 0),
        ("a text that splits a character", |segment| {
            let at = segment.text.find('給').unwrap() as u32 + 1;
            segment.nodes[0].text.end = at;
        }),
        ("a file that does not exist", |segment| segment.nodes[1].file = 1),
        ("nodes that do not exist", |segment| segment.files[0].nodes.end = 9),
        ("nodes that no file has", |segment| segment.files[0].nodes.end = 1),
        ("line 0", |segment| segment.nodes[0].start_line = 0),
        ("a line number that could overflow", |segment| segment.nodes[0].end_line = u32::MAX),
        ("keys that do not ascend", |segment| segment.keys.reverse()),
        ("a list too few", |segment| {
            segment.starts.pop();
        }),
        ("a list that is reversed", |segment| segment.starts[1] = 100_000),
        ("postings that no list has", |segment| segment.postings.push(0)),
        ("more postings than bytes", |segment| segment.postings[0] = 0x7f),
    ];
    for (name, change) in changes {
        let mut segment = small();
        change(&mut segment);
        assert_eq!(decode(&encode(&segment).unwrap()), None, "{name}");
    }
}

proptest! {
    /// Whatever bytes are damaged, the result is rejected or can be used.
    #[test]
    fn a_damaged_segment_can_be_used_or_is_rejected(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = encode(&small()).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(segment) = decode(&bytes) {
            for file in &segment.files {
                let _ = (segment.doc(file), segment.bytes_of(file));
            }
            for key in segment.keys.clone() {
                prop_assert!(segment.find(key).count() <= segment.postings.len());
            }
        }
    }
}

/// Where the seeds of the fuzz target `segment` are.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/segment");

/// The segments from which the fuzz target starts.
fn seeds() -> [(&'static str, Segment); 3] {
    let html = "<h1>A</h1><p>給付金<p>y\n<h2>B</h2>";
    let html = ParsedFile::of_text("m", "a.html", &Html, html);
    let json = ParsedFile::of_text("m", "v.json", &Json, r#"{"a":[1,"x"]}"#);
    [("markdown", small()), ("html-and-json", build("m", vec![html, json])), ("empty", Segment::default())]
}

/// A seed that is not well-formed any more would leave most of the code unreached.
#[test]
#[expect(clippy::disallowed_methods, reason = "the seeds are no part of a library")]
fn the_seeds_of_the_fuzz_target_are_segments() {
    for (name, segment) in seeds() {
        let bytes = std::fs::read(format!("{SEEDS}/{name}")).unwrap();
        let hint = "write the seeds again: cargo test -p annai-search write_the_seeds -- --ignored";
        assert_eq!(decode(&bytes), Some(segment), "{name}: {hint}");
    }
}

#[test]
#[ignore = "writes the seeds of the fuzz target, after the form of segments has changed"]
#[expect(clippy::disallowed_methods, reason = "the seeds are no part of a library")]
fn write_the_seeds() {
    std::fs::create_dir_all(SEEDS).unwrap();
    for (name, segment) in seeds() {
        std::fs::write(format!("{SEEDS}/{name}"), encode(&segment).unwrap()).unwrap();
    }
}
