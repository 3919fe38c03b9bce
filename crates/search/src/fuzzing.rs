//! What fuzz targets expect of a find.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::conclusion::term_presence::term_presence;
use crate::conclusion::{Evidence, conclude};
use crate::excerpts::highlight::LineHighlighter;
use crate::find::trace_builder::trace_matches;
use crate::index::{Segment, View};
use crate::matching::place::node_at;
use crate::query::dictionary::Dictionary;
use crate::query::{MAX_TERMS, Query};
use crate::reference::Target;
use crate::stages::scope::SearchScope;
use crate::stages::{StagePlan, run_stages};

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(&[]));

/// Parses a question: the same twice, with a bounded number of terms.
pub fn parse(question: &str) -> Option<Query> {
    let query = Query::new(question, None, &DICTIONARY).ok();
    assert_eq!(query, Query::new(question, None, &DICTIONARY).ok());
    let query = query?;
    assert!(query.terms.len() <= MAX_TERMS, "{} terms", query.terms.len());
    assert!(query.terms.iter().all(|term| !term.forms.is_empty() && !term.text().is_empty()));
    let terms = query.terms.iter().enumerate().fold(0_u64, |bits, (index, _)| bits | 1 << index);
    assert_eq!(query.deciding_terms() & !terms, 0);
    Some(query)
}

/// Asks a question about a segment: every stage runs, and every number is a number.
pub fn find(segment: Segment, question: &str) {
    let Some(query) = parse(question) else { return };
    let views = [View {
        name: "m".to_owned(),
        segments: vec![Arc::new(segment)],
        stale: HashSet::new(),
        pending: Vec::new(),
        unsearchable: Vec::new(),
        hidden: 0,
    }];
    let scope = SearchScope::Everything;
    let plan = StagePlan {
        views: &views,
        home: None,
        scope: &scope,
        max_candidates: None,
        deadline: Instant::now() + Duration::from_secs(3600),
        dictionary: Some(&DICTIONARY),
        wordings: &[],
    };
    let outcome = run_stages(&plan, query);
    assert_eq!(outcome.failed, 0, "no stage fails");
    for candidate in outcome.candidates.iter().chain(&outcome.more_evidence) {
        assert!(node_at(&views, candidate.place).is_some());
        assert!(candidate.score.is_finite(), "{candidate:?}");
    }
    let conclusion = conclude(&Evidence { views: &views, outcome: &outcome, target: Target::Manual });
    assert!((0.0..=1.0).contains(&conclusion.sufficiency), "{}", conclusion.sufficiency);
    assert!((0.0..=1.0).contains(&conclusion.file_bias), "{}", conclusion.file_bias);
    let found = trace_matches(&views, &outcome, &conclusion.contradictions);
    assert!(found.ranked.iter().all(|number| found.matches.get(*number as usize).is_some()));
    for is_ready in [false, true] {
        let _ = term_presence(&views, &scope, &outcome, question, is_ready);
    }
}

/// Finds the terms of a question in lines: every place is a part of the line, and they do not overlap.
pub fn highlight(question: &str, text: &str) {
    let Ok(highlighter) = LineHighlighter::new(question, &DICTIONARY) else { return };
    for line in text.lines() {
        let mut end = 0;
        for place in highlighter.matches(line) {
            assert!(place.start >= end && line.get(place.clone()).is_some(), "{place:?} of {line:?}");
            end = place.end;
        }
        assert!(line.get(highlighter.first_match(line)).is_some());
        assert!(highlighter.terms_in(line).iter().all(|(_, weight)| weight.is_finite()));
    }
}
