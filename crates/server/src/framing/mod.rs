//! Bytes to JSON messages, in both framings of stdio, told apart message by message:
//! `Content-Length: N` headers before a body, or one JSON a line.
//!
//! The decoder never gives up. What it cannot read becomes one [`Frame::Refused`], and it resumes at the
//! next line that starts with `{` or `Content-Length:`. A length that lies must not swallow what follows:
//! a fresh line inside a body that is a whole message by itself, or another header, shows that the body
//! was cut short. What is decoded depends on the bytes alone, not on how they were cut into reads.

mod header;

use crate::envelope::{Json, parse};
use bytes::{Buf, BytesMut};
use header::{CONTENT_LENGTH, Header, content_length, could_be_header, read_header, starts_like};
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
    /// The rest of a body that is too long; `fresh` at the start of a line.
    SkipBody { left: u64, fresh: bool },
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

    /// The framing of the last message.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// The next thing in the buffer; `None` until more bytes come.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let step = match self.state {
                State::Start => self.start(),
                State::Body { length, line } => self.body(length, line),
                State::SkipLine { seek } => self.skip_line(seek),
                State::SkipBody { left, fresh } => self.skip_body(left, fresh),
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
        let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.consume(blank);
        if self.buffer.starts_with(BOM) {
            tracing::warn!("a byte order mark was skipped");
            self.consume(BOM.len());
            return Step::Again;
        }
        let Some(first) = self.buffer.first() else { return Step::Wait };
        let is_json = matches!(first, b'{' | b'[');
        if !is_json && could_be_header(&self.buffer) {
            return self.header();
        }
        let Some(end) = self.line_end() else {
            if self.buffer.len() <= self.most_bytes {
                return Step::Wait;
            }
            self.state = State::SkipLine { seek: false };
            return Step::refused(Refused::TooLong);
        };
        if end > self.most_bytes {
            self.consume(end);
            return Step::refused(Refused::TooLong);
        }
        let parsed = if is_json {
            parse(self.buffer.get(..end).unwrap_or_default())
        } else {
            Err("neither JSON nor a Content-Length header".to_owned())
        };
        self.consume(end);
        match parsed {
            Ok(value) => {
                self.framing = Framing::Lines;
                Step::Found(Frame::Message(value, end))
            }
            Err(why) => self.unreadable(why, 0),
        }
    }

    fn header(&mut self) -> Step {
        match read_header(&self.buffer, self.ended) {
            Header::Incomplete => Step::Wait,
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
                        self.state = State::SkipBody { left: length, fresh: true };
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
        let mut from = line.max(self.searched);
        while let Some(end) = self.buffer.get(from..here).and_then(|rest| memchr(b'\n', rest)) {
            let end = from + end + 1;
            match self.judge(line, end) {
                // The first line is the message: what else the length promised is taken as it comes.
                Line::Message(value) if self.is_blank(line) => {
                    self.consume(end);
                    self.state = State::Start;
                    return Step::Found(Frame::Message(value, end - line));
                }
                Line::Message(_) | Line::Header => {
                    self.consume(line);
                    self.state = State::Start;
                    let why = "a message was cut short: another one starts inside it";
                    return Step::refused(Refused::Unreadable(why.to_owned()));
                }
                Line::Other => (line, from) = (end, end),
            }
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
        if self.ended {
            return self.unreadable("the input ended inside a message".to_owned(), here);
        }
        self.searched = here;
        self.state = State::Body { length, line };
        Step::Wait
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

    fn skip_body(&mut self, left: u64, fresh: bool) -> Step {
        let here = usize::try_from(left).map_or(self.buffer.len(), |left| left.min(self.buffer.len()));
        let line = self.buffer.get(..here).and_then(|rest| memchr(b'\n', rest)).map(|end| end + 1);
        let candidate = fresh && self.could_start_message();
        match line {
            Some(end) if candidate && !matches!(self.judge(0, end), Line::Other) => {
                self.state = State::Start;
                return Step::Again;
            }
            None if candidate && here <= self.most_bytes => {
                if (here as u64) < left && !self.ended {
                    return Step::Wait;
                }
                // The body ends inside this line, which may be a message of its own.
                self.state = State::Seek { condemned: here };
                return Step::Again;
            }
            _ => {}
        }
        let size = line.unwrap_or(here);
        let left = left - size as u64;
        let fresh = line.is_some() || (fresh && size == 0);
        self.consume(size);
        self.state = if left == 0 { State::Start } else { State::SkipBody { left, fresh } };
        if size == 0 && left > 0 { Step::Wait } else { Step::Again }
    }

    fn seek(&mut self, condemned: usize) -> Step {
        let Some(first) = self.buffer.first() else { return Step::Wait };
        if condemned == 0 {
            let header =
                self.buffer.len() >= CONTENT_LENGTH.len() && starts_like(&self.buffer, CONTENT_LENGTH);
            if *first == b'{' || header {
                self.state = State::Start;
                return Step::Again;
            }
        }
        let end = self.line_end();
        // A frame that follows a refused body at once, without a line break between them.
        if condemned > 0 && end.is_none_or(|end| end > condemned) {
            let after = self.buffer.get(condemned..).unwrap_or_default();
            if after.len() >= CONTENT_LENGTH.len() && starts_like(after, CONTENT_LENGTH) {
                self.consume(condemned);
                self.state = State::Start;
                return Step::Again;
            }
        }
        let Some(end) = end else {
            if self.buffer.len() <= self.most_bytes {
                return Step::Wait;
            }
            self.state = State::SkipLine { seek: true };
            return Step::Again;
        };
        match self.judge(0, end) {
            Line::Message(value) => {
                self.consume(end);
                self.framing = Framing::Lines;
                self.state = State::Start;
                Step::Found(Frame::Message(value, end))
            }
            Line::Header => {
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

    /// What the line from `line` to `end` is when it stands where a body was promised.
    fn judge(&self, line: usize, end: usize) -> Line {
        let bytes = self.buffer.get(line..end).unwrap_or_default();
        if content_length(bytes).is_some() {
            return Line::Header;
        }
        if bytes.first() != Some(&b'{') || bytes.len() > self.most_bytes {
            return Line::Other;
        }
        match parse(bytes) {
            Ok(value) if looks_like_rpc(&value) => Line::Message(value),
            _ => Line::Other,
        }
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
    /// A whole JSON-RPC message.
    Message(Json),
    /// A `Content-Length` header.
    Header,
    /// Part of the body.
    Other,
}

fn looks_like_rpc(json: &Json) -> bool {
    matches!(json, Json::Object(message) if message.is_rpc_2() && (message.method.is_some() || message.is_reply()))
}

#[cfg(test)]
mod tests;
