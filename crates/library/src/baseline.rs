//! What a plain search would find, to measure the exploration against: BM25 over character pairs and words of each
//! section with its heading, and nothing else.

use std::collections::HashMap;

use annai_core::ToolError;

use crate::config::Library;
use crate::fs::RelPath;
use crate::manuals::Manuals;
use crate::text::normalize_text;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A section, as results name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The manual that the file belongs to.
    pub manual_id: String,
    /// The file that contains it, relative to the manual.
    pub path: String,
    /// Its heading's line.
    pub line: usize,
    /// Its heading.
    pub title: String,
}

/// The sections of all manuals, by their pairs and words.
#[derive(Debug, Default)]
pub struct Plain {
    sections: Vec<(Section, f64)>,
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl Plain {
    /// Reads all manuals.
    pub fn read(settings: &Library) -> Result<Self, ToolError> {
        let manuals = Manuals::new(settings.manual_folders());
        let mut plain = Self::default();
        for id in manuals.ids()? {
            let manual = manuals.get(&id)?;
            for path in manual.files()? {
                let Ok(document) = RelPath::parse(&path).and_then(|path| manual.document(&path)) else {
                    continue;
                };
                for node in &document.nodes {
                    let text = document.text_of(node.start_line, node.own_end_line);
                    let mut counts: HashMap<String, f64> = HashMap::new();
                    for gram in grams(text) {
                        *counts.entry(gram).or_default() += 1.0;
                    }
                    let index = plain.sections.len();
                    let section = Section {
                        manual_id: id.clone(),
                        path: path.clone(),
                        line: node.start_line,
                        title: node.title.clone(),
                    };
                    plain.sections.push((section, counts.values().sum()));
                    for (gram, count) in counts {
                        plain.postings.entry(gram).or_default().push((index, count));
                    }
                }
            }
        }
        Ok(plain)
    }

    /// The best sections for a question.
    #[must_use]
    pub fn search(&self, question: &str, most: usize) -> Vec<&Section> {
        let count = self.sections.len() as f64;
        let average = self.sections.iter().map(|(_, length)| length).sum::<f64>() / count.max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for gram in grams(question) {
            let Some(list) = self.postings.get(&gram) else { continue };
            let held = list.len() as f64;
            let idf = (1.0 + (count - held + 0.5) / (held + 0.5)).ln();
            for (index, often) in list {
                let length = self.sections.get(*index).map_or(0.0, |(_, length)| *length);
                let norm = K1 * (1.0 - B + B * length / average);
                *scores.entry(*index).or_default() += idf * often * (K1 + 1.0) / (often + norm);
            }
        }
        let mut ranked: Vec<_> = scores.into_iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked.iter().take(most).filter_map(|(index, _)| Some(&self.sections.get(*index)?.0)).collect()
    }
}

/// Pairs of neighbouring letters outside ASCII, and ASCII words.
fn grams(text: &str) -> Vec<String> {
    let normal: String = text.lines().map(|line| normalize_text(line) + "\n").collect();
    let mut grams = Vec::new();
    for run in normal.split(|letter: char| !letter.is_alphanumeric()) {
        let mut word = String::new();
        let mut last: Option<char> = None;
        for letter in run.chars() {
            if letter.is_ascii() {
                word.push(letter);
                last = None;
                continue;
            }
            if !word.is_empty() {
                grams.push(std::mem::take(&mut word));
            }
            grams.extend(last.map(|last| format!("{last}{letter}")));
            last = Some(letter);
        }
        if !word.is_empty() {
            grams.push(word);
        }
    }
    grams
}
