//! The bridge: copies text of a manual into the vault inside the server, without passing it through the model.

use annai_core::{Call, ToolError};

use crate::reading::{
    self, CopyLimits, Expand, LineRange, Provenance, ReadLimits, ReadPart, ReadRequest, ReadScope,
};
use crate::tools::vault::writing::{WriteMode, write_or_create};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::RelPath;
use annai_files::vault::WriteReport;
use annai_search::reference::Ref;

/// What to copy, and where to.
pub(super) struct CopyRequest {
    /// The place in a manual.
    pub(crate) from: Ref,
    pub(crate) scope: ReadScope,
    /// The destination, relative to the vault.
    pub(crate) to_path: String,
    /// What happens to a destination that exists.
    pub(crate) mode: WriteMode,
    /// The limits of the call; without `max_chars`, the limit of the server applies.
    pub(crate) limits: Option<CopyLimits>,
    /// Whether to write where the text came from as a comment above it.
    pub(crate) cite: bool,
}

/// Copies text of a manual into the vault, and logs the copy. The rules of reading manuals and of writing the vault apply.
/// Returns what was written, and what was read.
pub(super) async fn copy_to_vault(
    set: &Library,
    call: &Call,
    request: CopyRequest,
) -> Result<(WriteReport, ReadPart), ToolError> {
    let path = RelPath::parse(&request.to_path)?;
    if request.cite && !path.name().to_lowercase().ends_with(".md") {
        let problem = format!(
            "expected a to_path that ends in .md, because the source is written as a comment of Markdown, got {}; leave cite out, or copy into an .md file",
            path.as_str()
        );
        return Err(LibraryError::invalid("cite", problem).into());
    }
    call.note("path", path.as_str());
    let mode = request.mode;
    let principal = call.identity().principal();
    let work = move |state: &LibraryState, cancellation: &Cancellation| {
        let CopyLimits { max_sections, max_chars, allow_file } = request.limits.unwrap_or_default();
        let max_chars = max_chars.or(Some(state.settings.hard_max_chars));
        let read = ReadRequest {
            place: &request.from,
            scope: Some(request.scope),
            lines: None,
            cursor: None,
            limits: ReadLimits { max_sections, max_chars, allow_file },
            expand: Expand::default(),
            // What is copied page by page must not be copied twice.
            runs_on: false,
        };
        let mut part = reading::read(&state.manuals, &state.settings, &read)?;
        let is_cut_after_break = part.next_cursor.is_some() && part.text.ends_with(['\n', '\r']);
        if request.scope != ReadScope::File && !is_cut_after_break {
            // The text of a section has no final line break, and a file should end with one.
            part.text.push('\n');
        }
        if request.cite {
            let lines = LineRange { start_line: part.start_line as u64, end_line: part.end_line as u64 };
            let (manual_id, path, rev) = (part.manual_id.clone(), part.path.clone(), Some(part.rev.clone()));
            let source = Provenance { manual_id, path, lines, rev };
            part.text.insert_str(0, &format!("{}\n", source.to_comment()));
        }
        let written = write_or_create(&state.vault, cancellation, &path, &part.text, mode)?;
        state.record_use(&principal, &request.from, &part);
        Ok((written, part))
    };
    let (written, part) = set.write(work).await?;
    call.note("path", &written.path);
    call.note("bytes", written.bytes);
    call.note("mode", mode);
    call.note("truncated", part.truncated);
    Ok((written, part))
}
