//! Bytes to JSON messages, in both framings of stdio, told apart message by message:
//! `Content-Length: N` headers before a body, or one JSON a line.
//!
//! The decoder never gives up. What it cannot read becomes one [`Frame::Refused`], and it resumes at the
//! next line that starts with `{` or at the next `Content-Length:` header, wherever on a line it stands: frames
//! follow each other without line breaks.
//!
//! A right length wins: N bytes that are JSON are one message, whatever they hold. A length that lies must not
//! swallow what follows all the same. While a body is incomplete, a fresh line in it that is a whole message by
//! itself, or another header, shows that it was cut short: at once where JSON could not go on like that, else
//! when nothing more comes ([`Decoder::suspects`], [`Decoder::give_up`]). But for that silence, what is decoded
//! depends on the bytes alone, not on how they were cut into reads.

mod header;

use crate::envelope::{Json, parse};
use bytes::{Buf, BytesMut};
use header::{
    CONTENT_LENGTH, Header, content_length, could_be_header, header_after, read_header, starts_like,
};
use memchr::memchr;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a message is set apart from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON a line.
    Lines,
    /// `Content-Length: N`, a blank line, N bytes.
    Headers,
}

/// What the decoder found.
#[derive(Debug)]
pub enum Frame {
    /// A whole JSON value and the bytes it took; whether it is a request is for others to say.
    Message(Json, usize),
    /// Something that cannot be read.
    Refused(Refused),
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Not JSON, not UTF-8, or no header that makes sense.
    Unreadable(String),
    /// Longer than is read.
    TooLong,
}

/// What comes next in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A message, at the start of a line.
    Start,
    /// A body of so many bytes, of which the current line starts at `line`.
    Body { length: usize, line: usize },
    /// The rest of a line that is too long, then what `seek` says.
    SkipLine { seek: bool },
    /// The rest of a body that is too long; `fresh` at the start of a line. Whether it can be JSON is known from
    /// its first byte; what cannot be has no right length.
    SkipBody { left: u64, fresh: bool, json: Option<bool> },
    /// Nothing of worth until a line that can start a message. The first `condemned` bytes belong to
    /// what was refused: a line that starts among them counts only if it is a whole message.
    Seek { condemned: usize },
}

/// One side of a byte stream, decoded as it arrives.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// How far the buffer has been searched for the end of its first line.
    searched: usize,
    state: State,
    framing: Framing,
    most_bytes: usize,
    ended: bool,
    /// What is there looks cut short, but more bytes could prove otherwise.
    suspicious: bool,
    /// No more bytes will prove it.
    impatient: bool,
}

impl Decoder {
    /// A decoder that refuses messages of more than `most_bytes`.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            state: State::Start,
            framing: Framing::Lines,
            most_bytes,
            ended: false,
            suspicious: false,
            impatient: false,
        }
    }

    /// Where the next bytes are put.
    pub const fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// No more bytes will come: what is left is all there is.
    pub const fn end(&mut self) {
        self.ended = true;
    }

    /// Whether what is there looks cut short. If nothing more comes for a while, [`Self::give_up`] waiting.
    #[must_use]
    pub const fn suspects(&self) -> bool {
        self.suspicious
    }

    /// Takes what looks cut short for cut short.
    pub const fn give_up(&mut self) {
        self.impatient = true;
    }

    /// The framing of the last message.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// The next thing in the buffer; `None` until more bytes come.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.suspicious = false;
        let frame = self.advance();
        self.impatient = false;
        frame
    }

    fn advance(&mut self) -> Option<Frame> {
        loop {
            let step = match self.state {
                State::Start => self.start(),
                State::Body { length, line } => self.body(length, line),
                State::SkipLine { seek } => self.skip_line(seek),
                State::SkipBody { left, fresh, json } => self.skip_body(left, fresh, json),
                State::Seek { condemned } => self.seek(condemned),
            };
            match step {
                Step::Again => {}
                Step::Found(frame) => return Some(frame),
                Step::Wait => return None,
            }
        }
    }

    fn start(&mut self) -> Step {
        self.state = State::Start;
        if !self.skip_blank() {
            return Step::Wait;
        }
        let is_json = matches!(self.buffer.first(), Some(b'{' | b'['));
        if !is_json && could_be_header(&self.buffer) {
            return self.header();
        }
        let Some(end) = self.line_end() else {
            // A line may end with a carriage return that does not count.
            if self.buffer.len() <= self.most_bytes + 1 {
                return Step::Wait;
            }
            self.state = State::SkipLine { seek: false };
            return Step::refused(Refused::TooLong);
        };
        let line = self.buffer.get(..end).unwrap_or_default();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > self.most_bytes {
            self.consume(end);
            return Step::refused(Refused::TooLong);
        }
        let mut parsed = parse(line);
        let mut size = end;
        if parsed.is_err()
            && let Some(at) = header_after(line)
        {
            // A frame that follows without a line break.
            (parsed, size) = (parse(line.get(..at).unwrap_or_default()), at);
        }
        self.consume(size);
        match parsed {
            Ok(value) if is_json => {
                self.framing = Framing::Lines;
                Step::Found(Frame::Message(value, size))
            }
            Err(why) if is_json => self.unreadable(why, 0),
            _ => self.unreadable("neither JSON nor a Content-Length header".to_owned(), 0),
        }
    }

    /// Skips what may stand between messages; `false` when nothing is left.
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
        match read_header(&self.buffer, self.ended, self.impatient) {
            Header::Incomplete { odd } => {
                self.suspicious = odd;
                Step::Wait
            }
            Header::Whole { length, size } => {
                tracing::debug!("headerEnd={size}");
                self.framing = Framing::Headers;
                self.consume(size);
                match usize::try_from(length) {
                    Ok(length) if length <= self.most_bytes => {
                        self.state = State::Body { length, line: 0 };
                        Step::Again
                    }
                    _ => {
                        self.state = State::SkipBody { left: length, fresh: true, json: None };
                        Step::refused(Refused::TooLong)
                    }
                }
            }
            Header::Bad { why, size, framed, overlong } => {
                if framed {
                    self.framing = Framing::Headers;
                }
                self.consume(size);
                let refused = self.unreadable(why.to_owned(), 0);
                if overlong {
                    self.state = State::SkipLine { seek: true };
                }
                refused
            }
        }
    }

    fn body(&mut self, length: usize, mut line: usize) -> Step {
        let here = self.buffer.len().min(length);
        let mut suspect = None;
        let mut from = line.max(self.searched);
        while let Some(end) = self.buffer.get(from..here).and_then(|rest| memchr(b'\n', rest)) {
            let end = from + end + 1;
            let found = self.judge(line, end);
            if !matches!(found, Line::Other) {
                if self.is_cut_at(line, &found) {
                    return self.cut_short(suspect.unwrap_or(line));
                }
                suspect.get_or_insert(line);
            }
            (line, from) = (end, end);
        }
        if here == length {
            let parsed = parse(self.buffer.get(..length).unwrap_or_default());
            return match parsed {
                Ok(value) => {
                    self.consume(length);
                    self.state = State::Start;
                    Step::Found(Frame::Message(value, length))
                }
                Err(why) => self.unreadable(why, length),
            };
        }
        match suspect {
            Some(suspect) if self.impatient => return self.cut_short(suspect),
            _ if self.ended => return self.unreadable("the input ended inside a message".to_owned(), here),
            _ => {}
        }
        // A suspect is looked at again with the next bytes; other lines are not.
        self.suspicious = suspect.is_some();
        let line = suspect.unwrap_or(line);
        self.searched = if self.suspicious { line } else { here };
        self.state = State::Body { length, line };
        Step::Wait
    }

    /// The body ended before `line`. Where nothing stands before it, only the length was wrong.
    fn cut_short(&mut self, line: usize) -> Step {
        let nothing_lost = self.is_blank(line);
        self.consume(line);
        self.state = State::Seek { condemned: 1 };
        if nothing_lost {
            return Step::Again;
        }
        let why = "a message was cut short: another one starts inside it";
        Step::refused(Refused::Unreadable(why.to_owned()))
    }

    /// Whether JSON cannot go on with what stands at `line`, so that the body must have been cut before it.
    fn is_cut_at(&self, line: usize, found: &Line) -> bool {
        if matches!(found, Line::Header(_)) {
            return true;
        }
        let before = self.buffer.get(..line).unwrap_or_default();
        let and_brace = [before, b"{"].concat();
        let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(&and_brace);
        parsed.is_err_and(|error| !error.is_eof())
    }

    fn skip_line(&mut self, seek: bool) -> Step {
        match self.line_end() {
            Some(end) => {
                self.consume(end);
                self.state = if seek { State::Seek { condemned: 0 } } else { State::Start };
                Step::Again
            }
            None => {
                self.consume(self.buffer.len());
                Step::Wait
            }
        }
    }

    fn skip_body(&mut self, left: u64, fresh: bool, json: Option<bool>) -> Step {
        let first = self.buffer.iter().find(|byte| !byte.is_ascii_whitespace());
        let json = json.or_else(|| first.map(|byte| matches!(byte, b'{' | b'[')));
        if let Ok(left) = usize::try_from(left)
            && self.buffer.len() >= left
            && json != Some(false)
        {
            self.consume(left);
            self.state = State::Start;
            return Step::Again;
        }
        let here = self.buffer.len();
        let line = memchr(b'\n', &self.buffer).map(|end| end + 1);
        let most = self.most_bytes;
        if fresh && self.could_start_message() && line.unwrap_or(here) <= most {
            let found = line.map(|end| self.judge(0, end));
            let certain = json == Some(false) || matches!(found, Some(Line::Header(_)));
            match found {
                Some(Line::Other) => {}
                Some(_) if certain || self.impatient || self.ended => {
                    self.state = State::Seek { condemned: line.unwrap_or(here) };
                    return Step::Again;
                }
                // So much came after it that it was part of the body.
                Some(_) if here > most => {}
                Some(_) => {
                    self.suspicious = true;
                    return Step::Wait;
                }
                None if self.ended => {
                    self.state = State::Seek { condemned: here };
                    return Step::Again;
                }
                None => return Step::Wait,
            }
        }
        let size = line.unwrap_or(here);
        self.consume(size);
        let fresh = line.is_some() || (fresh && size == 0);
        let left = left.saturating_sub(size as u64);
        self.state = if left == 0 { State::Start } else { State::SkipBody { left, fresh, json } };
        if size == 0 { Step::Wait } else { Step::Again }
    }

    fn seek(&mut self, condemned: usize) -> Step {
        if condemned == 0 {
            if !self.skip_blank() {
                return Step::Wait;
            }
            let header =
                self.buffer.len() >= CONTENT_LENGTH.len() && starts_like(&self.buffer, CONTENT_LENGTH);
            if self.buffer.first() == Some(&b'{') || header {
                self.state = State::Start;
                return Step::Again;
            }
        }
        let Some(end) = self.line_end() else {
            if self.buffer.len() <= self.most_bytes {
                return Step::Wait;
            }
            self.state = State::SkipLine { seek: true };
            return Step::Again;
        };
        let found = if end > self.most_bytes { Line::Other } else { self.judge(0, end) };
        match found {
            Line::Message(value, size) => {
                self.consume(size);
                self.framing = Framing::Lines;
                self.state = State::Start;
                Step::Found(Frame::Message(value, size))
            }
            Line::Header(at) => {
                self.consume(at);
                self.state = State::Start;
                Step::Again
            }
            Line::Other => {
                self.consume(end);
                self.state = State::Seek { condemned: condemned.saturating_sub(end) };
                Step::Again
            }
        }
    }

    fn unreadable(&mut self, why: String, condemned: usize) -> Step {
        self.state = State::Seek { condemned };
        self.searched = 0;
        Step::refused(Refused::Unreadable(why))
    }

    fn could_start_message(&self) -> bool {
        self.buffer.first() == Some(&b'{') || starts_like(&self.buffer, CONTENT_LENGTH)
    }

    fn is_blank(&self, to: usize) -> bool {
        self.buffer.get(..to).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
    }

    /// What the line from `line` to `end` is when it stands where no message is expected.
    fn judge(&self, line: usize, end: usize) -> Line {
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
            && start.len() <= self.most_bytes
            && let Ok(value) = parse(start)
            && looks_like_rpc(&value)
        {
            return Line::Message(value, size);
        }
        header.map_or(Line::Other, Line::Header)
    }

    /// The size of the first line with its end; at the end of the input, all that is left.
    fn line_end(&mut self) -> Option<usize> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        match memchr(b'\n', rest) {
            Some(end) => Some(self.searched + end + 1),
            None if self.ended && !self.buffer.is_empty() => Some(self.buffer.len()),
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    fn consume(&mut self, size: usize) {
        self.buffer.advance(size.min(self.buffer.len()));
        self.searched = 0;
    }
}

/// What one step of the decoder came to.
enum Step {
    Again,
    Found(Frame),
    Wait,
}

impl Step {
    const fn refused(why: Refused) -> Self {
        Self::Found(Frame::Refused(why))
    }
}

/// What a fresh line inside a body is.
enum Line {
    /// A whole JSON-RPC message, and where on the line it ends.
    Message(Json, usize),
    /// A `Content-Length` header, and where on the line it starts.
    Header(usize),
    /// Part of the body.
    Other,
}

fn looks_like_rpc(json: &Json) -> bool {
    matches!(json, Json::Object(message) if message.is_rpc_2() && (message.method.is_some() || message.is_reply()))
}

#[cfg(test)]
mod tests;
