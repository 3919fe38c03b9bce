//! Previews of found sections for the command line: the file, the best matching line, and the matching words.

use std::ops::Range;
use std::path::PathBuf;

use annai_core::ToolError;

use crate::config::LibrarySection;
use crate::explore::{DictionaryCache, LineHighlighter};
use crate::fs::RelPath;
use crate::manuals::Manuals;
use crate::search::snippet;

/// A preview of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The path of the file.
    pub file: PathBuf,
    /// The best matching line, counted from 1.
    pub line: usize,
    /// That line, or the part of it around the match.
    pub snippet: String,
    /// Where the words of the question occur in `snippet`, in bytes, in order.
    pub matches: Vec<Range<usize>>,
    /// The words of the question that occur in the section.
    pub words: Vec<String>,
}

/// The place of a section, as its ref names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviewPlace<'a> {
    /// The manual.
    pub manual_id: &'a str,
    /// The path of the file, relative to the manual.
    pub path: &'a str,
    /// The line, counted from 1.
    pub line: usize,
    /// How many characters of the line come before the place.
    pub char: usize,
}

/// Finds the line of a section that matches a question best.
pub fn preview(
    settings: &LibrarySection,
    question: &str,
    place: &PreviewPlace<'_>,
) -> Result<Preview, ToolError> {
    let PreviewPlace { manual_id, path, line: start_line, char } = *place;
    let manuals = Manuals::new(settings.manual_folders());
    let manual = manuals.get(manual_id)?;
    let (dictionary, _) = DictionaryCache::default().of(&manuals, std::slice::from_ref(&manual.id));
    let highlighter = LineHighlighter::new(question, &dictionary)?;
    let document = manual.document(&RelPath::parse(path)?)?;
    let last = document
        .node_at(start_line)
        .and_then(|node| document.nodes.get(node))
        .map_or(start_line, |node| node.own_end_line);
    let mut best: (f32, usize) = (0.0, start_line);
    let mut words: Vec<String> = Vec::new();
    for number in start_line..=last {
        let terms = highlighter.terms_in(document.text_of(number, number));
        // The heading is shown anyway, so that another line is preferred.
        let weight: f32 = terms.iter().map(|(_, weight)| weight).sum::<f32>()
            * if number == start_line { 0.5 } else { 1.0 };
        if weight > best.0 {
            best = (weight, number);
        }
        for (word, _) in terms {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    let line = document.text_of(best.1, best.1);
    // A place inside a long line: the line before it belongs to other passages.
    let skipped = if best.1 == start_line { char } else { 0 };
    let line = line.char_indices().nth(skipped).and_then(|(at, _)| line.get(at..)).unwrap_or(line);
    let place = highlighter.first_match(line);
    let snippet = snippet(line, place.start, place.end);
    Ok(Preview {
        file: manual.folder().join(path),
        line: best.1,
        matches: highlighter.matches(&snippet),
        snippet,
        words,
    })
}
