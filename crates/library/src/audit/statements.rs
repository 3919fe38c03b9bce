//! Splits a Mermaid flowchart into statements.

use crate::cancellation::checkpoint;

/// Whether a diagram is a flowchart, by its first word.
pub fn is_flowchart(first_word: &str) -> bool {
    matches!(first_word, "flowchart" | "graph" | "flowchart-elk")
}

/// The maximum length of one statement in bytes. Parsing one is quadratic in the worst case; real ones have a few hundred
/// bytes. A longer one is reported as a finding.
pub const MAX_STATEMENT_BYTES: usize = 8_000;

/// The statements of a flowchart, each with the line that it starts on. A statement ends with its line or with `;`, but
/// continues within quotes, within `@{ … }`, and when a link begins or ends the line.
pub fn statements(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut current, mut start) = (String::new(), 0);
    let mut nesting = Nesting::default();
    let mut in_directive = false;
    for (number, line) in lines {
        checkpoint();
        let trimmed = line.trim();
        // Comments and directives take whole lines.
        if in_directive || trimmed.starts_with("%%{") {
            in_directive = !trimmed.contains("}%%");
            continue;
        }
        if trimmed.starts_with("%%") {
            continue;
        }
        if current.is_empty() {
            start = *number;
        }
        let mut before = ' ';
        for ch in trimmed.chars() {
            if ch == '%' && before == '%' && nesting.is_top_level() {
                // A comment after a statement.
                current.pop();
                break;
            }
            let ends = ch == ';' && nesting.is_top_level() && !ends_in_entity(&current);
            if ends {
                found.push((start, std::mem::take(&mut current)));
                start = *number;
            } else {
                nesting.advance(before, ch);
                current.push(ch);
            }
            before = ch;
        }
        if nesting.is_quoted || nesting.braces > 0 {
            current.push('\n');
        } else {
            nesting = Nesting::default();
            found.push((start, std::mem::take(&mut current)));
        }
    }
    found.push((start, current));
    join_continued(found)
}

/// Joins the lines of statements that a link continues, and drops empty ones.
fn join_continued(found: Vec<(usize, String)>) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    for (number, statement) in found {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        match joined.last_mut() {
            Some((_, last)) if last.len() <= MAX_STATEMENT_BYTES && continues_statement(last, statement) => {
                last.push(' ');
                last.push_str(statement);
            }
            _ => joined.push((number, statement.to_owned())),
        }
    }
    joined
}

/// Whether a text ends in an entity such as `#35`, to which a following semicolon belongs.
fn ends_in_entity(text: &str) -> bool {
    text.rsplit_once('#').is_some_and(|(_, name)| {
        !name.is_empty() && name.len() < 10 && name.chars().all(char::is_alphanumeric)
    })
}

/// Whether a link at the end of one line, or at the beginning of the next, joins them to one statement.
fn continues_statement(last: &str, next: &str) -> bool {
    let begins =
        ["-->", "---", "==>", "===", "-.-", "--x", "--o", "<--", "<==", "-- ", "== ", "-. ", "& ", "~~~"];
    let ends = ["-->", "---", "==>", "===", "-.->", "-.-", "--x", "--o", "&", "~~~"];
    // A header, or the beginning or end of a subgraph, is never joined.
    let is_flow = |text: &str| {
        !text
            .split_whitespace()
            .next()
            .is_some_and(|word| is_flowchart(word) || matches!(word, "subgraph" | "end"))
    };
    let is_open = last.ends_with('|')
        && last.matches('|').count().is_multiple_of(2)
        && ends.iter().any(|end| last.split('|').next().is_some_and(|link| link.ends_with(end)));
    is_flow(last)
        && is_flow(next)
        && (begins.iter().any(|begin| next.starts_with(begin))
            || ends.iter().any(|end| last.ends_with(end))
            || is_open)
}

/// What the current character is enclosed in.
#[derive(Default)]
struct Nesting {
    is_quoted: bool,
    /// Between `|` and `|`, around the text of a link.
    is_link_text: bool,
    /// Braces of `@{ … }` and `accDescr { … }`, which may span lines.
    braces: usize,
    brackets: usize,
}

impl Nesting {
    const fn is_top_level(&self) -> bool {
        !self.is_quoted && !self.is_link_text && self.braces == 0 && self.brackets == 0
    }

    fn advance(&mut self, before: char, ch: char) {
        match ch {
            '"' => self.is_quoted = !self.is_quoted,
            _ if self.is_quoted => {}
            '|' => self.is_link_text = !self.is_link_text,
            '{' if self.braces > 0 || before == '@' || before == ' ' => self.braces += 1,
            '}' if self.braces > 0 => self.braces -= 1,
            '[' | '(' | '{' => self.brackets += 1,
            ']' | ')' | '}' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }
}

/// The position of a text outside of quotes.
pub fn find_unquoted(text: &str, wanted: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, ch)| {
        if ch == '"' {
            quoted = !quoted;
        }
        (!quoted && text.get(at..)?.starts_with(wanted)).then_some(at)
    })
}
