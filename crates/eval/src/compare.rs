//! Compares two runs question by question.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;

use crate::bootstrap::Estimate;
use crate::error::EvalError;
use crate::input;
use crate::questions::QuestionRanks;
use crate::table::{difference, number};

/// How a question is scored; `None` if it does not count.
type Measure = (&'static str, fn(&QuestionRanks) -> Option<f64>);

const MEASURES: [Measure; 3] = [
    ("bare", |ranks| Some(ranks.bare)),
    ("worded", |ranks| ranks.worded),
    ("mean", |ranks| Some(f64::midpoint(ranks.bare, ranks.worded?))),
];

/// The difference between two runs over the questions that both have.
#[derive(Debug, Serialize)]
pub struct Comparison {
    rows: Vec<ComparedMeasure>,
    /// The questions that only one of the runs has, which do not count.
    only_before: usize,
    only_after: usize,
}

/// Two runs by one measure.
#[derive(Debug, Serialize)]
struct ComparedMeasure {
    name: &'static str,
    questions: usize,
    files: usize,
    before: Option<f64>,
    after: Option<f64>,
    /// The mean of after − before. Questions about the same file resemble each other, so that whole files are resampled
    /// for its interval.
    difference: Estimate,
}

/// Compares two files that `annai eval --each` has written.
pub fn compare(before: &Path, after: &Path) -> Result<Comparison, EvalError> {
    let read = |path: &Path| {
        let fix = "give the path of a file that `annai eval --each FILE` has written";
        input::read_items(path, fix, |ranks: &QuestionRanks| (&ranks.id, ranks.problem()))
    };
    Comparison::of(&read(before)?, &read(after)?)
}

impl Comparison {
    fn of(before: &[QuestionRanks], after: &[QuestionRanks]) -> Result<Self, EvalError> {
        let by_id: HashMap<_, _> = after.iter().map(|ranks| (ranks.id.as_str(), ranks)).collect();
        let mut pairs = Vec::new();
        for before in before {
            let Some(after) = by_id.get(before.id.as_str()) else { continue };
            if before.file != after.file {
                return Err(EvalError::input(format!(
                    "question {} is about {} in one run and about {} in the other; compare runs of the same questions",
                    before.id, before.file, after.file
                )));
            }
            pairs.push((before, *after));
        }
        if pairs.is_empty() {
            let problem = "the runs have no question in common; compare runs of the same questions";
            return Err(EvalError::input(problem.to_owned()));
        }
        Ok(Self {
            rows: MEASURES.map(|measure| ComparedMeasure::of(measure, &pairs)).into(),
            only_before: before.len() - pairs.len(),
            only_after: after.len() - pairs.len(),
        })
    }

    /// The comparison as a table.
    #[must_use]
    pub fn to_text(&self) -> String {
        let line = |cells: [&str; 6]| {
            let [name, questions, files, before, after, difference] = cells;
            format!("{name:20} {questions:>5} {files:>6}  {before:>8} {after:>8}  {difference}\n")
        };
        let mut text = line(["mean 1 / rank", "n", "files", "A", "B", "B − A"]);
        for row in &self.rows {
            text.push_str(&line([
                row.name,
                &row.questions.to_string(),
                &row.files.to_string(),
                &number(row.before),
                &number(row.after),
                &difference(row.difference),
            ]));
        }
        for (count, run) in [(self.only_before, "A"), (self.only_after, "B")] {
            if count > 0 {
                text.push_str(&format!("{count} questions are only in {run} and do not count\n"));
            }
        }
        text
    }
}

impl ComparedMeasure {
    fn of((name, value): Measure, pairs: &[(&QuestionRanks, &QuestionRanks)]) -> Self {
        let mut files = BTreeMap::<_, Vec<f64>>::new();
        let (mut before_sum, mut after_sum, mut questions) = (0.0, 0.0, 0_usize);
        for (before, after) in pairs {
            if let (Some(before_value), Some(after_value)) = (value(before), value(after)) {
                files.entry(before.file.as_str()).or_default().push(after_value - before_value);
                (before_sum, after_sum) = (before_sum + before_value, after_sum + after_value);
                questions += 1;
            }
        }
        let mean = |sum: f64| (questions > 0).then(|| sum / questions as f64);
        let groups: Vec<_> = files.into_values().collect();
        Self {
            name,
            questions,
            files: groups.len(),
            before: mean(before_sum),
            after: mean(after_sum),
            difference: Estimate::mean_of_groups(&groups),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(id: usize, file: usize, bare: f64, worded: Option<f64>) -> QuestionRanks {
        let (id, file) = (format!("q{id}"), format!("m/{file}.md"));
        QuestionRanks { id, file, bare, worded, plain: None, worded_plain: None }
    }

    #[test]
    fn differences_are_paired_by_question() {
        let before = [
            ranks(1, 1, 0.5, Some(0.5)),
            ranks(2, 1, 1.0, Some(1.0)),
            ranks(3, 2, 0.0, None),
            ranks(4, 2, 1.0, None),
        ];
        let after = [ranks(3, 2, 0.5, None), ranks(2, 1, 1.0, Some(0.5)), ranks(1, 1, 1.0, Some(1.0))];
        let comparison = Comparison::of(&before, &after).unwrap();
        let rows: Vec<_> = comparison
            .rows
            .iter()
            .map(|row| (row.name, row.questions, row.files, row.difference.value.unwrap()))
            .collect();
        assert_eq!(rows, [("bare", 3, 2, 1.0 / 3.0), ("worded", 2, 1, 0.0), ("mean", 2, 1, 0.125)]);
        assert_eq!((comparison.only_before, comparison.only_after), (1, 0));
        let text = comparison.to_text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "mean 1 / rank            n  files         A        B  B − A");
        assert_eq!(lines[1], "bare                     3      2     0.500    0.833  +0.333 [+0.250, +0.500]");
        assert_eq!(lines[4], "1 questions are only in A and do not count");
    }

    #[test]
    fn runs_of_other_questions_are_refused() {
        let problem = |after| Comparison::of(&[ranks(1, 1, 1.0, None)], &[after]).unwrap_err().message;
        assert!(
            problem(ranks(1, 2, 1.0, None))
                .starts_with("question q1 is about m/1.md in one run and about m/2.md")
        );
        assert!(problem(ranks(2, 1, 1.0, None)).starts_with("the runs have no question in common"));
    }
}
