//! Reads text: whole where it is small, piece by piece where it may not be, and always with its hash.

use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use annai_core::{ErrorKind, ToolError};
use ring::digest;
use serde::{Deserialize, Serialize};

use super::problem::io_problem;
use super::root::stamp_of;
use crate::error::LibraryError;

/// A file is read in pieces of 256 KiB: large enough for the disk, small enough for the processor's cache.
const PIECE_BYTES: usize = 256 << 10;

/// A file's SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut sum = Sum::new();
        sum.add(bytes);
        sum.end()
    }

    /// A hash that was kept.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Whether its hexadecimal form begins with `prefix`, in either case.
    pub fn begins_with(&self, prefix: &str) -> bool {
        let text = self.to_string();
        text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A hash in the making.
pub struct Sum(digest::Context);

impl Sum {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them.
    pub fn end(self) -> Sha256 {
        let mut bytes = [0; 32];
        for (byte, from) in bytes.iter_mut().zip(self.0.finish().as_ref()) {
            *byte = *from;
        }
        Sha256(bytes)
    }
}

/// A whole text.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// The hash of its bytes.
    pub sha256: Sha256,
}

/// Reads a file piece by piece, with bounded memory. A file that is not UTF-8, or that changes meanwhile, is an
/// error.
pub fn stream(mut file: File, path: &str, piece: &mut dyn FnMut(&str)) -> Result<Sha256, ToolError> {
    let before = stamp_of(&file, path)?;
    let (mut buffer, mut kept, mut sum) = (vec![0; PIECE_BYTES], 0, Sum::new());
    let mut size = 0;
    loop {
        let room = buffer.get_mut(kept..).unwrap_or_default();
        // A file that grows meanwhile has no end; what it had at first is enough to see that.
        let most = usize::try_from(before.size.saturating_sub(size)).unwrap_or(usize::MAX).min(room.len());
        let room = room.get_mut(..most).unwrap_or_default();
        let read = file.read(room).map_err(|error| io_problem(path, error))?;
        sum.add(room.get(..read).unwrap_or_default());
        size += read as u64;
        let bytes = buffer.get(..kept + read).unwrap_or_default();
        let (text, rest) = split_utf8(bytes).ok_or_else(|| not_text(path))?;
        if read == 0 && !rest.is_empty() {
            return Err(not_text(path));
        }
        if !text.is_empty() {
            piece(text);
        }
        let (start, length) = (bytes.len() - rest.len(), rest.len());
        buffer.copy_within(start..start + length, 0);
        kept = length;
        if read == 0 {
            break;
        }
    }
    let after = stamp_of(&file, path)?;
    if before != after || size != after.size {
        return Err(LibraryError::conflict(path, "changed while it was read; read it again").into());
    }
    Ok(sum.end())
}

/// A file that changes while it is read is read up to three times; one that goes on changing is a conflict.
const MAX_ATTEMPTS: usize = 3;

/// Reads, and reads again where the file changed meanwhile.
pub fn steadily<T>(mut read: impl FnMut() -> Result<T, ToolError>) -> Result<T, ToolError> {
    for _ in 1..MAX_ATTEMPTS {
        match read() {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            other => return other,
        }
    }
    read()
}

/// The hash of a file, whatever it holds.
pub fn hash(mut file: File, path: &str) -> Result<Sha256, ToolError> {
    let (mut buffer, mut sum) = (vec![0; PIECE_BYTES], Sum::new());
    loop {
        match file.read(&mut buffer).map_err(|error| io_problem(path, error))? {
            0 => return Ok(sum.end()),
            read => sum.add(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Whether a file ends with a line break, or is empty.
pub fn ends_with_break(mut file: File, path: &str) -> Result<bool, ToolError> {
    let size = stamp_of(&file, path)?.size;
    let Some(last) = size.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    let read = file.seek(SeekFrom::Start(last)).and_then(|_| file.read_exact(&mut byte));
    read.map_err(|error| io_problem(path, error))?;
    Ok(matches!(byte, [b'\n' | b'\r']))
}

/// How many bytes at the end of a file are the beginning of a character that was never finished.
pub fn torn_bytes(mut file: &File, path: &str) -> Result<u64, ToolError> {
    let size = stamp_of(file, path)?.size;
    let start = size.saturating_sub(4);
    let mut end = Vec::new();
    let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.take(4).read_to_end(&mut end));
    read.map_err(|error| io_problem(path, error))?;
    // The first of the four may be the middle of a character.
    let tail = end
        .iter()
        .position(|byte| byte & 0xc0 != 0x80)
        .and_then(|first| end.get(first..))
        .unwrap_or_default();
    Ok(split_utf8(tail).map_or(0, |(_, rest)| rest.len() as u64))
}

/// Reads a file whole, if it has at most so many bytes.
pub fn read_text(mut file: File, path: &str, most: u64) -> Result<TextFile, ToolError> {
    let before = stamp_of(&file, path)?;
    if before.size > most {
        let what = format!("is too large for this: {} bytes, at most {most}", before.size);
        return Err(LibraryError::forbidden(path, what).into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
    file.by_ref().take(most + 1).read_to_end(&mut bytes).map_err(|error| io_problem(path, error))?;
    if before != stamp_of(&file, path)? || bytes.len() as u64 != before.size {
        return Err(LibraryError::conflict(path, "changed while it was read; read it again").into());
    }
    let sha256 = Sha256::of(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| not_text(path))?;
    Ok(TextFile { text, sha256 })
}

fn not_text(path: &str) -> ToolError {
    LibraryError::forbidden(path, "is not UTF-8 text").into()
}

/// The text at the start of bytes, and the beginning of a character at their end; `None` when they are not text.
fn split_utf8(bytes: &[u8]) -> Option<(&str, &[u8])> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text, &[])),
        Err(error) if error.error_len().is_none() => {
            let (text, rest) = bytes.split_at(error.valid_up_to());
            Some((std::str::from_utf8(text).ok()?, rest))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hexadecimal() {
        let sum = Sha256::of(b"abc");
        assert_eq!(sum.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(sum.begins_with("BA7816") && sum.begins_with("") && !sum.begins_with("ba7817"));
        assert!(!sum.begins_with(&"b".repeat(65)));
    }

    #[test]
    fn characters_may_be_cut_but_not_broken() {
        let bytes = "aあ".as_bytes();
        assert_eq!(split_utf8(&bytes[..2]), Some(("a", &bytes[1..2])));
        assert_eq!(split_utf8(bytes), Some(("aあ", &[][..])));
        assert_eq!(split_utf8(b"a\xffb"), None);
    }
}
