//! Previews of found sections for the command line: the file, the best matching line, and the matching words.

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
    /// The words of the question that occur in the section.
    pub words: Vec<String>,
}

/// Finds the line of a section that matches a question best.
pub fn preview(
    settings: &LibrarySection,
    question: &str,
    manual_id: &str,
    path: &str,
    start_line: usize,
) -> Result<Preview, ToolError> {
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
    let place = highlighter.first_match(line);
    Ok(Preview {
        file: manual.folder().join(path),
        line: best.1,
        snippet: snippet(line, place.start, place.end),
        words,
    })
}
