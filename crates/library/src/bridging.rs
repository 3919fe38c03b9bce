//! The bridge: copies text of a manual into the vault inside the server, without passing it through the model.

use annai_core::{Call, ToolError};

use crate::cancellation::Cancellation;
use crate::fs::RelPath;
use crate::reading::{self, CopyLimits, Expand, ReadLimits, ReadRequest, ReadScope};
use crate::reference::Ref;
use crate::toolset::{Library, LibraryState};
use crate::vault::WriteReport;
use crate::writing::{WriteMode, write_or_create};

/// What to copy, and where to.
pub struct CopyRequest {
    /// The place in a manual.
    pub from: Ref,
    /// How much to copy.
    pub scope: ReadScope,
    /// The destination, relative to the vault.
    pub to_path: String,
    /// What happens to a destination that exists.
    pub mode: WriteMode,
    /// The limits of the call; without `max_chars`, the limit of the server applies.
    pub limits: Option<CopyLimits>,
}

/// The result of a copy.
pub struct CopyReport {
    /// What was written.
    pub written: WriteReport,
    /// The number of sections that were copied.
    pub sections: usize,
    /// Whether a limit cut the text short.
    pub truncated: bool,
}

/// Copies text of a manual into the vault, and logs the copy. The rules of reading manuals and of writing the vault apply.
pub async fn copy_to_vault(
    set: &Library,
    call: &Call,
    request: CopyRequest,
) -> Result<CopyReport, ToolError> {
    let path = RelPath::parse(&request.to_path)?;
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
        };
        let mut part = reading::read(&state.manuals, &state.settings, &read)?;
        let is_cut_after_break = part.next_cursor.is_some() && part.text.ends_with(['\n', '\r']);
        if request.scope != ReadScope::File && !is_cut_after_break {
            // The text of a section has no final line break, and a file should end with one.
            part.text.push('\n');
        }
        let written = write_or_create(&state.vault, cancellation, &path, &part.text, mode)?;
        state.record_use(&principal, &request.from, &part);
        Ok(CopyReport { written, sections: part.sections, truncated: part.truncated })
    };
    let report = set.write(work).await?;
    call.note("path", &report.written.path);
    call.note("bytes", report.written.bytes);
    call.note("mode", mode);
    call.note("truncated", report.truncated);
    Ok(report)
}
