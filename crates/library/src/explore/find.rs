//! A find of the manuals: the stages, and what they come to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{Principal, ToolError};

use super::conflicts::conflicts;
use super::gaps::{gaps, sufficiency};
use super::keeping::keep;
use super::matching::Matched;
use super::next::{self, Outlook};
use super::query::{Intent, Query};
use super::rank::{Candidate, Signals, at};
use super::round::{Round, explore};
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
    pub owner: Principal,
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

/// Explores the manuals.
pub fn find(shelves: &Shelves, asked: &Asked, wanted: &Wanted) -> Result<Found, ToolError> {
    let deadline = Instant::now() + asked.budget.time;
    let all = shelves.manuals.ids()?;
    let home = asked.manual_id.clone().or_else(|| {
        let usual = shelves.settings.default_manual_id.clone();
        usual.filter(|_| asked.left_out_of.is_none())
    });
    // The id as it is stored.
    let home =
        home.map(|id| shelves.manuals.get(&id).map(|manual| manual.id)).transpose().map_err(|error| {
            match asked.manual_id {
                Some(_) => error,
                None => ToolError::new(error.kind(), format!("DEFAULT_MANUAL_ID, {}", error.message())),
            }
        })?;
    let ids = home.as_ref().map_or_else(|| all.clone(), |id| vec![id.clone()]);
    let (mut dictionary, mut bad_files) = shelves.dictionaries.of(&shelves.manuals, &ids);
    let query = Query::new(&asked.query, asked.intent, &dictionary)?;

    let (mut views, mut closed) = shelves.views(&ids, deadline, wanted)?;
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
                // The others may bring words of their own.
                (dictionary, bad_files) = shelves.dictionaries.of(&shelves.manuals, &all);
                let query = Query::new(&asked.query, asked.intent, &dictionary)?;
                (views, closed) = shelves.views(&all, deadline, wanted)?;
                granted = scope(&views);
                round =
                    explore(&views, query, &granted, asked.budget.candidates, deadline, Some(&dictionary));
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
        match shelves.manuals.get(id).and_then(|manual| manual.files()) {
            Ok(files) => {
                let whole = |path| Unscanned::file(Some(name.clone()), path, Reason::StageCap);
                round.unscanned.extend(files.into_iter().map(whole));
            }
            Err(_) => closed += 1,
        }
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
        warnings: unreadable + unsound + round.failed + bad_files + closed,
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
