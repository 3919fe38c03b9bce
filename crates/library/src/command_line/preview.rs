//! Previews of found sections for the command line: the file, the best matching line, and the matching words.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use annai_core::ToolError;

use crate::config::LibrarySection;
use crate::line_search::snippet;
use annai_files::fs::RelPath;
use annai_files::manuals::Manuals;
use annai_search::{DictionaryCache, LineHighlighter, OtherWords};

/// A preview of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The path of the file.
    pub file: PathBuf,
    /// The best matching line, counted from 1.
    pub line: usize,
    /// That line as a reader sees it, without markup, or the part of it around the match.
    pub snippet: String,
    /// Where the words occur in `snippet`, in bytes, in order.
    pub matches: Vec<Range<usize>>,
    /// The words of the question that occur in the section or, where none does, those of its other wordings.
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

/// Finds the line of a section that matches a question best or, where it contains none of the words of the question, one
/// of its other wordings.
pub fn preview(
    settings: &LibrarySection,
    question: &str,
    other_words: &OtherWords,
    place: &PreviewPlace<'_>,
) -> Result<Preview, ToolError> {
    let PreviewPlace { manual_id, path, line: start_line, char } = *place;
    let manuals = Manuals::new(settings.manual_folders());
    let manual = manuals.get(manual_id)?;
    let (dictionary, _) = DictionaryCache::default().of(&manuals, std::slice::from_ref(&manual.id));
    let document = manual.file(&RelPath::parse(path)?)?.document;
    let node = document.nodes.get(document.node_at(start_line));
    let last = node.map_or(start_line, |node| node.own_end_line);
    let lines = || (start_line..=last).map(|number| (number, document.rendered_line(number, 0)));
    let mut highlighter = LineHighlighter::new(question, &dictionary)?;
    let (mut best, mut words) = best_line(&highlighter, lines());
    if words.is_empty() && !other_words.is_empty() {
        highlighter = LineHighlighter::of_other_words(other_words, question, &dictionary)?;
        (best, words) = best_line(&highlighter, lines());
    }
    let number = best.unwrap_or(start_line);
    // A place inside a long line: the line before it belongs to other passages.
    let skipped = if number == start_line { char } else { 0 };
    let line = document.rendered_line(number, skipped);
    let place = highlighter.first_match(&line);
    let snippet = snippet(&line, place.start, place.end);
    Ok(Preview {
        file: manual.folder().join(path),
        line: number,
        matches: highlighter.matches(&snippet),
        snippet,
        words,
    })
}

/// The best matching line among the numbered lines of a section, of which the first is its heading; none where no line
/// contains a term. Also the terms that any of the lines contains.
fn best_line<'a>(
    highlighter: &LineHighlighter,
    lines: impl Iterator<Item = (usize, Cow<'a, str>)>,
) -> (Option<usize>, Vec<String>) {
    let (mut best, mut best_weight, mut words) = (None, 0.0, Vec::new());
    for (index, (number, line)) in lines.enumerate() {
        let terms = highlighter.terms_in(&line);
        let weight: f32 = terms.iter().map(|(_, weight)| weight).sum();
        // The heading is shown anyway, so that another line is preferred.
        let weight = if index == 0 { weight * 0.5 } else { weight };
        if weight > best_weight {
            (best, best_weight) = (Some(number), weight);
        }
        for (word, _) in terms {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    (best, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use annai_files::testing::TempFolder;

    #[test]
    fn words_are_found_and_shown_without_the_markup_of_the_line() {
        let folder = TempFolder::new(&[("m/a.md", "# A\nother words\nThe [支払](x.md)**方法** of it.\n")]);
        let root = folder.0.to_string_lossy().into_owned();
        let settings = LibrarySection { manuals_root: Some(root), ..LibrarySection::default() };
        let place = PreviewPlace { manual_id: "m", path: "a.md", line: 1, char: 0 };
        let found = preview(&settings, "支払方法", &OtherWords::default(), &place).unwrap();
        assert_eq!((found.line, found.snippet.as_str()), (3, "The 支払方法 of it."));
        let shown: Vec<_> = found.matches.iter().map(|place| &found.snippet[place.clone()]).collect();
        assert_eq!((shown, found.words), (vec!["支払方法"], vec!["支払方法".to_owned()]));
        // A place inside a line: what is before it is not shown.
        let place = PreviewPlace { line: 3, char: 4, ..place };
        assert_eq!(
            preview(&settings, "支払方法", &OtherWords::default(), &place).unwrap().snippet,
            "支払方法 of it."
        );
    }
}
