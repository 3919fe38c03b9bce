//! One pass through the stages: what matches, what stands beside it, what it points at, and what was left out.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::dictionary::Dictionary;
use super::exceptions::exceptions;
use super::keeping::{self, Left};
use super::loosely::Needle;
use super::matching::{Matched, Place, matching};
use super::query::Query;
use super::rank::{self, Candidate, at, rank};
use super::references::follow;
use super::scope::Scope;
use super::trace::{Reason, Unscanned};
use crate::index::View;

/// One pass through the stages.
pub struct Round {
    pub query: Query,
    /// Best first.
    pub candidates: Vec<Candidate>,
    pub unscanned: Vec<Unscanned>,
    pub matched: Matched,
    /// Hits before those in one section became one.
    pub hits: usize,
    pub stage: u8,
    /// Stages that failed.
    pub failed: usize,
}

/// Goes through stages 0 and 1, and with a dictionary of exceptions through 2 and 3.
pub fn explore(
    views: &[View],
    query: Query,
    scope: &Scope<'_>,
    most: usize,
    deadline: Instant,
    dictionary: Option<&Dictionary>,
) -> Round {
    let allowed = |place: Place| scope.allows(views, place);
    let matched = matching(views, &query, &allowed, deadline);
    let (mut candidates, cut) = rank(views, &query, &matched, most);
    let mut left: Vec<Left> = cut.into_iter().map(Left::matched).collect();
    merge(views, &mut candidates);
    let (mut stage, mut failed, mut late) = (1, 0, false);
    // What an earlier find came upon and had no room for is here to stay.
    let mut added: Vec<Candidate> = scope.carried(views);
    let refused: Vec<Needle> =
        query.negatives.iter().flat_map(|term| &term.forms).map(|form| Needle::new(&form.text)).collect();
    let admitted = |place: Place| {
        let holds = |needle: &Needle| {
            at(views, place).is_some_and(|(segment, node)| needle.find(segment.text_of(node)).is_some())
        };
        scope.admits(views, place) && !refused.iter().any(holds)
    };
    // A stage that fails leaves the others' work as it is.
    let mut run = |number: u8, work: &mut dyn FnMut(&mut Vec<Candidate>) -> Vec<Candidate>| {
        if Instant::now() >= deadline {
            late = true;
            return;
        }
        stage = number;
        match catch_unwind(AssertUnwindSafe(|| work(&mut candidates))) {
            Ok(found) => added.extend(found),
            Err(_) => failed += 1,
        }
    };
    if let Some(dictionary) = dictionary {
        run(2, &mut |candidates| exceptions(views, candidates, dictionary, query.intent, &admitted));
        run(3, &mut |candidates| follow(views, candidates, &admitted));
    }
    let hits = candidates.len() + added.len();
    integrate(&mut candidates, added);
    left.extend(candidates.iter().skip(most).map(Left::cut));
    candidates.truncate(most);
    let mut unscanned = keeping::unscanned(views, &left, Reason::CandidateCap);
    let missed = matched.missed.iter().flat_map(|(view, segment)| {
        let nodes = views
            .get(*view as usize)
            .and_then(|view| view.segments.get(*segment as usize))
            .map_or(0, |segment| segment.nodes.len());
        (0..).zip(0..nodes).map(|(node, _)| Place { view: *view, segment: *segment, node })
    });
    let missed: Vec<_> = missed.filter(|place| allowed(*place)).map(Left::matched).collect();
    unscanned.extend(keeping::unscanned(views, &missed, Reason::TimeBudget));
    unscanned.extend(whole_files(views, scope));
    if late {
        // What stands beside the candidates was not looked at: their files are to be looked at again.
        unscanned.extend(keeping::files_of(views, &candidates, Reason::TimeBudget));
    }
    Round { query, candidates, unscanned, matched, hits, stage, failed }
}

/// The files that were not looked at at all.
fn whole_files(views: &[View], scope: &Scope<'_>) -> Vec<Unscanned> {
    let mut found = Vec::new();
    for view in views {
        let name: Option<Arc<str>> = Some(view.name.as_str()).filter(|name| !name.is_empty()).map(Arc::from);
        // Only what the find was to look at counts as left out.
        for (paths, reason) in [(&view.pending, Reason::TimeBudget), (&view.too_large, Reason::HardLimit)] {
            let paths = paths.iter().filter(|path| scope.reaches(&view.name, path));
            found.extend(paths.map(|path| Unscanned::file(name.clone(), path.clone(), reason)));
        }
    }
    found
}

/// A heading with nothing of its own, and a section below it that matches by the same words, are one hit: the latter.
fn merge(views: &[View], candidates: &mut Vec<Candidate>) {
    let is_bare = |place: Place| at(views, place).is_some_and(|(segment, node)| rank::is_bare(segment, node));
    let mut below: HashMap<Place, u64> = HashMap::new();
    for candidate in candidates.iter() {
        let mut above = at(views, candidate.place).and_then(|(_, node)| node.parent);
        while let Some(node) = above {
            let place = Place { node, ..candidate.place };
            *below.entry(place).or_default() |= candidate.terms;
            above = at(views, place).and_then(|(_, node)| node.parent);
        }
    }
    candidates.retain(|candidate| {
        let covered =
            below.get(&candidate.place).is_some_and(|terms| terms & candidate.terms == candidate.terms);
        !(covered && is_bare(candidate.place))
    });
}

/// Puts what later stages added to the candidates, a section once, best first.
fn integrate(candidates: &mut Vec<Candidate>, added: Vec<Candidate>) {
    let mut places: HashMap<Place, usize> =
        candidates.iter().enumerate().map(|(index, candidate)| (candidate.place, index)).collect();
    for candidate in added {
        match places.get(&candidate.place).and_then(|index| candidates.get_mut(*index)) {
            Some(known) => {
                known.signals = known.signals.with(candidate.signals);
                known.score = known.score.max(candidate.score);
            }
            None => {
                places.insert(candidate.place, candidates.len());
                candidates.push(candidate);
            }
        }
    }
    candidates.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.place.cmp(&other.place)));
}
