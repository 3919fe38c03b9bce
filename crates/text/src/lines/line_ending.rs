//! Line endings: a file keeps the ones that it has, whatever the text uses that is added to it.

use std::borrow::Cow;

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineEnding {
    /// The text has no line break.
    #[default]
    None,
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
    /// `\r`.
    Cr,
}

impl LineEnding {
    /// The line ending that most of the first lines of a text have.
    pub fn of(text: &str) -> Self {
        let mut counter = LineEndingCounter::default();
        counter.add(text);
        counter.ending()
    }

    /// The characters; those of a text without line breaks are `\n`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None | Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// A text with this line ending instead of `\n` and `\r\n`. A text without line breaks gives no reason to change
    /// any.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        if self == Self::None || !text.contains('\n') {
            return Cow::Borrowed(text);
        }
        let unified = text.replace("\r\n", "\n");
        Cow::Owned(if self == Self::Lf { unified } else { unified.replace('\n', self.as_str()) })
    }
}

/// The number of lines after which counting stops: the most common line ending of that many lines is taken for the file's,
/// because reading a large file to its end would not change it.
const CERTAIN_LINES: usize = 1000;

/// Counts the line endings of a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct LineEndingCounter {
    feeds: usize,
    crlfs: usize,
    returns: usize,
    ends_with_return: bool,
}

impl LineEndingCounter {
    /// Adds the next piece. After many lines, further ones are not counted.
    pub fn add(&mut self, piece: &str) {
        if self.feeds + self.returns > CERTAIN_LINES {
            return;
        }
        let bytes = piece.as_bytes();
        let Some(last) = bytes.last() else { return };
        if self.ends_with_return && bytes.first() == Some(&b'\n') {
            self.crlfs += 1;
        }
        self.feeds += memchr::memchr_iter(b'\n', bytes).count();
        for at in memchr::memchr_iter(b'\r', bytes) {
            self.returns += 1;
            self.crlfs += usize::from(bytes.get(at + 1) == Some(&b'\n'));
        }
        self.ends_with_return = *last == b'\r';
    }

    /// The line ending that most of the counted lines have.
    pub fn ending(&self) -> LineEnding {
        let (lf, cr) = (self.feeds - self.crlfs, self.returns - self.crlfs);
        match self.crlfs.max(lf).max(cr) {
            0 => LineEnding::None,
            most if most == lf => LineEnding::Lf,
            most if most == self.crlfs => LineEnding::CrLf,
            _ => LineEnding::Cr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_ending_is_found_also_across_pieces() {
        for (text, ending) in [
            ("", LineEnding::None),
            ("a", LineEnding::None),
            ("a\nb", LineEnding::Lf),
            ("a\r\nb\r\nc\nd", LineEnding::CrLf),
            ("a\rb", LineEnding::Cr),
            ("a\r\nb\n", LineEnding::Lf),
        ] {
            assert_eq!(LineEnding::of(text), ending, "{text:?}");
            let mut counter = LineEndingCounter::default();
            text.chars().for_each(|ch| counter.add(&ch.to_string()));
            assert_eq!(counter.ending(), ending, "{text:?}");
        }
    }

    #[test]
    fn text_takes_the_ending_of_the_file() {
        assert_eq!(LineEnding::CrLf.apply("a\nb\r\nc"), "a\r\nb\r\nc");
        assert_eq!(LineEnding::Lf.apply("a\r\nb\n"), "a\nb\n");
        assert_eq!(LineEnding::Cr.apply("a\n"), "a\r");
        assert_eq!(LineEnding::None.apply("a\r\nb\n"), "a\r\nb\n");
    }
}
