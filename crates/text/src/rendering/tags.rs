//! The tags of HTML and JSX.

use super::html_elements::separates_words;

/// The maximum length of a tag in bytes: with a small picture in it.
const MAX_TAG_BYTES: usize = 100_000;
/// The maximum depth of braces in an attribute of JSX.
const MAX_DEPTH: usize = 4;

/// A tag at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// Its length in bytes.
    pub length: usize,
    /// Whether it separates the words before and after it.
    pub separates: bool,
}

impl Tag {
    /// The tag at the start of a text that follows this character. A placeholder such as `<name>` or `Vec<T>` is text.
    pub fn at_start_of(text: &str, before: char) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let (inside, is_end) = inside.strip_prefix('/').map_or((inside, false), |inside| (inside, true));
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b".:_-".contains(byte);
        let length = inside.bytes().take_while(|byte| is_name(byte)).count();
        let (name, rest) = inside.split_at_checked(length)?;
        let first = *name.as_bytes().first().filter(|first| first.is_ascii_alphabetic())?;
        let mut reader =
            AttributeReader { bytes: rest.as_bytes(), at: 0, has_value: false, closes_itself: false };
        reader.read_to_end()?;
        let AttributeReader { at, has_value, closes_itself, .. } = reader;
        let separates = separates_words(&name.to_ascii_lowercase());
        let is_component = first.is_ascii_uppercase() && name.len() > 1 && !before.is_ascii_alphanumeric();
        let is_markup = separates.is_some() || is_component || is_end || has_value || closes_itself;
        let length = text.len() - rest.len() + at;
        is_markup.then_some(Self { length, separates: separates.unwrap_or_default() })
    }
}

/// Reads the attributes of a tag.
struct AttributeReader<'a> {
    bytes: &'a [u8],
    at: usize,
    has_value: bool,
    closes_itself: bool,
}

impl AttributeReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied().filter(|_| self.at < MAX_TAG_BYTES)
    }

    fn skip_space(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads up to the end of the tag; none where it is no tag.
    fn read_to_end(&mut self) -> Option<()> {
        loop {
            let has_space = self.skip_space();
            match self.peek()? {
                b'>' => {
                    self.at += 1;
                    return Some(());
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'>') => {
                    self.closes_itself = true;
                    self.at += 2;
                    return Some(());
                }
                _ if !has_space => return None,
                b'{' => self.braces()?,
                _ => self.attribute()?,
            }
        }
    }

    fn attribute(&mut self) -> Option<()> {
        let is_name = |byte: u8| !byte.is_ascii_whitespace() && !b"=\"'<>/`{}&;,!?*$%|\\".contains(&byte);
        let start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += 1;
        }
        if self.at == start {
            return None;
        }
        let end = self.at;
        self.skip_space();
        if self.peek()? != b'=' {
            self.at = end;
            return Some(());
        }
        self.at += 1;
        self.skip_space();
        self.has_value = true;
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                while self.peek()? != quote {
                    self.at += 1;
                }
                self.at += 1;
                Some(())
            }
            b'{' => self.braces(),
            _ => {
                let start = self.at;
                while self
                    .peek()
                    .is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\"'=<>`".contains(&byte))
                {
                    self.at += 1;
                }
                (self.at > start).then_some(())
            }
        }
    }

    /// Reads an expression of JSX.
    fn braces(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'{' if depth == MAX_DEPTH => return None,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                self.has_value = true;
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_must_look_like_one() {
        for (text, expected) in [
            ("<b>x", Some(("<b>", false))),
            ("</b >x", Some(("</b >", false))),
            ("<br/>x", Some(("<br/>", true))),
            ("<TD class=x>y", Some(("<TD class=x>", true))),
            ("<a href=\"x > y\" title='z'>t", Some(("<a href=\"x > y\" title='z'>", false))),
            ("<Tabs items={['a', '<b>']} open>x", Some(("<Tabs items={['a', '<b>']} open>", false))),
            (
                "<Foo style={{ a: { b: 1 } }} {...rest}\n/>",
                Some(("<Foo style={{ a: { b: 1 } }} {...rest}\n/>", false)),
            ),
            ("<Foo.Bar>", Some(("<Foo.Bar>", false))),
            ("<my-box size=1>", Some(("<my-box size=1>", false))),
            ("</my-box>", Some(("</my-box>", false))),
            ("<my-name>", None),
            ("<name>", None),
            ("<T>", None),
            ("< b>", None),
            ("<b", None),
            ("<b c", None),
            ("<b <i>", None),
            ("<b = 3>", None),
            ("<1>", None),
            ("<>", None),
            ("<a x={{{{{}}}}}>", None),
            ("<給付>", None),
        ] {
            let found = Tag::at_start_of(text, ' ').map(|tag| (&text[..tag.length], tag.separates));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(Tag::at_start_of("<String>", 't'), None);
        assert!(Tag::at_start_of("<Term>", '給').is_some());
    }
}
