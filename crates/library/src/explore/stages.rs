//! One pass through the stages: the matching sections, exceptions next to them, references from them, and what was left
//! out.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::candidate::Candidate;
use super::dictionary::Dictionary;
use super::exceptions::add_exceptions;
use super::matching::{MatchOutcome, match_terms};
use super::needle::Needle;
use super::place::{NodePlace, node_at};
use super::query::Query;
use super::ranking::{is_bare_heading, rank};
use super::references::add_references;
use super::scope::SearchScope;
use super::unscanned::{LeftOutSection, SkipReason, UnscannedPart, files_of, manual_id, parts_of};
use crate::index::View;

/// The result of one pass through the stages.
pub struct StageOutcome {
    /// The question.
    pub query: Query,
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// What was not searched.
    pub unscanned: Vec<UnscannedPart>,
    /// The result of stages 0 and 1.
    pub matched: MatchOutcome,
    /// The number of matches before those in the same section were merged.
    pub hits: usize,
    /// The last stage that ran.
    pub stage: u8,
    /// The number of stages that failed.
    pub failed: usize,
}

/// What a pass through the stages searches, and how far it goes.
pub struct StagePlan<'a> {
    /// The indexes.
    pub views: &'a [View],
    /// Which parts of them may be searched.
    pub scope: &'a SearchScope<'a>,
    /// The maximum number of candidates.
    pub max_candidates: usize,
    /// When to stop; what was not searched by then is reported as unscanned.
    pub deadline: Instant,
    /// The exception vocabulary of stage 2; without it only stages 0 and 1 run.
    pub dictionary: Option<&'a Dictionary>,
}

/// Runs the stages.
pub fn run_stages(plan: &StagePlan<'_>, query: Query) -> StageOutcome {
    let &StagePlan { views, scope, max_candidates, deadline, dictionary } = plan;
    let allowed = |place: NodePlace| scope.allows(views, place);
    let matched = match_terms(views, &query, &allowed, deadline);
    let (mut candidates, cut) = rank(views, &query, &matched, max_candidates);
    let mut left_out: Vec<_> = cut.into_iter().map(LeftOutSection::matched).collect();
    merge_bare_headings(views, &mut candidates);

    // Sections that an earlier find was led to, but had no room for, are added here.
    let mut later =
        LaterStages { last_stage: 1, failed: 0, is_out_of_time: false, added: scope.carried(views) };
    if let Some(dictionary) = dictionary {
        let excluded = excluded_needles(&query);
        let admitted = |place: NodePlace| {
            let contains = |needle: &Needle| {
                node_at(views, place)
                    .is_some_and(|(segment, node)| needle.find(segment.text_of(node)).is_some())
            };
            scope.admits(views, place) && !excluded.iter().any(contains)
        };
        later
            .run(2, deadline, || add_exceptions(views, &mut candidates, dictionary, query.intent, &admitted));
        later.run(3, deadline, || add_references(views, &mut candidates, &admitted));
    }
    let LaterStages { last_stage: stage, failed, is_out_of_time, added } = later;
    let hits = candidates.len() + added.len();
    integrate(&mut candidates, added);
    left_out.extend(candidates.iter().skip(max_candidates).map(LeftOutSection::cut));
    candidates.truncate(max_candidates);

    let mut unscanned = parts_of(views, &left_out, SkipReason::CandidateCap);
    let missed = skipped_sections(views, &matched, &allowed);
    unscanned.extend(parts_of(views, &missed, SkipReason::TimeBudget));
    unscanned.extend(files_not_indexed(views, scope));
    if is_out_of_time {
        // The neighbors of the candidates were not searched, so their files are to be searched again.
        unscanned.extend(files_of(views, &candidates, SkipReason::TimeBudget));
    }
    StageOutcome { query, candidates, unscanned, matched, hits, stage, failed }
}

/// The stages after the matching. A stage that panics does not affect the results of the others, and counts as a
/// warning.
struct LaterStages {
    last_stage: u8,
    failed: usize,
    is_out_of_time: bool,
    added: Vec<Candidate>,
}

impl LaterStages {
    fn run(&mut self, stage: u8, deadline: Instant, work: impl FnOnce() -> Vec<Candidate>) {
        if Instant::now() >= deadline {
            self.is_out_of_time = true;
            return;
        }
        self.last_stage = stage;
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(found) => self.added.extend(found),
            Err(_) => self.failed += 1,
        }
    }
}

/// The excluded terms, which a section that another one leads to must not contain either.
fn excluded_needles(query: &Query) -> Vec<Needle> {
    query.negatives.iter().flat_map(|term| &term.forms).map(|form| Needle::new(&form.text)).collect()
}

/// The sections of the segments that were not searched before the deadline.
fn skipped_sections(
    views: &[View],
    matched: &MatchOutcome,
    allowed: &dyn Fn(NodePlace) -> bool,
) -> Vec<LeftOutSection> {
    let missed = matched.skipped_segments.iter().flat_map(|(view, segment)| {
        let nodes = views
            .get(*view as usize)
            .and_then(|view| view.segments.get(*segment as usize))
            .map_or(0, |segment| segment.nodes.len());
        (0..).zip(0..nodes).map(|(node, _)| NodePlace { view: *view, segment: *segment, node })
    });
    missed.filter(|place| allowed(*place)).map(LeftOutSection::matched).collect()
}

/// The files that are not indexed, or not yet. Only those within the scope count as left out.
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

/// Drops a heading without text of its own where the sections below it match by the same terms.
fn merge_bare_headings(views: &[View], candidates: &mut Vec<Candidate>) {
    let is_bare_heading = |place: NodePlace| {
        node_at(views, place).is_some_and(|(segment, node)| is_bare_heading(segment, node))
    };
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
        !(covered && is_bare_heading(candidate.place))
    });
}

/// Merges what later stages found into the candidates, each section once, and sorts them best first.
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
#[path = "stages_tests.rs"]
mod tests;
