//! The disk cache of segments, so that a new process does not index everything again. Every file carries its format and a
//! checksum, and is ignored when they do not match. Files are replaced atomically and segments are named after their
//! content, so that several processes can share a folder.

use std::path::Path;

use ring::digest;
use serde::{Deserialize, Serialize};

use super::segment::{FileEntry, NodeEntry, Segment};
use super::shape::Shape;
use crate::fs::{CacheFolder, FileStamp, Sha256, UnsearchableReason};
use crate::text::{Encoding, NodeKind};

/// The version of the format. It must change whenever the content of a segment or of the manifest changes.
const FORMAT: &[u8; 8] = b"annai\0\0\x08";
const MANIFEST: &str = "manifest.json";
const SEGMENT_SUFFIX: &str = ".segment";

/// What is known about a file without reading it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Its stamp when it was read.
    pub stamp: FileStamp,
    /// When it was read, in nanoseconds since 1970.
    pub read_at: i64,
    /// Whether it is indexed.
    pub state: FileState,
}

/// The state of a file in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileState {
    /// It is in a segment, with this SHA-256.
    Indexed(Sha256),
    /// It cannot be searched, for this reason.
    Unsearchable(UnsearchableReason),
}

/// The content of the cache of one collection.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The names of the segments.
    pub segments: Vec<String>,
    /// The files by their paths.
    pub files: Vec<(String, KnownFile)>,
}

/// The cache of one collection.
pub struct Cache(CacheFolder);

impl Cache {
    /// Opens the cache of the collection with this key; `None` when its folder cannot be used.
    pub fn open(folder: &Path, key: &str) -> Option<Self> {
        let key = Sha256::of([FORMAT.as_slice(), key.as_bytes()].concat().as_slice()).to_string();
        CacheFolder::open(folder, key.get(..32)?).map(Self)
    }

    /// The last manifest that was written, if it is intact.
    pub fn manifest(&self) -> Option<Manifest> {
        let bytes = self.0.read(MANIFEST)?;
        self.0.touch(MANIFEST);
        serde_json::from_slice(verified_content(&bytes)?).ok()
    }

    /// A segment, if it exists and is intact.
    pub fn segment(&self, name: &str) -> Option<Segment> {
        let name = format!("{name}{SEGMENT_SUFFIX}");
        let bytes = self.0.read(&name)?;
        let segment = verified_content(&bytes).and_then(decode);
        if segment.is_none() {
            // A damaged file would keep a new one with the same name from being written.
            self.0.remove(&name);
        }
        segment
    }

    /// Stores segments. Failures are ignored: the next process then indexes again.
    pub fn store(&self, segments: &[&Segment], files: Vec<(String, KnownFile)>) {
        let names: Vec<_> = segments.iter().map(|segment| name_of(segment)).collect();
        for (segment, name) in segments.iter().zip(&names) {
            let name = format!("{name}{SEGMENT_SUFFIX}");
            if !self.0.has(&name) && self.0.write(&name, &with_checksum(encode(segment))).is_err() {
                return;
            }
        }
        let manifest = Manifest { segments: names, files };
        let Ok(bytes) = serde_json::to_vec(&manifest) else { return };
        if self.0.write(MANIFEST, &with_checksum(bytes)).is_ok() {
            let is_kept = |name: &str| {
                name == MANIFEST
                    || manifest.segments.iter().any(|kept| name.strip_suffix(SEGMENT_SUFFIX) == Some(kept))
            };
            self.0.remove_unused(&is_kept);
        }
    }
}

/// The name of a segment: a hash of its files and their content.
pub fn name_of(segment: &Segment) -> String {
    let mut content = FORMAT.to_vec();
    for file in &segment.files {
        content.extend(file.path.bytes().chain([0]).chain(file.sha256.bytes()));
    }
    let mut name = Sha256::of(&content).to_string();
    name.truncate(32);
    name
}

/// Appends the format and a checksum.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend_from_slice(FORMAT);
    let sum = digest::digest(&digest::SHA256, &bytes);
    bytes.extend_from_slice(sum.as_ref());
    bytes
}

/// The content of a file, if its format and checksum match.
fn verified_content(bytes: &[u8]) -> Option<&[u8]> {
    let (rest, sum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    (digest::digest(&digest::SHA256, rest).as_ref() == sum).then_some(())?;
    rest.strip_suffix(FORMAT)
}

/// Encodes a segment. Integers are little-endian; texts and lists are preceded by their length.
fn encode(segment: &Segment) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(segment.text.len() + segment.postings.len() + segment.keys.len() * 12 + (1 << 16));
    let number = |out: &mut Vec<u8>, number: u32| out.extend_from_slice(&number.to_le_bytes());
    let length = |out: &mut Vec<u8>, length: usize| out.extend_from_slice(&(length as u64).to_le_bytes());
    let text = |out: &mut Vec<u8>, text: &str| {
        length(out, text.len());
        out.extend_from_slice(text.as_bytes());
    };
    length(&mut out, segment.files.len());
    for file in &segment.files {
        text(&mut out, &file.path);
        text(&mut out, &file.title);
        number(&mut out, file.shape as u32);
        number(&mut out, file.encoding as u32);
        number(&mut out, file.sound.into());
        out.extend(file.sha256.bytes());
        number(&mut out, file.nodes.start);
        number(&mut out, file.nodes.end);
        length(&mut out, file.row_lines.len());
        file.row_lines.iter().for_each(|line| number(&mut out, *line));
    }
    length(&mut out, segment.nodes.len());
    for node in &segment.nodes {
        text(&mut out, &node.title);
        for value in [
            node.file,
            node.level.into(),
            node.heading_lines,
            node.start_line,
            node.start_char,
            node.end_line,
            node.own_end_line,
            node.parent.unwrap_or(u32::MAX),
            node.text.start,
            node.text.end,
            node.bytes,
            node.length,
            u32::from(node.is_continuation)
                | u32::from(node.json_path.is_some()) << 1
                | u32::from(node.anchor.is_some()) << 2
                | (node.kind as u32) << 3,
        ] {
            number(&mut out, value);
        }
        node.json_path.iter().chain(&node.anchor).for_each(|name| text(&mut out, name));
        length(&mut out, node.links.len());
        node.links.iter().for_each(|link| text(&mut out, link));
    }
    text(&mut out, &segment.text);
    length(&mut out, segment.keys.len());
    segment.keys.iter().for_each(|key| out.extend_from_slice(&key.to_le_bytes()));
    length(&mut out, segment.starts.len());
    segment.starts.iter().for_each(|start| number(&mut out, *start));
    length(&mut out, segment.postings.len());
    out.extend_from_slice(&segment.postings);
    out
}

/// Decodes a segment; `None` when the bytes are not one.
fn decode(bytes: &[u8]) -> Option<Segment> {
    let mut input = ByteReader(bytes);
    let mut segment = Segment::default();
    for _ in 0..input.length()? {
        segment.files.push(FileEntry {
            path: input.text()?,
            title: input.text()?,
            shape: match input.number()? {
                0 => Shape::Markdown,
                1 => Shape::Json,
                2 => Shape::Paragraphs,
                3 => Shape::Text,
                4 => Shape::Html,
                _ => return None,
            },
            encoding: *Encoding::ALL.get(input.number()? as usize)?,
            sound: input.number()? != 0,
            sha256: Sha256::from_bytes(input.take(32)?.try_into().ok()?),
            nodes: input.number()?..input.number()?,
            row_lines: input.numbers()?,
            sections: 0,
        });
    }
    for _ in 0..input.length()? {
        let title = input.text()?;
        let mut next = || input.number();
        let mut node = NodeEntry {
            title,
            file: next()?,
            level: u8::try_from(next()?).ok()?,
            heading_lines: next()?,
            start_line: next()?,
            start_char: next()?,
            end_line: next()?,
            own_end_line: next()?,
            parent: Some(next()?).filter(|parent| *parent != u32::MAX),
            text: next()?..next()?,
            bytes: next()?,
            length: next()?,
            kind: NodeKind::Heading,
            anchor: None,
            links: Vec::new(),
            is_continuation: false,
            json_path: None,
        };
        let flags = next()?;
        node.is_continuation = flags & 1 != 0;
        node.kind = *NodeKind::ALL.get(flags as usize >> 3)?;
        node.json_path = if flags & 2 == 0 { None } else { Some(input.text()?.into()) };
        node.anchor = if flags & 4 == 0 { None } else { Some(input.text()?.into()) };
        for _ in 0..input.length()? {
            node.links.push(input.text()?);
        }
        segment.nodes.push(node);
    }
    segment.text = input.text()?;
    let count = input.length()?;
    let keys = input.take(count.checked_mul(8)?)?.as_chunks::<8>().0;
    segment.keys = keys.iter().map(|key| u64::from_le_bytes(*key)).collect();
    segment.starts = input.numbers()?;
    let count = input.length()?;
    segment.postings = input.take(count)?.to_vec();
    input.0.is_empty().then(|| segment.with_total_length())
}

/// Decodes values from the front of a byte slice; every method returns `None` when it is too short.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()
    }

    /// A list of numbers, after its length.
    fn numbers(&mut self) -> Option<Vec<u32>> {
        let count = self.length()?;
        let numbers = self.take(count.checked_mul(4)?)?.as_chunks::<4>().0;
        Some(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::build::build;
    use crate::index::doc::ParsedFile;

    fn segment() -> Segment {
        let text = "# A [x](y.md)\n給付金\n## B\nc\n";
        build("m", vec![ParsedFile::new("m", "a.md", Shape::Markdown, text, Sha256::of(text.as_bytes()))])
    }

    #[test]
    fn an_encoded_segment_decodes_to_itself() {
        let segment = segment();
        assert_eq!(decode(&encode(&segment)), Some(segment));
        // Passages of a long section and of a long line, and the value of a JSON file.
        let long = format!("# A\n{}## B\n{}\n", "words\n\n".repeat(900), "x ".repeat(3000));
        let mut json = ParsedFile::new("m", "v.json", Shape::Json, "[1]", Sha256::of(b"v"));
        json.nodes[0].json_path = Some("/0".into());
        let long = ParsedFile::new("m", "a.md", Shape::Markdown, &long, Sha256::of(b"a"));
        let html = "<h1>A</h1><p>x<p>y\n<h2>給付金</h2>";
        let mut doc = ParsedFile::new("m", "a.html", Shape::Html, html, Sha256::of(html.as_bytes()));
        doc.encoding = Encoding::EucJp;
        let page = "---\ntitle: P\n---\n## A {#a}\n## page1\nx\n";
        let page = ParsedFile::new("m", "p.md", Shape::Markdown, page, Sha256::of(b"p"));
        let segment = build("m", vec![long, json, doc, page]);
        assert!(NodeKind::ALL.iter().all(|kind| segment.nodes.iter().any(|node| node.kind == *kind)));
        assert!(segment.nodes.iter().any(|node| node.anchor.as_deref() == Some("a")));
        assert!(segment.files.iter().any(|file| file.title == "P"));
        assert!(segment.nodes.iter().any(|node| node.is_continuation && node.start_char > 0));
        assert!(segment.nodes.iter().any(|node| node.json_path.as_deref() == Some("/0")));
        assert_eq!(decode(&encode(&segment)), Some(segment));
    }

    #[test]
    fn a_changed_or_truncated_file_is_rejected() {
        let bytes = with_checksum(encode(&segment()));
        assert!(verified_content(&bytes).is_some());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(verified_content(&damaged), None, "{at}");
            assert_eq!(verified_content(&bytes[..at]), None, "{at}");
        }
        // Content that is truncated before the checksum is computed is rejected too.
        let content = encode(&segment());
        for end in 0..content.len() {
            assert_eq!(decode(&content[..end]), None, "{end}");
        }
    }
}
