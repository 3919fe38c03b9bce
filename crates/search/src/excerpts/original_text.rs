//! The text of files that a find searched, as it is written: the index has only normalized text.

use annai_core::ToolError;

use crate::context::FindContext;
use crate::index::has_markup;
use crate::trace::TraceFile;
use annai_files::fs::{self, RelPath};
use annai_files::manuals::{FileType, MAX_FILE_BYTES};
use annai_text::{LineIndex, Rendering};

/// The text of a file in the version that was searched.
pub struct OriginalText {
    /// The text. That of HTML is reduced to headings and rows of text.
    pub text: String,
    /// Its lines.
    pub lines: LineIndex,
    /// Its markup; none where it has none.
    rendering: Option<Rendering>,
}

impl OriginalText {
    /// The text from one line to another, without the last line break.
    fn lines_of(&self, first: usize, last: usize) -> &str {
        let range = self.lines.range(first, last.min(self.lines.count()));
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// The same as a reader sees it, which is how the index has it.
    pub fn rendered_lines(&self, first: usize, last: usize) -> String {
        match &self.rendering {
            Some(rendering) => rendering.render_lines(&self.text, &self.lines, first..=last),
            None => self.lines_of(first, last).to_owned(),
        }
    }
}

impl FindContext<'_> {
    /// The text of a file; none where the file has changed since it was searched, or cannot be read.
    pub fn original_text(&self, file: &TraceFile) -> Option<OriginalText> {
        self.read_original(file).ok().flatten()
    }

    fn read_original(&self, file: &TraceFile) -> Result<Option<OriginalText>, ToolError> {
        let path = RelPath::parse(&file.path)?;
        let (read, lines, rendering) = match file.manual_id.as_deref() {
            Some(id) => {
                let document = self.manuals.get(id)?.document(&path)?;
                let has_markup = document.file_type == FileType::Md;
                (document.file, document.lines, has_markup.then_some(document.rendering))
            }
            None => {
                let (opened, stored) = self.vault.root()?.open_file(&path)?;
                let read = fs::read_text(opened, &stored, MAX_FILE_BYTES)?;
                let lines = LineIndex::new(&read.text);
                let rendering = has_markup(&stored).then(|| Rendering::of_file(&read.text, &lines));
                (read, lines, rendering)
            }
        };
        Ok((read.sha256 == file.sha256).then_some(OriginalText { text: read.text, lines, rendering }))
    }
}
