//! Reads JSON with comments and trailing commas, as clients allow it in their settings, and remembers where everything is.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{EditError, line_of};

/// The maximum depth of nested objects and arrays. The settings of clients have a few levels; the limit keeps a damaged file
/// from exhausting the stack.
const MAX_DEPTH: usize = 128;

/// A value, and where it is in the text.
#[derive(Debug)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Object(Vec<Item>),
    Array(Vec<Item>),
    /// A string, a number, a boolean or null.
    Scalar(Value),
}

/// A member of an object or an element of an array.
#[derive(Debug)]
pub(super) struct Item {
    /// The name of a member; empty for an element.
    pub key: String,
    /// Where the member or element starts: at its key, if it has one.
    pub start: usize,
    pub value: Node,
    /// Where the comma after it is, if there is one.
    pub comma: Option<usize>,
}

impl Node {
    /// The members or elements; none of a scalar.
    pub(super) fn items(&self) -> &[Item] {
        match &self.kind {
            NodeKind::Object(items) | NodeKind::Array(items) => items,
            NodeKind::Scalar(_) => &[],
        }
    }

    /// The member with this name. Of several, clients use the last.
    pub(super) fn member(&self, key: &str) -> Option<&Item> {
        match &self.kind {
            NodeKind::Object(items) => items.iter().rev().find(|item| item.key == key),
            _ => None,
        }
    }

    /// The value at the end of a path of names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.member(key).map(|item| &item.value))
    }

    /// The value without comments.
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Object(items) => {
                let members = items.iter().map(|item| (item.key.clone(), item.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            NodeKind::Array(items) => items.iter().map(|item| item.value.to_value()).collect(),
            NodeKind::Scalar(value) => value.clone(),
        }
    }
}

/// Parses a text; `None` if it contains nothing but white space and comments.
pub(super) fn parse(text: &str) -> Result<Option<Node>, EditError> {
    let mut reader = JsonReader { text, position: 0 };
    // A byte-order mark.
    reader.skip('\u{feff}');
    reader.skip_trivia()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.value(0)?;
    reader.skip_trivia()?;
    match reader.peek() {
        None => Ok(Some(node)),
        Some(letter) => Err(reader.wrong(&format!("expected the end of the file, got `{letter}`"))),
    }
}

struct JsonReader<'a> {
    text: &'a str,
    position: usize,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, letter: char) -> bool {
        let is_next = self.peek() == Some(letter);
        if is_next {
            self.position += letter.len_utf8();
        }
        is_next
    }

    fn wrong(&self, problem: &str) -> EditError {
        EditError { line: line_of(self.text, self.position), problem: problem.to_owned() }
    }

    /// Skips white space and comments.
    fn skip_trivia(&mut self) -> Result<(), EditError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let length = if blank > 0 {
                blank
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.wrong("the comment `/*` has no end")),
                }
            } else {
                return Ok(());
            };
            self.position += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, EditError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("the values are nested too deeply"));
        }
        let start = self.position;
        let kind = match self.peek() {
            Some('{') => NodeKind::Object(self.items('}', depth)?),
            Some('[') => NodeKind::Array(self.items(']', depth)?),
            Some('"') => NodeKind::Scalar(self.string()?.into()),
            _ => NodeKind::Scalar(self.word()?),
        };
        Ok(Node { span: start..self.position, kind })
    }

    /// The members of an object or the elements of an array, from its opening bracket to its closing one.
    fn items(&mut self, close: char, depth: usize) -> Result<Vec<Item>, EditError> {
        self.position += 1;
        let mut items = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.skip(close) {
                return Ok(items);
            }
            let start = self.position;
            let key = if close == '}' { self.key()? } else { String::new() };
            let value = self.value(depth + 1)?;
            self.skip_trivia()?;
            let comma = Some(self.position).filter(|_| self.skip(','));
            let has_comma = comma.is_some();
            items.push(Item { key, start, value, comma });
            if !has_comma && self.peek() != Some(close) {
                return Err(self.wrong(&format!("expected `,` or `{close}`")));
            }
        }
    }

    /// A name and its colon.
    fn key(&mut self) -> Result<String, EditError> {
        if self.peek() != Some('"') {
            return Err(self.wrong("expected a name in double quotes, or `}`"));
        }
        let key = self.string()?;
        self.skip_trivia()?;
        if !self.skip(':') {
            return Err(self.wrong(&format!("expected `:` after \"{key}\"")));
        }
        self.skip_trivia()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, EditError> {
        let mut is_escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, letter)| {
            let is_end = *letter == '"' && !is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            is_end
        });
        let quoted = end.and_then(|(end, _)| self.rest().get(..=end)).map(str::to_owned);
        let Some(quoted) = quoted else { return Err(self.wrong("a string has no closing quote")) };
        let string = serde_json::from_str(&quoted).map_err(|_| self.wrong("a string is not valid JSON"))?;
        self.position += quoted.len();
        Ok(string)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, EditError> {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| {
            let shown: String = rest.chars().take(length.clamp(1, 20)).collect();
            self.wrong(&format!("expected a value, got `{}`", shown.escape_debug()))
        })?;
        self.position += length;
        Ok(value)
    }
}
