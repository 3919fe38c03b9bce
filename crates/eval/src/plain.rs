//! The baseline of `annai eval`: plain BM25 over the character pairs and words of each section, against which the
//! exploration is measured.

use std::collections::HashMap;

use annai_library::Section;
use annai_library::text::normalize_text;

use crate::hit::Hit;

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A plain BM25 index of all manuals.
#[derive(Debug, Default)]
pub struct PlainIndex {
    /// The sections with their lengths.
    sections: Vec<(Hit, f64)>,
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl PlainIndex {
    /// Indexes the sections.
    pub fn of(sections: impl Iterator<Item = Section>) -> Self {
        let mut index = Self::default();
        for section in sections {
            let mut counts: HashMap<String, f64> = HashMap::new();
            for gram in grams(&section.text) {
                *counts.entry(gram).or_default() += 1.0;
            }
            let number = index.sections.len();
            index.sections.push((section.into(), counts.values().sum()));
            for (gram, count) in counts {
                index.postings.entry(gram).or_default().push((number, count));
            }
        }
        index
    }

    /// The best `max_results` sections for a question, of one manual or of all.
    pub fn search(&self, question: &str, manual_id: Option<&str>, max_results: usize) -> Vec<Hit> {
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
        in_scope.take(max_results).cloned().collect()
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
        let section = |(manual_id, path, line, text): &(&str, &str, usize, &str)| Section {
            manual_id: (*manual_id).to_owned(),
            path: (*path).to_owned(),
            line: *line,
            title: String::new(),
            heading_path: Vec::new(),
            text: (*text).to_owned(),
        };
        PlainIndex::of(sections.iter().map(section))
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
}
