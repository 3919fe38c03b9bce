//! What fuzz targets do with the index.

use super::build::build;
use super::codec::{decode, encode};
use super::doc::ParsedFile;
use super::segment::Segment;
use super::shape::Shape;
use crate::fs::Sha256;

/// Builds a segment of one file, and checks that it survives the disk cache.
#[expect(clippy::expect_used, reason = "a fuzz target panics when something does not hold")]
pub fn build_and_check(path: &str, shape: Shape, text: &str, sha256: Sha256) {
    let segment = build("m", vec![ParsedFile::new("m", path, shape, text, sha256)]);
    let bytes = encode(&segment).expect("a segment can be encoded");
    let again = decode(&bytes).expect("what was encoded is well-formed");
    assert_eq!(again, segment);
    walk(&again);
}

/// Decodes bytes, and uses what comes out.
pub fn decode_and_use(bytes: &[u8]) {
    if let Some(segment) = decode(bytes) {
        walk(&segment);
    }
}

fn walk(segment: &Segment) {
    for file in &segment.files {
        let _ = (segment.doc(file), segment.bytes_of(file));
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
