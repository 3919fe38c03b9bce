//! A find of the vault: stages 0 and 1, and what they come to.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use annai_core::{Principal, ToolError};

use super::conflicts::conflicts;
use super::dictionary::Dictionary;
use super::find::{Budget, FILE_BIAS, SUFFICIENT, bias, cutoff, scanned};
use super::gaps::{gaps, sufficiency};
use super::keeping::keep;
use super::next::{VaultOutlook, after_vault_find};
use super::query::Query;
use super::rank::{Candidate, Signals, at};
use super::round::{Round, explore};
use super::scope::{Grant, Scope};
use super::summary::{Status, VaultSignals, VaultSummary, rounded};
use crate::index::View;
use crate::reference::{NextAction, Target};
use crate::search::Where;
use crate::toolset::{Shelves, Wanted};

/// What a find of the vault gives.
pub struct VaultFound {
    /// The id to ask for the rest by.
    pub trace_id: String,
    /// In numbers.
    pub summary: VaultSummary,
    /// What to do next.
    pub next_actions: Vec<NextAction>,
}

/// What a find of the vault is asked.
pub struct VaultAsked {
    /// The question.
    pub query: String,
    /// Where to look.
    pub place: Where,
    /// At what cost.
    pub budget: Budget,
    /// Who asks.
    pub owner: Principal,
}

/// Explores the vault.
pub fn find_in_vault(
    shelves: &Shelves,
    asked: &VaultAsked,
    wanted: &Wanted,
) -> Result<VaultFound, ToolError> {
    let deadline = Instant::now() + asked.budget.time;
    let query = Query::new(&asked.query, None, &Dictionary::new(&[]))?;
    // A folder that is not there is an error, not an empty answer.
    shelves.vault.root()?.folder(asked.place.folder())?;
    let views = [shelves.vault_view(deadline, wanted)?];
    let grant = |path: &str| if asked.place.has(path) { Grant::All } else { Grant::None };
    let scope = Scope::of(&views, |_, file| grant(&file.path), |_, path| asked.place.has(path));
    let round = explore(&views, query, &scope, asked.budget.candidates, deadline, None);
    wanted.check()?;
    let conflicts = conflicts(&views, &round.query, &round.candidates);
    let mut gaps = gaps(&views, &round.query, &round.candidates);
    if std::mem::take(&mut gaps.no_evidence) {
        gaps.hints.pop();
    }
    let enough = rounded(sufficiency(&round.matched.weights, &round.candidates, &gaps));
    let seen = Arc::new(keep(&views, &round, &conflicts, gaps.hints.clone(), Target::Vault));
    let trace_id = shelves.traces.keep(&asked.owner, seen.clone())?;
    let count = |signal| {
        round.candidates.iter().filter(|candidate: &&Candidate| candidate.signals.has(signal)).count()
    };
    let (scanned_files, scanned_nodes) = scanned(&views, &scope, &round.matched);
    let bias = bias(&views, &round.candidates);
    let summary = VaultSummary {
        scanned_files,
        scanned_nodes,
        candidates: round.candidates.len(),
        warnings: views.iter().map(|view| view.unreadable).sum(),
        max_stage_applied: round.stage,
        scope_expanded: false,
        unscanned_sections_count: seen.unscanned_count(),
        integrated_candidates: round.hits,
        integrated_nodes: round.candidates.len(),
        signal_coverage: VaultSignals {
            normalized: count(Signals::NORMALIZED),
            loose: count(Signals::LOOSE),
        },
        file_bias_ratio: rounded(bias),
        conflict_count: conflicts.len(),
        gap_count: gaps.hints.len(),
        gap_ranges_count: gap_ranges(&views, &round.candidates),
        sufficiency_score: enough,
        integration_status: match round.candidates.len() {
            0 => Status::Blocked,
            _ if enough >= SUFFICIENT && gaps.hints.is_empty() && conflicts.is_empty() => Status::Ready,
            _ => Status::NeedsFollowup,
        },
        cutoff_reason: cutoff(&seen.unscanned),
    };
    let likeliest = if round.candidates.is_empty() { likeliest(&views, &scope, &round) } else { None };
    let crowded = if bias >= FILE_BIAS { crowded(&views, &round.candidates) } else { None };
    let outlook = VaultOutlook {
        query: &asked.query,
        place: &asked.place,
        likeliest: likeliest.as_deref(),
        crowded: crowded.as_deref(),
        enough,
    };
    Ok(VaultFound { trace_id, next_actions: after_vault_find(&outlook), summary })
}

/// The file that has the most of the candidates.
fn crowded(views: &[View], candidates: &[Candidate]) -> Option<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        if let Some(file) = at(views, candidate.place).and_then(|(segment, node)| segment.file_of(node)) {
            *files.entry(file.path.as_str()).or_default() += 1;
        }
    }
    files.into_iter().max_by_key(|(_, count)| *count).map(|(path, _)| path.to_owned())
}

/// The file that has the most of the question's letters and words; the longest among equals.
fn likeliest(views: &[View], scope: &Scope<'_>, round: &Round) -> Option<String> {
    let mut best: Option<((usize, u64), &str)> = None;
    for (view_index, view) in views.iter().enumerate() {
        for (segment_index, segment) in view.segments.iter().enumerate() {
            let mut held: BTreeMap<u32, HashSet<u64>> = BTreeMap::new();
            for key in &round.query.keys {
                let files = segment.find(*key).filter_map(|posting| Some(segment.node(posting.node)?.file));
                files.for_each(|file| {
                    held.entry(file).or_default().insert(*key);
                });
            }
            for (number, file) in (0..).zip(&segment.files) {
                if *scope.grant(view_index, segment_index, number) == Grant::None {
                    continue;
                }
                let rank = (held.get(&number).map_or(0, HashSet::len), segment.bytes_of(file));
                if best.is_none_or(|(known, _)| rank > known) {
                    best = Some((rank, file.path.as_str()));
                }
            }
        }
    }
    best.map(|(_, path)| path.to_owned())
}

/// How many ranges of lines the files that were found have where nothing was found.
fn gap_ranges(views: &[View], candidates: &[Candidate]) -> usize {
    let mut files: BTreeMap<(u32, u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
    for candidate in candidates {
        if let Some((_, node)) = at(views, candidate.place) {
            let file = (candidate.place.view, candidate.place.segment, node.file);
            files.entry(file).or_default().push((node.start_line, node.own_end_line));
        }
    }
    let gaps = files.into_iter().map(|((view, segment, file), mut ranges)| {
        ranges.sort_unstable();
        let segment = views.get(view as usize).and_then(|view| view.segments.get(segment as usize));
        let last = segment.and_then(|segment| {
            let file = segment.files.get(file as usize)?;
            segment.node(file.nodes.end.checked_sub(1)?)
        });
        let last = last.map_or(0, |node| node.own_end_line);
        let mut next = 1;
        let mut gaps = 0;
        for (start, end) in ranges {
            // One blank line between paragraphs is no gap.
            gaps += usize::from(start > next + 1 || (next == 1 && start > 1));
            next = end + 1;
        }
        gaps + usize::from(last > next)
    });
    gaps.sum()
}
