//! One pass through the stages: what matches, what stands beside it, what it refers to, and what was left out.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::candidate::Candidate;
use super::dictionary::Dictionary;
use super::exceptions::add_exceptions;
use super::matching::{Matched, matching};
use super::needle::Needle;
use super::place::{NodePlace, node_at};
use super::query::Query;
use super::ranking::{is_bare, rank};
use super::references::add_references;
use super::scope::SearchScope;
use super::unscanned::{LeftOutSection, SkipReason, UnscannedPart, files_of, manual_id, parts_of};
use crate::index::View;

/// What one pass through the stages found.
pub struct StageOutcome {
    /// The question.
    pub query: Query,
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// What was not looked at.
    pub unscanned: Vec<UnscannedPart>,
    /// What the first stages matched.
    pub matched: Matched,
    /// How many hits there were before those in one section became one.
    pub hits: usize,
    /// The last stage that ran.
    pub stage: u8,
    /// How many stages failed.
    pub failed: usize,
}

/// What a pass through the stages looks at, and how far it goes.
pub struct StagePlan<'a> {
    /// The indexes.
    pub views: &'a [View],
    /// Which parts of them may be looked at.
    pub scope: &'a SearchScope<'a>,
    /// The maximum number of candidates.
    pub max_candidates: usize,
    /// When to stop.
    pub deadline: Instant,
    /// The words of exception for stages 2 and 3; without them only stages 0 and 1 run.
    pub dictionary: Option<&'a Dictionary>,
}

/// Goes through the stages.
pub fn run_stages(plan: &StagePlan<'_>, query: Query) -> StageOutcome {
    let &StagePlan { views, scope, max_candidates, deadline, dictionary } = plan;
    let allowed = |place: NodePlace| scope.allows(views, place);
    let matched = matching(views, &query, &allowed, deadline);
    let (mut candidates, cut) = rank(views, &query, &matched, max_candidates);
    let mut left_out: Vec<_> = cut.into_iter().map(LeftOutSection::matched).collect();
    merge_bare_headings(views, &mut candidates);

    // What an earlier find was led to and had no room for joins here.
    let mut later = LaterStages { last: 1, failed: 0, out_of_time: false, added: scope.carried(views) };
    if let Some(dictionary) = dictionary {
        let refused = refused_needles(&query);
        let admitted = |place: NodePlace| {
            let holds = |needle: &Needle| {
                node_at(views, place)
                    .is_some_and(|(segment, node)| needle.find(segment.text_of(node)).is_some())
            };
            scope.admits(views, place) && !refused.iter().any(holds)
        };
        later
            .run(2, deadline, || add_exceptions(views, &mut candidates, dictionary, query.intent, &admitted));
        later.run(3, deadline, || add_references(views, &mut candidates, &admitted));
    }
    let LaterStages { last: stage, failed, out_of_time, added } = later;
    let hits = candidates.len() + added.len();
    integrate(&mut candidates, added);
    left_out.extend(candidates.iter().skip(max_candidates).map(LeftOutSection::cut));
    candidates.truncate(max_candidates);

    let mut unscanned = parts_of(views, &left_out, SkipReason::CandidateCap);
    let missed = missed_sections(views, &matched, &allowed);
    unscanned.extend(parts_of(views, &missed, SkipReason::TimeBudget));
    unscanned.extend(files_not_indexed(views, scope));
    if out_of_time {
        // What stands beside the candidates was not looked at, so their files are to be looked at again.
        unscanned.extend(files_of(views, &candidates, SkipReason::TimeBudget));
    }
    StageOutcome { query, candidates, unscanned, matched, hits, stage, failed }
}

/// The stages behind the matching. A stage that panics leaves the work of the others as it is and counts as a warning.
struct LaterStages {
    last: u8,
    failed: usize,
    out_of_time: bool,
    added: Vec<Candidate>,
}

impl LaterStages {
    fn run(&mut self, stage: u8, deadline: Instant, work: impl FnOnce() -> Vec<Candidate>) {
        if Instant::now() >= deadline {
            self.out_of_time = true;
            return;
        }
        self.last = stage;
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(found) => self.added.extend(found),
            Err(_) => self.failed += 1,
        }
    }
}

/// What must not stand in a section that another one leads to.
fn refused_needles(query: &Query) -> Vec<Needle> {
    query.negatives.iter().flat_map(|term| &term.forms).map(|form| Needle::new(&form.text)).collect()
}

/// The sections of the segments that there was no time for.
fn missed_sections(
    views: &[View],
    matched: &Matched,
    allowed: &dyn Fn(NodePlace) -> bool,
) -> Vec<LeftOutSection> {
    let missed = matched.missed.iter().flat_map(|(view, segment)| {
        let nodes = views
            .get(*view as usize)
            .and_then(|view| view.segments.get(*segment as usize))
            .map_or(0, |segment| segment.nodes.len());
        (0..).zip(0..nodes).map(|(node, _)| NodePlace { view: *view, segment: *segment, node })
    });
    missed.filter(|place| allowed(*place)).map(LeftOutSection::matched).collect()
}

/// The files that are not indexed, or not yet. Only those that the find was to look at count as left out.
fn files_not_indexed(views: &[View], scope: &SearchScope<'_>) -> Vec<UnscannedPart> {
    let mut parts = Vec::new();
    for view in views {
        let manual_id = manual_id(view);
        for (paths, reason) in
            [(&view.pending, SkipReason::TimeBudget), (&view.too_large, SkipReason::HardLimit)]
        {
            let paths = paths.iter().filter(|path| scope.reaches(&view.name, path));
            parts.extend(paths.map(|path| UnscannedPart::file(manual_id.clone(), path.clone(), reason)));
        }
    }
    parts
}

/// A heading without text of its own gives way to a section below it that matches by the same words.
fn merge_bare_headings(views: &[View], candidates: &mut Vec<Candidate>) {
    let is_bare =
        |place: NodePlace| node_at(views, place).is_some_and(|(segment, node)| is_bare(segment, node));
    let mut below: HashMap<NodePlace, u64> = HashMap::new();
    for candidate in candidates.iter() {
        let mut above = node_at(views, candidate.place).and_then(|(_, node)| node.parent);
        while let Some(node) = above {
            let place = NodePlace { node, ..candidate.place };
            *below.entry(place).or_default() |= candidate.terms;
            above = node_at(views, place).and_then(|(_, node)| node.parent);
        }
    }
    candidates.retain(|candidate| {
        let covered =
            below.get(&candidate.place).is_some_and(|terms| terms & candidate.terms == candidate.terms);
        !(covered && is_bare(candidate.place))
    });
}

/// Adds to the candidates what later stages found, each section once, and sorts them best first.
fn integrate(candidates: &mut Vec<Candidate>, added: Vec<Candidate>) {
    let mut places: HashMap<NodePlace, usize> =
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::candidate::Signals;

    fn candidate(node: u32, score: f32, signals: Signals) -> Candidate {
        Candidate { place: NodePlace { view: 0, segment: 0, node }, score, signals, terms: 1 }
    }

    #[test]
    fn a_section_that_several_stages_found_stands_once() {
        let mut candidates = vec![candidate(1, 2.0, Signals::LOOSE), candidate(2, 1.0, Signals::LOOSE)];
        let added = vec![candidate(2, 3.0, Signals::EXCEPTIONS), candidate(3, 2.5, Signals::REFERENCE)];
        integrate(&mut candidates, added);
        let expected = [
            candidate(2, 3.0, Signals::LOOSE.with(Signals::EXCEPTIONS)),
            candidate(3, 2.5, Signals::REFERENCE),
            candidate(1, 2.0, Signals::LOOSE),
        ];
        assert_eq!(candidates, expected);
    }

    #[test]
    fn a_stage_that_panics_is_counted_and_a_late_one_does_not_run() {
        let mut later = LaterStages { last: 1, failed: 0, out_of_time: false, added: Vec::new() };
        let now = Instant::now();
        later.run(2, now + std::time::Duration::from_secs(60), || panic!("a stage that fails"));
        later.run(3, now, || vec![candidate(1, 1.0, Signals::LOOSE)]);
        assert_eq!((later.last, later.failed, later.out_of_time, later.added.len()), (2, 1, true, 0));
    }
}
