//! The source of an artifact or of a coverage: a file of the vault or of a manual, whose lines are counted.

use annai_core::ToolError;

use crate::reading::line_range::LineRange;
use crate::reading::vault_excerpt::{read_excerpt, read_vault_lines};
use annai_files::fs::{RelPath, Sha256};
use annai_files::manuals::Manuals;
use annai_files::vault::Vault;
use annai_files::{FileVersion, LibraryError};
use annai_search::reference::{Ref, Target};
use annai_text::ExcerptRequest;

/// A source as the caller names it.
pub(crate) enum SourceArgument {
    /// A file of the vault.
    Vault(RelPath),
    /// A file of a manual.
    Manual(Box<Ref>, RelPath),
}

/// A source whose lines are counted.
pub(crate) struct SourceFile {
    /// The manual; none for the vault.
    pub(crate) manual_id: Option<String>,
    /// The stored path.
    pub(crate) path: String,
    /// The number of lines.
    pub(crate) lines: u64,
    /// The SHA-256 of the file.
    pub(crate) sha256: Sha256,
}

impl SourceFile {
    /// Its version.
    pub(crate) fn version(&self) -> FileVersion {
        FileVersion::new(self.manual_id.as_deref(), &self.path, &self.sha256)
    }
}

impl SourceArgument {
    /// The source that the path of a vault file or a ref names. `path_argument` is the name of the argument that holds
    /// the path.
    pub(crate) fn new(
        path_argument: &'static str,
        path: Option<&str>,
        source: Option<Ref>,
    ) -> Result<Self, ToolError> {
        match (path, source) {
            (Some(path), None) => Ok(Self::Vault(RelPath::parse(path)?)),
            (None, Some(source)) => {
                let path = RelPath::parse(&source.path)?;
                match source.target {
                    Target::Vault => Ok(Self::Vault(path)),
                    Target::Manual => Ok(Self::Manual(Box::new(source), path)),
                }
            }
            (given, _) => {
                let got = if given.is_some() { "both" } else { "neither" };
                let problem = format!("expected either {path_argument} or source, got {got}");
                Err(LibraryError::invalid(path_argument, problem).into())
            }
        }
    }

    /// Opens the source and counts its lines.
    pub(crate) fn open(&self, vault: &Vault, manuals: &Manuals) -> Result<SourceFile, ToolError> {
        match self {
            Self::Vault(path) => count_lines(vault, path),
            Self::Manual(source, path) => {
                let manual = manuals.get(source.manual_id()?)?;
                let file = manual.file(path)?;
                source.check_rev(&file.sha256)?;
                Ok(SourceFile {
                    manual_id: Some(manual.id),
                    lines: file.document.lines.count() as u64,
                    path: file.path,
                    sha256: file.sha256,
                })
            }
        }
    }
}

/// Counts the lines of a vault file.
pub(crate) fn count_lines(vault: &Vault, path: &RelPath) -> Result<SourceFile, ToolError> {
    let request = ExcerptRequest { first_line: 1, first_char: 0, last_line: 1, max_chars: 0 };
    let read = read_excerpt(vault, path, request, "path")?;
    Ok(SourceFile { manual_id: None, path: read.path, lines: read.excerpt.total_lines, sha256: read.sha256 })
}

/// Passes the given lines of a source to `each`, until that returns false. The ranges must be sorted and must not overlap.
pub(crate) fn read_lines(
    vault: &Vault,
    manuals: &Manuals,
    source: &SourceFile,
    ranges: &[LineRange],
    each: &mut dyn FnMut(u64, &str) -> bool,
) -> Result<(), ToolError> {
    let path = RelPath::parse(&source.path)?;
    let sha256 = match &source.manual_id {
        None => read_vault_lines(vault, &path, ranges, each)?,
        Some(manual_id) => {
            let file = manuals.get(manual_id)?.file(&path)?;
            let mut numbers = ranges.iter().flat_map(|range| range.start_line..=range.end_line);
            let text = |number: u64| {
                let line = usize::try_from(number).unwrap_or(usize::MAX);
                file.document.text_of(line, line)
            };
            // Stops at the first line that is refused.
            let _ = numbers.all(|number| each(number, text(number)));
            file.sha256
        }
    };
    if sha256 != source.sha256 {
        return Err(LibraryError::conflict(
            source.path.as_str(),
            "changed during the call; call the tool again",
        )
        .into());
    }
    Ok(())
}
