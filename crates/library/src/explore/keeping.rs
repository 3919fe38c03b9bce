//! What a find saw, in the form in which it is kept: places as refs instead of indexes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::conflicts::Conflict;
use super::loosely::Needle;
use super::matching::Place;
use super::query::Query;
use super::rank::{Candidate, at};
use super::round::Round;
use super::trace::{Carried, Item, Reason, Seen, Unscanned};
use crate::index::{NodeEntry, Segment, Shape, View};
use crate::reference::{Ref, Target};

/// So many of the best are kept in their order.
const TOP: usize = 20;
/// So much of a file's hash tells it from another.
const REV: usize = 12;

/// What a pass saw.
pub fn keep(
    views: &[View],
    round: &Round,
    conflicts: &[Conflict],
    gaps: Vec<String>,
    target: Target,
) -> Seen {
    let needles = needles(&round.query, &round.matched.weights);
    let ids: HashMap<Place, String> = conflicts
        .iter()
        .flat_map(|conflict| [conflict.one, conflict.other])
        .filter_map(|place| Some((place, id(views, place)?)))
        .collect();
    let against = |place: Place| -> Vec<String> {
        let pairs = conflicts
            .iter()
            .flat_map(|conflict| [(conflict.one, conflict.other), (conflict.other, conflict.one)]);
        pairs.filter(|(one, _)| *one == place).filter_map(|(_, other)| ids.get(&other).cloned()).collect()
    };
    let item = |candidate: &Candidate| {
        Some(Item {
            place: place_of(views, candidate, &needles, target)?,
            score: (f64::from(candidate.score) * 100.0).round() / 100.0,
            conflict_with: against(candidate.place),
        })
    };
    let ranked: Vec<_> = round.candidates.iter().filter_map(item).collect();
    let top = ranked.iter().take(TOP).cloned().collect();
    let mut told = Vec::new();
    for conflict in conflicts {
        let one = round.candidates.iter().find(|candidate| candidate.place == conflict.one).and_then(item);
        told.extend(one.map(|mut one| {
            one.conflict_with = ids.get(&conflict.other).cloned().into_iter().collect();
            (one, conflict.about.clone())
        }));
    }
    let mut candidates = ranked;
    candidates.sort_by(|one, other| {
        let key =
            |item: &Item| (item.place.manual_id.clone(), item.place.path.clone(), item.place.start_line);
        key(one).cmp(&key(other))
    });
    Seen { target, candidates, top, unscanned: round.unscanned.clone(), conflicts: told, gaps }
}

/// A node's id, as the table of contents has it, with its manual.
fn id(views: &[View], place: Place) -> Option<String> {
    let (segment, node) = at(views, place)?;
    let manual = views.get(place.view as usize).map_or("", |view| view.name.as_str());
    let path = &segment.file_of(node)?.path;
    Some(if manual.is_empty() {
        format!("{path}#L{}", node.start_line)
    } else {
        format!("{manual}/{path}#L{}", node.start_line)
    })
}

/// What to look for to find the line that a hit stands on, what tells most first.
fn needles(query: &Query, weights: &[f32]) -> Vec<Needle> {
    let mut terms: Vec<_> = query.terms.iter().zip(weights).collect();
    terms.sort_by(|one, other| other.1.total_cmp(one.1));
    terms.iter().flat_map(|(term, _)| &term.forms).map(|form| Needle::new(&form.text)).collect()
}

fn place_of(views: &[View], candidate: &Candidate, needles: &[Needle], target: Target) -> Option<Ref> {
    let (segment, node) = at(views, candidate.place)?;
    let file = segment.file_of(node)?;
    let line = match file.shape {
        Shape::Markdown => node.start_line,
        // One node may be a whole file: the line of the first hit is what a reader wants.
        Shape::Json | Shape::Paragraphs => hit_line(segment, node, needles),
    };
    let manual_id = (target == Target::Manual)
        .then(|| views.get(candidate.place.view as usize).map(|view| view.name.clone()));
    let mut rev = file.sha256.to_string();
    rev.truncate(REV);
    Some(Ref {
        target,
        manual_id: manual_id.flatten(),
        path: file.path.clone(),
        start_line: Some(line.into()),
        json_path: None,
        title: Some(node.title.clone()),
        signals: Some(candidate.signals.names()),
        rev: Some(rev),
    })
}

fn hit_line(segment: &Segment, node: &NodeEntry, needles: &[Needle]) -> u32 {
    let text = segment.text_of(node);
    let first = needles.iter().find_map(|needle| needle.place(text)).unwrap_or_default();
    let breaks = text.get(..first).unwrap_or_default().matches('\n').count();
    node.start_line + u32::try_from(breaks).unwrap_or_default()
}

/// A file, as indexes of view, segment and file.
type FileAt = (u32, u32, u32);

/// A place that there was no room for.
pub struct Left {
    place: Place,
    /// What it was found by, where its own words would not find it again.
    carried: Option<Carried>,
}

impl Left {
    /// One that its own words will find again.
    pub const fn matched(place: Place) -> Self {
        Self { place, carried: None }
    }

    /// A candidate that was cut.
    pub fn cut(candidate: &Candidate) -> Self {
        let carried = (candidate.terms == 0).then_some((candidate.score, candidate.signals));
        Self {
            place: candidate.place,
            carried: carried.map(|(score, signals)| Carried { line: 0, score, signals }),
        }
    }
}

/// Places that were not looked at, file by file.
pub fn unscanned(views: &[View], left: &[Left], reason: Reason) -> Vec<Unscanned> {
    let mut files: BTreeMap<FileAt, (Vec<u32>, Vec<Carried>)> = BTreeMap::new();
    for Left { place, carried } in left {
        if let Some((_, node)) = at(views, *place) {
            let (lines, kept) = files.entry((place.view, place.segment, node.file)).or_default();
            lines.push(node.start_line);
            kept.extend(carried.map(|carried| Carried { line: node.start_line, ..carried }));
        }
    }
    let parts = files.into_iter().filter_map(|(file, (mut lines, carried))| {
        lines.sort_unstable();
        Some(Unscanned { lines, carried, ..file_at(views, file, reason)? })
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by(|one, other| (&one.manual_id, &one.path).cmp(&(&other.manual_id, &other.path)));
    parts
}

/// The files of candidates, to be looked at again as a whole.
pub fn files_of(views: &[View], candidates: &[Candidate], reason: Reason) -> Vec<Unscanned> {
    let files: BTreeSet<_> = candidates
        .iter()
        .filter_map(|found| Some((found.place.view, found.place.segment, at(views, found.place)?.1.file)))
        .collect();
    files.into_iter().filter_map(|file| file_at(views, file, reason)).collect()
}

/// A file by its indexes.
fn file_at(views: &[View], (view, segment, file): FileAt, reason: Reason) -> Option<Unscanned> {
    let view = views.get(view as usize)?;
    let file = view.segments.get(segment as usize)?.files.get(file as usize)?;
    let name = Some(view.name.as_str()).filter(|name| !name.is_empty()).map(Arc::from);
    Some(Unscanned { sha256: Some(file.sha256), ..Unscanned::file(name, file.path.clone(), reason) })
}
