//! The sentences of conflicts as they are written in the files: the index has only their normalized text.

use std::ops::RangeInclusive;

use annai_core::ToolError;

use super::conflicts::Quote;
use super::context::ExploreContext;
use super::sentences::sentences;
use super::trace::{TraceMatch, TraceRecord};
use crate::fs::{self, RelPath};
use crate::manuals::MAX_FILE_BYTES;
use crate::text::{LineIndex, normalize_text};

impl ExploreContext<'_> {
    /// The sentence that a quote was taken from, as it is written; the normalized text where the file has changed since,
    /// or has no such sentence.
    pub fn original_sentence(&self, record: &TraceRecord, found: &TraceMatch, quote: &Quote) -> String {
        let wanted = squeezed(&quote.text);
        // The heading of a table and the line before a list belong to the sentences of their rows and items, so the section
        // is read from its start; from the sentence on where its heading would become a part of it.
        let starts = [found.span.start.line, quote.first_line];
        let written = starts.into_iter().find_map(|first| {
            let lines = self.original_lines(record, found, first..=quote.last_line).ok().flatten()?;
            let number = quote.first_line.saturating_sub(first) as usize;
            let is_wanted = |text: &str| squeezed(&normalize_text(text)) == wanted;
            let all = sentences(lines.lines()).into_iter().filter(|sentence| is_wanted(&sentence.text));
            Some(all.min_by_key(|sentence| sentence.lines.start.abs_diff(number))?.text)
        });
        written.unwrap_or_else(|| quote.text.clone())
    }

    /// These lines of the file of a match.
    fn original_lines(
        &self,
        record: &TraceRecord,
        found: &TraceMatch,
        lines: RangeInclusive<u32>,
    ) -> Result<Option<String>, ToolError> {
        let Some(file) = record.file_of(found) else { return Ok(None) };
        let path = RelPath::parse(&file.path)?;
        let (first, last) = (*lines.start() as usize, *lines.end() as usize);
        let text = match file.manual_id.as_deref() {
            Some(id) => self.manuals.get(id)?.document(&path)?.text_of(first, last).to_owned(),
            None => {
                let (opened, stored) = self.vault.root()?.open_file(&path)?;
                let text = fs::read_text(opened, &stored, MAX_FILE_BYTES)?.text;
                let range = LineIndex::new(&text).range(first, last);
                range.and_then(|range| text.get(range)).unwrap_or_default().to_owned()
            }
        };
        Ok(Some(text))
    }
}

/// A text without white space, which lines are joined with or not by their characters.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
