//! Reads the files of questions and conflict cases.

use std::collections::HashSet;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conflicts::ConflictCase;
use crate::error::EvalError;
use crate::questions::Question;

/// The maximum size of a file, which is held in memory as a whole.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The files that are read from a folder.
const FOLDER_FILES: [&str; 2] = ["questions.jsonl", "conflicts.jsonl"];
/// The fields that only a conflict case has.
const CASE_FIELDS: [&str; 3] = ["expect", "files", "refs"];

/// A file of questions or of conflict cases.
pub struct DataFile {
    /// The name of the file, without its folder.
    pub name: String,
    pub(crate) content: Content,
}

/// What a file contains.
pub(crate) enum Content {
    Questions(Vec<Question>),
    Conflicts(Vec<ConflictCase>),
}

/// Reads a file, or the files `questions.jsonl` and `conflicts.jsonl` in a folder, of which one may be absent.
pub fn read(path: &Path) -> Result<Vec<DataFile>, EvalError> {
    if !path.is_dir() {
        return Ok(vec![read_file(path)?]);
    }
    let paths = FOLDER_FILES.map(|name| path.join(name));
    let files: Result<Vec<_>, _> =
        paths.iter().filter(|path| path.exists()).map(|path| read_file(path)).collect();
    let files = files?;
    if files.is_empty() {
        let names = FOLDER_FILES.join(" nor ");
        return Err(EvalError::input(format!(
            "{} has neither {names}; give the path of a file with questions or conflict cases",
            path.display()
        )));
    }
    Ok(files)
}

fn read_file(path: &Path) -> Result<DataFile, EvalError> {
    let text = read_text(path, "give the path of a file with questions or conflict cases")?;
    let lines = || filled_lines(&text);
    let first: Option<Value> = lines().next().and_then(|(_, line)| serde_json::from_str(line).ok());
    let are_cases = first.is_some_and(|first| CASE_FIELDS.iter().any(|field| first.get(field).is_some()));
    let content = if are_cases {
        Content::Conflicts(parse(path, lines(), |case: &ConflictCase| (&case.id, case.problem()))?)
    } else {
        Content::Questions(parse(path, lines(), |question: &Question| (&question.id, question.problem()))?)
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(DataFile { name, content })
}

/// Reads a text file; `fix` says what to do if it cannot be read.
pub fn read_text(path: &Path, fix: &str) -> Result<String, EvalError> {
    let failed =
        |problem: String| EvalError::input(format!("{} cannot be read: {problem}; {fix}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > MAX_FILE_BYTES {
        return Err(failed(format!("it has {size} bytes, and the maximum is {MAX_FILE_BYTES}")));
    }
    std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

/// Reads a file with one item per line; `fix` says what to do if it cannot be read, and `check` returns the id of an item and
/// what is wrong with it.
pub(crate) fn read_items<T: DeserializeOwned>(
    path: &Path,
    fix: &str,
    check: impl Fn(&T) -> (&str, Option<String>),
) -> Result<Vec<T>, EvalError> {
    let text = read_text(path, fix)?;
    parse(path, filled_lines(&text), check)
}

/// The lines that are not blank, with their indexes.
fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
}

/// Parses one item per line; `check` returns its id and what is wrong with it.
fn parse<'a, T: DeserializeOwned>(
    path: &Path,
    lines: impl Iterator<Item = (usize, &'a str)>,
    check: impl Fn(&T) -> (&str, Option<String>),
) -> Result<Vec<T>, EvalError> {
    let mut ids = HashSet::new();
    let items = lines.map(|(number, line)| {
        let wrong =
            |problem: String| EvalError::input(format!("{}:{}: {problem}", path.display(), number + 1));
        let item: T = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let (id, problem) = check(&item);
        if id.is_empty() {
            return Err(wrong("id: must not be empty".to_owned()));
        }
        // The ids of cases are names of folders, which may ignore case.
        if !ids.insert(id.to_lowercase()) {
            return Err(wrong(format!("id: \"{id}\" stands in an earlier line; use another one")));
        }
        match problem {
            Some(problem) => Err(wrong(problem)),
            None => Ok(item),
        }
    });
    items.collect()
}
