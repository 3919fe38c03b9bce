//! The plain search, which the search is compared with: BM25 over sections and reciprocal rank fusion over wordings, with the
//! usual constants and nothing that was fitted.

use std::collections::HashMap;

use annai_library::{Section, stem};
use annai_text::normalize_text;

use crate::hit::Hit;

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The usual constant of reciprocal rank fusion.
const FUSION_K: f64 = 60.0;
/// How much the list of the question counts, relative to 1 for the list of another wording.
const QUESTION_WEIGHT: f64 = 2.0;

/// A BM25 index of sections.
pub struct PlainIndex {
    /// The sections with their lengths in terms.
    sections: Vec<(Hit, f64)>,
    average_length: f64,
    /// The sections that contain a term, and how often.
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl PlainIndex {
    /// Indexes sections. The headings from the top of the file down to the section count twice, besides its own text.
    pub fn of(all: impl Iterator<Item = Section>) -> Self {
        let (mut sections, mut postings) = (Vec::new(), HashMap::<String, Vec<_>>::new());
        for section in all {
            let (mut counts, headings) = (HashMap::<String, f64>::new(), section.heading_path.join("\n"));
            for term in [&section.text, &headings, &headings].into_iter().flat_map(|text| terms(text)) {
                *counts.entry(term).or_default() += 1.0;
            }
            let (index, length) = (sections.len(), counts.values().sum());
            sections.push((section.into(), length));
            counts
                .into_iter()
                .for_each(|(term, count)| postings.entry(term).or_default().push((index, count)));
        }
        let total: f64 = sections.iter().map(|(_, length)| length).sum();
        let average_length = total / (sections.len() as f64).max(1.0);
        Self { sections, average_length, postings }
    }

    /// The best `max_results` sections of one manual or of all. Each wording is ranked on its own, and the lists are fused.
    pub fn search(
        &self,
        question: &str,
        other_wordings: &[&str],
        manual_id: Option<&str>,
        max_results: usize,
    ) -> Vec<Hit> {
        let mut fused: HashMap<usize, f64> = HashMap::new();
        let others = other_wordings.iter().map(|wording| (*wording, 1.0));
        for (wording, weight) in others.chain([(question, QUESTION_WEIGHT)]) {
            for (rank, index) in (1_u32..).zip(self.rank(wording, manual_id)) {
                *fused.entry(index).or_default() += weight / (FUSION_K + f64::from(rank));
            }
        }
        let best = best_first(fused).into_iter().take(max_results);
        best.filter_map(|index| Some(self.sections.get(index)?.0.clone())).collect()
    }

    /// The sections that have a term in common with a wording, by their BM25 scores.
    fn rank(&self, wording: &str, manual_id: Option<&str>) -> Vec<usize> {
        let (count, mut scores) = (self.sections.len() as f64, HashMap::new());
        for postings in terms(wording).iter().filter_map(|term| self.postings.get(term)) {
            let document_frequency = postings.len() as f64;
            let idf = (1.0 + (count - document_frequency + 0.5) / (document_frequency + 0.5)).ln();
            for (index, frequency) in postings {
                let Some((hit, length)) = self.sections.get(*index) else { continue };
                if manual_id.is_none_or(|id| hit.manual_id == id) {
                    let norm = K1 * (1.0 - B + B * length / self.average_length);
                    *scores.entry(*index).or_default() += idf * frequency * (K1 + 1.0) / (frequency + norm);
                }
            }
        }
        best_first(scores)
    }
}

/// The sections by their scores; of equal ones, the first in the manuals is first.
fn best_first(scores: HashMap<usize, f64>) -> Vec<usize> {
    let mut ranked: Vec<_> = scores.into_iter().collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked.into_iter().map(|(index, _)| index).collect()
}

/// The stems of words, and the pairs of neighbouring characters in scripts without spaces.
fn terms(text: &str) -> Vec<String> {
    let normal: Vec<_> = text.lines().map(normalize_text).collect();
    let mut terms = Vec::new();
    for run in normal.iter().flat_map(|line| line.split(|ch: char| !ch.is_alphanumeric())) {
        let letters: Vec<_> = run.chars().collect();
        for part in letters.chunk_by(|one, other| is_unspaced(*one) == is_unspaced(*other)) {
            match part.first() {
                Some(first) if is_unspaced(*first) => {
                    terms.extend(part.windows(2).map(|pair| pair.iter().collect::<String>()));
                }
                _ => terms.push(stem(&part.iter().collect::<String>())),
            }
        }
    }
    terms
}

/// Whether a character belongs to a script without spaces: Chinese and Japanese, Thai, Lao, Burmese and Khmer.
const fn is_unspaced(ch: char) -> bool {
    matches!(ch,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
