//! Reading text files: as a whole when they are small, in pieces with bounded memory otherwise, always with their hash.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use annai_core::{ErrorKind, ToolError};

use super::io_error::io_error;
use super::sha256::{Sha256, Sha256Hasher};
use super::stamp::stamp_of;
use crate::error::LibraryError;

/// Files are read in pieces of 256 KiB: few system calls, and a piece fits into the processor's cache.
const PIECE_BYTES: usize = 256 << 10;

/// The content of a text file.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The text.
    pub text: String,
    /// The hash of its bytes.
    pub sha256: Sha256,
}

/// Reads a file in pieces, with bounded memory. A file that is not UTF-8, or that changes during the read, is an
/// error.
pub fn stream_text(mut file: File, path: &str, piece: &mut dyn FnMut(&str)) -> Result<Sha256, ToolError> {
    let before = stamp_of(&file, path)?;
    let (mut buffer, mut kept, mut hasher) = (vec![0; PIECE_BYTES], 0, Sha256Hasher::new());
    let mut size = 0;
    loop {
        let room = buffer.get_mut(kept..).unwrap_or_default();
        // A file that grows during the read might never end, so no more than its first size is read.
        let expected =
            usize::try_from(before.size.saturating_sub(size)).unwrap_or(usize::MAX).min(room.len());
        let room = room.get_mut(..expected).unwrap_or_default();
        let read = file.read(room).map_err(|error| io_error(path, error))?;
        hasher.update(room.get(..read).unwrap_or_default());
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
        return Err(LibraryError::conflict(path, CHANGED_DURING_READ).into());
    }
    Ok(hasher.finish())
}

/// How often a file that changes during the read is read; if it changes every time, the call fails with a conflict.
const MAX_ATTEMPTS: usize = 3;

/// Runs a read, and repeats it when the file changed during the read.
pub fn retry_if_changed<T>(mut read: impl FnMut() -> Result<T, ToolError>) -> Result<T, ToolError> {
    for _ in 1..MAX_ATTEMPTS {
        match read() {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            other => return other,
        }
    }
    read()
}

/// The hash of a file, whether it is text or not.
pub fn hash_file(mut file: File, path: &str) -> Result<Sha256, ToolError> {
    let (mut buffer, mut hasher) = (vec![0; PIECE_BYTES], Sha256Hasher::new());
    loop {
        match file.read(&mut buffer).map_err(|error| io_error(path, error))? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Whether a file ends with a line break, or is empty.
pub fn ends_with_break(mut file: File, path: &str) -> Result<bool, ToolError> {
    let size = stamp_of(&file, path)?.size;
    let Some(last) = size.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    let read = file.seek(SeekFrom::Start(last)).and_then(|_| file.read_exact(&mut byte));
    read.map_err(|error| io_error(path, error))?;
    Ok(matches!(byte, [b'\n' | b'\r']))
}

/// How many bytes at the end of a file are the start of an incomplete UTF-8 character.
pub fn incomplete_char_bytes(mut file: &File, path: &str) -> Result<u64, ToolError> {
    let size = stamp_of(file, path)?.size;
    let start = size.saturating_sub(4);
    let mut end = Vec::new();
    let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.take(4).read_to_end(&mut end));
    read.map_err(|error| io_error(path, error))?;
    // The four bytes may begin in the middle of a character.
    let tail = end
        .iter()
        .position(|byte| byte & 0xc0 != 0x80)
        .and_then(|first| end.get(first..))
        .unwrap_or_default();
    Ok(split_utf8(tail).map_or(0, |(_, rest)| rest.len() as u64))
}

/// Reads a whole file of at most `max_bytes` bytes; a larger one is an error.
pub fn read_text(mut file: File, path: &str, max_bytes: u64) -> Result<TextFile, ToolError> {
    let before = stamp_of(&file, path)?;
    if before.size > max_bytes {
        let problem = format!("is too large: {} bytes, the maximum is {max_bytes}", before.size);
        return Err(LibraryError::forbidden(path, problem).into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
    file.by_ref().take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| io_error(path, error))?;
    if before != stamp_of(&file, path)? || bytes.len() as u64 != before.size {
        return Err(LibraryError::conflict(path, CHANGED_DURING_READ).into());
    }
    let sha256 = Sha256::of(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| not_text(path))?;
    Ok(TextFile { text, sha256 })
}

const CHANGED_DURING_READ: &str = "changed while it was read; read it again";

fn not_text(path: &str) -> ToolError {
    LibraryError::forbidden(path, "is not UTF-8 text").into()
}

/// Splits bytes into valid text and an incomplete character at the end; `None` when they are not UTF-8.
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
    fn an_incomplete_last_character_is_split_off_and_invalid_bytes_are_refused() {
        let bytes = "aあ".as_bytes();
        assert_eq!(split_utf8(&bytes[..2]), Some(("a", &bytes[1..2])));
        assert_eq!(split_utf8(bytes), Some(("aあ", &[][..])));
        assert_eq!(split_utf8(b"a\xffb"), None);
    }
}
