//! Splits HTML into the pieces that the tokenizer is fed with. The tokenizer compares each attribute of a tag with all the
//! others, which takes quadratic time in a tag with a million of them, so attributes beyond a limit are left out.

/// A tag of up to this size is fed as it is. It has room for about 170 attributes.
const SMALL_TAG_BYTES: usize = 512;
/// How many attributes of a larger tag are kept, at least. Pages use a dozen.
const MAX_ATTRIBUTES: usize = 64;
/// Text is fed in pieces of 64 KiB, because the tokenizer holds a copy.
const TEXT_BYTES: usize = 64 << 10;

/// A part of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text to feed.
    Text(&'a str),
    /// A part that is left out.
    Skipped {
        /// The number of line breaks in it.
        line_breaks: usize,
    },
}

/// Splits a text into pieces, in order.
pub struct Feeder<'a> {
    text: &'a str,
    position: usize,
    /// The tag or comment that the tokenizer is in.
    open: Option<OpenTag>,
}

/// A tag or a comment that the tokenizer has not finished.
struct OpenTag {
    start: usize,
    /// The number of tokens before it.
    tokens: usize,
    /// Its end, once it is known to be a large tag.
    end: Option<usize>,
    /// Where its surplus attributes begin and end.
    surplus: Option<(usize, usize)>,
    is_checked: bool,
}

impl<'a> Feeder<'a> {
    pub const fn new(text: &'a str) -> Self {
        Self { text, position: 0, open: None }
    }

    /// The next piece, when the tokenizer has made this many tokens from the pieces before.
    pub fn next(&mut self, tokens: usize) -> Option<Piece<'a>> {
        self.open.take_if(|open| open.tokens != tokens);
        let bytes = self.text.as_bytes();
        if self.position >= bytes.len() {
            return None;
        }
        if let Some(open) = &mut self.open
            && !open.is_checked
            && self.position - open.start >= SMALL_TAG_BYTES
        {
            open.is_checked = true;
            (open.end, open.surplus) = check_tag(bytes, open.start, self.position);
        }
        let surplus =
            self.open.as_mut().and_then(|open| open.surplus.take_if(|(first, _)| *first <= self.position));
        if let Some((first, end)) = surplus {
            self.position = end;
            let line_breaks = count_line_breaks(bytes.get(first..end).unwrap_or_default());
            return Some(Piece::Skipped { line_breaks });
        }
        let end = self.piece_end(tokens);
        let piece = self.text.get(self.position..end)?;
        self.position = end;
        Some(Piece::Text(piece))
    }

    /// Where the piece at the position ends: before the next `<` and after the next `>`. A large tag is one piece.
    fn piece_end(&mut self, tokens: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_tag = bytes.get(self.position) == Some(&b'<');
        if is_tag && self.open.is_none() {
            let (start, end, surplus) = (self.position, None, None);
            self.open = Some(OpenTag { start, tokens, end, surplus, is_checked: false });
        }
        let known = self.open.as_ref().and_then(|open| open.surplus.map(|(first, _)| first).or(open.end));
        if let Some(end) = known.filter(|end| *end > self.position) {
            return self.text.ceil_char_boundary(end.min(self.position.saturating_add(TEXT_BYTES)));
        }
        let size = if self.open.is_some() { SMALL_TAG_BYTES } else { TEXT_BYTES };
        let limit = self.text.ceil_char_boundary(self.position.saturating_add(size));
        let start = self.position + usize::from(is_tag);
        let rest = bytes.get(start..limit).unwrap_or_default();
        match memchr::memchr2(b'<', b'>', rest) {
            Some(at) if bytes.get(start + at) == Some(&b'>') => start + at + 1,
            Some(at) => start + at,
            None => limit,
        }
    }
}

/// Checks a tag that began at `start` and has been fed up to `position`. Returns where it ends and, if it has too many
/// attributes, where those begin that are left out, and where they end. Anything but a tag has no attributes.
fn check_tag(bytes: &[u8], start: usize, position: usize) -> (Option<usize>, Option<(usize, usize)>) {
    let at = |index: usize| bytes.get(index).copied();
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
    let skip = |mut index: usize, test: &dyn Fn(u8) -> bool| {
        while at(index).is_some_and(test) {
            index += 1;
        }
        index
    };
    let name = start + 1 + usize::from(at(start + 1) == Some(b'/'));
    if !at(name).is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return (None, None);
    }
    let mut index = skip(name, &|byte| !is_space(byte) && !matches!(byte, b'/' | b'>'));
    let (mut count, mut surplus) = (0, None);
    loop {
        index = skip(index, &|byte| is_space(byte) || byte == b'/');
        match at(index) {
            None => return (Some(bytes.len()), surplus.map(|first| (first, bytes.len()))),
            Some(b'>') => return (Some(index + 1), surplus.map(|first| (first, index))),
            Some(_) => {}
        }
        // A name may begin with `=`.
        index = skip(index + 1, &|byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='));
        let after = skip(index, &is_space);
        if at(after) == Some(b'=') {
            let value = skip(after + 1, &is_space);
            index = match at(value) {
                Some(quote @ (b'"' | b'\'')) => {
                    let rest = bytes.get(value + 1..).unwrap_or_default();
                    memchr::memchr(quote, rest).map_or(bytes.len(), |end| value + 1 + end + 1)
                }
                _ => skip(value, &|byte| !is_space(byte) && byte != b'>'),
            };
        }
        count += 1;
        if surplus.is_none() && count >= MAX_ATTRIBUTES && index >= position {
            surplus = Some(index);
        }
    }
}

/// The number of line breaks: `\n`, `\r\n` and `\r` count once.
fn count_line_breaks(bytes: &[u8]) -> usize {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let lone = memchr::memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    feeds + lone
}
