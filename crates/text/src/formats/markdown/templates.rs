//! What is no Markdown in a Markdown file: tags of HTML and JSX, comments, shortcodes, and the ids of headings.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::formats::html::separates_words;
use crate::rendering::Edit;

/// The depth of braces in an attribute of JSX.
const MAX_DEPTH: usize = 4;

/// What begins and ends with marks.
const SPANS: [(&str, &str); 4] = [("<!--", "-->"), ("{/*", "*/}"), ("{{<", ">}}"), ("{{%", "%}}")];

/// The start of a span, a whole tag, or the id of a heading. Attributes of JSX may have values in braces.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and tests compile it")]
static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| {
    let braces = (0..MAX_DEPTH).fold(String::new(), |inner, _| format!(r"\{{(?:[^{{}}]|{inner})*\}}"));
    let braces = braces.replace("|)", ")");
    let value = format!(r#"(?:"[^"]*"|'[^']*'|{braces}|[^\s"'=<>`{{]+)"#);
    let attribute = format!(r#"[^\s="'<>/`{{}}&;,!?*$%|\\]+(?:\s*=\s*{value})?"#);
    let tag = format!(r"</?[A-Za-z][A-Za-z0-9.:_-]*(?:\s+(?:{attribute}|{braces}))*\s*/?>");
    let pattern = format!(r"(?-u)<!--|\{{/\*|\{{\{{[<%]|\{{ *#[^{{}}\r\n]*\}}|{tag}");
    Regex::new(&pattern).expect("the pattern of templates is valid")
});

/// Finds templates in the blocks of a text, which come in order.
#[derive(Default)]
pub struct Templates {
    /// The end of the last one, which may lie behind the block that it began in.
    end: usize,
    /// Up to where the end of each span is known not to occur, so that it is not searched again.
    absent_until: [usize; SPANS.len()],
}

impl Templates {
    /// Leaves out the templates that begin in a block, but not in its code.
    pub fn add_edits(
        &mut self,
        text: &str,
        block: Range<usize>,
        code: &[Range<usize>],
        is_heading: bool,
        edits: &mut Vec<Edit>,
    ) {
        let bytes = text.as_bytes();
        let part = bytes.get(..block.end).unwrap_or_default();
        let (mut at, mut code) = (block.start.max(self.end), code.iter().peekable());
        while let Some(found) = (at < block.end).then(|| TEMPLATE.find_at(part, at)).flatten() {
            while code.next_if(|code| code.end <= found.start()).is_some() {}
            if let Some(code) = code.peek().filter(|code| code.start <= found.start()) {
                at = code.end;
                continue;
            }
            let start = found.start();
            at = found.end();
            let before = bytes.get(block.start..start).and_then(|before| before.last()).copied();
            let written = text.get(start..at).filter(|_| before != Some(b'\\')).unwrap_or_default();
            if let Some(span) = SPANS.iter().position(|(open, _)| *open == written) {
                // A comment of MDX that begins a line may go on over blank lines.
                let is_first = before.is_none_or(|before| matches!(before, b'\n' | b'\r'));
                let limit = if span == 1 && is_first { text.len() } else { block.end };
                let Some(end) = self.end_of(span, bytes, at..limit) else { continue };
                at = end;
                let written = text.get(start..end).unwrap_or_default();
                let shown = shown_text(written).filter(|_| span > 1).unwrap_or_default();
                edits.push(Edit::new(start..start + shown.start, None));
                edits.push(Edit::new(start + shown.end..end, None));
            } else if written.starts_with('{') {
                if is_heading && part.get(at..).is_some_and(|rest| rest.trim_ascii().is_empty()) {
                    edits.push(Edit::new(start..at, None));
                }
            } else if let Some(separates) = markup(written, before) {
                edits.push(Edit::new(start..at, separates.then_some(' ')));
            }
        }
        self.end = at;
    }

    /// The end of a span whose content begins in a range.
    fn end_of(&mut self, span: usize, bytes: &[u8], range: Range<usize>) -> Option<usize> {
        let ((_, close), absent_until) = (SPANS.get(span)?, self.absent_until.get_mut(span)?);
        if range.start < *absent_until {
            return None;
        }
        let found = memchr::memmem::find(bytes.get(range.clone())?, close.as_bytes());
        if found.is_none() {
            *absent_until = range.end;
        }
        found.map(|length| range.start + length + close.len())
    }
}

/// Where a shortcode says what it shows: `text="Pods"`.
fn shown_text(shortcode: &str) -> Option<Range<usize>> {
    let start = shortcode.find(" text=\"")? + " text=\"".len();
    let length = shortcode.get(start..)?.find('"')?;
    Some(start..start + length)
}

/// Whether a tag separates the words before and after it; none for a placeholder such as `<name>` or `Vec<T>`, which is text.
fn markup(tag: &str, before: Option<u8>) -> Option<bool> {
    let inside = tag.trim_start_matches(['<', '/']);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || ".:_-".contains(letter);
    let name = inside.get(..inside.find(|letter| !is_name(letter))?)?;
    let separates = separates_words(&name.to_ascii_lowercase());
    let is_component = name.len() > 1
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && !before.is_some_and(|before| before.is_ascii_alphanumeric());
    let is_markup = separates.is_some()
        || is_component
        || tag.starts_with("</")
        || tag.ends_with("/>")
        || tag.contains(['=', '{']);
    is_markup.then(|| separates.unwrap_or_default())
}
