//! Where the statements of a Mermaid chart begin and end.

use super::mermaid::is_flowchart;

/// The statements of a chart, each with the line that it starts on. A statement ends with its line or with `;`, but goes on
/// within quotes, within `@{ … }`, and where a link begins or ends the line.
pub fn statements(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut current, mut start) = (String::new(), 0);
    let mut inside = Inside::default();
    let mut directive = false;
    for (number, line) in lines {
        let trimmed = line.trim();
        // Comments and directives are lines of their own.
        if directive || trimmed.starts_with("%%{") {
            directive = !trimmed.contains("}%%");
            continue;
        }
        if trimmed.starts_with("%%") {
            continue;
        }
        if current.is_empty() {
            start = *number;
        }
        let mut before = ' ';
        for letter in trimmed.chars() {
            if letter == '%' && before == '%' && inside.is_out() {
                // A comment behind a statement.
                current.pop();
                break;
            }
            let ends = letter == ';' && inside.is_out() && !entity_before(&current);
            if ends {
                found.push((start, std::mem::take(&mut current)));
                start = *number;
            } else {
                inside.pass(before, letter);
                current.push(letter);
            }
            before = letter;
        }
        if inside.quoted || inside.braces > 0 {
            current.push('\n');
        } else {
            inside = Inside::default();
            found.push((start, std::mem::take(&mut current)));
        }
    }
    found.push((start, current));
    let mut joined: Vec<(usize, String)> = Vec::new();
    for (number, statement) in found {
        let statement = statement.trim();
        if statement.is_empty() {
            continue;
        }
        match joined.last_mut() {
            Some((_, last)) if joined_up(last, statement) => {
                last.push(' ');
                last.push_str(statement);
            }
            _ => joined.push((number, statement.to_owned())),
        }
    }
    joined
}

/// Whether a text ends within an entity such as `#35`, which a semicolon closes.
fn entity_before(text: &str) -> bool {
    text.rsplit_once('#').is_some_and(|(_, name)| {
        !name.is_empty() && name.len() < 10 && name.chars().all(char::is_alphanumeric)
    })
}

/// Whether a link stands at the end of one statement or at the beginning of the next.
fn joined_up(last: &str, next: &str) -> bool {
    let begins =
        ["-->", "---", "==>", "===", "-.-", "--x", "--o", "<--", "<==", "-- ", "== ", "-. ", "& ", "~~~"];
    let ends = ["-->", "---", "==>", "===", "-.->", "-.-", "--x", "--o", "&", "~~~"];
    // A header or the end of a subgraph joins nothing.
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

/// What a letter stands within.
#[derive(Default)]
struct Inside {
    quoted: bool,
    piped: bool,
    /// Braces of `@{ … }` and `accDescr { … }`, which may span lines.
    braces: usize,
    brackets: usize,
}

impl Inside {
    const fn is_out(&self) -> bool {
        !self.quoted && !self.piped && self.braces == 0 && self.brackets == 0
    }

    fn pass(&mut self, before: char, letter: char) {
        match letter {
            '"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            '|' => self.piped = !self.piped,
            '{' if self.braces > 0 || before == '@' || before == ' ' => self.braces += 1,
            '}' if self.braces > 0 => self.braces -= 1,
            '[' | '(' | '{' => self.brackets += 1,
            ']' | ')' | '}' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }
}

/// Where a text first stands outside of quotes.
pub fn find_unquoted(text: &str, wanted: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, letter)| {
        if letter == '"' {
            quoted = !quoted;
        }
        (!quoted && text.get(at..)?.starts_with(wanted)).then_some(at)
    })
}
