//! Where each term of a question stands, in numbers: whether a term occurs nowhere, and whether the terms occur
//! together, are facts that the ranking alone does not tell.

use schemars::JsonSchema;
use serde::Serialize;

use crate::index::View;
use crate::matching::place::{FilePlace, NodePlace, file_of, node_at};
use crate::query::dictionary::is_whole_word;
use crate::stages::StageOutcome;
use crate::stages::outline;
use annai_text::{Normalized, truncate_chars};

/// The maximum number of characters of a term in a reply. A longer one is cut: the caller knows its own question.
const MAX_TERM_CHARS: usize = 60;

/// How many sections and files contain a term of the question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TermCount {
    /// The term, as the question writes it; of a long one, the first 60 characters.
    pub term: String,
    /// The number of sections that contain it: as it is written, with other separators, or as a synonym. 0 means that it
    /// stands nowhere in the searched text; a single Japanese character counts as a word of its own only.
    pub sections: usize,
    /// The number of files with such a section.
    pub files: usize,
    /// The number of such sections outside the manual that was asked for; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_sections: Option<usize>,
}

/// The counts of all terms of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermCounts {
    /// One count for each term, in the order of the terms.
    pub terms: Vec<TermCount>,
    /// The number of sections that contain all terms.
    pub sections_with_all: usize,
}

impl TermCounts {
    /// Counts the sections and files of each term over all matches, not only over those that were ranked. The passages of
    /// a long section count as one section.
    pub fn of(views: &[View], question: &str, outcome: &StageOutcome) -> Self {
        let written = WrittenTerms::new(question);
        let new_count = |text: &str| TermCount {
            term: truncate_chars(written.find(text).unwrap_or(text), MAX_TERM_CHARS).0.to_owned(),
            sections: 0,
            files: 0,
            outside_sections: None,
        };
        let terms = outcome.query.terms.iter().map(|term| new_count(term.text())).collect();
        let mut counts = Self { terms, sections_with_all: 0 };
        let all = bits_below(counts.terms.len());
        let mut last_files = vec![None; counts.terms.len()];
        let mut hits = outcome.matched.hits.iter().map(|hit| (section_of(views, hit.place), hit.terms()));
        let mut next = hits.next();
        // The matches are in document order, so the passages of a section follow each other.
        while let Some((section, mut bits)) = next {
            next = hits.next();
            while let Some((_, more)) = next.filter(|(other, _)| *other == section) {
                bits |= more;
                next = hits.next();
            }
            let is_outside = outcome.outside_views.contains(&section.view);
            counts.add(bits, is_outside, file_of(views, section), &mut last_files);
            counts.sections_with_all += usize::from(!is_outside && all != 0 && bits & all == all);
        }
        counts
    }

    /// Counts a section for each of its terms.
    fn add(
        &mut self,
        bits: u64,
        is_outside: bool,
        file: Option<FilePlace>,
        last_files: &mut [Option<FilePlace>],
    ) {
        let terms = self.terms.iter_mut().zip(last_files).enumerate();
        for (_, (count, last_file)) in terms.filter(|(index, _)| bits >> index & 1 == 1) {
            if is_outside {
                *count.outside_sections.get_or_insert(0) += 1;
                continue;
            }
            count.sections += 1;
            count.files += usize::from(*last_file != file);
            *last_file = file;
        }
    }
}

/// A bit set of this many members.
const fn bits_below(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The section that a node belongs to: a passage of a long section belongs to the first one.
pub fn section_of(views: &[View], place: NodePlace) -> NodePlace {
    let section = node_at(views, place).map(|(_, node)| outline::section_of(place.node, node));
    NodePlace { node: section.unwrap_or(place.node), ..place }
}

/// A question in which normalized terms are found as they were written.
struct WrittenTerms<'a> {
    question: &'a str,
    normal: Normalized,
}

impl<'a> WrittenTerms<'a> {
    fn new(question: &'a str) -> Self {
        Self { question, normal: Normalized::new(question) }
    }

    /// The spelling of a normalized term in the question, a whole word before a part of one; none where the question does
    /// not contain it in this form.
    fn find(&self, term: &str) -> Option<&'a str> {
        let text = self.normal.text.as_str();
        let mut places = text.match_indices(term).map(|(start, found)| start..start + found.len());
        let whole = places.clone().find(|place| is_whole_word(text, place.start, place.end));
        self.question.get(self.normal.original(whole.or_else(|| places.next())?))
    }
}

#[cfg(test)]
#[path = "term_counts_tests.rs"]
mod tests;
