//! A find of the manuals: the stages, and what they come to.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{Identity, ToolError};

use super::conflicts::conflicts;
use super::dictionary::Dictionary;
use super::exceptions::exceptions;
use super::gaps::{gaps, sufficiency};
use super::keeping::{self, keep};
use super::matching::{Matched, Place, matching};
use super::next::{self, Outlook};
use super::query::{Intent, Query};
use super::rank::{self, Candidate, Signals, at, rank};
use super::references::follow;
use super::scope::{Grant, Scope};
use super::summary::{Escalation, SignalCoverage, Status, Summary, rounded};
use super::trace::{Reason, Seen, Unscanned};
use crate::adaptive::Thresholds;
use crate::index::View;
use crate::reference::{NextAction, Target};
use crate::toolset::{Shelves, Wanted};

/// A bias shows only among so many candidates.
const CANDIDATES_FOR_BIAS: usize = 5;
/// So large a share of the vault's hits in one file is a bias.
pub const FILE_BIAS: f64 = 0.80;
/// Enough is enough.
pub const SUFFICIENT: f64 = 0.6;

/// What a find is asked.
pub struct Asked {
    /// The question.
    pub query: String,
    /// The manual to look in; none = all.
    pub manual_id: Option<String>,
    /// What the question wants; none = by its words.
    pub intent: Option<Intent>,
    /// The last stage.
    pub max_stage: u8,
    /// The last stage that the server allows.
    pub hard_max_stage: u8,
    /// Look only at what this find left out.
    pub left_out_of: Option<(String, Arc<Seen>)>,
    /// At what cost.
    pub budget: Budget,
    /// Who asks.
    pub owner: Identity,
}

/// What a find may cost.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The most candidates.
    pub candidates: usize,
    /// The most time.
    pub time: Duration,
}

/// What a find gives.
pub struct Found {
    /// The id to ask for the rest by.
    pub trace_id: String,
    /// In numbers.
    pub summary: Summary,
    /// What it saw.
    pub seen: Arc<Seen>,
    /// What to do next.
    pub next_actions: Vec<NextAction>,
    /// What is learned from it.
    pub lesson: Lesson,
}

/// What is learned from a find.
pub struct Lesson {
    /// The thresholds that were in force.
    pub thresholds: Thresholds,
    /// The manual that it began in; none = all.
    pub home: Option<String>,
    /// The candidates there, and the share of them in one file.
    pub home_candidates: usize,
    pub home_bias: f64,
    /// The manuals that it looked at.
    pub manuals: Vec<String>,
}

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

/// Explores the manuals.
pub fn find(shelves: &Shelves, asked: &Asked, wanted: &Wanted) -> Result<Found, ToolError> {
    let deadline = Instant::now() + asked.budget.time;
    let all = shelves.manuals.ids()?;
    let home = asked.manual_id.clone().or_else(|| {
        let usual = shelves.settings.default_manual_id.clone();
        usual.filter(|_| asked.left_out_of.is_none())
    });
    // The id as it is stored.
    let home = home.map(|id| shelves.manuals.get(&id).map(|manual| manual.id)).transpose()?;
    let ids = home.as_ref().map_or_else(|| all.clone(), |id| vec![id.clone()]);
    let (dictionary, bad_files) = shelves.dictionaries.of(&shelves.manuals, &ids);
    let query = Query::new(&asked.query, asked.intent, &dictionary)?;

    let mut views = shelves.views(&ids, deadline, wanted)?;
    let scope = |views: &[View]| match &asked.left_out_of {
        Some((_, seen)) => Scope::left_out_of(seen, views),
        None => Scope::Everything,
    };
    let mut granted = scope(&views);
    let mut round = explore(&views, query, &granted, asked.budget.candidates, deadline, Some(&dictionary));
    wanted.check()?;

    let mut reasons = Vec::new();
    if asked.left_out_of.is_some() {
        reasons.push(Escalation::PrioritizedUnscannedSections);
    }
    let thresholds = shelves.adaptive.thresholds();
    let triggers = triggers(&views, &round, thresholds);
    let (home_candidates, home_bias) = (round.candidates.len(), bias(&views, &round.candidates));
    let mut expanded = false;
    let mut stage_cap = Vec::new();
    if !triggers.is_empty() {
        reasons.extend(&triggers);
        let others: Vec<_> = all.iter().filter(|id| !ids.contains(id)).cloned().collect();
        if !others.is_empty() && asked.left_out_of.is_none() {
            if asked.max_stage >= 4 {
                views = shelves.views(&all, deadline, wanted)?;
                granted = scope(&views);
                round = explore(
                    &views,
                    round.query,
                    &granted,
                    asked.budget.candidates,
                    deadline,
                    Some(&dictionary),
                );
                (round.stage, expanded) = (4, true);
                reasons.push(Escalation::ManualScopeExpanded);
            } else {
                reasons.push(Escalation::StageCap);
                stage_cap = others;
            }
        }
    }
    for id in &stage_cap {
        let name: Arc<str> = id.as_str().into();
        let files = shelves.manuals.get(id).and_then(|manual| manual.files()).unwrap_or_default();
        round.unscanned.extend(files.into_iter().map(|path| Unscanned {
            manual_id: Some(name.clone()),
            path,
            sha256: None,
            reason: Reason::StageCap,
            lines: Vec::new(),
        }));
    }
    wanted.check()?;

    let conflicts = conflicts(&views, &round.query, &round.candidates);
    let gaps = gaps(&views, &round.query, &round.candidates);
    let enough = rounded(sufficiency(&round.matched.weights, &round.candidates, &gaps));
    let seen = Arc::new(keep(&views, &round, &conflicts, gaps.hints.clone(), Target::Manual));
    let trace_id = shelves.traces.keep(&asked.owner, seen.clone())?;
    let status = match round.candidates.len() {
        0 => Status::Blocked,
        _ if enough >= SUFFICIENT && gaps.hints.is_empty() && conflicts.is_empty() => Status::Ready,
        _ => Status::NeedsFollowup,
    };
    let (scanned_files, scanned_nodes) = scanned(&views, &granted, &round.matched);
    let unreadable: usize = views.iter().map(|view| view.unreadable).sum();
    let unsound = views
        .iter()
        .flat_map(|view| &view.segments)
        .flat_map(|segment| &segment.files)
        .filter(|file| !file.sound)
        .count();
    let summary = Summary {
        scanned_files,
        scanned_nodes,
        candidates: round.candidates.len(),
        warnings: unreadable + unsound + round.failed + bad_files,
        max_stage_applied: round.stage,
        scope_expanded: expanded,
        unscanned_sections_count: seen.unscanned_count(),
        integrated_candidates: round.hits,
        integrated_nodes: round.candidates.len(),
        signal_coverage: SignalCoverage::of(&round.candidates),
        file_bias_ratio: rounded(bias(&views, &round.candidates)),
        conflict_count: conflicts.len(),
        gap_count: gaps.hints.len(),
        sufficiency_score: enough,
        integration_status: status,
        cutoff_reason: cutoff(&seen.unscanned),
        escalation_reasons: reasons,
    };
    let outlook = Outlook {
        asked,
        home: home.as_deref(),
        gap_terms: gaps.terms,
        query: &round.query,
        summary: &summary,
        seen: &seen,
        trace_id: &trace_id,
    };
    let next_actions = next::after_manual_find(&outlook);
    let manuals = views.into_iter().map(|view| view.name).collect();
    let lesson = Lesson { thresholds, home, home_candidates, home_bias, manuals };
    Ok(Found { trace_id, summary, seen, next_actions, lesson })
}

/// Goes through stages 0 and 1, and with a dictionary of exceptions through 2 and 3.
pub fn explore(
    views: &[View],
    query: Query,
    scope: &Scope,
    most: usize,
    deadline: Instant,
    dictionary: Option<&Dictionary>,
) -> Round {
    let allowed = |place: Place| scope.allows(views, place);
    let matched = matching(views, &query, &allowed, deadline);
    let (mut candidates, mut left) = rank(views, &query, &matched, most);
    merge(views, &mut candidates);
    let (mut stage, mut failed) = (1, 0);
    let mut added: Vec<Candidate> = Vec::new();
    // A stage that fails leaves the others' work as it is.
    let mut run = |number: u8, work: &mut dyn FnMut(&mut Vec<Candidate>) -> Vec<Candidate>| {
        if Instant::now() >= deadline {
            return;
        }
        stage = number;
        match catch_unwind(AssertUnwindSafe(|| work(&mut candidates))) {
            Ok(found) => added.extend(found),
            Err(_) => failed += 1,
        }
    };
    if let Some(dictionary) = dictionary {
        run(2, &mut |candidates| exceptions(views, candidates, dictionary, query.intent, &allowed));
        run(3, &mut |candidates| follow(views, candidates, &allowed));
    }
    let hits = candidates.len() + added.len();
    integrate(&mut candidates, added);
    left.extend(candidates.iter().skip(most).map(|candidate| candidate.place));
    candidates.truncate(most);
    let mut unscanned = keeping::unscanned(views, &left, Reason::CandidateCap);
    let missed = matched.missed.iter().flat_map(|(view, segment)| {
        let nodes = views
            .get(*view as usize)
            .and_then(|view| view.segments.get(*segment as usize))
            .map_or(0, |segment| segment.nodes.len());
        (0..).zip(0..nodes).map(|(node, _)| Place { view: *view, segment: *segment, node })
    });
    let missed: Vec<_> = missed.filter(|place| allowed(*place)).collect();
    unscanned.extend(keeping::unscanned(views, &missed, Reason::TimeBudget));
    for view in views {
        let name: Option<Arc<str>> = Some(view.name.as_str()).filter(|name| !name.is_empty()).map(Arc::from);
        let whole = |path: &String, reason| Unscanned {
            manual_id: name.clone(),
            path: path.clone(),
            sha256: None,
            reason,
            lines: Vec::new(),
        };
        // Only what the find was to look at counts as left out.
        let pending = view.pending.iter().filter(|path| scope.reaches(&view.name, path));
        unscanned.extend(pending.map(|path| whole(path, Reason::TimeBudget)));
        let too_large = view.too_large.iter().filter(|path| scope.reaches(&view.name, path));
        unscanned.extend(too_large.map(|path| whole(path, Reason::HardLimit)));
    }
    Round { query, candidates, unscanned, matched, hits, stage, failed }
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

/// Why the find should go further.
fn triggers(views: &[View], round: &Round, thresholds: Thresholds) -> Vec<Escalation> {
    let count = round.candidates.len();
    let exceptions = round.candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS));
    let triggers = [
        (count == 0, Escalation::ZeroCandidates),
        ((1..thresholds.candidate_low).contains(&count), Escalation::LowCandidates),
        (
            count >= CANDIDATES_FOR_BIAS && bias(views, &round.candidates) >= thresholds.file_bias,
            Escalation::FileBias,
        ),
        (round.query.intent == Intent::Exceptions && !exceptions, Escalation::ExceptionsMissing),
    ];
    triggers.into_iter().filter(|(fires, _)| *fires).map(|(_, reason)| reason).collect()
}

/// The share of the candidates that the file with the most of them has.
pub fn bias(views: &[View], candidates: &[Candidate]) -> f64 {
    let mut files: HashMap<(u32, u32, u32), usize> = HashMap::new();
    for candidate in candidates {
        let file = at(views, candidate.place).map_or(0, |(_, node)| node.file);
        *files.entry((candidate.place.view, candidate.place.segment, file)).or_default() += 1;
    }
    let most = files.values().max().copied().unwrap_or_default();
    most as f64 / candidates.len().max(1) as f64
}

/// How many files and nodes were looked at.
pub fn scanned(views: &[View], scope: &Scope, matched: &Matched) -> (usize, usize) {
    let missed: HashSet<_> = matched.missed.iter().collect();
    let (mut files, mut nodes) = (0, 0);
    for (view_index, view) in (0_u32..).zip(views) {
        for (segment_index, segment) in (0_u32..).zip(&view.segments) {
            for (number, file) in (0..).zip(&segment.files) {
                let stale = view.stale.contains(&(segment_index as usize, number));
                if stale || missed.contains(&(view_index, segment_index)) {
                    continue;
                }
                let looked_at = match scope.grant(view_index as usize, segment_index as usize, number) {
                    Grant::All => file.nodes.len(),
                    Grant::None => continue,
                    Grant::Lines(lines) => lines.len(),
                };
                files += 1;
                nodes += looked_at;
            }
        }
    }
    (files, nodes)
}

/// The one reason that matters most.
pub fn cutoff(unscanned: &[Unscanned]) -> Option<Reason> {
    let order = [Reason::StageCap, Reason::TimeBudget, Reason::CandidateCap, Reason::HardLimit];
    order.into_iter().find(|reason| unscanned.iter().any(|part| part.reason == *reason))
}
