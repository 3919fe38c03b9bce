//! A find of the manuals: where it starts, whether it is widened to the other manuals, and its report.

use std::sync::Arc;
use std::time::Instant;

use annai_core::ToolError;

use crate::conclusion::coverage::FileCoverage;
use crate::conclusion::report::{EscalationReason, FindSummary, IntegrationStatus, SearchCoverage};
use crate::conclusion::term_presence::term_presence;
use crate::conclusion::{Conclusion, Evidence, conclude};
use crate::context::FindContext;
use crate::context::Thresholds;
use crate::find::new_trace::{NewTrace, StoredTrace};
use crate::find::next_actions::{ManualFindOutcome, follow_up_of_manual_find, request_for_wordings};
use crate::find::request::FindRequest;
use crate::find::trace_builder::{FindResult, summary_of, trace_record};
use crate::find::widening::{notices, triggers};
use crate::index::View;
use crate::query::Query;
use crate::query::wordings::wordings_of;
use crate::reference::{NextAction, Target};
use crate::stages::scope::SearchScope;
use crate::stages::{StageOutcome, StagePlan, run_stages};
use crate::trace::reach::{FindReach, file_hash};
use crate::trace::unscanned::{SkipReason, UnscannedPart};
use crate::trace::{Reach, TraceRecord, UnsearchableFile};
use annai_core::cancellation::Cancellation;
use annai_files::fs::UnsearchableReason;

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
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search; what
    /// follows it is optional.
    pub next_actions: Vec<NextAction>,
    /// The thresholds of widening that were in force.
    pub thresholds: Thresholds,
}

/// Explores the manuals.
pub fn find(
    context: &FindContext<'_>,
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
    let mut pass = explorer.pass(&ids, home.as_deref())?;

    let thresholds = context.thresholds;
    let widened = explorer.widen(&mut pass, home.as_deref(), &ids, thresholds)?;
    cancellation.check()?;

    let mut coverage = FileCoverage::of(&pass.views, &pass.scope, &pass.outcome.matched);
    coverage.unscanned += widened.capped_files;
    // Who asks for one manual, or for what an earlier find left out, does not ask for what is in none.
    let asks_for_all = home.is_none() && request.left_out_of.is_none();
    let beside = if asks_for_all { context.manuals.beside() } else { Vec::new() };
    coverage.complete(beside, home.as_deref());
    let conclusion =
        conclude(&Evidence { views: &pass.views, outcome: &pass.outcome, target: Target::Manual });
    let record = trace_record(FindResult {
        target: Target::Manual,
        question: &request.query,
        goal: request.goal,
        views: &pass.views,
        outcome: &pass.outcome,
        coverage: &coverage,
        conclusion: &conclusion,
        reach: Reach::Manuals(explorer.reach(&pass)),
    });
    let trace = NewTrace::begin(context, &request.owner, request.is_fresh, record)?;
    let notices = notices(&pass.views, home.as_deref(), &pass.outcome);
    let counts = coverage.summary(&trace.record, pass.outcome.related, trace.handed_out.as_ref(), notices);
    let mut summary = summary(&pass, widened, &conclusion, &coverage, counts);
    let is_ready = summary.integration_status == IntegrationStatus::Ready;
    summary.presence = term_presence(&pass.views, &pass.scope, &pass.outcome, &request.query, is_ready);
    let follow_up = follow_up_of_manual_find(&ManualFindOutcome {
        request,
        home: home.as_deref(),
        gap_terms: conclusion.gaps.terms,
        query: &pass.outcome.query,
        summary: &summary,
        unscanned: &pass.outcome.unscanned,
        trace_id: &trace.id,
    });
    // A find that an earlier one suggested has the words that were to be tried.
    let asks_again = request.left_out_of.is_none() && !trace.record.is_follow_up;
    let wordings = request_for_wordings("manual_find", &request.other_words, summary.integration_status);
    let StoredTrace { id: trace_id, record, next_actions } =
        trace.keep(context, &request.owner, follow_up, wordings.filter(|_| asks_again));
    Ok(FindReport { trace_id, summary, record, next_actions, thresholds })
}

/// A find in progress.
struct Explorer<'a> {
    context: &'a FindContext<'a>,
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
    /// The number of files of other manuals that the last stage excludes.
    capped_files: usize,
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
    fn pass(&self, ids: &[String], home: Option<&str>) -> Result<Pass<'a>, ToolError> {
        let (dictionary, bad_word_files) = self.context.dictionaries.of(self.context.manuals, ids);
        let FindRequest { query, intent, rules, .. } = self.request;
        let query = Query::parse("query", query, *intent, &dictionary, *rules)?;
        let wordings = wordings_of(&self.request.other_words, &self.request.query, &query, &dictionary)?;
        let (views, unopened) = self.context.manual_views(ids, self.deadline, self.cancellation)?;
        let scope = self.scope(&views);
        let plan = StagePlan {
            views: &views,
            home,
            scope: &scope,
            max_candidates: self.request.budget.max_candidates,
            deadline: self.deadline,
            dictionary: Some(&dictionary),
            wordings: &wordings,
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
        home: Option<&str>,
        ids: &[String],
        thresholds: Thresholds,
    ) -> Result<Widening, ToolError> {
        let mut widening = Widening { is_expanded: false, reasons: Vec::new(), capped_files: 0 };
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
            *pass = self.pass(&self.all, home)?;
            (pass.outcome.stage, widening.is_expanded) = (WIDENING_STAGE, true);
            widening.reasons.push(EscalationReason::ManualScopeExpanded);
        } else {
            widening.reasons.push(EscalationReason::StageCap);
            widening.capped_files = others.into_iter().map(|id| self.note_stage_cap(pass, id)).sum();
        }
        Ok(widening)
    }

    /// Adds the files of a manual to what was not searched, and returns how many they are.
    fn note_stage_cap(&self, pass: &mut Pass<'a>, id: &str) -> usize {
        let manual_id: Arc<str> = id.into();
        match self.context.manuals.get(id).and_then(|manual| manual.files()) {
            Ok(files) => {
                let count = files.len();
                let whole = |path| UnscannedPart::file(Some(manual_id.clone()), path, SkipReason::StageCap);
                pass.outcome.unscanned.extend(files.into_iter().map(whole));
                count
            }
            Err(_) => {
                pass.unopened += 1;
                0
            }
        }
    }

    /// Which files were searched.
    fn reach(&self, pass: &Pass<'_>) -> FindReach {
        let file_of =
            |part: &UnscannedPart| file_hash(part.manual_id.as_deref().unwrap_or_default(), &part.path);
        let whole_files = pass.outcome.unscanned.iter().filter(|part| part.starts.is_empty());
        // A find of what an earlier one left out searched nothing else.
        let only = self.request.left_out_of.as_ref();
        let only = only.map(|earlier| earlier.unscanned.iter().map(file_of).collect());
        let manuals = pass.views.iter().map(|view| view.name.clone()).collect();
        FindReach { manuals, only, except: whole_files.map(file_of).collect() }
    }
}

/// The find in numbers.
fn summary(
    pass: &Pass<'_>,
    widened: Widening,
    conclusion: &Conclusion,
    files: &FileCoverage,
    coverage: SearchCoverage,
) -> FindSummary {
    let Pass { views, outcome, bad_word_files, unopened, .. } = pass;
    let is_damaged = |file: &&UnsearchableFile| {
        let reason = file.file.reason;
        !matches!(reason, UnsearchableReason::Type | UnsearchableReason::Link | UnsearchableReason::Stray)
    };
    let unreadable = files.unsearchable.iter().filter(is_damaged).count();
    let indexed = views.iter().flat_map(|view| &view.segments).flat_map(|segment| &segment.files);
    let unsound = indexed.filter(|file| !file.sound).count();
    let outside = outcome.evidence().filter(|candidate| candidate.is_outside).count();
    FindSummary {
        warnings: unreadable + unsound + outcome.failed + bad_word_files + unopened,
        scope_expanded: widened.is_expanded,
        escalation_reasons: widened.reasons,
        outside_candidates: (outside > 0).then_some(outside),
        ..summary_of(Target::Manual, outcome, conclusion, files, coverage)
    }
}

#[cfg(test)]
#[path = "manual_find_tests.rs"]
mod tests;
