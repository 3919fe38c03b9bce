//! The best matching line of a section: the one that contains the most important terms of the question.

use annai_core::ToolError;

use crate::context::FindContext;
use crate::index::{NodeEntry, Segment};
use crate::matching::needle::Needle;
use crate::query::Query;
use crate::query::dictionary::Dictionary;
use crate::query::terms::Term;
use crate::stages::StageOutcome;
use crate::trace::{TraceMatch, TraceRecord};

/// The weight of a term of another wording, relative to 1 for a term of the question.
const OTHER_WORDING_WEIGHT: f32 = 0.5;

/// The terms of a question, to be found in the lines of sections.
pub struct BestLine {
    terms: Vec<WeightedTerm>,
}

struct WeightedTerm {
    weight: f32,
    /// One needle for each form.
    needles: Vec<Needle>,
    /// Whether other separators count too.
    is_loose: bool,
}

impl WeightedTerm {
    /// A term of the question, in every form.
    fn new(term: &Term, weight: f32) -> Self {
        let needles = term.forms.iter().map(|form| Needle::new(&form.text)).collect();
        Self { weight, needles, is_loose: true }
    }

    /// A term of another wording. There are many of them, so only the term as it is written is looked for.
    fn of_other_wording(term: &Term, weight: f32) -> Self {
        let weight = weight * OTHER_WORDING_WEIGHT;
        Self { weight, needles: vec![Needle::new(term.text())], is_loose: false }
    }
}

impl BestLine {
    /// Prepares the terms of a question with their weights.
    pub fn new(query: &Query, weights: &[f32]) -> Self {
        let terms = query.terms.iter().zip(weights);
        Self { terms: terms.map(|(term, weight)| WeightedTerm::new(term, *weight)).collect() }
    }

    /// Prepares the terms of a question and of its other wordings.
    pub fn of_outcome(outcome: &StageOutcome) -> Self {
        let others = outcome.wordings.iter().flat_map(|other| {
            let terms = other.wording.query.terms.iter().zip(&other.matched.term_weights);
            terms.map(|(term, weight)| WeightedTerm::of_other_wording(term, *weight))
        });
        let mut best = Self::new(&outcome.query, &outcome.matched.term_weights);
        best.terms.extend(others);
        best
    }

    /// Prepares the terms of a question without a find, by their strength.
    pub fn of_question(question: &str) -> Result<Self, ToolError> {
        let query = Query::new(question, None, &Dictionary::new(&[]))?;
        let weights: Vec<_> = query.terms.iter().map(|term| term.strength).collect();
        Ok(Self::new(&query, &weights))
    }

    /// The best matching line of a match: as the find determined it, else from the index, while that has the version of
    /// the file that was searched.
    pub fn line_of(&self, context: &FindContext<'_>, record: &TraceRecord, found: &TraceMatch) -> u32 {
        if found.best_line > 0 {
            return found.best_line;
        }
        let indexed = context.indexed_node(record, found);
        let line = indexed.and_then(|(segment, node)| Some(self.find(&segment, segment.node(node)?)));
        line.unwrap_or(found.ref_line)
    }

    /// The best matching line of a section: its first line where nothing matches. The heading counts only where no other
    /// line matches, because a reader sees it anyway.
    pub fn find(&self, segment: &Segment, node: &NodeEntry) -> u32 {
        let text = segment.text_of(node);
        let starts: Vec<usize> =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        let line_at = |at: usize| starts.partition_point(|start| *start <= at).saturating_sub(1);
        let mut weights = vec![0.0_f32; starts.len()];
        for term in &self.terms {
            let exact = term.needles.iter().flat_map(|needle| needle.exact_positions(text));
            let mut lines: Vec<usize> = exact.map(line_at).collect();
            if lines.is_empty() && term.is_loose {
                lines.extend(term.needles.iter().find_map(|needle| needle.position(text)).map(line_at));
            }
            // The positions of one form are in order, those of several forms are not.
            lines.sort_unstable();
            lines.dedup();
            lines
                .iter()
                .filter_map(|line| weights.get_mut(*line).map(|weight| *weight += term.weight))
                .count();
        }
        let heading_lines = node.heading_lines as usize;
        let best = |lines: &mut dyn Iterator<Item = (usize, &f32)>| {
            lines.filter(|(_, weight)| **weight > 0.0).fold(
                None,
                |best: Option<(usize, f32)>, (line, weight)| match best {
                    Some((_, known)) if known >= *weight => best,
                    _ => Some((line, *weight)),
                },
            )
        };
        let lines = || weights.iter().enumerate();
        let found = best(&mut lines().skip(heading_lines)).or_else(|| best(&mut lines().take(heading_lines)));
        let line = found.and_then(|(line, _)| starts.get(line)).copied().unwrap_or_default();
        segment.line_at(node, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::place::node_at;
    use crate::test_corpus::{manual, place, query};

    #[test]
    fn the_line_with_the_most_important_terms_wins() {
        for (text, question, line) in [
            ("# Refund\nThe plan.\nA refund of the plan.\nA refund.\n", "refund plan", 3),
            ("# Refund\nNothing here.\n", "refund", 1),
            ("# A\n\nThe re-\nfund\n", "refund", 3),
            ("# A\nplan refund\nplan refund\n", "refund plan", 2),
        ] {
            let views = [manual("m", &[("a.md", text)])];
            let query = query(question);
            let (segment, node) = node_at(&views, place(&views, "a.md", 1)).unwrap();
            let best = BestLine::new(&query, &vec![1.0; query.terms.len()]);
            assert_eq!(best.find(segment, node), line, "{text}");
        }
    }
}
