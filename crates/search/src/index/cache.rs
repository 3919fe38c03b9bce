//! The disk cache of segments, so that a new process does not index everything again. Every file carries its format and a
//! checksum, and is ignored when they do not match. Files are replaced atomically and segments are named after their
//! content, so that several processes can share a folder.

use std::path::Path;

use ring::digest;
use serde::{Deserialize, Serialize};

use super::codec::{decode, encode};
use super::segment::Segment;
use annai_files::fs::{CacheFolder, FileStamp, Sha256, UnsearchableReason};

/// The version of the format. It must change whenever the content of a segment or of the manifest changes.
const FORMAT: &[u8; 8] = b"annai\0\0\x0a";
const MANIFEST: &str = "manifest.json";
const SEGMENT_SUFFIX: &str = ".segment";
/// The maximum size of the manifest. It has about 250 bytes for each file, so this suffices for a million; a larger one is
/// ignored, and everything is indexed again.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;
/// The maximum size of a segment. The largest file that is indexed has 256 MiB; its text, normalized, at most twice that, and
/// postings about as much. A larger one is ignored, and its files are indexed again.
const MAX_SEGMENT_BYTES: u64 = 1 << 30;
/// The length of the name of a segment: hexadecimal digits.
const SEGMENT_NAME_CHARS: usize = 32;

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
    /// Opens the cache of a collection, whose files are in the folder `source`; `None` when its folder cannot be used.
    pub fn open(folder: &Path, collection: &str, source: &Path) -> Option<Self> {
        let mut key = [FORMAT.as_slice(), collection.as_bytes(), b"\n"].concat();
        key.extend_from_slice(source.as_os_str().as_encoded_bytes());
        CacheFolder::open(folder, Sha256::of(&key).to_string().get(..32)?, source).map(Self)
    }

    /// The last manifest that was written, if it is intact.
    pub fn manifest(&self) -> Option<Manifest> {
        let bytes = self.0.read(MANIFEST, MAX_MANIFEST_BYTES)?;
        self.0.touch(MANIFEST);
        let mut manifest: Manifest = serde_json::from_slice(verified_content(&bytes)?).ok()?;
        let is_name = |name: &String| {
            name.len() == SEGMENT_NAME_CHARS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        manifest.segments.sort_unstable();
        manifest.segments.dedup();
        manifest.segments.iter().all(is_name).then_some(manifest)
    }

    /// A segment, if it exists and is intact.
    pub fn segment(&self, name: &str) -> Option<Segment> {
        let name = format!("{name}{SEGMENT_SUFFIX}");
        let bytes = self.0.read(&name, MAX_SEGMENT_BYTES);
        let segment = bytes.and_then(|bytes| verified_content(&bytes).and_then(decode));
        if segment.is_none() {
            // What cannot be used would keep a new one with the same name from being written.
            self.0.remove(&name);
        }
        segment
    }

    /// Stores segments. Failures are ignored: the next process then indexes again.
    pub fn store(&self, segments: &[&Segment], files: Vec<(String, KnownFile)>) {
        let names: Vec<_> = segments.iter().map(|segment| name_of(segment)).collect();
        for (segment, name) in segments.iter().zip(&names) {
            let name = format!("{name}{SEGMENT_SUFFIX}");
            if self.0.has(&name, MAX_SEGMENT_BYTES) {
                continue;
            }
            let Some(bytes) = encode(segment) else { return };
            if self.0.write(&name, &with_checksum(bytes)).is_err() {
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
    name.truncate(SEGMENT_NAME_CHARS);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_truncated_file_is_rejected() {
        let bytes = with_checksum(b"content".to_vec());
        assert_eq!(verified_content(&bytes), Some(b"content".as_slice()));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(verified_content(&damaged), None, "{at}");
            assert_eq!(verified_content(&bytes[..at]), None, "{at}");
        }
    }
}
