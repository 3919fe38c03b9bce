//! A find of the manuals: where it starts, whether it is widened to the other manuals, and its report.

use std::sync::Arc;
use std::time::Instant;

use annai_core::ToolError;

use super::candidate::Signals;
use super::conclusion::{Conclusion, Evidence, conclude, file_bias};
use super::context::ExploreContext;
use super::next_actions::{ManualFindOutcome, after_manual_find};
use super::query::Query;
use super::report::{EscalationReason, FindSummary, SignalCoverage, rounded};
use super::request::FindRequest;
use super::scope::SearchScope;
use super::stages::{StageOutcome, StagePlan, run_stages};
use super::terms::Intent;
use super::trace::TraceRecord;
use super::unscanned::{SkipReason, UnscannedPart};
use crate::adaptive::Thresholds;
use crate::cancellation::Cancellation;
use crate::index::View;
use crate::reference::{NextAction, Target};

/// The minimum number of candidates for judging a bias to one file: of fewer, most would be in one file anyway.
const MIN_CANDIDATES_FOR_BIAS: usize = 5;
/// The stage that widens the find to the other manuals.
const WIDENING_STAGE: u8 = 4;

/// The result of a find of the manuals.
pub struct FindReport {
    /// The id of the trace.
    pub trace_id: String,
    /// The find in numbers.
    pub summary: FindSummary,
    /// The trace.
    pub record: Arc<TraceRecord>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
    /// What the adaptive thresholds learn from.
    pub basis: LearningBasis,
}

/// What the adaptive thresholds learn from a find, in addition to its summary.
pub struct LearningBasis {
    /// The thresholds that were in force.
    pub thresholds: Thresholds,
    /// The manual that was searched first; none for all.
    pub home: Option<String>,
    /// The number of candidates in it.
    pub home_candidates: usize,
    /// The share of them in one file.
    pub home_bias: f64,
    /// The manuals that were searched.
    pub manuals: Vec<String>,
}

/// Explores the manuals.
pub fn find(
    context: &ExploreContext<'_>,
    request: &FindRequest,
    cancellation: &Cancellation,
) -> Result<FindReport, ToolError> {
    let explorer = Explorer {
        context,
        request,
        cancellation,
        deadline: Instant::now() + request.budget.time,
        all: context.manuals.ids()?,
    };
    let home = explorer.home()?;
    let ids = home.as_ref().map_or_else(|| explorer.all.clone(), |id| vec![id.clone()]);
    let mut pass = explorer.pass(&ids)?;

    let thresholds = context.adaptive.thresholds();
    let (home_candidates, home_bias) =
        (pass.outcome.candidates.len(), file_bias(&pass.views, &pass.outcome.candidates));
    let widened = explorer.widen(&mut pass, &ids, thresholds)?;
    cancellation.check()?;

    let evidence =
        Evidence { views: &pass.views, scope: &pass.scope, outcome: &pass.outcome, target: Target::Manual };
    let conclusion = conclude(&evidence, context.traces, &request.owner, Instant::now())?;
    let summary = summary(&pass, widened, &conclusion);
    let next_actions = after_manual_find(&ManualFindOutcome {
        request,
        home: home.as_deref(),
        gap_terms: conclusion.gap_terms,
        query: &pass.outcome.query,
        summary: &summary,
        record: &conclusion.record,
        trace_id: &conclusion.trace_id,
    });
    let manuals = pass.views.into_iter().map(|view| view.name).collect();
    let basis = LearningBasis { thresholds, home, home_candidates, home_bias, manuals };
    Ok(FindReport { trace_id: conclusion.trace_id, summary, record: conclusion.record, next_actions, basis })
}

/// A find in progress.
struct Explorer<'a> {
    context: &'a ExploreContext<'a>,
    request: &'a FindRequest,
    cancellation: &'a Cancellation,
    deadline: Instant,
    /// The ids of all manuals.
    all: Vec<String>,
}

/// One pass through the stages, and what it searched.
struct Pass<'a> {
    views: Vec<View>,
    scope: SearchScope<'a>,
    outcome: StageOutcome,
    /// The number of problems with the files of synonyms.
    bad_word_files: usize,
    /// The number of manuals that could not be opened.
    unopened: usize,
}

/// Whether and why a find was widened beyond its first manual.
struct Widening {
    is_expanded: bool,
    reasons: Vec<EscalationReason>,
}

impl<'a> Explorer<'a> {
    /// The manual to search first, by its stored id; none for all.
    fn home(&self) -> Result<Option<String>, ToolError> {
        let default = self.context.default_manual_id.filter(|_| self.request.left_out_of.is_none());
        let Some(id) = self.request.manual_id.as_deref().or(default) else { return Ok(None) };
        match self.context.manuals.get(id) {
            Ok(manual) => Ok(Some(manual.id)),
            Err(error) if self.request.manual_id.is_some() => Err(error),
            Err(error) => {
                Err(ToolError::new(error.kind(), format!("DEFAULT_MANUAL_ID, {}", error.message())))
            }
        }
    }

    /// Runs the stages in these manuals, with their dictionary.
    fn pass(&self, ids: &[String]) -> Result<Pass<'a>, ToolError> {
        let (dictionary, bad_word_files) = self.context.dictionaries.of(self.context.manuals, ids);
        let query = Query::new(&self.request.query, self.request.intent, &dictionary)?;
        let (views, unopened) = self.context.manual_views(ids, self.deadline, self.cancellation)?;
        let scope = self.scope(&views);
        let plan = StagePlan {
            views: &views,
            scope: &scope,
            max_candidates: self.request.budget.max_candidates,
            deadline: self.deadline,
            dictionary: Some(&dictionary),
        };
        let outcome = run_stages(&plan, query);
        self.cancellation.check()?;
        Ok(Pass { views, scope, outcome, bad_word_files, unopened })
    }

    /// Which sections of these views may be searched.
    fn scope(&self, views: &[View]) -> SearchScope<'a> {
        match &self.request.left_out_of {
            Some(record) => SearchScope::left_out_of(record, views),
            None => SearchScope::Everything,
        }
    }

    /// Searches the other manuals too where the first pass was not sufficient, or records that the last stage does not
    /// allow it.
    fn widen(
        &self,
        pass: &mut Pass<'a>,
        ids: &[String],
        thresholds: Thresholds,
    ) -> Result<Widening, ToolError> {
        let mut widening = Widening { is_expanded: false, reasons: Vec::new() };
        if self.request.left_out_of.is_some() {
            widening.reasons.push(EscalationReason::PrioritizedUnscannedSections);
        }
        let triggers = triggers(&pass.views, &pass.outcome, thresholds);
        let others: Vec<_> = self.all.iter().filter(|id| !ids.contains(id)).collect();
        let can_widen = !triggers.is_empty() && !others.is_empty() && self.request.left_out_of.is_none();
        widening.reasons.extend(triggers);
        if !can_widen {
            return Ok(widening);
        }
        if self.request.max_stage >= WIDENING_STAGE {
            *pass = self.pass(&self.all)?;
            (pass.outcome.stage, widening.is_expanded) = (WIDENING_STAGE, true);
            widening.reasons.push(EscalationReason::ManualScopeExpanded);
        } else {
            widening.reasons.push(EscalationReason::StageCap);
            others.into_iter().for_each(|id| self.note_stage_cap(pass, id));
        }
        Ok(widening)
    }

    /// Adds the files of a manual to what was not searched.
    fn note_stage_cap(&self, pass: &mut Pass<'a>, id: &str) {
        let manual_id: Arc<str> = id.into();
        match self.context.manuals.get(id).and_then(|manual| manual.files()) {
            Ok(files) => {
                let whole = |path| UnscannedPart::file(Some(manual_id.clone()), path, SkipReason::StageCap);
                pass.outcome.unscanned.extend(files.into_iter().map(whole));
            }
            Err(_) => pass.unopened += 1,
        }
    }
}

/// The reasons for widening the find.
fn triggers(views: &[View], outcome: &StageOutcome, thresholds: Thresholds) -> Vec<EscalationReason> {
    let candidates = outcome.candidates.as_slice();
    let count = candidates.len();
    let has_exceptions = candidates.iter().any(|candidate| candidate.signals.has(Signals::EXCEPTIONS));
    let is_biased = count >= MIN_CANDIDATES_FOR_BIAS && file_bias(views, candidates) >= thresholds.file_bias;
    let triggers = [
        (count == 0, EscalationReason::ZeroCandidates),
        ((1..thresholds.candidate_low).contains(&count), EscalationReason::LowCandidates),
        (is_biased, EscalationReason::FileBias),
        (outcome.query.intent == Intent::Exceptions && !has_exceptions, EscalationReason::ExceptionsMissing),
    ];
    triggers.into_iter().filter(|(fires, _)| *fires).map(|(_, reason)| reason).collect()
}

/// The find in numbers.
fn summary(pass: &Pass<'_>, widened: Widening, conclusion: &Conclusion) -> FindSummary {
    let Pass { views, outcome, bad_word_files, unopened, .. } = pass;
    let unreadable: usize = views.iter().map(|view| view.unreadable).sum();
    let files = views.iter().flat_map(|view| &view.segments).flat_map(|segment| &segment.files);
    let unsound = files.filter(|file| !file.sound).count();
    FindSummary {
        scanned_files: conclusion.scanned_files,
        scanned_nodes: conclusion.scanned_nodes,
        candidates: outcome.candidates.len(),
        warnings: unreadable + unsound + outcome.failed + bad_word_files + unopened,
        max_stage_applied: outcome.stage,
        scope_expanded: widened.is_expanded,
        unscanned_sections_count: conclusion.record.unscanned_count(),
        integrated_candidates: outcome.hits,
        integrated_nodes: outcome.candidates.len(),
        signal_coverage: SignalCoverage::of(&outcome.candidates),
        file_bias_ratio: rounded(conclusion.file_bias),
        conflict_count: conclusion.conflict_count,
        gap_count: conclusion.gap_count,
        sufficiency_score: conclusion.sufficiency,
        integration_status: conclusion.status,
        cutoff_reason: conclusion.cutoff,
        escalation_reasons: widened.reasons,
    }
}

#[cfg(test)]
#[path = "manual_find_tests.rs"]
mod tests;
