//! The statements of a section about the terms of a question, and the sentences that they stand in.

use std::cmp::Reverse;

use super::super::needle::Needle;
use super::super::place::{NodePlace, node_at};
use super::super::query::Query;
use super::super::sentences::{Sentence, sentences};
use super::super::terms::Form;
use super::statements::{Statement, is_question};
use super::variants::Context;
use super::words::words_of;
use crate::cancellation::checkpoint;
use crate::index::View;

/// The maximum number of statements of a section that are compared, because pairs grow quadratically; of a longer section those with
/// most terms of the question are.
const MAX_STATEMENTS: usize = 40;
/// The minimum number of sentences that begin alike in two sections that say the same things in turn.
const MIN_PARALLEL: usize = 2;

/// The number of sentences after a question that answer it. What follows tells more about it, or something else.
const MAX_ANSWER_SENTENCES: usize = 2;

/// A sentence of a section, normalized, and the lines of its file that it stands on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quote {
    /// The normalized text, without markup.
    pub text: String,
    /// The first line.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
}

/// The statements of one section, each with the terms that it or its headings contain.
pub struct Section {
    /// The section.
    pub place: NodePlace,
    /// Its headings, and the names of its file and folders.
    pub context: Context,
    /// The statements, those with most terms of the question first.
    pub statements: Vec<(Statement, u64)>,
    /// Its place among the candidates, from 0.
    pub rank: usize,
}

/// What two sections state differently.
pub struct Difference {
    /// The two values, or yes and no.
    pub about: String,
    /// The terms that both statements contain, as a bit set.
    pub terms: u64,
    /// The statement of each section, as an index.
    pub one: usize,
    pub other: usize,
}

impl Section {
    /// The statements of a section about the terms of the question; none where nothing is stated under its headings.
    pub fn read(views: &[View], place: NodePlace, finder: &TermFinder, rank: usize) -> Option<Self> {
        let (segment, node) = node_at(views, place)?;
        let context = Context::of(views, place);
        if context.states_nothing() {
            return None;
        }
        let in_titles = context.titles.iter().fold(0, |bits, title| bits | finder.terms_in(title));
        let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
        let mut found: Vec<(Sentence, u64)> = Vec::new();
        let mut subject = Subject::default();
        for sentence in sentences(body) {
            checkpoint();
            let own = finder.terms_in(&sentence.text);
            let terms = own | subject.of(&sentence, own);
            if terms | in_titles != 0 {
                found.push((sentence, terms));
            }
        }
        found.sort_by_key(|(_, terms)| Reverse(terms.count_ones()));
        let statements = found
            .into_iter()
            .filter_map(|(sentence, terms)| Some((Statement::new(sentence)?, terms | in_titles)));
        Some(Self { statements: statements.take(MAX_STATEMENTS).collect(), place, context, rank })
    }

    /// Whether two sections under the same heading say the same things in turn, such as the terms of two plans.
    pub fn is_parallel_to(&self, views: &[View], other: &Self) -> bool {
        if !self.context.is_sibling_of(&other.context) {
            return false;
        }
        let openings = |section: &Self| -> Vec<String> {
            let Some((segment, node)) = node_at(views, section.place) else { return Vec::new() };
            let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
            let first = |sentence: Sentence| words_of(&sentence.text, &[]).into_iter().next();
            let mut words: Vec<_> =
                sentences(body).into_iter().filter_map(first).map(|word| word.text).collect();
            words.sort_unstable();
            words.dedup();
            words
        };
        let (mine, theirs) = (openings(self), openings(other));
        mine.iter().filter(|word| theirs.contains(word)).count() >= MIN_PARALLEL
    }

    /// The sentence of a statement, with its lines in the file.
    pub fn quote(&self, views: &[View], index: usize) -> Option<Quote> {
        let (statement, _) = self.statements.get(index)?;
        let (segment, node) = node_at(views, self.place)?;
        let line = |number: usize| {
            let above = number + node.heading_lines as usize;
            let before: usize = segment.text_of(node).split_inclusive('\n').take(above).map(str::len).sum();
            segment.line_at(node, before)
        };
        let lines = &statement.sentence.lines;
        Some(Quote {
            text: statement.sentence.text.clone(),
            first_line: line(lines.start),
            last_line: line(lines.end.saturating_sub(1)),
        })
    }
}

/// The terms that a sentence is about without repeating them: those of the question that it answers, and in Japanese, which
/// leaves out a known topic, those of the sentence before it.
#[derive(Default)]
struct Subject {
    /// The terms of the last question, and how many sentences have followed it.
    asked: (u64, usize),
    /// The terms of the sentence before, and the line after it.
    before: (u64, usize),
}

impl Subject {
    /// The terms of what went before that a sentence with these terms is about.
    fn of(&mut self, sentence: &Sentence, own: u64) -> u64 {
        if is_question(&sentence.text) {
            (self.asked, self.before) = ((own, 0), (own, sentence.lines.end));
            return 0;
        }
        let asked = if self.asked.1 < MAX_ANSWER_SENTENCES { self.asked.0 } else { 0 };
        self.asked.1 += 1;
        let has_topic = sentence.text.is_ascii() || sentence.text.contains(['は', 'が', 'も']);
        let is_next = sentence.lines.start <= self.before.1;
        let before = if !has_topic && is_next { self.before.0 } else { 0 };
        self.before = (own | before, sentence.lines.end);
        asked | before
    }
}

/// Finds the terms of a question in sentences, in any form.
pub struct TermFinder(Vec<Vec<Needle>>);

impl TermFinder {
    /// Prepares the terms of a question.
    pub fn new(query: &Query) -> Self {
        let needles = |forms: &[Form]| forms.iter().map(|form| Needle::new(&form.text)).collect();
        Self(query.terms.iter().map(|term| needles(&term.forms)).collect())
    }

    /// The terms that a text contains, as a bit set.
    pub fn terms_in(&self, text: &str) -> u64 {
        let contains = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.occurs_exactly_in(text));
        let found = self.0.iter().enumerate().filter(|(_, needles)| contains(needles));
        found.fold(0, |bits, (index, _)| bits | 1 << index)
    }
}
