//! Builds the trace of a find from the result of the stages.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::conflicts::Conflict;
use super::needle::Needle;
use super::place::{NodePlace, node_at};
use super::query::Query;
use super::stages::StageOutcome;
use super::trace::{TraceItem, TraceRecord};
use crate::index::{NodeEntry, Segment, Shape, View};
use crate::reference::{Ref, Target};

/// The best 20 candidates are also listed in rank order (`integrated_top`); a caller who wants more pages through the
/// candidates, which are in document order.
const MAX_TOP: usize = 20;
/// The number of hexadecimal digits of a file's SHA-256 that a ref carries: 48 bits tell the versions of one file
/// apart.
const REV_DIGITS: usize = 12;

/// Builds the trace.
pub fn trace_record(
    views: &[View],
    outcome: &StageOutcome,
    conflicts: &[Conflict],
    gaps: Vec<String>,
    target: Target,
) -> TraceRecord {
    let needles = needles(&outcome.query, &outcome.matched.term_weights);
    let ids: HashMap<NodePlace, String> = conflicts
        .iter()
        .flat_map(|conflict| [conflict.one, conflict.other])
        .filter_map(|place| Some((place, node_id(views, place)?)))
        .collect();
    let conflicting_ids = |place: NodePlace| -> Vec<String> {
        let pairs = conflicts
            .iter()
            .flat_map(|conflict| [(conflict.one, conflict.other), (conflict.other, conflict.one)]);
        pairs.filter(|(one, _)| *one == place).filter_map(|(_, other)| ids.get(&other).cloned()).collect()
    };
    let item = |candidate: &Candidate| {
        Some(TraceItem {
            place: ref_of(views, candidate, &needles, target)?,
            score: (f64::from(candidate.score) * 100.0).round() / 100.0,
            conflict_with: conflicting_ids(candidate.place),
        })
    };
    let ranked: Vec<_> = outcome.candidates.iter().filter_map(item).collect();
    let top = ranked.iter().take(MAX_TOP).cloned().collect();
    let mut conflict_items = Vec::new();
    for conflict in conflicts {
        let one = outcome.candidates.iter().find(|candidate| candidate.place == conflict.one).and_then(item);
        conflict_items.extend(one.map(|mut one| {
            one.conflict_with = ids.get(&conflict.other).cloned().into_iter().collect();
            (one, conflict.about.clone())
        }));
    }
    let mut candidates = ranked;
    candidates.sort_by(|one, other| {
        let key =
            |item: &TraceItem| (item.place.manual_id.clone(), item.place.path.clone(), item.place.start_line);
        key(one).cmp(&key(other))
    });
    TraceRecord {
        target,
        candidates,
        top,
        unscanned: outcome.unscanned.clone(),
        conflicts: conflict_items,
        gaps,
    }
}

/// The id of a node as in the table of contents, with the manual in front.
fn node_id(views: &[View], place: NodePlace) -> Option<String> {
    let (segment, node) = node_at(views, place)?;
    let manual = views.get(place.view as usize).map_or("", |view| view.name.as_str());
    let path = &segment.file_of(node)?.path;
    Some(if manual.is_empty() {
        format!("{path}#L{}", node.start_line)
    } else {
        format!("{manual}/{path}#L{}", node.start_line)
    })
}

/// The forms of all terms, the most specific term first, to find the line of a match.
fn needles(query: &Query, weights: &[f32]) -> Vec<Needle> {
    let mut terms: Vec<_> = query.terms.iter().zip(weights).collect();
    terms.sort_by(|one, other| other.1.total_cmp(one.1));
    terms.iter().flat_map(|(term, _)| &term.forms).map(|form| Needle::new(&form.text)).collect()
}

fn ref_of(views: &[View], candidate: &Candidate, needles: &[Needle], target: Target) -> Option<Ref> {
    let (segment, node) = node_at(views, candidate.place)?;
    let file = segment.file_of(node)?;
    let line = match file.shape {
        Shape::Markdown => node.start_line,
        // One node may be a whole file, of which a reader wants the line of the first match.
        Shape::Json | Shape::Paragraphs => match_line(segment, node, needles),
    };
    let manual_id = (target == Target::Manual)
        .then(|| views.get(candidate.place.view as usize).map(|view| view.name.clone()));
    let mut rev = file.sha256.to_string();
    rev.truncate(REV_DIGITS);
    Some(Ref {
        target,
        manual_id: manual_id.flatten(),
        path: file.path.clone(),
        start_line: Some(line.into()),
        char: None,
        json_path: None,
        heading_path: None,
        encoding: None,
        title: Some(node.title.clone()),
        signals: Some(candidate.signals.names()),
        rev: Some(rev),
    })
}

fn match_line(segment: &Segment, node: &NodeEntry, needles: &[Needle]) -> u32 {
    let text = segment.text_of(node);
    let first = needles.iter().find_map(|needle| needle.position(text)).unwrap_or_default();
    let breaks = text.get(..first).unwrap_or_default().matches('\n').count();
    node.start_line + u32::try_from(breaks).unwrap_or_default()
}

#[cfg(test)]
#[path = "trace_builder_tests.rs"]
mod tests;
