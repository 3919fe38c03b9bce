//! `--write` and `--remove`: edit the settings file of a client, after showing the change.

use std::path::Path;

use super::super::terminal::plain;
use super::super::{Failure, print};
use super::client::{Client, KEY_PLACEHOLDER, KeySource};
use super::file::SettingsFile;
use super::server::{SERVER_NAME, Server};
use super::{EditError, json_entry, toml_edit};

/// The maximum number of pairs of lines that are compared. Beyond it, which no settings reach, all lines between the first and
/// the last change are shown.
const MAX_COMPARED_LINES: usize = 4_000_000;

/// Adds the server to the settings of a client.
pub(super) fn write(client: Client, server: &Server) -> Result<(), Failure> {
    let file = read(client)?;
    let before = file.text.as_deref().unwrap_or_default();
    let wrong = |error: EditError| unreadable(file.path(), &error);
    let existing = found(client, before).map_err(wrong)?;
    if let Some((program, arguments)) = &existing
        && !server.is_annai(program, arguments)
    {
        let what = if program.is_empty() { "something else".to_owned() } else { format!("`{program}`") };
        return Err(Failure::new(format!(
            "{} already has a server named {SERVER_NAME}, which starts {what}; rename or remove it first",
            file.path().display()
        )));
    }
    let after = add(client, before, server).map_err(wrong)?;
    if file.text.as_deref() == Some(after.as_str()) {
        return Ok(print(&format!("{} is up to date; nothing was changed.\n", file.path().display()))?);
    }
    print(&change(file.path(), before, &after))?;
    let rest = without(client, before).map_err(wrong)?;
    let has_backup = match file.backup() {
        // The backup is still the file without the server, and nothing else has changed since.
        Some(backup) if is_same(client, &rest, &backup) => true,
        // The file contains nothing but the server.
        _ if existing.is_some() && is_same(client, &rest, &empty_document(client)) => false,
        _ => file.back_up()?,
    };
    file.write(&after)?;
    let mut text = String::from("Written.");
    if has_backup {
        text.push_str(&format!(" The backup is {}.", file.backup_path().display()));
    }
    text.push_str(&format!(
        "\nUndo it with: annai init {} --remove\n{}",
        client.id(),
        next_step(client, server)
    ));
    Ok(print(&text)?)
}

/// Removes the server from the settings of a client.
pub(super) fn remove(client: Client, server: &Server) -> Result<(), Failure> {
    let file = read(client)?;
    let before = file.text.as_deref().unwrap_or_default();
    let wrong = |error: EditError| unreadable(file.path(), &error);
    let Some((program, arguments)) = found(client, before).map_err(wrong)? else {
        return Ok(print(&format!("{} has no server named {SERVER_NAME}.\n", file.path().display()))?);
    };
    if !server.is_annai(&program, &arguments) {
        return Err(Failure::new(format!(
            "the server named {SERVER_NAME} in {} does not start Annai, so it was not removed",
            file.path().display()
        )));
    }
    let rest = without(client, before).map_err(wrong)?;
    let backup = file.backup().filter(|backup| is_same(client, &rest, backup));
    if let Some(original) = &backup {
        print(&change(file.path(), before, original))?;
        file.write(original)?;
        file.delete_backup();
        return Ok(print("Removed. The file is as it was before.\n")?);
    }
    if is_same(client, &rest, &empty_document(client)) {
        print(&change(file.path(), before, ""))?;
        file.delete()?;
        return Ok(print("Removed. The file contained nothing else and was deleted.\n")?);
    }
    print(&change(file.path(), before, &rest))?;
    file.back_up()?;
    file.write(&rest)?;
    Ok(print(&format!("Removed. The file with it is {}.\n", file.backup_path().display()))?)
}

fn read(client: Client) -> Result<SettingsFile, Failure> {
    if client == Client::Chatgpt {
        return Err(Failure::usage(
            "ChatGPT has no settings file; `annai init chatgpt` prints what to do instead",
        ));
    }
    let path =
        client.file().ok_or_else(|| Failure::usage("HOME is not set, so the settings cannot be found"))?;
    SettingsFile::read(&path)
}

fn found(client: Client, text: &str) -> Result<Option<(String, Vec<String>)>, EditError> {
    if client == Client::Codex { toml_edit::found(text) } else { json_entry::found(client, text) }
}

fn add(client: Client, text: &str, server: &Server) -> Result<String, EditError> {
    if client == Client::Codex { toml_edit::add(text, server) } else { json_entry::add(client, text, server) }
}

/// The text without the server.
fn without(client: Client, text: &str) -> Result<String, EditError> {
    if client == Client::Codex { toml_edit::remove(text) } else { json_entry::remove(client, text) }
}

/// Whether two texts without the server differ at most in what adding and removing it leaves behind: empty objects, and the
/// line break at the end.
fn is_same(client: Client, one: &str, other: &str) -> bool {
    let rest = |text: &str| -> Option<String> {
        let text =
            if client == Client::Codex { text.to_owned() } else { json_entry::prune(client, text).ok()? };
        Some(text.trim().to_owned())
    };
    let (one, other) = (rest(one), rest(other));
    // An empty text became a document.
    one.is_some() && (one == other || (other.as_deref() == Some("") && one.as_deref() == Some("{}")))
}

/// The settings with nothing in them.
fn empty_document(client: Client) -> String {
    if client == Client::Codex { String::new() } else { "{}".to_owned() }
}

fn unreadable(path: &Path, error: &EditError) -> Failure {
    let (path, EditError { line, problem }) = (path.display(), error);
    Failure::new(format!(
        "{path}:{line}: {problem}. The file was not changed; correct it, or edit it by hand"
    ))
}

/// What remains to be done by the user.
fn next_step(client: Client, server: &Server) -> String {
    let key = server.key_variable.as_ref().map(|variable| match client.key_source() {
        KeySource::Environment => format!("Start {} with {variable} in its environment.\n", client.name()),
        KeySource::Question => format!("{} asks for the key when it starts the server.\n", client.name()),
        KeySource::Settings => format!("Replace {KEY_PLACEHOLDER} in the file by your key.\n"),
    });
    format!("{}Restart {} to use it.\n", key.unwrap_or_default(), client.name())
}

/// The lines that a change removes and adds. The others are not shown, because they may contain keys.
fn change(path: &Path, before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - same_start;
    let same_end =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let middle =
        |lines: &[&str]| lines.get(same_start..lines.len() - same_end).unwrap_or_default().join("\n");
    let mut text = format!("{}:\n", path.display());
    for (mark, line) in differences(&middle(&old), &middle(&new)) {
        text.push_str(&format!("{mark} {line}\n"));
    }
    plain(&text)
}

/// The lines that are only in the old text (`-`) or only in the new one (`+`), by their longest common subsequence.
fn differences<'a>(old: &'a str, new: &'a str) -> Vec<(char, &'a str)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    if old.len().saturating_mul(new.len()) > MAX_COMPARED_LINES {
        let removed = old.into_iter().map(|line| ('-', line));
        return removed.chain(new.into_iter().map(|line| ('+', line))).collect();
    }
    // The lengths of the common subsequences of what follows each pair of lines.
    let mut lengths = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    let at = |lengths: &[Vec<u32>], row: usize, column: usize| {
        lengths.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default()
    };
    for (row, line) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let length = match line == other {
                true => at(&lengths, row + 1, column + 1) + 1,
                false => at(&lengths, row + 1, column).max(at(&lengths, row, column + 1)),
            };
            lengths
                .get_mut(row)
                .and_then(|row| row.get_mut(column))
                .into_iter()
                .for_each(|cell| *cell = length);
        }
    }
    let (mut row, mut column, mut found) = (0, 0, Vec::new());
    loop {
        match (old.get(row), new.get(column)) {
            (None, None) => return found,
            (Some(line), Some(other)) if line == other => (row, column) = (row + 1, column + 1),
            (Some(line), other)
                if other.is_none() || at(&lengths, row + 1, column) >= at(&lengths, row, column + 1) =>
            {
                found.push(('-', *line));
                row += 1;
            }
            (_, other) => {
                found.extend(other.map(|line| ('+', *line)));
                column += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_change_are_shown() {
        let before = "{\n  a\n  secret\n  b\n}\n";
        let after = "{\n  x\n  secret\n  y\n  z\n}\n";
        assert_eq!(change(Path::new("f"), before, after), "f:\n-   a\n+   x\n-   b\n+   y\n+   z\n");
        assert_eq!(change(Path::new("f"), "", "a\n"), "f:\n+ a\n");
        assert_eq!(change(Path::new("f"), "a\nb\n", "b\n"), "f:\n- a\n");
        let many = "x\n".repeat(3000);
        assert_eq!(differences(&many, &"y\n".repeat(3000)).len(), 6000);
    }
}
