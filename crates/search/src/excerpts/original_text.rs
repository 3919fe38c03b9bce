//! The text of files that a find searched, as it is written: the index has only normalized text.

use annai_core::ToolError;

use crate::context::FindContext;
use crate::trace::TraceFile;
use annai_files::fs::{self, RelPath};
use annai_files::manuals::MAX_FILE_BYTES;
use annai_text::{Document, note_format_of, page_name};

impl FindContext<'_> {
    /// The content of a file; none where the file has changed since it was searched, or cannot be read.
    pub fn original_text(&self, file: &TraceFile) -> Option<Document> {
        self.read_original(file).ok().flatten()
    }

    fn read_original(&self, file: &TraceFile) -> Result<Option<Document>, ToolError> {
        let path = RelPath::parse(&file.path)?;
        let (document, sha256) = match file.manual_id.as_deref() {
            Some(id) => {
                let read = self.manuals.get(id)?.file(&path)?;
                (read.document, read.sha256)
            }
            None => {
                let (opened, stored) = self.vault.root()?.open_file(&path)?;
                let read = fs::read_text(opened, &stored, MAX_FILE_BYTES)?;
                (note_format_of(&stored).parse(read.text, page_name(&stored, "")), read.sha256)
            }
        };
        Ok((sha256 == file.sha256).then_some(document))
    }
}
