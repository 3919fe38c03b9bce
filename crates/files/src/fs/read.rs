//! Reading text files: as a whole when they are small, in pieces with bounded memory otherwise, always with their hash.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use annai_core::{ErrorKind, ToolError};

use super::io_error::io_error;
use super::sha256::{Sha256, Sha256Hasher};
use super::stamp::stamp_of;
use super::stream_decoder::{StreamDecoder, split_utf8};
use crate::error::LibraryError;
use annai_text::{DecodedText, Encoding, decode};

/// Files are read in pieces of 256 KiB: few system calls, and a piece fits into the processor's cache.
const PIECE_BYTES: usize = 256 << 10;

/// The content of a text file.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The text, without a byte-order mark.
    pub text: String,
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// The encoding of its bytes.
    pub encoding: Encoding,
    /// Whether it begins with a byte-order mark.
    pub has_bom: bool,
}

/// What is known of a text file after it was read in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamedText {
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// The encoding of its bytes.
    pub encoding: Encoding,
}

/// Reads a file in pieces, with bounded memory. A file that is not text, or that changes during the read, is an error.
pub fn stream_text(
    mut file: File,
    path: &str,
    piece: &mut dyn FnMut(&str),
) -> Result<StreamedText, ToolError> {
    let before = stamp_of(&file, path)?;
    let (mut buffer, mut kept, mut hasher) = (vec![0; PIECE_BYTES], 0, Sha256Hasher::new());
    let (mut size, mut text) = (0_u64, StreamDecoder::new(before.size));
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
        let rest = text.push(bytes, read == 0, piece).ok_or_else(|| not_text(path))?;
        let start = bytes.len() - rest;
        buffer.copy_within(start..start + rest, 0);
        kept = rest;
        if read == 0 {
            break;
        }
    }
    let encoding = text.finish(piece).ok_or_else(|| not_text(path))?;
    let after = stamp_of(&file, path)?;
    if before != after || size != after.size {
        return Err(LibraryError::conflict(path, CHANGED_DURING_READ).into());
    }
    Ok(StreamedText { sha256: hasher.finish(), encoding })
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

/// Why a file could not be read as text.
#[derive(Debug)]
pub enum ReadError {
    /// It is not text in a supported encoding.
    NotText,
    /// It has more bytes than allowed.
    TooLarge {
        /// The size of the file.
        size: u64,
        /// The maximum.
        max_bytes: u64,
    },
    /// It could not be read.
    Failed(ToolError),
}

impl ReadError {
    /// The error for the caller.
    pub fn into_tool_error(self, path: &str) -> ToolError {
        match self {
            Self::NotText => not_text(path),
            Self::TooLarge { size, max_bytes } => {
                let problem = format!("is too large: {size} bytes, the maximum is {max_bytes}");
                LibraryError::forbidden(path, problem).into()
            }
            Self::Failed(error) => error,
        }
    }
}

/// Reads a whole file of at most `max_bytes` bytes; a larger one is an error.
pub fn read_text(file: File, path: &str, max_bytes: u64) -> Result<TextFile, ToolError> {
    try_read_text(file, path, max_bytes).map_err(|error| error.into_tool_error(path))
}

/// The same, with an error that says why the file is not text.
pub fn try_read_text(mut file: File, path: &str, max_bytes: u64) -> Result<TextFile, ReadError> {
    let before = stamp_of(&file, path).map_err(ReadError::Failed)?;
    if before.size > max_bytes {
        return Err(ReadError::TooLarge { size: before.size, max_bytes });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or_default() + 1);
    let read = file.by_ref().take(max_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| ReadError::Failed(io_error(path, error)))?;
    if before != stamp_of(&file, path).map_err(ReadError::Failed)? || bytes.len() as u64 != before.size {
        return Err(ReadError::Failed(LibraryError::conflict(path, CHANGED_DURING_READ).into()));
    }
    let sha256 = Sha256::of(&bytes);
    let DecodedText { text, encoding, has_bom } = decode(bytes).ok_or(ReadError::NotText)?;
    Ok(TextFile { text, sha256, encoding, has_bom })
}

const CHANGED_DURING_READ: &str = "changed while it was read; read it again";

fn not_text(path: &str) -> ToolError {
    let problem = "is not text in UTF-8, UTF-16 with a byte-order mark, Shift_JIS, EUC-JP or ISO-2022-JP, or contains NUL characters; convert it to plain UTF-8 text to read it";
    LibraryError::forbidden(path, problem).into()
}
