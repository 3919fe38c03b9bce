//! One pass through the stages: the matching sections, exceptions next to them, references from them, and what was left
//! out.

pub mod exceptions;
pub mod outline;
pub mod page_paths;
pub mod references;
pub mod scope;

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::needle::Needle;
use crate::matching::place::{NodePlace, node_at};
use crate::matching::{MatchOutcome, match_wordings};
use crate::query::Query;
use crate::query::dictionary::Dictionary;
use crate::query::wordings::Wording;
use crate::ranking::wording_fusion::{Fusion, MAX_FUSED, WordingRanking, fuse_wordings};
use crate::ranking::{Ranked, rank};
use crate::rules::RuleGroup;
use crate::stages::exceptions::add_exceptions;
use crate::stages::references::add_references;
use crate::stages::scope::SearchScope;
use crate::trace::unscanned::{SkipReason, UnscannedPart, files_of, manual_id, parts_of};
use annai_core::cancellation::catch_panic;

/// The number of best candidates that are ranked exactly, and that the later stages start from. Evidence beyond them is
/// kept, in document order.
const MAX_RANKED: usize = 200;

/// The result of one pass through the stages.
pub struct StageOutcome {
    /// The question.
    pub query: Query,
    /// The best candidates, best first: evidence and related sections.
    pub candidates: Vec<Candidate>,
    /// The evidence beyond them, in document order.
    pub more_evidence: Vec<Candidate>,
    /// The number of related sections, including those that are not among the candidates.
    pub related: usize,
    /// What was not searched.
    pub unscanned: Vec<UnscannedPart>,
    /// The result of stages 0 and 1.
    pub matched: MatchOutcome,
    /// The other wordings of the question, with theirs.
    pub wordings: Vec<MatchedWording>,
    /// The section that the question ranks first on its own.
    pub question_best: Option<NodePlace>,
    /// The number of matches before those in the same section were merged.
    pub hits: usize,
    /// The last stage that ran.
    pub stage: u8,
    /// The number of stages that failed.
    pub failed: usize,
    /// The views outside the manual that was asked for, by their indexes.
    pub outside_views: HashSet<u32>,
}

impl StageOutcome {
    /// The best candidates that lie inside the manual that was asked for, best first.
    pub fn inside(&self) -> &[Candidate] {
        let inside = self.candidates.partition_point(|candidate| !candidate.is_outside);
        self.candidates.get(..inside).unwrap_or_default()
    }

    /// All evidence, the best first.
    pub fn evidence(&self) -> impl Iterator<Item = &Candidate> {
        let best = self.candidates.iter().filter(|candidate| candidate.kind.is_evidence());
        best.chain(&self.more_evidence)
    }

    /// The terms that sections inside the manual contain, as a bit set. Matches that a maximum cut count too.
    pub fn inside_terms(&self) -> u64 {
        let inside = self.matched.hits.iter().filter(|hit| !self.outside_views.contains(&hit.place.view));
        inside.fold(0, |bits, hit| bits | hit.terms())
    }
}

/// Another wording of the question, and the result of its matching.
pub struct MatchedWording {
    /// The wording.
    pub wording: Wording,
    /// The result of its matching, without the hits.
    pub matched: MatchOutcome,
    /// The section that it ranks first on its own.
    pub best: Option<NodePlace>,
}

impl MatchedWording {
    /// Keeps what is known about the terms; the hits are in the fused ranking, and there may be many of them.
    fn new(wording: Wording, matched: MatchOutcome, best: Option<NodePlace>) -> Self {
        let matched = MatchOutcome { hits: Vec::new(), ..matched };
        Self { wording, matched, best }
    }
}

/// What a pass through the stages searches, and how far it goes.
pub struct StagePlan<'a> {
    /// The indexes.
    pub views: &'a [View],
    /// The view that was asked for, by its name: what lies outside ranks below everything inside. None where all of them
    /// were.
    pub home: Option<&'a str>,
    /// Which parts of them may be searched.
    pub scope: &'a SearchScope<'a>,
    /// The maximum number of candidates, where the caller sets one; the evidence is not cut otherwise.
    pub max_candidates: Option<usize>,
    /// When to stop; what was not searched by then is reported as unscanned.
    pub deadline: Instant,
    /// The exception vocabulary of stage 2; without it only stages 0 and 1 run.
    pub dictionary: Option<&'a Dictionary>,
    /// The other wordings of the question.
    pub wordings: &'a [Wording],
}

/// Runs the stages.
pub fn run_stages(plan: &StagePlan<'_>, query: Query) -> StageOutcome {
    let &StagePlan { views, home, scope, max_candidates, deadline, dictionary, wordings } = plan;
    let is_outside = |view: &View| home.is_some_and(|home| view.name != home);
    let outside: HashSet<u32> =
        (0..).zip(views).filter(|(_, view)| is_outside(view)).map(|(index, _)| index).collect();
    let allowed = |place: NodePlace| scope.allows(views, place);
    let queries: Vec<&Query> =
        std::iter::once(&query).chain(wordings.iter().map(|wording| &wording.query)).collect();
    let mut matched_wordings = match_wordings(views, &queries, &allowed, deadline);
    let matched = matched_wordings.remove(0);
    let max_ranked = max_candidates.unwrap_or(MAX_RANKED);
    let mut ranked = rank(&query, &matched, max_ranked, &outside);
    let others = wordings.iter().zip(&matched_wordings);
    let others = others.map(|(wording, matched)| WordingRanking {
        weight: wording.weight(),
        matched,
        best: rank(&wording.query, matched, MAX_FUSED, &outside).best,
    });
    let others: Vec<_> = others.collect();
    let question_best = ranked.best.first().map(|best| best.place);
    let fusion = if query.rules.has(RuleGroup::WordingFusion) { Fusion::Scores } else { Fusion::Ranks };
    fuse_wordings(&mut ranked, &matched, &others, fusion);
    let bests: Vec<_> = others.iter().map(|other| other.best.first().map(|best| best.place)).collect();
    let Ranked { best: mut candidates, mut more_evidence, mut more_related } = ranked;
    let mut left_out: Vec<_> = match max_candidates {
        Some(_) => more_evidence.drain(..).map(|cut| cut.place).collect(),
        None => Vec::new(),
    };

    let mut later = LaterStages { last_stage: 1, failed: 0, is_out_of_time: false, added: Vec::new() };
    if let Some(dictionary) = dictionary {
        let excluded = excluded_needles(&query);
        let admitted = |place: NodePlace| {
            let contains = |needle: &Needle| {
                node_at(views, place)
                    .is_some_and(|(segment, node)| needle.find(segment.text_of(node)).is_some())
            };
            scope.admits(views, place) && !excluded.iter().any(contains)
        };
        let intent = query.intent;
        later.run(2, deadline, || add_exceptions(views, &mut candidates, dictionary, intent, &admitted));
        later.run(3, deadline, || add_references(views, &mut candidates, &admitted));
    }
    let LaterStages { last_stage: stage, failed, is_out_of_time, added } = later;
    let hits = candidates.len() + more_evidence.len() + added.len();
    let known: HashSet<NodePlace> = more_evidence.iter().map(|evidence| evidence.place).collect();
    let added = added.into_iter().filter(|added| !known.contains(&added.place));
    let added = added.map(|added| Candidate { is_outside: outside.contains(&added.place.view), ..added });
    integrate(&mut candidates, added.collect());
    match max_candidates {
        Some(max) => {
            // Only what the terms of the question find again counts: a section that only another one led to goes with that.
            let mut matching = 0;
            candidates.retain(|candidate| {
                matching += usize::from(candidate.terms != 0);
                let is_kept = candidate.terms == 0 || matching <= max;
                left_out.extend((!is_kept).then_some(candidate.place));
                is_kept
            });
            more_related += drop_weakest_related(&mut candidates, MAX_RANKED);
        }
        None => more_related += drop_weakest_related(&mut candidates, MAX_RANKED),
    }
    let related = more_related + candidates.iter().filter(|known| !known.kind.is_evidence()).count();

    let mut unscanned = parts_of(views, &left_out, SkipReason::CandidateCap);
    let missed = skipped_sections(views, &matched, &allowed);
    unscanned.extend(parts_of(views, &missed, SkipReason::TimeBudget));
    unscanned.extend(files_not_indexed(views, scope));
    if is_out_of_time {
        // The neighbors of the candidates were not searched, so their files are to be searched again.
        unscanned.extend(files_of(views, &candidates, SkipReason::TimeBudget));
    }
    let matched_wordings = wordings.iter().cloned().zip(matched_wordings).zip(bests);
    let matched_wordings =
        matched_wordings.map(|((wording, matched), best)| MatchedWording::new(wording, matched, best));
    StageOutcome {
        query,
        candidates,
        more_evidence,
        related,
        unscanned,
        matched,
        wordings: matched_wordings.collect(),
        question_best,
        hits,
        stage,
        failed,
        outside_views: outside,
    }
}

/// Keeps the best related sections, and all evidence. Returns how many were dropped.
fn drop_weakest_related(candidates: &mut Vec<Candidate>, max_related: usize) -> usize {
    let (before, mut kept) = (candidates.len(), 0);
    candidates.retain(|candidate| {
        kept += usize::from(!candidate.kind.is_evidence());
        candidate.kind.is_evidence() || kept <= max_related
    });
    before - candidates.len()
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
        match catch_panic(work) {
            Some(found) => self.added.extend(found),
            None => self.failed += 1,
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
) -> Vec<NodePlace> {
    let missed = matched.skipped_segments.iter().flat_map(|(view, segment)| {
        let nodes = views
            .get(*view as usize)
            .and_then(|view| view.segments.get(*segment as usize))
            .map_or(0, |segment| segment.nodes.len());
        (0..).zip(0..nodes).map(|(node, _)| NodePlace { view: *view, segment: *segment, node })
    });
    missed.filter(|place| allowed(*place)).collect()
}

/// The files that are not indexed, or not yet. Only those within the scope count as left out.
fn files_not_indexed(views: &[View], scope: &SearchScope<'_>) -> Vec<UnscannedPart> {
    let mut parts = Vec::new();
    for view in views {
        let manual_id = manual_id(view);
        let pending = view.pending.iter().filter(|path| scope.reaches(&view.name, path));
        let whole =
            |path: &String| UnscannedPart::file(manual_id.clone(), path.clone(), SkipReason::TimeBudget);
        parts.extend(pending.map(whole));
    }
    parts
}

/// Merges what later stages found into the candidates, each section once, and sorts them best first, those outside the
/// manual that was asked for last.
fn integrate(candidates: &mut Vec<Candidate>, added: Vec<Candidate>) {
    let mut places: HashMap<NodePlace, usize> =
        candidates.iter().enumerate().map(|(index, candidate)| (candidate.place, index)).collect();
    for candidate in added {
        match places.get(&candidate.place).and_then(|index| candidates.get_mut(*index)) {
            Some(known) => {
                known.signals = known.signals.with(candidate.signals);
                known.score = known.score.max(candidate.score);
                known.kind = known.kind.min(candidate.kind);
            }
            None => {
                places.insert(candidate.place, candidates.len());
                candidates.push(candidate);
            }
        }
    }
    candidates.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score).then(one.place.cmp(&other.place));
        one.is_outside.cmp(&other.is_outside).then(by_score)
    });
}

#[cfg(test)]
mod tests;
