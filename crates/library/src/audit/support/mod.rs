//! The check of support: the values of an element must occur in the lines that it cites.

pub(super) mod evidence;
pub(super) mod origins;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::evidence::{EvidenceSearchBudget, FileEvidence, Scope, supports_all, supports_amount};
use self::origins::Origins;
use super::artifact::{Artifact, Element, is_within};
use super::claims::{Claim, ClaimValue};
use super::finding::{AuditFinding, FindingKind};
use crate::reading::{LineRange, merged};
use annai_core::cancellation::checkpoint;

/// The maximum number of unsupported values that are kept, in the order of the elements; the rest is counted.
const MAX_KEPT_FINDINGS: usize = 1000;
/// How many of the ranges that were looked at a finding names; the rest is left out.
const MAX_NAMED_RANGES: usize = 5;

/// What the check of support found.
#[derive(Debug, Default)]
pub(super) struct SupportReport {
    /// The first unsupported values, and what could not be checked.
    pub(super) findings: Vec<AuditFinding>,
    pub(super) unsupported: usize,
    pub(super) derived: usize,
}

/// Hands the claims of a Markdown artifact to their elements: the nodes that a line names, or else its heading.
pub(super) fn assign_claims(artifact: &mut Artifact, assigned: &HashMap<usize, Vec<usize>>) {
    let Artifact { elements, claims, preface, .. } = artifact;
    let headings = elements.iter().enumerate().filter(|(_, element)| !element.is_graph_node);
    let headings: Vec<_> = headings.map(|(index, element)| (element.line, index)).collect();
    let owners = |line: usize| -> Vec<Option<usize>> {
        if let Some(nodes) = assigned.get(&line) {
            return nodes.iter().copied().map(Some).collect();
        }
        let heading = headings.partition_point(|(start, _)| *start <= line).checked_sub(1);
        vec![heading.and_then(|heading| headings.get(heading)).map(|(_, index)| *index)]
    };
    for claim in std::mem::take(&mut claims.found) {
        for owner in owners(claim.line) {
            let element = owner.and_then(|owner| elements.get_mut(owner)).unwrap_or(&mut *preface);
            // The id that a line starts with is no value.
            if !(element.is_graph_node && claim.is_first && claim.shown == element.id) {
                element.claims.push(claim.clone());
            }
        }
    }
    for line in std::mem::take(&mut claims.derived_lines) {
        for owner in owners(line) {
            owner.and_then(|owner| elements.get_mut(owner)).unwrap_or(&mut *preface).is_derived = true;
        }
    }
}

/// The lines of the source that elements with claims cite, sorted and merged.
pub(super) fn needed_lines(artifact: &Artifact, source_lines: u64) -> Vec<LineRange> {
    let elements = artifact.elements.iter().chain([&artifact.preface]);
    let checked = elements.filter(|element| !element.is_derived && !element.claims.is_empty());
    merged(checked.flat_map(|element| cited(element, source_lines)).collect())
}

/// The lines of the source that an element cites, as far as the source has them.
fn cited(element: &Element, source_lines: u64) -> impl Iterator<Item = LineRange> + '_ {
    element.citations.iter().map(|(_, range)| *range).filter(move |range| is_within(range, source_lines))
}

/// Checks the claims of all elements against the cited lines of the source, and of the files that text was copied from.
pub(super) fn check_support(
    artifact: &Artifact,
    source: &FileEvidence,
    source_lines: u64,
    origins: &Origins,
) -> SupportReport {
    let mut check = Check {
        artifact,
        source,
        source_lines,
        origins,
        budget: EvidenceSearchBudget::default(),
        report: SupportReport::default(),
        unchecked: None,
    };
    for element in artifact.elements.iter().chain([&artifact.preface]) {
        if !element.is_derived {
            check.element(element);
        }
    }
    let Check { mut report, unchecked, .. } = check;
    report.derived = artifact.elements.iter().filter(|element| element.is_derived).count();
    for (line, problem) in [
        (
            artifact.claims.left_out_from,
            "the values from here on were not checked, because there are too many; split the artifact",
        ),
        (
            unchecked,
            "the values from here on that occur nowhere as they are written were not searched further, because that takes too long; cite fewer lines, or split the artifact",
        ),
    ] {
        let finding = line.map(|line| AuditFinding::not_understood(line, problem));
        report.findings.extend(finding);
    }
    report
}

struct Check<'a> {
    artifact: &'a Artifact,
    source: &'a FileEvidence,
    source_lines: u64,
    origins: &'a Origins,
    budget: EvidenceSearchBudget,
    report: SupportReport,
    /// The line of the first claim that could not be checked in time.
    unchecked: Option<usize>,
}

/// What one range costs of the budget, in bytes: looking a value up in a range takes as long as searching so many.
const RANGE_COST: usize = 64;

impl<'a> Check<'a> {
    fn element(&mut self, element: &Element) {
        if element.claims.is_empty() {
            return;
        }
        let ranges = merged(cited(element, self.source_lines).collect());
        let own = (!ranges.is_empty()).then_some(Scope { file: self.source, ranges });
        // Text above a comment of the same section may rely on what is copied below it.
        let mut ranges_by_file: BTreeMap<usize, Vec<LineRange>> = BTreeMap::new();
        for comment in &element.comments {
            if let Some((index, lines)) = self.copied(*comment) {
                ranges_by_file.entry(index).or_default().push(lines);
            }
        }
        let origins = self.origins;
        let copied = ranges_by_file.into_iter().filter_map(|(index, ranges)| {
            Some(Scope { file: origins.files.get(index)?, ranges: merged(ranges) })
        });
        let copied: Vec<_> = copied.collect();
        let all: Vec<_> = own.iter().chain(&copied).collect();
        let mut seen: HashSet<(Option<usize>, &str)> = HashSet::new();
        for claim in &element.claims {
            checkpoint();
            let comment = self.comment_above(claim.line);
            if !seen.insert((comment, &claim.shown)) {
                continue;
            }
            let Some(comment) = comment else {
                self.claim(element, claim, &all);
                continue;
            };
            // A comment that no longer fits is a finding of its own.
            let Some((index, lines)) = self.copied(comment) else { continue };
            let Some(file) = origins.files.get(index) else { continue };
            let here = Scope { file, ranges: vec![lines] };
            self.claim(element, claim, &std::iter::once(&here).chain(&own).collect::<Vec<_>>());
        }
    }

    /// The file and the lines that a source comment names, where the text below it can be checked against them.
    fn copied(&self, comment: usize) -> Option<(usize, LineRange)> {
        let file = self.origins.file_of.get(comment).copied().flatten()?;
        Some((file, self.artifact.comments.get(comment)?.source.lines))
    }

    /// The index of the source comment that covers a line.
    fn comment_above(&self, line: usize) -> Option<usize> {
        let comments = &self.artifact.comments;
        let index = comments.partition_point(|comment| comment.line < line).checked_sub(1)?;
        comments.get(index).filter(|comment| (comment.first_line..=comment.last_line).contains(&line))?;
        Some(index)
    }

    fn claim(&mut self, element: &Element, claim: &Claim, scopes: &[&Scope<'_>]) {
        if scopes.is_empty() {
            return;
        }
        let ranges: usize = scopes.iter().map(|scope| scope.ranges.len()).sum();
        let budget = &mut self.budget;
        let supported = budget.take(ranges.saturating_mul(RANGE_COST)).and_then(|()| match &claim.value {
            ClaimValue::Amount(amount, next) => supports_amount(scopes, amount, *next, &claim.shown, budget),
            ClaimValue::Text(parts) => supports_all(scopes, parts, budget),
        });
        match supported {
            Some(true) => {}
            Some(false) => self.report(element, claim, scopes, ranges),
            None => {
                self.unchecked.get_or_insert(claim.line);
            }
        }
    }

    fn report(&mut self, element: &Element, claim: &Claim, scopes: &[&Scope<'_>], places: usize) {
        self.report.unsupported += 1;
        if self.report.findings.len() >= MAX_KEPT_FINDINGS {
            return;
        }
        let named =
            scopes.iter().flat_map(|scope| scope.ranges.iter().map(|range| (&scope.file.name, range)));
        let named = named.take(MAX_NAMED_RANGES);
        let named: Vec<_> = named
            .map(|(name, LineRange { start_line, end_line })| format!("{name}#L{start_line}-{end_line}"))
            .collect();
        let more = match places - named.len() {
            0 => String::new(),
            more => format!(" and {more} more ranges"),
        };
        let problem = format!(
            "{} does not occur in the cited lines ({}{more}); cite the lines that state it, correct it, or write `derived:` into the element if it follows from them",
            claim.shown,
            named.join(", ")
        );
        let finding = AuditFinding::at(FindingKind::Unsupported, claim.line, Some(&element.id), &problem);
        self.report.findings.push(AuditFinding {
            value: Some(claim.shown.clone()),
            checked: named,
            ..finding
        });
    }
}

#[cfg(test)]
mod tests;
