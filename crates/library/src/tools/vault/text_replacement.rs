//! Replacing text in a file whose line endings may not be those of the caller.

use memchr::memmem;

use annai_text::LineEnding;

/// The result of replacing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(crate) text: String,
    pub(crate) replacements: usize,
}

/// Replaces up to `max_replacements` occurrences of a literal text. `\n` in `find` matches any line ending, and the line
/// breaks of `replacement` become those of the text, so that a caller need not know them; a `\r` in `find` matches
/// only itself, and everything is then taken as it is. A result of more than `max_bytes` bytes is an error: its size.
pub(super) fn replace(
    text: &str,
    find: &str,
    replacement: &str,
    max_replacements: usize,
    max_bytes: u64,
) -> Result<Replaced, usize> {
    let is_literal = find.contains('\r');
    let replacement = if is_literal { replacement.into() } else { LineEnding::of(text).apply(replacement) };
    // Only a text with a carriage return has line breaks that `\n` does not match.
    let found = if !is_literal && find.contains('\n') && text.contains('\r') {
        let unified = UnifiedText::new(text);
        let found = memmem::find_iter(unified.text.as_bytes(), find.as_bytes());
        found
            .take(max_replacements)
            .map(|at| unified.original(at)..unified.original(at + find.len()))
            .collect()
    } else {
        let found = memmem::find_iter(text.as_bytes(), find.as_bytes());
        found.take(max_replacements).map(|at| at..at + find.len()).collect::<Vec<_>>()
    };
    let removed: usize = found.iter().map(ExactSizeIterator::len).sum();
    let size = (text.len() - removed).saturating_add(found.len().saturating_mul(replacement.len()));
    if size as u64 > max_bytes && !found.is_empty() {
        return Err(size);
    }
    let (mut out, mut end) = (String::with_capacity(size), 0);
    for range in &found {
        out.push_str(text.get(end..range.start).unwrap_or_default());
        out.push_str(&replacement);
        end = range.end;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Ok(Replaced { text: out, replacements: found.len() })
}

/// A text with `\n` for every line break, and the way back to the original.
struct UnifiedText {
    text: String,
    /// The positions in the unified text of the line breaks that have one byte more in the original.
    crlfs: Vec<usize>,
}

impl UnifiedText {
    fn new(original: &str) -> Self {
        let mut unified = Self { text: String::with_capacity(original.len()), crlfs: Vec::new() };
        let mut rest = original;
        while let Some((before, after)) = rest.split_once('\r') {
            unified.text.push_str(before);
            rest = after;
            if let Some(after) = after.strip_prefix('\n') {
                unified.crlfs.push(unified.text.len());
                rest = after;
            }
            unified.text.push('\n');
        }
        unified.text.push_str(rest);
        unified
    }

    fn original(&self, position: usize) -> usize {
        position + self.crlfs.partition_point(|crlf| *crlf < position)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replaced(text: &str, find: &str, replacement: &str, max: usize) -> (String, usize) {
        let done = replace(text, find, replacement, max, 1000).unwrap();
        (done.text, done.replacements)
    }

    #[test]
    fn a_line_feed_matches_the_line_endings_of_the_file() {
        assert_eq!(replaced("a\r\nb\r\nc", "a\nb", "x\ny", 1), ("x\r\ny\r\nc".into(), 1));
        assert_eq!(replaced("a\nb", "a\nb", "x\r\ny", 1), ("x\ny".into(), 1));
        assert_eq!(replaced("a\rb\rc", "\nb\n", "\n", 1), ("a\rc".into(), 1));
        assert_eq!(replaced("a\r\nb\r\n", "\n", "", 9), ("ab".into(), 2));
        assert_eq!(replaced("a\r\nb", "b", "c\nd", 1), ("a\r\nc\r\nd".into(), 1));
        // Who names the carriage return means it.
        assert_eq!(replaced("a\r\nb\r\n", "\r\n", "\n", 9), ("a\nb\n".into(), 2));
        assert_eq!(replaced("aaa", "a", "b", 2), ("bba".into(), 2));
        assert_eq!(replaced("aaa", "x", "b", 2), ("aaa".into(), 0));
        assert_eq!(replace("aaa", "a", "bbbb", 9, 10), Err(12));
    }

    proptest! {
        #[test]
        fn without_carriage_returns_it_is_replacen(text in "[ab\n]{0,20}", find in "[ab\n]{1,3}", with in "[xy\n]{0,3}", max in 1_usize..4) {
            let expected = text.replacen(&find, &with, max);
            prop_assert_eq!(replaced(&text, &find, &with, max).0, expected);
        }

        #[test]
        fn with_carriage_returns_it_is_the_same(text in "[ab\n]{0,20}", find in "[ab\n]{1,3}", with in "[xy\n]{0,3}", max in 1_usize..4) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            let expected = if text.contains('\n') { crlf(&text.replacen(&find, &with, max)) } else { text.replacen(&find, &with, max) };
            prop_assert_eq!(replaced(&crlf(&text), &find, &with, max).0, expected);
        }
    }
}
