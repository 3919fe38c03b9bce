//! A find of the vault: stages 0 and 1, and its report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use annai_core::ToolError;

use crate::conclusion::coverage::FileCoverage;
use crate::conclusion::report::{FindSummary, IntegrationStatus};
use crate::conclusion::term_presence::term_presence;
use crate::conclusion::{Evidence, conclude};
use crate::context::FindContext;
use crate::find::new_trace::{NewTrace, StoredTrace};
use crate::find::next_actions::{VaultFindOutcome, follow_up_of_vault_find, request_for_wordings};
use crate::find::request::VaultFindRequest;
use crate::find::trace_builder::{FindResult, summary_of, trace_record};
use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::place::{FilePlace, file_at, file_of, node_at};
use crate::query::Query;
use crate::query::dictionary::Dictionary;
use crate::query::wordings::wordings_of;
use crate::reference::{NextAction, Target};
use crate::stages::scope::{FileGrant, SearchScope};
use crate::stages::{StageOutcome, StagePlan, run_stages};
use crate::trace::unscanned::SkipReason;
use crate::trace::{Reach, TraceRecord};
use annai_core::cancellation::Cancellation;
use annai_files::vault::{is_artifact, is_daily};

/// From this share of the candidates in one file, the next action searches the other files. The manuals have an
/// adaptive threshold; the vault has none, and most searches of notes spread over more files.
const VAULT_FILE_BIAS: f64 = 0.80;

/// The result of a find of the vault.
pub struct VaultFindReport {
    /// The id of the trace.
    pub trace_id: String,
    /// The find in numbers.
    pub summary: FindSummary,
    /// The trace.
    pub record: Arc<TraceRecord>,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to read or to search; what
    /// follows it is optional.
    pub next_actions: Vec<NextAction>,
}

/// Explores the vault.
pub fn find_in_vault(
    context: &FindContext<'_>,
    request: &VaultFindRequest,
    cancellation: &Cancellation,
) -> Result<VaultFindReport, ToolError> {
    let deadline = Instant::now() + request.budget.time;
    let dictionary = Dictionary::new(&[]);
    let query = Query::new(&request.query, None, &dictionary)?;
    let wordings = wordings_of(&request.other_words, &request.query, &query, &dictionary)?;
    // A folder that is not there is an error, not an empty answer.
    context.vault.root()?.folder(request.files.folder())?;
    let views = [context.vault_view(deadline, cancellation)?];
    let grant = |path: &str| if request.files.has(path) { FileGrant::All } else { FileGrant::None };
    let scope = SearchScope::of(&views, |_, file| grant(&file.path), |_, path| request.files.has(path));
    let plan = StagePlan {
        views: &views,
        home: None,
        scope: &scope,
        max_candidates: request.budget.max_candidates,
        deadline,
        dictionary: None,
        wordings: &wordings,
    };
    let outcome = run_stages(&plan, query);
    cancellation.check()?;
    let mut coverage = FileCoverage::of(&views, &scope, &outcome.matched);
    coverage.complete(Vec::new(), None);
    let conclusion = conclude(&Evidence { views: &views, outcome: &outcome, target: Target::Vault });
    let record = trace_record(FindResult {
        target: Target::Vault,
        question: &request.query,
        goal: request.goal,
        views: &views,
        outcome: &outcome,
        coverage: &coverage,
        conclusion: &conclusion,
        reach: Reach::Vault(request.files.clone()),
    });
    let trace = NewTrace::begin(context, &request.owner, request.is_fresh, record)?;
    let counts = coverage.summary(&trace.record, outcome.related, trace.handed_out.as_ref(), notices(&views));
    let candidates = outcome.candidates.as_slice();
    let evidence: Vec<_> = outcome.evidence().collect();
    let is_biased = conclusion.file_bias >= VAULT_FILE_BIAS;
    // Where nothing was found, each file is one range without a match.
    let gap_ranges = if evidence.is_empty() { coverage.scanned } else { gap_ranges(&views, &evidence) };
    let mut summary = FindSummary {
        warnings: coverage.unsearchable.len(),
        gap_ranges_count: Some(gap_ranges),
        ..summary_of(Target::Vault, &outcome, &conclusion, &coverage, counts)
    };
    let is_ready = summary.integration_status == IntegrationStatus::Ready;
    summary.presence = term_presence(&views, &scope, &outcome, &request.query, is_ready);
    let follow_up = follow_up_of_vault_find(&VaultFindOutcome {
        query: &request.query,
        other_words: &request.other_words,
        files: &request.files,
        goal: request.goal,
        is_cut: outcome.unscanned.iter().any(|part| part.reason == SkipReason::CandidateCap),
        likeliest_file: if candidates.is_empty() { likeliest_file(&views, &scope, &outcome) } else { None },
        dominant_file: if is_biased { dominant_file(&views, &evidence) } else { None },
        sufficiency: conclusion.sufficiency,
    });
    let asks_again = !request.files.is_exclusion() && !trace.record.is_follow_up;
    let wordings = request_for_wordings("vault_find", &request.other_words, summary.integration_status);
    let StoredTrace { id: trace_id, record, next_actions } =
        trace.keep(context, &request.owner, follow_up, wordings.filter(|_| asks_again));
    Ok(VaultFindReport { trace_id, summary, record, next_actions })
}

/// What the result does not cover.
fn notices(views: &[View]) -> Vec<String> {
    let hidden: usize = views.iter().map(|view| view.hidden).sum();
    let notice = match hidden {
        0 => return Vec::new(),
        1 => "1 hidden file or folder of the vault was not searched: its name begins with a dot".to_owned(),
        _ => format!(
            "{hidden} hidden files and folders of the vault were not searched: their names begin with a dot"
        ),
    };
    vec![notice]
}

/// The file with the most candidates.
fn dominant_file(views: &[View], candidates: &[&Candidate]) -> Option<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        if let Some(file) = node_at(views, candidate.place).and_then(|(segment, node)| segment.file_of(node))
        {
            *files.entry(file.path.as_str()).or_default() += 1;
        }
    }
    files.into_iter().max_by_key(|(_, count)| *count).map(|(path, _)| path.to_owned())
}

/// The file that contains the most index keys of the question; among equals, sources before artifacts, then by path. A
/// daily file is never suggested: it is a diary, and answers no question.
fn likeliest_file(views: &[View], scope: &SearchScope<'_>, outcome: &StageOutcome) -> Option<String> {
    let mut files: Vec<(Reverse<usize>, bool, &str)> = Vec::new();
    for (view_index, view) in views.iter().enumerate() {
        for (segment_index, segment) in view.segments.iter().enumerate() {
            let mut keys_by_file: BTreeMap<u32, HashSet<u64>> = BTreeMap::new();
            for key in &outcome.query.keys {
                let files = segment.find(*key).filter_map(|posting| Some(segment.node(posting.node)?.file));
                files.for_each(|file| {
                    keys_by_file.entry(file).or_default().insert(*key);
                });
            }
            for (number, file) in (0..).zip(&segment.files) {
                let is_in_scope = *scope.grant(view_index, segment_index, number) != FileGrant::None;
                if is_in_scope && !is_daily(&file.path) {
                    let keys = keys_by_file.get(&number).map_or(0, HashSet::len);
                    files.push((Reverse(keys), is_artifact(&file.path), file.path.as_str()));
                }
            }
        }
    }
    files.into_iter().min().map(|(_, _, path)| path.to_owned())
}

/// The number of line ranges without a candidate in the files of the candidates.
fn gap_ranges(views: &[View], candidates: &[&Candidate]) -> usize {
    let mut files: BTreeMap<FilePlace, Vec<(u32, u32)>> = BTreeMap::new();
    for candidate in candidates {
        if let (Some(file), Some((_, node))) =
            (file_of(views, candidate.place), node_at(views, candidate.place))
        {
            files.entry(file).or_default().push((node.start_line, node.own_end_line));
        }
    }
    let gaps = files.into_iter().map(|(file, mut ranges)| {
        ranges.sort_unstable();
        let last =
            file_at(views, file).and_then(|(segment, file)| segment.node(file.nodes.end.checked_sub(1)?));
        let last = last.map_or(0, |node| node.own_end_line);
        let mut next = 1;
        let mut gaps = 0;
        for (start, end) in ranges {
            // One blank line between paragraphs is not a gap.
            gaps += usize::from(start > next + 1 || (next == 1 && start > 1));
            next = end + 1;
        }
        gaps + usize::from(last > next)
    });
    gaps.sum()
}

#[cfg(test)]
#[path = "vault_find_tests.rs"]
mod tests;
