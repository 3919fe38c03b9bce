//! The check of support: the values of an element must occur in the lines that it cites.

use std::collections::{HashMap, HashSet};

use super::artifact::{Artifact, Element, is_within};
use super::claims::{Claim, ClaimValue};
use super::evidence::{FileEvidence, Scope, SearchBudget, supports_amount, supports_text};
use super::finding::{AuditFinding, FindingKind};
use super::origins::Origins;
use crate::cancellation::checkpoint;
use crate::facts::Amount;
use crate::ranges::{LineRange, merged};

/// The maximum number of unsupported values that are kept, in the order of the elements; the rest is counted.
const MAX_KEPT_FINDINGS: usize = 1000;
/// How many of the ranges that were looked at a finding names; the rest is left out.
const MAX_NAMED_RANGES: usize = 5;

/// What the check of support found.
#[derive(Debug, Default)]
pub struct SupportReport {
    /// The first unsupported values, and what could not be checked.
    pub findings: Vec<AuditFinding>,
    /// The number of unsupported values.
    pub unsupported: usize,
    /// The number of elements that are marked as derived.
    pub derived: usize,
}

/// The source that an artifact was made from.
pub struct SourceEvidence<'a> {
    /// Its cited lines.
    pub file: &'a FileEvidence,
    /// Its name, as findings show it.
    pub name: &'a str,
    /// The number of its lines.
    pub lines: u64,
}

/// Hands the claims of a Markdown artifact to their elements: the nodes that a line names, or else its heading.
pub fn assign_claims(artifact: &mut Artifact, assigned: &HashMap<usize, Vec<usize>>) {
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
pub fn needed_lines(artifact: &Artifact, source_lines: u64) -> Vec<LineRange> {
    let elements = artifact.elements.iter().chain([&artifact.preface]);
    let checked = elements.filter(|element| !element.is_derived && !element.claims.is_empty());
    merged(checked.flat_map(|element| cited(element, source_lines)).collect())
}

/// The lines of the source that an element cites, as far as the source has them.
fn cited(element: &Element, source_lines: u64) -> impl Iterator<Item = LineRange> + '_ {
    element.citations.iter().map(|(_, range)| *range).filter(move |range| is_within(range, source_lines))
}

/// Checks the claims of all elements.
pub fn check_support(artifact: &Artifact, source: &SourceEvidence<'_>, origins: &Origins) -> SupportReport {
    let mut check = Check {
        artifact,
        source,
        origins,
        budget: SearchBudget::default(),
        report: SupportReport::default(),
        unchecked: None,
    };
    for element in &artifact.elements {
        match element.is_derived {
            true => check.report.derived += 1,
            false => check.element(element),
        }
    }
    if !artifact.preface.is_derived {
        check.element(&artifact.preface);
    }
    let mut not_checked = |line: Option<usize>, problem: &str| {
        let finding = line.map(|line| AuditFinding::at(FindingKind::NotUnderstood, line, None, problem));
        check.report.findings.extend(finding);
    };
    not_checked(
        artifact.claims.left_out_from,
        "the values from here on were not checked, because there are too many; split the artifact",
    );
    not_checked(
        check.unchecked,
        "the values from here on that occur nowhere as they are written were not searched further, because that takes too long; cite fewer lines, or split the artifact",
    );
    check.report
}

struct Check<'a> {
    artifact: &'a Artifact,
    source: &'a SourceEvidence<'a>,
    origins: &'a Origins,
    budget: SearchBudget,
    report: SupportReport,
    /// The line of the first claim that could not be checked in time.
    unchecked: Option<usize>,
}

/// The lines that one element, or one comment, cites: the index of the file — none for the source — and the lines.
type Cited = (Option<usize>, Vec<LineRange>);

/// What one range costs of the budget, in bytes: looking a value up in a range takes as long as searching so many.
const RANGE_COST: usize = 64;

impl<'a> Check<'a> {
    fn element(&mut self, element: &Element) {
        if element.claims.is_empty() {
            return;
        }
        let own = merged(cited(element, self.source.lines).collect());
        let own: Option<Cited> = (!own.is_empty()).then_some((None, own));
        // Text above a comment of the same section may rely on what is copied below it.
        let mut copied: HashMap<usize, Vec<LineRange>> = HashMap::new();
        for index in &element.comments {
            let file = self.origins.file_of.get(*index).copied().flatten();
            if let (Some(file), Some(comment)) = (file, self.artifact.comments.get(*index)) {
                copied.entry(file).or_default().push(comment.source.lines);
            }
        }
        let mut copied: Vec<Cited> =
            copied.into_iter().map(|(file, ranges)| (Some(file), merged(ranges))).collect();
        copied.sort_by_key(|(file, _)| *file);
        let all: Vec<&Cited> = own.iter().chain(&copied).collect();
        let mut seen: HashSet<(Option<usize>, &str)> = HashSet::new();
        for claim in &element.claims {
            checkpoint();
            let comment = self.comment_above(claim.line);
            if !seen.insert((comment, &claim.shown)) {
                continue;
            }
            match comment.and_then(|comment| Some((comment, self.artifact.comments.get(comment)?))) {
                None => self.claim(element, claim, &all),
                Some((index, comment)) => {
                    // A comment that no longer fits is a finding of its own.
                    let Some(file) = self.origins.file_of.get(index).copied().flatten() else { continue };
                    let here = (Some(file), vec![comment.source.lines]);
                    let scopes: Vec<_> = std::iter::once(&here).chain(&own).collect();
                    self.claim(element, claim, &scopes);
                }
            }
        }
    }

    /// The index of the source comment that covers a line.
    fn comment_above(&self, line: usize) -> Option<usize> {
        let index = self.artifact.comments.partition_point(|comment| comment.line < line).checked_sub(1)?;
        self.artifact.comments.get(index).filter(|comment| comment.covers(line)).map(|_| index)
    }

    fn claim(&mut self, element: &Element, claim: &Claim, cited: &[&Cited]) {
        let (source, origins) = (self.source, self.origins);
        let scopes: Vec<Scope<'_>> = cited
            .iter()
            .filter_map(|(file, ranges)| {
                let file = file.map_or(Some(source.file), |file| origins.files.get(file))?;
                Some(Scope { file, ranges })
            })
            .collect();
        if scopes.is_empty() {
            return;
        }
        let ranges: usize = cited.iter().map(|(_, ranges)| ranges.len()).sum();
        if !self.budget.take(ranges.saturating_mul(RANGE_COST)) {
            self.unchecked.get_or_insert(claim.line);
            return;
        }
        let supported = match &claim.value {
            ClaimValue::Amount(amount, next) => self.amount(&scopes, amount, *next, &claim.shown),
            ClaimValue::Text(parts) => self.texts(&scopes, parts),
        };
        match supported {
            Some(true) => {}
            Some(false) => self.report(element, claim, cited),
            None => {
                self.unchecked.get_or_insert(claim.line);
            }
        }
    }

    fn amount(
        &mut self,
        scopes: &[Scope<'_>],
        amount: &Amount,
        next: Option<char>,
        shown: &str,
    ) -> Option<bool> {
        supports_amount(scopes, amount, next, shown, &mut self.budget)
    }

    /// All parts of a quotation must occur.
    fn texts(&mut self, scopes: &[Scope<'_>], parts: &[String]) -> Option<bool> {
        for part in parts {
            if !supports_text(scopes, std::slice::from_ref(part), &mut self.budget)? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn report(&mut self, element: &Element, claim: &Claim, cited: &[&Cited]) {
        self.report.unsupported += 1;
        if self.report.findings.len() >= MAX_KEPT_FINDINGS {
            return;
        }
        let named: Vec<_> = cited
            .iter()
            .flat_map(|(file, ranges)| ranges.iter().map(move |range| (*file, *range)))
            .take(MAX_NAMED_RANGES)
            .map(|(file, LineRange { start_line, end_line })| {
                format!("{}#L{start_line}-{end_line}", self.name(file))
            })
            .collect();
        let places: usize = cited.iter().map(|(_, ranges)| ranges.len()).sum();
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

    fn name(&self, file: Option<usize>) -> String {
        match file.and_then(|file| self.origins.paths.get(file)) {
            Some((manual_id, path)) => format!("{manual_id}/{path}"),
            None => self.source.name.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
