//! Decodes a byte stream into JSON messages. Both stdio framings are accepted, also mixed: a `Content-Length: N` header
//! block followed by a body of N bytes, or one JSON message per line.
//!
//! The decoder survives any input. Invalid input becomes one [`Frame::Invalid`], and decoding resumes at the next line that
//! starts with `{` or at the next `Content-Length:` header. The header may be in the middle of a line, because framed
//! messages follow each other without line breaks.
//!
//! A correct length always wins: N bytes of valid JSON are one message, whatever they contain. A wrong length must not
//! swallow the messages that follow. A body is therefore taken as truncated when one of its lines is a `Content-Length`
//! header or a complete JSON-RPC message. Where the JSON before that line could not continue with it, the decision is
//! immediate. Otherwise the body may still be complete and contain that line, so the decoder waits for more input
//! ([`Decoder::looks_truncated`]) until its caller reports that none came ([`Decoder::assume_truncated`]). Apart from
//! that timeout, the result depends only on the bytes, not on how reads divide them.

mod frame;
mod header;
mod json_prefix;
mod line;

use crate::envelope::parse;
use bytes::{Buf, BytesMut};
pub use frame::{Frame, FrameError, Framing};
use header::{
    CONTENT_LENGTH, FrameHeader, content_length, could_be_header, header_after, read_header, starts_like,
};
use json_prefix::JsonPrefix;
use line::{Line, LineKind, looks_like_rpc};
use memchr::memchr;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What the decoder expects at the start of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FramingState {
    /// A line or a header block.
    Start,
    /// A body of `length` bytes; the line that is being examined starts at `line`. `suspect` is the first line that is a
    /// complete message by itself.
    Body { length: usize, line: usize, suspect: Option<usize> },
    /// The rest of a line that is too long, to be skipped. Then `FramingState::Resync` if `resync`, else `FramingState::Start`.
    SkipLine { resync: bool },
    /// The rest of a body that is too long, to be skipped: `remaining` bytes. `at_line_start` when the buffer starts with a
    /// new line of it. `is_json` is known from its first byte; a body that is not JSON cannot have a correct length.
    SkipBody { remaining: u64, at_line_start: bool, is_json: Option<bool> },
    /// Invalid input, to be skipped up to a line that can start a message. The first `refused_bytes` belong to the refused
    /// message: a line that starts among them counts only if it is a complete message or header.
    Resync { refused_bytes: usize },
}

/// An incremental decoder: the caller appends bytes to [`Decoder::buffer`] and takes frames out.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// How far the buffer has been searched for the end of its first line.
    searched: usize,
    state: FramingState,
    framing: Framing,
    max_message_bytes: usize,
    /// Whether the input has ended.
    ended: bool,
    /// Whether the message in the buffer looks truncated, although more input could still complete it.
    looks_truncated: bool,
    /// Whether such a message is to be treated as truncated now, because no more input came in time.
    assume_truncated: bool,
    /// The beginning of the body, as far as it was needed.
    prefix: JsonPrefix,
    /// The end of the first line of the buffer, if that line is known to be a complete message.
    message_line: Option<usize>,
}

impl Decoder {
    /// A decoder that refuses messages of more than `max_message_bytes`.
    #[must_use]
    pub fn new(max_message_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            state: FramingState::Start,
            framing: Framing::Lines,
            max_message_bytes,
            ended: false,
            looks_truncated: false,
            assume_truncated: false,
            prefix: JsonPrefix::new(),
            message_line: None,
        }
    }

    /// The buffer to which the caller appends input.
    pub const fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Reports the end of the input. The remaining bytes are decoded as the last message.
    pub const fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the message in the buffer looks truncated, although more input could still complete it. If no input comes
    /// for a while, the caller should call [`Self::assume_truncated`].
    #[must_use]
    pub const fn looks_truncated(&self) -> bool {
        self.looks_truncated
    }

    /// Reports that no more input came in time: the next call of [`Self::next_frame`] treats a message that looks truncated
    /// as truncated.
    pub const fn assume_truncated(&mut self) {
        self.assume_truncated = true;
    }

    /// The framing of the last message.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// Decodes the next frame; `None` when more input is needed.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.looks_truncated = false;
        let frame = self.advance();
        self.assume_truncated = false;
        frame
    }

    fn advance(&mut self) -> Option<Frame> {
        loop {
            let step = match self.state {
                FramingState::Start => self.start(),
                FramingState::Body { length, line, suspect } => self.body(length, line, suspect),
                FramingState::SkipLine { resync } => self.skip_line(resync),
                FramingState::SkipBody { remaining, at_line_start, is_json } => {
                    self.skip_body(remaining, at_line_start, is_json)
                }
                FramingState::Resync { refused_bytes } => self.resync(refused_bytes),
            };
            match step {
                Step::Continue => {}
                Step::Yield(frame) => return Some(frame),
                Step::NeedInput => return None,
            }
        }
    }

    fn start(&mut self) -> Step {
        self.state = FramingState::Start;
        if !self.skip_blank() {
            return Step::NeedInput;
        }
        let is_json = matches!(self.buffer.first(), Some(b'{' | b'['));
        if !is_json && could_be_header(&self.buffer) {
            return self.header();
        }
        let Some(end) = self.line_end() else {
            // One byte more than the limit may be a carriage return, which does not count.
            if self.buffer.len() <= self.max_message_bytes + 1 {
                return Step::NeedInput;
            }
            self.state = FramingState::SkipLine { resync: false };
            return Step::refused(FrameError::TooLong);
        };
        let line = self.buffer.get(..end).unwrap_or_default();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > self.max_message_bytes {
            self.consume(end);
            return Step::refused(FrameError::TooLong);
        }
        let mut parsed = parse(line);
        let mut size = end;
        if parsed.is_err()
            && let Some(at) = header_after(line)
        {
            // A framed message follows on the same line.
            (parsed, size) = (parse(line.get(..at).unwrap_or_default()), at);
        }
        self.consume(size);
        match parsed {
            Ok(value) if is_json => {
                self.framing = Framing::Lines;
                Step::Yield(Frame::Message(value, size))
            }
            Err(reason) if is_json => self.unreadable(reason, 0),
            _ => self.unreadable("neither JSON nor a Content-Length header".to_owned(), 0),
        }
    }

    /// Skips white space and byte order marks between messages; `false` when the buffer is empty then.
    fn skip_blank(&mut self) -> bool {
        loop {
            let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.consume(blank);
            if !self.buffer.starts_with(BOM) {
                return !self.buffer.is_empty();
            }
            tracing::warn!("a byte order mark was skipped");
            self.consume(BOM.len());
        }
    }

    fn header(&mut self) -> Step {
        match read_header(&self.buffer, self.ended, self.assume_truncated) {
            FrameHeader::Incomplete { doubtful } => {
                self.looks_truncated = doubtful;
                Step::NeedInput
            }
            FrameHeader::Complete { length, size } => {
                tracing::debug!("headerEnd={size}");
                self.framing = Framing::Headers;
                self.consume(size);
                match usize::try_from(length) {
                    Ok(length) if length <= self.max_message_bytes => {
                        self.prefix = JsonPrefix::new();
                        self.state = FramingState::Body { length, line: 0, suspect: None };
                        Step::Continue
                    }
                    _ => {
                        self.state =
                            FramingState::SkipBody { remaining: length, at_line_start: true, is_json: None };
                        Step::refused(FrameError::TooLong)
                    }
                }
            }
            FrameHeader::Invalid { reason, size, has_content_length, too_long } => {
                if has_content_length {
                    self.framing = Framing::Headers;
                }
                self.consume(size);
                let refused = self.unreadable(reason.to_owned(), 0);
                if too_long {
                    self.state = FramingState::SkipLine { resync: true };
                }
                refused
            }
        }
    }

    fn body(&mut self, length: usize, mut line: usize, mut suspect: Option<usize>) -> Step {
        let available = self.buffer.len().min(length);
        let mut from = line.max(self.searched);
        while let Some(end) = self.buffer.get(from..available).and_then(|rest| memchr(b'\n', rest)) {
            let end = from + end + 1;
            let found = self.classify_line(line, end);
            if !matches!(found, Line::Other) {
                if self.is_certainly_truncated_at(line, &found) {
                    return self.truncated(suspect.unwrap_or(line));
                }
                suspect.get_or_insert(line);
            }
            (line, from) = (end, end);
        }
        if available == length {
            let parsed = parse(self.buffer.get(..length).unwrap_or_default());
            return match parsed {
                Ok(value) => {
                    self.consume(length);
                    self.state = FramingState::Start;
                    Step::Yield(Frame::Message(value, length))
                }
                Err(reason) => self.unreadable(reason, length),
            };
        }
        match suspect {
            Some(suspect) if self.assume_truncated => return self.truncated(suspect),
            _ if self.ended => {
                return self.unreadable("the input ended inside a message".to_owned(), available);
            }
            _ => {}
        }
        self.looks_truncated = suspect.is_some();
        self.searched = available;
        self.state = FramingState::Body { length, line, suspect };
        Step::NeedInput
    }

    /// The body ended before `line`. If only white space precedes it, no message was lost and only the length was wrong.
    fn truncated(&mut self, line: usize) -> Step {
        let nothing_lost = self.is_blank(line);
        self.consume(line);
        self.state = FramingState::Resync { refused_bytes: 1 };
        if nothing_lost {
            return Step::Continue;
        }
        let reason = "a truncated message: another one starts inside it";
        Step::refused(FrameError::Unreadable(reason.to_owned()))
    }

    /// Whether the JSON before `line` cannot continue with what was found there, so that the body must end before it.
    fn is_certainly_truncated_at(&mut self, line: usize, found: &Line) -> bool {
        if matches!(found, Line::Header(_)) {
            return true;
        }
        let unread = self.buffer.get(self.prefix.length()..line).unwrap_or_default();
        self.prefix.read(unread);
        !self.prefix.could_continue_with_object()
    }

    fn skip_line(&mut self, resync: bool) -> Step {
        match self.line_end() {
            Some(end) => {
                self.consume(end);
                self.state =
                    if resync { FramingState::Resync { refused_bytes: 0 } } else { FramingState::Start };
                Step::Continue
            }
            None => {
                self.consume(self.buffer.len());
                Step::NeedInput
            }
        }
    }

    fn skip_body(&mut self, remaining: u64, at_line_start: bool, is_json: Option<bool>) -> Step {
        let first = self.buffer.iter().find(|byte| !byte.is_ascii_whitespace());
        let is_json = is_json.or_else(|| first.map(|byte| matches!(byte, b'{' | b'[')));
        if let Ok(remaining) = usize::try_from(remaining)
            && self.buffer.len() >= remaining
            && is_json != Some(false)
        {
            self.consume(remaining);
            self.state = FramingState::Start;
            return Step::Continue;
        }
        let available = self.buffer.len();
        let line = self.first_break();
        let limit = self.max_message_bytes;
        if at_line_start && self.could_start_message() && line.unwrap_or(available) <= limit {
            let known = self.message_line.filter(|known| line == Some(*known));
            let found = match known {
                // It was parsed before, and parsing a long line again with every read would take long.
                Some(_) => Some(LineKind::Message),
                None => line.map(|end| self.classify_line(0, end).kind()),
            };
            let certain = is_json == Some(false) || matches!(found, Some(LineKind::Header));
            match found {
                Some(LineKind::Other) => {}
                Some(_) if certain || self.assume_truncated || self.ended => {
                    self.state = FramingState::Resync { refused_bytes: line.unwrap_or(available) };
                    return Step::Continue;
                }
                // More than a whole message followed, so the line was part of the body.
                Some(_) if available > limit => {}
                Some(_) => {
                    self.looks_truncated = true;
                    self.message_line = line;
                    return Step::NeedInput;
                }
                None if self.ended => {
                    self.state = FramingState::Resync { refused_bytes: available };
                    return Step::Continue;
                }
                None => return Step::NeedInput,
            }
        }
        let size = line.unwrap_or(available);
        self.consume(size);
        let at_line_start = line.is_some() || (at_line_start && size == 0);
        self.state = match remaining.saturating_sub(size as u64) {
            0 => FramingState::Start,
            remaining => FramingState::SkipBody { remaining, at_line_start, is_json },
        };
        if size == 0 { Step::NeedInput } else { Step::Continue }
    }

    /// Looks for the next message after invalid input.
    fn resync(&mut self, refused_bytes: usize) -> Step {
        if refused_bytes == 0 {
            if !self.skip_blank() {
                return Step::NeedInput;
            }
            let header =
                self.buffer.len() >= CONTENT_LENGTH.len() && starts_like(&self.buffer, CONTENT_LENGTH);
            if self.buffer.first() == Some(&b'{') || header {
                self.state = FramingState::Start;
                return Step::Continue;
            }
        }
        let Some(end) = self.line_end() else {
            if self.buffer.len() <= self.max_message_bytes {
                return Step::NeedInput;
            }
            self.state = FramingState::SkipLine { resync: true };
            return Step::Continue;
        };
        let found = if end > self.max_message_bytes { Line::Other } else { self.classify_line(0, end) };
        match found {
            Line::Message(value, size) => {
                self.consume(size);
                self.framing = Framing::Lines;
                self.state = FramingState::Start;
                Step::Yield(Frame::Message(value, size))
            }
            Line::Header(at) => {
                self.consume(at);
                self.state = FramingState::Start;
                Step::Continue
            }
            Line::Other => {
                self.consume(end);
                self.state = FramingState::Resync { refused_bytes: refused_bytes.saturating_sub(end) };
                Step::Continue
            }
        }
    }

    /// Refuses the message in the buffer, whose first `refused_bytes` are still there.
    fn unreadable(&mut self, reason: String, refused_bytes: usize) -> Step {
        self.state = FramingState::Resync { refused_bytes };
        self.searched = 0;
        Step::refused(FrameError::Unreadable(reason))
    }

    fn could_start_message(&self) -> bool {
        self.buffer.first() == Some(&b'{') || starts_like(&self.buffer, CONTENT_LENGTH)
    }

    fn is_blank(&self, to: usize) -> bool {
        self.buffer.get(..to).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
    }

    /// Classifies the line from `line` to `end`, which is where no message is expected.
    fn classify_line(&self, line: usize, end: usize) -> Line {
        let bytes = self.buffer.get(line..end).unwrap_or_default();
        if content_length(bytes).is_some() {
            return Line::Header(0);
        }
        let header = header_after(bytes);
        let size = header.unwrap_or(bytes.len());
        let text = bytes.get(..size).unwrap_or_default();
        let start = text.trim_ascii_start();
        let start = start.strip_prefix(BOM).unwrap_or(start);
        if start.first() == Some(&b'{')
            && start.len() <= self.max_message_bytes
            && let Ok(value) = parse(start)
            && looks_like_rpc(&value)
        {
            return Line::Message(value, size);
        }
        header.map_or(Line::Other, Line::Header)
    }

    /// The size of the first line with its line break; at the end of the input, the size of the rest.
    fn line_end(&mut self) -> Option<usize> {
        let end = self.first_break();
        end.or_else(|| (self.ended && !self.buffer.is_empty()).then_some(self.buffer.len()))
    }

    /// The size of the first line with its line break. What was searched before is not searched again.
    fn first_break(&mut self) -> Option<usize> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        let end = memchr(b'\n', rest).map(|end| self.searched + end + 1);
        // The break itself is found again at once.
        self.searched = end.map_or(self.buffer.len(), |end| end - 1);
        end
    }

    fn consume(&mut self, size: usize) {
        self.buffer.advance(size.min(self.buffer.len()));
        self.searched = 0;
        self.message_line = None;
    }
}

/// The result of one step of the decoder.
enum Step {
    /// The state has changed; take the next step.
    Continue,
    /// A frame is complete.
    Yield(Frame),
    /// More input is needed.
    NeedInput,
}

impl Step {
    const fn refused(reason: FrameError) -> Self {
        Self::Yield(Frame::Invalid(reason))
    }
}

#[cfg(test)]
mod tests;
