//! Asks about the conflict cases, and sums up by split and family what was reported.

use std::collections::{BTreeMap, BTreeSet};

use annai_core::JsonObject;
use serde_json::Value;

use super::cases::{ConflictCase, Expectation, SectionRef};
use crate::bootstrap::Estimate;
use crate::calls::{self, Found, Tools, object};
use crate::error::EvalError;
use crate::places::{Place, SectionPlaces};
use crate::row::{ALL, Row};

/// How many reported pairs are looked at; a find reports fewer.
const MAX_PAIRS: usize = 1000;
/// How many reported pairs a miss shows.
const MAX_SHOWN_PAIRS: usize = 5;

/// What was reported for one case.
pub struct CaseOutcome {
    names: [String; 3],
    expect: Expectation,
    has_conflict: bool,
    has_variant: bool,
    /// A description of the case, if it was judged wrongly.
    miss: Option<String>,
}

/// A figure of a row is the mean of a value over the cases that have it.
type Figure = (&'static str, fn(&CaseOutcome) -> Option<f64>);

const FIGURES: [Figure; 5] = [
    ("rate", |case| Some(share(case.has_conflict))),
    ("precision", |case| case.has_conflict.then(|| share(case.expects_conflict()))),
    ("recall", |case| case.expects_conflict().then(|| share(case.has_conflict))),
    ("false_alarms", |case| (!case.expects_conflict()).then(|| share(case.has_conflict))),
    ("variant_recall", |case| (case.expect == Expectation::Variant).then(|| share(case.has_variant))),
];

fn share(counts: bool) -> f64 {
    f64::from(u8::from(counts))
}

impl CaseOutcome {
    fn new(case: &ConflictCase, found: &Found, conflicts: usize, pairs: &[Value]) -> Self {
        let (has_conflict, has_variant) = (conflicts > 0, found.variants > 0);
        let is_right = match case.expect {
            Expectation::Conflict => has_conflict,
            Expectation::Variant => !has_conflict && has_variant,
            Expectation::None => !has_conflict,
        };
        Self {
            names: case.row_names(),
            expect: case.expect,
            has_conflict,
            has_variant,
            miss: (!is_right).then(|| describe_miss(case, found, conflicts, pairs)),
        }
    }

    fn expects_conflict(&self) -> bool {
        self.expect == Expectation::Conflict
    }
}

/// The figures of a file of conflict cases.
pub struct ConflictScores {
    /// The rows of each family of each split, of each family, of each split, and of all cases.
    pub rows: Vec<Row>,
    pub misses: String,
    /// How many cases were skipped, because their manuals are not served.
    pub skipped: usize,
    /// The rows that the skipped cases would count for.
    pub skipped_rows: BTreeSet<String>,
}

impl ConflictScores {
    pub fn of(outcomes: &[CaseOutcome], skipped: &[&ConflictCase]) -> Self {
        let mut groups: [BTreeMap<&str, Vec<&CaseOutcome>>; 3] = Default::default();
        for outcome in outcomes {
            for (group, name) in groups.iter_mut().zip(&outcome.names) {
                group.entry(name).or_default().push(outcome);
            }
        }
        let mut rows: Vec<_> = groups.iter().flatten().map(|(name, outcomes)| row(name, outcomes)).collect();
        rows.push(row(ALL, &outcomes.iter().collect::<Vec<_>>()));
        Self {
            rows,
            misses: outcomes.iter().filter_map(|outcome| outcome.miss.as_deref()).collect(),
            skipped: skipped.len(),
            skipped_rows: skipped
                .iter()
                .flat_map(|case| case.row_names().into_iter().chain([ALL.to_owned()]))
                .collect(),
        }
    }
}

fn row(name: &str, outcomes: &[&CaseOutcome]) -> Row {
    let count = |counts: fn(&CaseOutcome) -> bool| outcomes.iter().filter(|case| counts(case)).count();
    let figure = |(name, value): Figure| {
        let values: Vec<_> = outcomes.iter().map(|outcome| value(outcome)).collect();
        (name, Estimate::mean(&values))
    };
    Row {
        name: name.to_owned(),
        counts: vec![
            ("cases", outcomes.len()),
            ("expected", count(CaseOutcome::expects_conflict)),
            ("conflicts", count(|case| case.has_conflict)),
            ("variants", count(|case| case.has_variant)),
        ],
        figures: FIGURES.into_iter().map(figure).collect(),
    }
}

/// The largest `max_stage` of `manual_find`: a case asks for all that it can report.
const MAX_STAGE: u64 = 3;

/// Asks about a case with files, over a manual that consists of them.
pub fn measure_file_case(tools: &dyn Tools, case: &ConflictCase) -> Result<CaseOutcome, EvalError> {
    let found = calls::find(tools, scoped(case, &case.id))?;
    let pairs = calls::hits(tools, &found, "conflicts", MAX_SHOWN_PAIRS)?;
    let conflicts = usize::try_from(found.conflicts).unwrap_or(usize::MAX);
    Ok(CaseOutcome::new(case, &found, conflicts, &pairs))
}

/// The arguments that ask about a case in one manual.
fn scoped(case: &ConflictCase, manual_id: &str) -> JsonObject {
    object([
        ("query", case.query.as_str().into()),
        ("manual_id", manual_id.into()),
        ("max_stage", MAX_STAGE.into()),
    ])
}

/// Asks about cases whose sections are in manuals that are served. A case counts as reported if the two sections are.
pub fn measure_refs(
    tools: &dyn Tools,
    sections: &SectionPlaces,
    cases: &[&ConflictCase],
) -> Result<Vec<CaseOutcome>, EvalError> {
    let outcomes = cases.iter().filter_map(|case| Some((*case, case.pair()?))).map(|(case, pair)| {
        let wanted = wanted_pair(sections, case, pair)?;
        let [one, other] = pair;
        // Sections of two manuals are only found together when all manuals are searched.
        let arguments = if one.manual_id == other.manual_id {
            scoped(case, &one.manual_id)
        } else {
            object([("query", case.query.as_str().into())])
        };
        let found = calls::find(tools, arguments)?;
        let items = calls::hits(tools, &found, "conflicts", MAX_PAIRS)?;
        let conflicts = items.iter().filter(|item| reported_pair(sections, item).as_ref() == Some(&wanted));
        Ok(CaseOutcome::new(case, &found, conflicts.count(), &items))
    });
    outcomes.collect()
}

/// The sections of a case, in order.
fn wanted_pair(
    sections: &SectionPlaces,
    case: &ConflictCase,
    pair: [&SectionRef; 2],
) -> Result<[Place; 2], EvalError> {
    let [one, other] = pair.map(|section| {
        let SectionRef { manual_id, path, line } = section;
        sections.at(manual_id, path, *line).ok_or_else(|| {
            EvalError::input(format!(
                "conflict case {}: refs: {manual_id}/{path} has no section at line {line}; correct the path or the line",
                case.id
            ))
        })
    });
    Ok(in_order(one?, other?))
}

/// The two sections of an entry of `manual_hits` about conflicts: `ref` and `conflict_with`, in order.
fn reported_pair(sections: &SectionPlaces, item: &Value) -> Option<[Place; 2]> {
    let reference = item.get("ref")?;
    let text = |key: &str| reference.get(key).and_then(Value::as_str);
    let line = usize::try_from(reference.get("start_line").and_then(Value::as_u64)?).ok()?;
    // Parts of a long section are reported by the line where the part begins.
    let one = sections.at(text("manual_id")?, text("path")?, line)?;
    let (manual_id, path, line) = parse_node_id(item.pointer("/conflict_with/0")?.as_str()?)?;
    Some(in_order(one, sections.at(manual_id, path, line)?))
}

fn in_order(one: Place, other: Place) -> [Place; 2] {
    if one <= other { [one, other] } else { [other, one] }
}

/// The parts of a node id such as `manual/folder/file.md#L12` or `manual/file.md#L12.80`.
fn parse_node_id(id: &str) -> Option<(&str, &str, usize)> {
    let (file, position) = id.rsplit_once("#L")?;
    let (manual_id, path) = file.split_once('/')?;
    let line = position.split('.').next()?.parse().ok()?;
    Some((manual_id, path, line))
}

/// The case and what was reported, for `--misses`.
fn describe_miss(case: &ConflictCase, found: &Found, conflicts: usize, pairs: &[Value]) -> String {
    let [name, ..] = case.row_names();
    let (expected, of) = (case.expect.name(), if case.pair().is_some() { " of these sections" } else { "" });
    let mut text = format!(
        "{} ({name}: expected {expected}, reported conflicts{of}: {conflicts}, variants: {}) {}\n",
        case.id, found.variants, case.query
    );
    for pair in pairs.iter().take(MAX_SHOWN_PAIRS) {
        let field = |pointer: &str| pair.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let line = pair.pointer("/ref/start_line").and_then(Value::as_u64).unwrap_or(1);
        let (manual_id, path) = (field("/ref/manual_id"), field("/ref/path"));
        let (other, reason) = (field("/conflict_with/0"), field("/reason"));
        text.push_str(&format!("  {manual_id}/{path}#L{line} against {other}: {reason}\n"));
    }
    text
}

#[cfg(test)]
#[path = "conflict_scores_tests.rs"]
mod tests;
