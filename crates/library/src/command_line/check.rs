//! The checks of `annai doctor` for this toolset: the manuals, the vault and the word files.

use annai_core::finding::counted;
use annai_core::{ErrorKind, Finding, ToolError};

use crate::config::LibrarySection;
use annai_files::fs::{Unsearchable, UnsearchableReason};
use annai_files::manuals::{Manual, Manuals};
use annai_search::WordList;
use annai_text::extension_list;

/// How many files of a manual are named; of the others, only the number is shown.
const MAX_NAMED_FILES: usize = 10;
/// Checks the manuals, the vault and the word files.
#[must_use]
pub fn check(settings: &LibrarySection) -> Vec<Finding> {
    let folders = settings.manual_folders();
    let shown: Vec<_> = folders.iter().map(|folder| folder.path().display().to_string()).collect();
    let shown = shown.join(", ");
    let manuals = Manuals::new(folders);
    let mut others = check_word_files(&manuals);
    others.extend(check_files(&manuals));
    others.extend(check_folders(&manuals, settings));
    let manuals = match manuals.ids() {
        Ok(manuals) if manuals.is_empty() => Finding::bad(
            format!("library: there are no manuals in {shown}"),
            format!("put a folder with {} files there", extension_list()),
        ),
        Ok(manuals) => Finding::good(format!("library: {} in {shown}", counted(manuals.len(), "manual"))),
        Err(error) => finding_of_error(&error, "set MANUALS_ROOT or --manuals"),
    };
    let path = settings.vault_folder().display().to_string();
    let vault = match settings.vault().root() {
        Ok(_) => Finding::good(format!("library: the vault is {path}")),
        Err(error) if error.kind() == ErrorKind::NotConfigured => Finding::good(
            "library: no vault is set, so nothing can be written; --vault DIR or VAULT_ROOT chooses one",
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Finding::good(format!(
            "library: the vault {path} does not exist yet; it is created with the first file"
        )),
        Err(error) => Finding::bad(
            format!("library: {error}"),
            "set VAULT_ROOT to a folder that this user can read and write",
        ),
    };
    [manuals, vault].into_iter().chain(others).collect()
}

/// The finding about an error, whose message may end in what to do about it.
fn finding_of_error(error: &ToolError, fix: &str) -> Finding {
    let (what, fix) = error.message().split_once("; ").unwrap_or((error.message(), fix));
    Finding::bad(format!("library: {what}"), fix)
}

/// Checks the word files.
fn check_word_files(manuals: &Manuals) -> Vec<Finding> {
    let (files, unreadable) = manuals.word_files(&manuals.ids().unwrap_or_default());
    let wrong = files.iter().filter_map(|found| {
        let error = WordList::read(&found.file.text).err()?;
        let path = found.path.display();
        Some(Finding::bad(format!("library: {path}:{error}"), "write synonyms: [[a, b]] and exceptions: [c]"))
    });
    let mut findings: Vec<_> = wrong.collect();
    if unreadable > 0 {
        let what = format!("library: {} cannot be read", counted(unreadable, "synonyms.yaml file"));
        findings.push(Finding::bad(what, "make each a regular text file of at most 1 MiB"));
    }
    findings
}

/// Names the files of each manual that cannot be searched. Whether a file is text is known only after it was read.
fn check_files(manuals: &Manuals) -> Vec<Finding> {
    let ids = manuals.ids().unwrap_or_default();
    ids.iter().filter_map(|id| check_manual(&manuals.get(id).ok()?)).collect()
}

/// Names what lies beside the manuals, manuals that are hidden by others, and folders that cannot be opened.
fn check_folders(manuals: &Manuals, settings: &LibrarySection) -> Vec<Finding> {
    let beside = manuals.beside();
    let fix = advice(&beside);
    let named = named(&beside);
    let beside = match beside.len() {
        0 => None,
        _ if fix.is_empty() => {
            Some(Finding::good(format!("library: beside the manuals, not searched: {named}")))
        }
        _ => Some(Finding::warning(format!("library: beside the manuals, not searched: {named}"), fix)),
    };
    let hidden = manuals.hidden_ids().into_iter().map(|id| {
        let what =
            format!("library: two folders of manuals have one named {id}, and only the first is searched");
        Finding::warning(what, "rename a folder, or name one with --manual-dir ID=DIR")
    });
    let folders = settings.manual_folders();
    let missing = folders
        .iter()
        .filter(|_| manuals.ids().is_ok())
        .filter_map(|folder| Some(finding_of_error(&folder.open().err()?, "correct the path")));
    beside.into_iter().chain(hidden).chain(missing).collect()
}

/// The first files with their reasons, and the number of the others.
fn named(files: &[Unsearchable]) -> String {
    let shown = files.iter().take(MAX_NAMED_FILES);
    let shown: Vec<_> = shown.map(|file| format!("{} ({})", file.path, file.reason.name())).collect();
    let mut named = shown.join(", ");
    if files.len() > MAX_NAMED_FILES {
        named.push_str(&format!(" and {} more", files.len() - MAX_NAMED_FILES));
    }
    named
}

fn check_manual(manual: &Manual) -> Option<Finding> {
    let listing = manual.listing().ok()?;
    let read = listing.files.iter().filter_map(|path| {
        let reason = manual.unsearchable_reason(path)?;
        Some(Unsearchable { path: path.clone(), reason })
    });
    let read: Vec<_> = read.collect();
    let is_empty = read.len() == listing.files.len();
    let unsearchable = read.into_iter().chain(listing.unsearchable).collect();
    finding_of(&manual.id, unsearchable, is_empty)
}

/// The finding about the files of a manual that cannot be searched; `None` when all can.
fn finding_of(id: &str, mut files: Vec<Unsearchable>, is_empty: bool) -> Option<Finding> {
    files.sort_by_cached_key(|file| {
        (file.has_no_text(), file.reason == UnsearchableReason::Type, file.path.clone())
    });
    let named = named(&files);
    let count = counted(files.len(), "file");
    if is_empty {
        let named = if files.is_empty() { "it has no files".to_owned() } else { named };
        let fix = format!("put {} files there; {}", extension_list(), advice(&files));
        return Some(Finding::warning(
            format!("library: nothing in the manual {id} can be searched: {named}"),
            fix.trim_end_matches("; "),
        ));
    }
    let first = files.first()?;
    let what = format!("library: {count} of the manual {id} cannot be searched: {named}");
    // Those with text come first.
    Some(if first.has_no_text() { Finding::good(what) } else { Finding::warning(what, advice(&files)) })
}

/// What to do about the reasons that occur.
fn advice(files: &[Unsearchable]) -> String {
    let advice = [
        (UnsearchableReason::Type, "convert documents of other types to Markdown, HTML or text"),
        (
            UnsearchableReason::Encoding,
            "save text files as UTF-8 (Shift_JIS, EUC-JP, ISO-2022-JP and UTF-16 with a byte-order mark work too)",
        ),
        (UnsearchableReason::TooLarge, "split files of more than 256 MiB"),
        (UnsearchableReason::Unreadable, "allow this user to read the files"),
        (
            UnsearchableReason::Link,
            "replace symbolic links by what they lead to, or name a linked manual with --manual-dir ID=DIR",
        ),
        (UnsearchableReason::Stray, "move the files into the folder of a manual"),
    ];
    let occurs = |reason| files.iter().any(|file| file.reason == reason && !file.has_no_text());
    let advice: Vec<_> =
        advice.into_iter().filter(|(reason, _)| occurs(*reason)).map(|(_, what)| what).collect();
    advice.join("; ")
}

#[cfg(test)]
mod tests {
    use annai_core::finding::Outcome;

    use super::*;

    fn files(files: &[(&str, UnsearchableReason)]) -> Vec<Unsearchable> {
        files
            .iter()
            .map(|(path, reason)| Unsearchable { path: (*path).to_owned(), reason: *reason })
            .collect()
    }

    #[test]
    fn files_that_cannot_be_searched_are_named_with_advice() {
        use UnsearchableReason::{Encoding, Type};
        assert_eq!(finding_of("m", Vec::new(), false), None);
        let pictures = finding_of("m", files(&[("a.png", Type)]), false);
        let what = "library: 1 file of the manual m cannot be searched: a.png (type)";
        assert_eq!(pictures, Some(Finding::good(what)));
        let mixed =
            finding_of("m", files(&[("a.png", Type), ("b.pdf", Type), ("c.md", Encoding)]), false).unwrap();
        let what = "library: 3 files of the manual m cannot be searched: c.md (encoding), b.pdf (type), a.png (type)";
        assert!(mixed.outcome == Outcome::Warning && mixed.what == what, "{mixed:?}");
        assert!(mixed.fix.unwrap().contains("UTF-8"));
        let many: Vec<_> = (0..12).map(|number| (format!("{number:02}.pdf"), Type)).collect();
        let many: Vec<_> = many.iter().map(|(path, reason)| (path.as_str(), *reason)).collect();
        let many = finding_of("m", files(&many), true).unwrap();
        assert!(
            many.what.starts_with("library: nothing in the manual m can be searched: 00.pdf (type), "),
            "{many:?}"
        );
        assert!(
            many.what.ends_with("09.pdf (type) and 2 more") && many.outcome == Outcome::Warning,
            "{many:?}"
        );
        assert!(finding_of("m", Vec::new(), true).unwrap().what.ends_with("it has no files"));
    }
}
