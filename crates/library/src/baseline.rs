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
        for id in manuals.ids()? {
            let manual = manuals.get(&id)?;
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

    /// The best `max_results` sections for a question.
    #[must_use]
    pub fn search(&self, question: &str, max_results: usize) -> Vec<&Section> {
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
        ranked.iter().take(max_results).filter_map(|(index, _)| Some(&self.sections.get(*index)?.0)).collect()
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
