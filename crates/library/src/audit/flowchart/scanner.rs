//! Scans a Mermaid flowchart from left to right: ids, shapes with their labels, and links. What does not fit is left
//! unscanned.

use std::sync::LazyLock;

use regex::Regex;

/// The brackets of each shape, longer ones first.
const SHAPES: &[(&str, &[&str])] = &[
    ("(((", &[")))"]),
    ("((", &["))"]),
    ("([", &["])"]),
    ("(", &[")"]),
    ("[[", &["]]"]),
    ("[(", &[")]"]),
    ("[/", &["/]", "\\]"]),
    ("[\\", &["\\]", "/]"]),
    ("[", &["]"]),
    ("{{", &["}}"]),
    (DECISION, &["}"]),
    (">", &["]"]),
];
/// The bracket that opens the shape of a decision.
const DECISION: &str = "{";

/// The longest link or named shape, in bytes. Matching takes time for all that it may look at, and real ones have a few dozen
/// bytes. A longer one is not parsed, and reported.
const MAX_PART_BYTES: usize = 2_000;

/// The patterns of the parts of a flowchart, each at the beginning of a text.
struct Patterns {
    /// White space, line breaks and comments.
    space: Regex,
    /// One statement up to the end of its line, or to a semicolon outside of quotes.
    statement: Regex,
    /// A link with its id, its tail, its head and its text: `e1@<-- text -->|text|`.
    link: Regex,
    /// A shape with names: `@{ shape: diam, label: "text" }`.
    named_shape: Regex,
    shape_name: Regex,
    shape_label: Regex,
    line_break: Regex,
}

#[expect(clippy::expect_used, reason = "the patterns are part of the program, and a test compiles them")]
static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let pattern = |pattern: &str| Regex::new(pattern).expect("the patterns of flowcharts are valid");
    let text = r#"(?:"[^"]*"|[^"\n])*?"#;
    let normal = format!("-{{2,}}[>xo]|-{{3,}}|--{text}-{{2,}}[>xo]?");
    let thick = format!("={{2,}}[>xo]|={{3,}}|=={text}={{2,}}[>xo]?");
    let dotted = format!(r"-\.+-[>xo]?|-\.{text}\.+-[>xo]?");
    let link_text = r#"\s*\|(?:"[^"]*"|[^"|\n])*\|"#;
    Patterns {
        space: pattern(r"^(?:\s|%%[^\n]*)*"),
        statement: pattern(r#"^(?:"[^"\n]*"|[^;\n])*"#),
        link: pattern(&format!(
            "^(?:(?<id>[\\w]+)@)?(?<tail>[<xo])?(?<line>~{{3,}}|{normal}|{dotted}|{thick})(?:{link_text})?"
        )),
        named_shape: pattern(r#"^@\{((?:"[^"]*"|[^"}])*)\}"#),
        shape_name: pattern(r#"\bshape:\s*"?([\w-]+)"#),
        shape_label: pattern(r#"\blabel:\s*(?:"([^"]*)"|([^,\n]*))"#),
        line_break: pattern(r"<br\s*/?>|\\n"),
    }
});

/// The beginning of a text, as long as one part may be.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_PART_BYTES)).unwrap_or(text)
}

/// A link between two lists of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link<'a> {
    /// The name that styles refer to it by.
    pub(super) id: Option<&'a str>,
    /// Whether it has an arrowhead at its beginning.
    pub(super) has_tail: bool,
    /// Whether it has an arrowhead at its end.
    pub(super) has_head: bool,
    /// Whether it is `~~~`, which only affects the layout.
    pub(super) is_invisible: bool,
}

/// The rest of a flowchart that has not been scanned yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a>(pub(super) &'a str);

impl<'a> Scanner<'a> {
    /// The text after white space, line breaks and comments.
    pub(super) fn after_space(self) -> &'a str {
        let len = PATTERNS.space.find(self.0).map_or(0, |space| space.len());
        self.0.get(len..).unwrap_or_default()
    }

    /// Takes the rest of the statement.
    pub(super) fn take_statement(&mut self) -> &'a str {
        let len = PATTERNS.statement.find(self.0).map_or(0, |statement| statement.len());
        let (statement, rest) = self.0.split_at(len);
        self.0 = rest;
        statement.trim()
    }

    /// Takes an id: letters, digits and some punctuation; a hyphen only when it does not begin a link.
    pub(super) fn take_id(&mut self) -> Option<&'a str> {
        let text = self.after_space();
        let mut letters = text.char_indices().peekable();
        let mut end = 0;
        while let Some((at, ch)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let fits = match ch {
                '-' => !matches!(next, None | Some('-' | '.' | '>')),
                '=' => !matches!(next, None | Some('=')),
                '%' => next != Some('%'),
                '_' | '.' | '/' | '#' | '$' | '!' | '*' | '+' | '?' | '\'' | '\\' => true,
                ch => ch.is_alphanumeric(),
            };
            if !fits {
                break;
            }
            end = at + ch.len_utf8();
        }
        let (id, rest) = text.split_at(end);
        if matches!(id, "" | "subgraph" | "end") {
            return None;
        }
        self.0 = rest;
        Some(id)
    }

    /// Takes a shape and its style class, and returns its label and whether it is a decision. Without a shape the label is
    /// empty; `None` when a bracket is not closed.
    pub(super) fn take_shape(&mut self) -> Option<(String, bool)> {
        let (label, is_decision) = match PATTERNS.named_shape.captures(beginning(self.0)) {
            Some(named) => {
                let (whole, [inside]) = named.extract();
                self.0 = self.0.get(whole.len()..)?;
                let name = PATTERNS.shape_name.captures(inside).and_then(|name| name.get(1));
                let label = PATTERNS.shape_label.captures(inside);
                let label = label.and_then(|label| label.get(1).or_else(|| label.get(2)));
                let decisions = ["diam", "decision", "diamond", "question"];
                let is_decision = name.is_some_and(|name| decisions.contains(&name.as_str()));
                (label.map_or("", |label| label.as_str()), is_decision)
            }
            None => self.take_brackets()?,
        };
        if let Some(class) = self.0.strip_prefix(":::") {
            self.0 = class.trim_start_matches(|ch: char| ch.is_alphanumeric() || ch == '_' || ch == '-');
        }
        let label = label.trim().trim_matches(['"', '`']);
        Some((PATTERNS.line_break.replace_all(label, "\n").into_owned(), is_decision))
    }

    fn take_brackets(&mut self) -> Option<(&'a str, bool)> {
        let Some((opening, closings)) = SHAPES.iter().find(|(opening, _)| self.0.starts_with(opening)) else {
            return Some(("", false));
        };
        let inside = self.0.get(opening.len()..)?;
        // A quoted label may contain anything but a quote, also line breaks.
        let quoted = inside.trim_start().strip_prefix('"').and_then(|text| text.find('"'));
        let skip = quoted.map_or(0, |end| inside.len() - inside.trim_start().len() + 1 + end + 1);
        let line = inside.get(skip..)?.lines().next().unwrap_or_default();
        let ends = closings.iter().filter_map(|closing| Some((line.find(closing)? + skip, closing.len())));
        let (end, length) = ends.min()?;
        self.0 = inside.get(end + length..)?;
        Some((inside.get(..end)?, *opening == DECISION))
    }

    /// Takes a link with its text. It may stand on a new line.
    pub(super) fn take_link(&mut self) -> Option<Link<'a>> {
        let text = self.after_space();
        let found = PATTERNS.link.captures(beginning(text))?;
        let line = found.name("line")?.as_str();
        self.0 = text.get(found.get(0)?.len()..)?;
        Some(Link {
            id: found.name("id").map(|id| id.as_str()),
            has_tail: found.name("tail").is_some_and(|tail| tail.as_str() == "<"),
            has_head: line.ends_with(['>', 'x', 'o']),
            is_invisible: line.starts_with('~'),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_scanned_with_its_text_and_arrowhead() {
        for (text, expected) in [
            ("--> B", Some((" B", true))),
            ("--- B", Some((" B", false))),
            ("--x B", Some((" B", true))),
            ("-- yes --> B", Some((" B", true))),
            ("-- yes --- B", Some((" B", false))),
            ("-.-> B", Some((" B", true))),
            ("-.- B", Some((" B", false))),
            ("-. no .-> B", Some((" B", true))),
            ("==> B", Some((" B", true))),
            ("== x ==> B", Some((" B", true))),
            ("-->|\"a|b\"| B", Some((" B", true))),
            ("-- open", None),
            ("B", None),
        ] {
            let mut scanner = Scanner(text);
            let found = scanner.take_link().map(|link| (scanner.0, link.has_head));
            assert_eq!(found, expected, "{text}");
        }
    }
}
