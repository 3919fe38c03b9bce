//! What fuzz targets expect of the index.

use super::build::build;
use super::codec::{decode, encode};
use super::entries::ParsedFile;
use super::segment::Segment;
use annai_text::{Format, line_ranges};

/// Builds a segment of one file. It survives the disk cache, is the same when it is built again from itself, as where
/// segments are merged, and its nodes lie in the lines of the file.
pub fn build_and_check(path: &str, format: &dyn Format, text: &str) -> Segment {
    let segment = build("m", vec![ParsedFile::of_text("m", path, format, text)]);
    let decoded = encode(&segment).and_then(|bytes| decode(&bytes));
    assert_eq!(decoded.as_ref(), Some(&segment), "what was encoded is well-formed");
    assert_eq!(rebuilt(&segment), segment, "a segment can be built again from itself");
    check_lines(&segment, line_ranges(text).count().max(1));
    use_everything(&segment);
    segment
}

/// Decodes bytes, and uses what comes out.
pub fn decode_and_use(bytes: &[u8]) -> Option<Segment> {
    let segment = decode(bytes)?;
    assert_eq!(encode(&segment).and_then(|bytes| decode(&bytes)).as_ref(), Some(&segment));
    use_everything(&segment);
    use_everything(&rebuilt(&segment));
    Some(segment)
}

fn rebuilt(segment: &Segment) -> Segment {
    build("m", segment.files.iter().map(|file| segment.doc(file)).collect())
}

fn check_lines(segment: &Segment, count: usize) {
    for node in &segment.nodes {
        assert!(1 <= node.start_line && node.start_line <= node.own_end_line, "{node:?}");
        assert!(node.own_end_line <= node.end_line && node.end_line as usize <= count, "{node:?} of {count}");
        let Some(parent) = node.parent.and_then(|parent| segment.node(parent)) else { continue };
        assert!(parent.start_line <= node.start_line, "{node:?} in {parent:?}");
    }
}

fn use_everything(segment: &Segment) {
    for file in &segment.files {
        let _ = segment.bytes_of(file);
        for (_, node) in segment.nodes_of(file) {
            let text = segment.text_of(node);
            let _ = segment.line_at(node, text.len());
            let mut parent = node.parent;
            while let Some(above) = parent.and_then(|parent| segment.node(parent)) {
                parent = above.parent;
            }
        }
    }
    for key in &segment.keys {
        assert!(segment.find(*key).count() <= segment.postings.len());
    }
}
