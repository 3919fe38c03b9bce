//! Adds, changes and removes the table of a server in the TOML settings of Codex, and leaves every other byte as it is.

use std::ops::Range;

use serde_json::Value;

use super::server::{SERVER_NAME, Server};
use super::toml_scan::{Statement, StatementKind, scan, strings};
use super::{EditError, line_break, line_of};

/// The table that contains the servers.
const SERVERS: &str = "mcp_servers";

/// The program and arguments of a server in the text.
pub(super) fn found(text: &str) -> Result<Option<(String, Vec<String>)>, EditError> {
    let statements = scan(text)?;
    let Some(entry) = Entry::find(text, &statements)? else { return Ok(None) };
    let value = |key: &str| entry.key(key).and_then(|range| strings(text.get(range)?));
    let command = value("command").and_then(|words| words.into_iter().next()).unwrap_or_default();
    Ok(Some((command, value("args").unwrap_or_default())))
}

/// The text with the server.
pub(super) fn add(text: &str, server: &Server) -> Result<String, EditError> {
    let statements = scan(text)?;
    let end = line_break(text);
    let Some(entry) = Entry::find(text, &statements)? else {
        let gap = match text {
            _ if text.trim_start_matches('\u{feff}').is_empty() => String::new(),
            _ if text.ends_with('\n') => end.to_owned(),
            _ => end.repeat(2),
        };
        return Ok(format!("{text}{gap}{}", table(server).replace('\n', end)));
    };
    let mut changes = vec![("command", literal(&server.program)), ("args", list(&server.arguments))];
    let known = entry.key("env_vars").and_then(|range| strings(text.get(range)?)).unwrap_or_default();
    match &server.key_variable {
        // A key that somebody has put into the file is used instead.
        Some(variable) if !known.contains(variable) && !entry.sets_variable(variable) => {
            let all: Vec<_> = known.iter().cloned().chain([variable.clone()]).collect();
            changes.push(("env_vars", list(&all)));
        }
        _ => {}
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, value) in changes {
        match entry.key(key) {
            Some(range) if text.get(range.clone()) == Some(value.as_str()) => {}
            Some(range) if strings(text.get(range.clone()).unwrap_or_default()) == strings(&value) => {}
            Some(range) => edits.push((range, value)),
            None => edits.push((entry.header_end..entry.header_end, format!("{key} = {value}{end}"))),
        }
    }
    if server.key_variable.is_none() && known == [server.usual_variable.as_str()] {
        edits.extend(entry.lines_of("env_vars").map(|lines| (lines, String::new())));
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut changed = text.to_owned();
    for (range, value) in edits {
        changed.replace_range(range, &value);
    }
    Ok(changed)
}

/// The text without the server.
pub(super) fn remove(text: &str) -> Result<String, EditError> {
    let statements = scan(text)?;
    let Some(entry) = Entry::find(text, &statements)? else { return Ok(text.to_owned()) };
    let mut changed = text.to_owned();
    for block in entry.blocks.iter().rev() {
        // The empty line in front was added with the table.
        let before = text.get(..block.start).unwrap_or_default();
        let without_break = before.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        let start = without_break.filter(|text| text.ends_with('\n')).map_or(block.start, str::len);
        changed.replace_range(start..block.end, "");
    }
    Ok(changed)
}

/// The table of a server, ready to paste.
pub(super) fn table(server: &Server) -> String {
    let variables = server.key_variable.iter();
    let variables =
        variables.map(|variable| format!("env_vars = {}\n", list(std::slice::from_ref(variable))));
    format!(
        "[{SERVERS}.{SERVER_NAME}]\ncommand = {}\nargs = {}\n{}",
        literal(&server.program),
        list(&server.arguments),
        variables.collect::<String>()
    )
}

/// A string. JSON's strings are TOML's, except that TOML wants DEL to be escaped.
fn literal(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| literal(word)).collect::<Vec<_>>().join(", "))
}

/// Where a server is in the text.
struct Entry<'a> {
    /// The end of its header line.
    header_end: usize,
    /// Its keys, with their names below the server.
    keys: Vec<(Vec<&'a str>, Range<usize>, Range<usize>)>,
    /// Its table and the tables inside it: from the header to the last key.
    blocks: Vec<Range<usize>>,
}

impl<'a> Entry<'a> {
    /// Finds the server; an error if it is written in a form that is not edited here.
    fn find(text: &str, statements: &'a [Statement]) -> Result<Option<Self>, EditError> {
        let name = [SERVERS, SERVER_NAME];
        let mut entry = Self { header_end: 0, keys: Vec::new(), blocks: Vec::new() };
        let mut table: &[String] = &[];
        for statement in statements {
            let refuse = |problem: &str| {
                Err(EditError { line: line_of(text, statement.lines.start), problem: problem.to_owned() })
            };
            match &statement.kind {
                StatementKind::Key(value) => {
                    let full: Vec<&str> = table.iter().chain(&statement.path).map(String::as_str).collect();
                    let is_inside = table.iter().take(2).eq(name.iter()) && table.len() >= 2;
                    if is_inside {
                        let below = full.get(2..).unwrap_or_default().to_vec();
                        entry.keys.push((below, value.clone(), statement.lines.clone()));
                        entry.blocks.last_mut().into_iter().for_each(|block| block.end = statement.lines.end);
                    } else if full == [SERVERS] {
                        return refuse(
                            "mcp_servers is an inline table, which is not edited; write it as [mcp_servers.NAME] tables",
                        );
                    } else if full.starts_with(&name) {
                        return refuse(
                            "the server is not written as a table [mcp_servers.annai]; change or remove it by hand",
                        );
                    }
                }
                StatementKind::Table | StatementKind::ArrayOfTables => {
                    table = &statement.path;
                    if table.iter().take(2).eq(name.iter()) && table.len() >= 2 {
                        if table.len() == 2 {
                            entry.header_end = statement.lines.end;
                        }
                        entry.blocks.push(statement.lines.clone());
                    }
                }
            }
        }
        Ok((entry.header_end > 0).then_some(entry))
    }

    /// Where the value of a key of the server is.
    fn key(&self, key: &str) -> Option<Range<usize>> {
        self.keys.iter().find(|(path, ..)| path == &[key]).map(|(_, value, _)| value.clone())
    }

    /// The lines of a key of the server.
    fn lines_of(&self, key: &str) -> Option<Range<usize>> {
        self.keys.iter().find(|(path, ..)| path == &[key]).map(|(.., lines)| lines.clone())
    }

    /// Whether the server sets an environment variable itself.
    fn sets_variable(&self, variable: &str) -> bool {
        self.keys.iter().any(|(path, ..)| path == &["env", variable])
    }
}
