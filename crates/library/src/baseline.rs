//! The baseline of `annai eval`: plain BM25 over the character pairs and words of each section, against which the
//! exploration is measured.

use std::collections::HashMap;

use annai_core::ToolError;

use crate::config::LibrarySection;
use crate::fs::RelPath;
use crate::manuals::Manuals;
use crate::text::normalize_text;

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A section in the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The manual that the file belongs to.
    pub manual_id: String,
    /// The file that contains it, relative to the manual.
    pub path: String,
    /// The line of its heading.
    pub line: usize,
    /// Its heading.
    pub title: String,
}

/// A plain BM25 index of all manuals.
#[derive(Debug, Default)]
pub struct PlainIndex {
    /// The sections with their lengths.
    sections: Vec<(Section, f64)>,
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl PlainIndex {
    /// Indexes all manuals. Files that cannot be read are skipped.
    pub fn read(settings: &LibrarySection) -> Result<Self, ToolError> {
        let manuals = Manuals::new(settings.manual_folders());
        let mut index = Self::default();
        let ids = manuals.ids()?;
        for (id, manual) in ids.iter().zip(manuals.get_all(&ids)?) {
            let manual = manual?;
            for path in manual.files()? {
                let Ok(document) = RelPath::parse(&path).and_then(|path| manual.document(&path)) else {
                    continue;
                };
                for (number, node) in document.nodes.iter().enumerate() {
                    let text = document.own_text(number);
                    let mut counts: HashMap<String, f64> = HashMap::new();
                    for gram in grams(text) {
                        *counts.entry(gram).or_default() += 1.0;
                    }
                    let number = index.sections.len();
                    let section = Section {
                        manual_id: id.clone(),
                        path: path.clone(),
                        line: node.start_line,
                        title: node.title.clone(),
                    };
                    index.sections.push((section, counts.values().sum()));
                    for (gram, count) in counts {
                        index.postings.entry(gram).or_default().push((number, count));
                    }
                }
            }
        }
        Ok(index)
    }

    /// The line of the heading of the section that contains a line of a file; `None` if the file or the line is in no
    /// section.
    #[must_use]
    pub fn section_line(&self, manual_id: &str, path: &str, line: usize) -> Option<usize> {
        let sections = self.sections.iter().map(|(section, _)| section);
        let in_file = sections.filter(|section| section.manual_id == manual_id && section.path == path);
        in_file.map(|section| section.line).filter(|start| *start <= line).max()
    }

    /// The best `max_results` sections for a question, of one manual or of all.
    #[must_use]
    pub fn search(&self, question: &str, manual_id: Option<&str>, max_results: usize) -> Vec<&Section> {
        let count = self.sections.len() as f64;
        let average = self.sections.iter().map(|(_, length)| length).sum::<f64>() / count.max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for gram in grams(question) {
            let Some(list) = self.postings.get(&gram) else { continue };
            let document_frequency = list.len() as f64;
            let idf = (1.0 + (count - document_frequency + 0.5) / (document_frequency + 0.5)).ln();
            for (index, frequency) in list {
                let length = self.sections.get(*index).map_or(0.0, |(_, length)| *length);
                let norm = K1 * (1.0 - B + B * length / average);
                *scores.entry(*index).or_default() += idf * frequency * (K1 + 1.0) / (frequency + norm);
            }
        }
        let mut ranked: Vec<_> = scores.into_iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let ranked = ranked.iter().filter_map(|(index, _)| Some(&self.sections.get(*index)?.0));
        let in_scope = ranked.filter(|section| manual_id.is_none_or(|id| section.manual_id == id));
        in_scope.take(max_results).collect()
    }
}

/// The pairs of adjacent characters outside ASCII, and the ASCII words.
fn grams(text: &str) -> Vec<String> {
    let normal: String = text.lines().map(|line| normalize_text(line) + "\n").collect();
    let mut grams = Vec::new();
    for run in normal.split(|ch: char| !ch.is_alphanumeric()) {
        let mut word = String::new();
        let mut last: Option<char> = None;
        for ch in run.chars() {
            if ch.is_ascii() {
                word.push(ch);
                last = None;
                continue;
            }
            if !word.is_empty() {
                grams.push(std::mem::take(&mut word));
            }
            grams.extend(last.map(|last| format!("{last}{ch}")));
            last = Some(ch);
        }
        if !word.is_empty() {
            grams.push(word);
        }
    }
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(sections: &[(&str, &str, usize, &str)]) -> PlainIndex {
        let mut index = PlainIndex::default();
        for (number, (manual_id, path, line, text)) in sections.iter().enumerate() {
            let (manual_id, path) = ((*manual_id).to_owned(), (*path).to_owned());
            let grams = grams(text);
            let section = Section { manual_id, path, line: *line, title: String::new() };
            index.sections.push((section, grams.len() as f64));
            for gram in grams {
                index.postings.entry(gram).or_default().push((number, 1.0));
            }
        }
        index
    }

    #[test]
    fn a_search_may_be_limited_to_one_manual() {
        let index = index(&[
            ("shop", "a.md", 1, "refund window"),
            ("shop", "a.md", 9, "refund"),
            ("garden", "b.md", 4, "refund of plants in the garden"),
        ]);
        let lines = |manual_id, max_results| -> Vec<_> {
            let found = index.search("refund window", manual_id, max_results);
            found.iter().map(|section| section.line).collect()
        };
        assert_eq!(lines(None, 9), [1, 9, 4]);
        // The sections of other manuals do not count towards the maximum.
        assert_eq!(lines(Some("garden"), 1), [4]);
        assert_eq!(lines(Some("nowhere"), 9), [0; 0]);
    }

    #[test]
    fn a_line_belongs_to_the_last_section_that_begins_before_it() {
        let index = index(&[("m", "a.md", 3, "one"), ("m", "a.md", 10, "two"), ("m", "b.md", 5, "three")]);
        let start = |path, line| index.section_line("m", path, line);
        assert_eq!([start("a.md", 3), start("a.md", 9), start("a.md", 10)], [Some(3), Some(3), Some(10)]);
        assert_eq!([start("a.md", 2), start("c.md", 5)], [None, None]);
        assert_eq!(index.section_line("n", "a.md", 3), None);
    }
}
