//! What a line of Markdown is, as far as its beginning tells.

use super::definitions::definition;

/// The minimum number of marks that open a code block.
const MIN_FENCE: usize = 3;
/// The maximum number of quotations and list items that begin on one line.
const MAX_CONTAINERS: usize = 16;

/// The marks that open a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    count: usize,
}

impl Fence {
    /// The fence that a line opens, given its content.
    fn opened_by(content: &str) -> Option<Self> {
        let mark = *content.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let count = content.bytes().take_while(|byte| *byte == mark).count();
        let info = content.get(count..)?;
        (count >= MIN_FENCE && !(mark == b'`' && info.contains('`'))).then_some(Self { mark, count })
    }

    /// Whether a line closes the code block.
    pub fn is_closed_by(self, line: &str) -> bool {
        let marks = line.trim_start_matches([' ', '\t', '>']).trim_end();
        marks.len() >= self.count && marks.bytes().all(|byte| byte == self.mark)
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// An empty line, also in a quotation.
    Blank,
    /// The start of a code block.
    Fence(Fence),
    /// A thematic break, or the underline of a heading.
    Rule,
    /// The definition of a link.
    Definition,
    /// A heading that begins with `#`.
    Heading,
    /// The first line of a list item.
    Item,
    /// A row of a table.
    Row,
    /// Any other line.
    Text,
}

/// The beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineStart {
    /// What the line is.
    pub kind: LineKind,
    /// The length of the marks before the text: of quotations, list items and headings.
    pub prefix: usize,
    /// The width of the white space before everything.
    pub indent: usize,
}

impl LineStart {
    /// Reads the beginning of a line.
    pub fn of(line: &str) -> Self {
        let indent = line.bytes().map_while(|byte| match byte {
            b' ' => Some(1),
            b'\t' => Some(4),
            _ => None,
        });
        let indent = indent.sum();
        let (mut content, mut is_item) = (line.trim_start(), false);
        for _ in 0..MAX_CONTAINERS {
            if is_rule(content) {
                break;
            }
            if let Some(inside) = content.strip_prefix('>') {
                content = inside.trim_start();
            } else if let Some(inside) = after_item_mark(content) {
                (content, is_item) = (inside.trim_start(), true);
            } else {
                break;
            }
        }
        let kind = if is_rule(content) { LineKind::Rule } else { kind_of(content, is_item) };
        if kind == LineKind::Heading {
            content = content.trim_start_matches('#');
        }
        Self { kind, prefix: line.len() - content.len(), indent }
    }
}

fn kind_of(content: &str, is_item: bool) -> LineKind {
    if let Some(fence) = Fence::opened_by(content) {
        return LineKind::Fence(fence);
    }
    let hashes = content.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&hashes)
        && content.get(hashes..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    match content.as_bytes().first() {
        None if is_item => LineKind::Item,
        None => LineKind::Blank,
        Some(b'#') if is_heading => LineKind::Heading,
        Some(b'|') => LineKind::Row,
        Some(b'[') if !is_item && definition(content).is_some() => LineKind::Definition,
        Some(_) if is_item => LineKind::Item,
        Some(_) => LineKind::Text,
    }
}

/// Whether a line consists of marks that draw a line.
fn is_rule(content: &str) -> bool {
    let Some(mark) = content.bytes().next().filter(|mark| b"-=*_".contains(mark)) else { return false };
    let mut marks = 0;
    for byte in content.bytes() {
        match byte {
            _ if byte == mark => marks += 1,
            b' ' | b'\t' => {}
            _ => return false,
        }
    }
    marks >= 3 || (matches!(mark, b'-' | b'=') && marks == content.trim_end().len() && content.len() > 1)
}

/// What follows the mark of a list item.
fn after_item_mark(content: &str) -> Option<&str> {
    let digits = content.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let marks: &[char] = match digits {
        0 => &['-', '*', '+'],
        1..=9 => &['.', ')'],
        _ => return None,
    };
    let rest = content.get(digits..)?.strip_prefix(marks)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

/// Whether the indented lines below a line are text and not code: notes and tabs of MkDocs, and footnotes.
pub fn opens_indented_text(line: &str) -> bool {
    let line = line.trim_start();
    ["!!! ", "??? ", "???+ ", "=== \"", "[^"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_line_tells_what_it_is() {
        for (line, kind, prefix) in [
            ("", LineKind::Blank, 0),
            ("  > ", LineKind::Blank, 4),
            ("text", LineKind::Text, 0),
            ("**bold** text", LineKind::Text, 0),
            ("* item", LineKind::Item, 2),
            ("> - 1. deep", LineKind::Item, 7),
            ("-", LineKind::Item, 1),
            ("12) item", LineKind::Item, 4),
            ("2024.5 is no item", LineKind::Text, 0),
            ("## A", LineKind::Heading, 2),
            ("#A", LineKind::Text, 0),
            ("####### A", LineKind::Text, 0),
            ("| a | b |", LineKind::Row, 0),
            ("---", LineKind::Rule, 0),
            ("==", LineKind::Rule, 0),
            ("* * *", LineKind::Rule, 0),
            ("[a]: https://example.com", LineKind::Definition, 0),
            ("[a] is text", LineKind::Text, 0),
        ] {
            let start = LineStart::of(line);
            assert_eq!((start.kind, start.prefix), (kind, prefix), "{line}");
        }
        assert!(matches!(LineStart::of("- ```js").kind, LineKind::Fence(_)));
        assert_eq!(LineStart::of("```a``` b").kind, LineKind::Text);
        assert_eq!((LineStart::of("\t x").indent, LineStart::of("    x").indent), (5, 4));
    }

    #[test]
    fn a_code_block_is_closed_by_as_many_marks() {
        let fence = Fence::opened_by("````md").unwrap();
        for (line, closes) in
            [("````", true), ("> ````` ", true), ("```", false), ("~~~~", false), ("```` x", false)]
        {
            assert_eq!(fence.is_closed_by(line), closes, "{line}");
        }
    }
}
