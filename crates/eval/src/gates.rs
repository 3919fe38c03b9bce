//! Gates: the minimums and maximums that figures must keep.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bootstrap::Estimate;
use crate::error::EvalError;
use crate::input::read_text;
use crate::row::Row;
use crate::table::with_interval;

/// How far a figure may miss its bound by rounding.
const TOLERANCE: f64 = 1e-9;

/// The bounds of a figure.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    min: Option<f64>,
    max: Option<f64>,
}

/// The bounds by file, row and figure.
pub struct Gates {
    path: PathBuf,
    files: BTreeMap<String, BTreeMap<String, BTreeMap<String, Bound>>>,
}

/// The rows of a file that was evaluated.
pub struct MeasuredFile<'a> {
    pub name: &'a str,
    pub rows: &'a [Row],
    /// The rows that skipped questions or cases belong to.
    pub skipped_rows: &'a BTreeSet<String>,
    /// The figures that the rows lack, because the plain search was not run.
    pub absent_figures: Vec<&'static str>,
}

/// A figure that misses its bound.
#[derive(Debug, Serialize)]
pub struct FailedGate {
    file: String,
    row: String,
    figure: String,
    #[serde(flatten)]
    estimate: Estimate,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
}

/// The outcome of all gates.
#[derive(Debug, Default, Serialize)]
pub struct GateReport {
    /// How many figures were compared.
    pub checked: usize,
    pub failed: Vec<FailedGate>,
    /// How many gates are about files that were not evaluated, about rows of which everything was skipped, or about
    /// figures that need the plain search, which was not run.
    pub unchecked: usize,
    /// How many of them need the plain search.
    #[serde(skip)]
    pub without_plain: usize,
}

impl Gates {
    /// Reads a file of gates.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let text = read_text(path, "give the path of a file with gates, such as evals/gates.json")?;
        let wrong = |problem: String| EvalError::input(format!("{}: {problem}", path.display()));
        let gates = Self {
            path: path.to_owned(),
            files: serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
        };
        for (place, bound) in gates.bounds() {
            let problem = match (bound.min, bound.max) {
                (None, None) => "must have `min`, `max` or both".to_owned(),
                (Some(min), Some(max)) if min > max => {
                    format!("the minimum {min} is above the maximum {max}")
                }
                _ => continue,
            };
            return Err(wrong(format!("{}: {problem}", place.join("."))));
        }
        Ok(gates)
    }

    /// All bounds, each with its file, row and figure.
    fn bounds(&self) -> impl Iterator<Item = ([&str; 3], Bound)> {
        self.files.iter().flat_map(|(file, rows)| {
            rows.iter().flat_map(move |(row, figures)| {
                figures.iter().map(move |(figure, bound)| ([file.as_str(), row, figure], *bound))
            })
        })
    }

    /// Compares the figures of the files that were evaluated. Only the value counts, not its interval.
    pub fn check(&self, files: &[MeasuredFile<'_>]) -> Result<GateReport, EvalError> {
        let mut report = GateReport::default();
        for (place, bound) in self.bounds() {
            let [file_name, row_name, figure] = place;
            let wrong = |problem: String| {
                EvalError::input(format!("{}: {}: {problem}", self.path.display(), place.join(".")))
            };
            let Some(file) = files.iter().find(|file| file.name == file_name) else {
                report.unchecked += 1;
                continue;
            };
            if file.absent_figures.contains(&figure) {
                report.unchecked += 1;
                report.without_plain += 1;
                continue;
            }
            let names = file.rows.first().map(Row::names).unwrap_or_default();
            if !names.contains(&figure) {
                return Err(wrong(format!(
                    "`{figure}` is not a figure; it must be one of {}",
                    names.join(", ")
                )));
            }
            let row = file.rows.iter().find(|row| row.name == row_name);
            if row.is_none_or(Row::is_empty) && file.skipped_rows.contains(row_name) {
                report.unchecked += 1;
                continue;
            }
            let Some(estimate) = row.and_then(|row| row.get(figure)) else {
                let known: Vec<_> = file.rows.iter().map(|row| row.name.as_str()).collect();
                let known = known.join(", ");
                return Err(wrong(format!("`{row_name}` is not in the file; it must be one of {known}")));
            };
            report.checked += 1;
            if !bound.holds(estimate.value) {
                report.failed.push(FailedGate {
                    file: file_name.to_owned(),
                    row: row_name.to_owned(),
                    figure: figure.to_owned(),
                    estimate,
                    min: bound.min,
                    max: bound.max,
                });
            }
        }
        if report.checked == 0 {
            let known: Vec<_> = self.files.keys().map(String::as_str).collect();
            let evaluated: Vec<_> = files.iter().map(|file| file.name).collect();
            return Err(EvalError::input(format!(
                "{}: no gate could be checked; it has gates for {}, and {} was evaluated{}",
                self.path.display(),
                if known.is_empty() { "no file".to_owned() } else { known.join(", ") },
                evaluated.join(", "),
                if report.without_plain > 0 { " without --plain" } else { "" }
            )));
        }
        Ok(report)
    }
}

impl Bound {
    /// A figure without a value holds no bound: nothing shows that it would.
    fn holds(self, value: Option<f64>) -> bool {
        value.is_some_and(|value| {
            self.min.is_none_or(|min| value >= min - TOLERANCE)
                && self.max.is_none_or(|max| value <= max + TOLERANCE)
        })
    }
}

impl FailedGate {
    fn describe(&self) -> String {
        let bound = match (self.min, self.max, self.estimate.value) {
            (Some(min), None, _) => format!("the minimum is {min}"),
            (None, Some(max), _) => format!("the maximum is {max}"),
            (Some(min), _, Some(value)) if value < min => format!("the minimum is {min}"),
            (_, Some(max), Some(_)) => format!("the maximum is {max}"),
            (min, max, _) => {
                format!("the bounds are {} and {}", min.unwrap_or_default(), max.unwrap_or_default())
            }
        };
        let Self { file, row, figure, estimate, .. } = self;
        match estimate.value {
            Some(_) => format!("{file}, {row}: {figure} is {}; {bound}", with_interval(*estimate)),
            None => format!("{file}, {row}: {figure} has no value, because nothing counts for it; {bound}"),
        }
    }
}

impl GateReport {
    /// How many gates passed, and how many were not checked.
    pub fn summary(&self) -> String {
        let Self { checked, failed, unchecked, without_plain } = self;
        let mut text = format!("{} of {checked} gates passed", checked - failed.len());
        let not_asked = unchecked - without_plain;
        if not_asked > 0 {
            text +=
                &format!("; {not_asked} were not checked, because their questions or cases were not asked");
        }
        if *without_plain > 0 {
            text += &format!("; {without_plain} were not checked, because they need --plain");
        }
        text
    }

    /// Which gates failed, if any did.
    pub fn failure(&self) -> Option<String> {
        let failed: String = self.failed.iter().map(|gate| format!("\n  {}", gate.describe())).collect();
        (!self.failed.is_empty())
            .then(|| format!("{} of {} gates failed{failed}", self.failed.len(), self.checked))
    }
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
