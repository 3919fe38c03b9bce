//! Reads the tables and keys of a TOML text, and remembers where they are. Values are checked for their syntax only.

use std::ops::Range;

use super::{EditError, line_of};

/// The maximum depth of nested arrays and inline tables, so that a damaged file cannot exhaust the stack.
const MAX_DEPTH: usize = 128;

/// A line with a table header or a key, or several lines for a value that needs them.
#[derive(Debug, PartialEq)]
pub(super) struct Statement {
    pub kind: StatementKind,
    /// From the beginning of its first line to the end of its last, with the line break.
    pub lines: Range<usize>,
    /// The names: of the table, or of the key below its table.
    pub path: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum StatementKind {
    /// `[a.b]`
    Table,
    /// `[[a.b]]`
    ArrayOfTables,
    /// `a.b = value`, and where the value is.
    Key(Range<usize>),
}

/// The statements of a text; comments and empty lines are between them.
pub(super) fn scan(text: &str) -> Result<Vec<Statement>, EditError> {
    let mut reader = TomlReader { text, position: 0 };
    reader.skip("\u{feff}");
    let mut statements = Vec::new();
    loop {
        let start = reader.position;
        reader.skip_blank();
        let (kind, path) = match reader.peek() {
            None => return Ok(statements),
            Some('#' | '\n' | '\r') => {
                reader.end_line()?;
                continue;
            }
            Some('[') => {
                let is_array = reader.skip("[[");
                let close = if is_array { "]]" } else { "]" };
                if !is_array {
                    reader.skip("[");
                }
                let path = reader.path()?;
                if !reader.skip(close) {
                    return Err(reader.wrong(&format!("expected `{close}` after the name of a table")));
                }
                (if is_array { StatementKind::ArrayOfTables } else { StatementKind::Table }, path)
            }
            Some(_) => {
                let path = reader.path()?;
                if !reader.skip("=") {
                    return Err(reader.wrong("expected `=` after a key"));
                }
                reader.skip_blank();
                let start = reader.position;
                reader.value(0)?;
                (StatementKind::Key(start..reader.position), path)
            }
        };
        reader.end_line()?;
        statements.push(Statement { kind, lines: start..reader.position, path });
    }
}

/// The strings of an array, or of a single string; `None` if the value is something else.
pub(super) fn strings(value: &str) -> Option<Vec<String>> {
    let mut reader = TomlReader { text: value, position: 0 };
    if !reader.skip("[") {
        return Some(vec![reader.string().ok()?]);
    }
    let mut strings = Vec::new();
    loop {
        reader.skip_lines().ok()?;
        if reader.skip("]") {
            return Some(strings);
        }
        strings.push(reader.string().ok()?);
        reader.skip_lines().ok()?;
        reader.skip(",");
    }
}

struct TomlReader<'a> {
    text: &'a str,
    position: usize,
}

impl TomlReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.position += word.len();
        }
        is_next
    }

    fn skip_blank(&mut self) {
        while self.skip(" ") || self.skip("\t") {}
    }

    fn wrong(&self, problem: &str) -> EditError {
        EditError { line: line_of(self.text, self.position), problem: problem.to_owned() }
    }

    /// Skips what may stand behind a statement: white space, a comment and the line break.
    fn end_line(&mut self) -> Result<(), EditError> {
        self.skip_blank();
        if self.peek() == Some('#') {
            self.position += self.rest().find('\n').unwrap_or(self.rest().len());
        }
        if self.skip("\n") || self.skip("\r\n") || self.peek().is_none() {
            return Ok(());
        }
        Err(self.wrong("expected the end of the line"))
    }

    /// Skips white space, comments and line breaks inside an array or inline table.
    fn skip_lines(&mut self) -> Result<(), EditError> {
        loop {
            self.skip_blank();
            match self.peek() {
                Some('#' | '\n' | '\r') => self.end_line()?,
                _ => return Ok(()),
            }
        }
    }

    /// Names that are separated by dots.
    fn path(&mut self) -> Result<Vec<String>, EditError> {
        let mut names = Vec::new();
        loop {
            self.skip_blank();
            names.push(match self.peek() {
                Some('"' | '\'') => self.string()?,
                _ => {
                    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
                    let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
                    let name = self.rest().get(..length).unwrap_or_default().to_owned();
                    if name.is_empty() {
                        return Err(self.wrong("expected a key"));
                    }
                    self.position += length;
                    name
                }
            });
            self.skip_blank();
            if !self.skip(".") {
                return Ok(names);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), EditError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("the values are nested too deeply"));
        }
        match self.peek() {
            Some('"' | '\'') => self.string().map(drop),
            Some('[') => self.items("]", depth),
            Some('{') => self.items("}", depth),
            _ => self.word(),
        }
    }

    fn items(&mut self, close: &str, depth: usize) -> Result<(), EditError> {
        self.position += 1;
        loop {
            self.skip_lines()?;
            if self.skip(close) {
                return Ok(());
            }
            if close == "}" {
                self.path()?;
                if !self.skip("=") {
                    return Err(self.wrong("expected `=` after a key"));
                }
                self.skip_lines()?;
            }
            self.value(depth + 1)?;
            self.skip_lines()?;
            if !self.skip(",") && !self.rest().starts_with(close) {
                return Err(self.wrong(&format!("expected `,` or `{close}`")));
            }
        }
    }

    /// A string of any of the four kinds, without its quotes; escape sequences are resolved where JSON has them too.
    fn string(&mut self) -> Result<String, EditError> {
        for (quotes, has_escapes) in [("\"\"\"", true), ("'''", false), ("\"", true), ("'", false)] {
            if !self.rest().starts_with(quotes) {
                continue;
            }
            let inside = self.rest().get(quotes.len()..).unwrap_or_default();
            let Some(length) = closing(inside, quotes, has_escapes) else {
                return Err(self.wrong(&format!("a string has no closing {quotes}")));
            };
            let raw = inside.get(..length).unwrap_or_default();
            let text = if has_escapes && quotes.len() == 1 {
                serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned())
            } else {
                raw.to_owned()
            };
            self.position += quotes.len() + length + quotes.len();
            return Ok(text);
        }
        Err(self.wrong("expected a string"))
    }

    /// A number, a date, `true` or `false`.
    fn word(&mut self) -> Result<(), EditError> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+-.:_".contains(letter);
        let length = |text: &str| text.find(|letter| !is_part(letter)).unwrap_or(text.len());
        let word = self.rest().get(..length(self.rest())).unwrap_or_default().to_owned();
        let is_number =
            word.trim_start_matches(['+', '-']).starts_with(|letter: char| letter.is_ascii_digit());
        let is_name =
            ["true", "false", "inf", "+inf", "-inf", "nan", "+nan", "-nan"].contains(&word.as_str());
        if !is_number && !is_name {
            return Err(self.wrong("expected a value"));
        }
        self.position += word.len();
        // A date and a time may be separated by a space.
        let time = self.rest().strip_prefix(' ').filter(|_| word.len() == 10 && word.contains('-'));
        if let Some(time) = time.filter(|time| time.starts_with(|letter: char| letter.is_ascii_digit())) {
            self.position += 1 + length(time);
        }
        Ok(())
    }
}

/// Where the closing quotes of a string are; `None` if there are none, or only on a later line of a one-line string.
fn closing(inside: &str, quotes: &str, has_escapes: bool) -> Option<usize> {
    let mut position = 0;
    loop {
        let rest = inside.get(position..)?;
        if rest.starts_with(quotes) {
            // Up to two quotes may stand directly before the closing three.
            let quote = quotes.get(..1).unwrap_or_default();
            let more = rest.get(quotes.len()..).unwrap_or_default();
            let extra = more.len() - more.trim_start_matches(quote).len();
            return Some(position + if quotes.len() == 3 { extra.min(2) } else { 0 });
        }
        let letter = rest.chars().next()?;
        if letter == '\n' && quotes.len() == 1 {
            return None;
        }
        position += letter.len_utf8();
        if letter == '\\' && has_escapes {
            position += inside.get(position..)?.chars().next()?.len_utf8();
        }
    }
}
