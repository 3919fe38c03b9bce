//! Other wordings of a question that a caller passes along: phrasings, and a passage that would answer it. They add
//! candidates only: they exclude and require nothing, and a word of theirs that stands nowhere is no gap.

use std::borrow::Cow;
use std::collections::HashSet;

use annai_core::ToolError;
use annai_language::ENGLISH;
use schemars::JsonSchema;
use serde::Serialize;

use crate::query::Query;
use crate::query::dictionary::Dictionary;
use crate::query::question_terms::{normal_line, without_separators};
use crate::query::terms::{Role, Term};
use annai_text::{Format as _, Markdown};

/// The maximum number of terms of one wording. A passage has more words than a question, and each costs a pass over its
/// postings; those beyond the first 32 hardly change the ranking.
const MAX_WORDING_TERMS: usize = 32;
/// The maximum number of words that the report lists for one wording.
const MAX_REPORTED_WORDS: usize = 12;

/// How much the ranking of a passage counts, relative to 1 for that of the question or of a phrasing: it has the most words
/// of an answer.
const PASSAGE_WEIGHT: f32 = 2.0;
/// The argument of a passage that would answer the question.
const PASSAGE: &str = "hypothetical";

/// What else a caller knows about the wording of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherWords {
    /// Other ways to ask the question.
    pub phrasings: Vec<String>,
    /// A passage that would answer it.
    pub hypothetical: Option<String>,
}

impl OtherWords {
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.phrasings.is_empty() && self.hypothetical.is_none()
    }
}

/// Another wording of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Wording {
    /// The argument that it was passed in: `phrasings[0]`, `hypothetical`.
    pub argument: String,
    /// The parsed wording.
    pub query: Query,
}

impl Wording {
    /// How much its ranking counts, relative to 1 for that of the question.
    pub fn weight(&self) -> f32 {
        if self.argument == PASSAGE { PASSAGE_WEIGHT } else { 1.0 }
    }
}

/// Parses the other wordings of a question. What repeats the question or another wording is left out.
pub fn wordings_of(
    other_words: &OtherWords,
    question: &str,
    query: &Query,
    dictionary: &Dictionary,
) -> Result<Vec<Wording>, ToolError> {
    let phrasings = other_words.phrasings.iter().enumerate();
    let phrasings = phrasings.map(|(index, text)| (format!("phrasings[{index}]"), text));
    let passage = other_words.hypothetical.iter().map(|text| (PASSAGE.to_owned(), text));
    let same_words = |text: &str| without_separators(&normal_line(text));
    let mut seen = HashSet::from([same_words(question)]);
    let mut wordings = Vec::new();
    for (argument, text) in phrasings.chain(passage) {
        let parsed = Query::of_wording(&argument, &without_operators(&rendered(text)), query, dictionary)?;
        if seen.insert(same_words(text)) {
            wordings.push(Wording { argument, query: parsed });
        }
    }
    Ok(wordings)
}

impl Query {
    /// Parses another wording of a question: it has the intent and the goal of the question, and no required words.
    fn of_wording(
        argument: &str,
        text: &str,
        question: &Self,
        dictionary: &Dictionary,
    ) -> Result<Self, ToolError> {
        let mut wording = Self::parse(argument, text, Some(question.intent), dictionary, question.rules)?;
        wording.goal = question.goal;
        wording.asked_value.clone_from(&question.asked_value);
        // A statement denies what a question asks for; that says nothing about where it stands.
        let is_negation = |term: &Term| ENGLISH.denials.iter().any(|word| word == term.text());
        wording.terms.retain(|term| !is_negation(term));
        wording.terms.truncate(MAX_WORDING_TERMS);
        wording.terms.iter_mut().for_each(|term| term.role = Role::Soft);
        Ok(wording)
    }
}

/// A text without its markup, which models write by habit. A component such as `<KeepAlive>` is what the text is about.
fn rendered(text: &str) -> Cow<'_, str> {
    let names_component =
        text.split('<').skip(1).any(|after| after.trim_start_matches('/').starts_with(char::is_uppercase));
    if names_component {
        return text.into();
    }
    let document = Markdown.parse(text.to_owned(), "");
    let rendered = document.rendered_lines(1, document.lines.count());
    if rendered.contains(char::is_alphanumeric) { rendered.into_owned().into() } else { text.into() }
}

/// A text without quotes, and without the hyphens that would exclude a word: in a wording they mean nothing.
fn without_operators(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let is_quote = |character: char| matches!(character, '"' | '“' | '”' | '「' | '」' | '『' | '』');
    let (mut before, mut characters) = (' ', text.chars().peekable());
    while let Some(character) = characters.next() {
        // `-5` is a number and `--flag` an option.
        let excludes = |next: &char| next.is_alphabetic() || is_quote(*next);
        let is_minus = matches!(character, '-' | '－' | '−')
            && (before.is_whitespace() || is_quote(before))
            && characters.peek().is_some_and(excludes);
        plain.push(if is_quote(character) || is_minus { ' ' } else { character });
        before = character;
    }
    plain
}

/// What stands in the manuals of another wording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordingReport {
    /// The argument: `phrasings[0]`, `hypothetical`.
    pub argument: String,
    /// Words of it that stand in the searched sections, also in another form or as a synonym; at most twelve.
    #[schemars(length(max = 12))]
    pub found: Vec<String>,
    /// Words of it that stand in none of them, at most twelve.
    #[schemars(length(max = 12))]
    pub missing: Vec<String>,
}

impl WordingReport {
    /// The report of a wording of which these numbers of sections contain each term.
    pub fn new(wording: &Wording, document_frequencies: &[usize]) -> Self {
        let words = |is_found: bool| {
            let terms = wording.query.terms.iter().zip(document_frequencies);
            let terms = terms.filter(|(_, count)| (**count > 0) == is_found);
            terms.map(|(term, _)| term.text().to_owned()).take(MAX_REPORTED_WORDS).collect()
        };
        Self { argument: wording.argument.clone(), found: words(true), missing: words(false) }
    }
}

#[cfg(test)]
#[path = "wordings_tests.rs"]
mod tests;
