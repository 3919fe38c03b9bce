//! Measures files of questions and conflict cases, and reports the figures.

use annai_library::config::LibrarySection;
use serde_json::{Map, Value, json};

use crate::calls;
use crate::conflicts::{self, ConflictCase, ConflictScores};
use crate::error::EvalError;
use crate::gates::{GateReport, Gates, MeasuredFile};
use crate::input::{Content, DataFile};
use crate::places::SectionPlaces;
use crate::plain::PlainIndex;
use crate::questions::{self, Baseline, Question, QuestionScores};
use crate::row::Row;
use crate::sessions::Sessions;
use crate::table;

/// What to measure besides the search.
pub struct EvalOptions<'a> {
    /// The settings of the manuals that are served.
    pub library: &'a LibrarySection,
    /// Whether the plain search is asked too, which takes a few seconds for a large manual.
    pub baseline: Baseline,
    /// The bounds of the figures.
    pub gates: Option<&'a Gates>,
}

/// The figures of all files.
pub struct EvalReport {
    /// The figures with the names of the files.
    files: Vec<(String, Scores)>,
    gates: Option<GateReport>,
}

/// The figures of a file.
enum Scores {
    Questions(Box<QuestionScores>),
    Conflicts(ConflictScores),
}

/// Asks all questions and cases, and checks the gates.
pub fn evaluate<S: Sessions>(
    files: &[DataFile],
    sessions: &mut S,
    options: &EvalOptions<'_>,
) -> Result<EvalReport, S::Error> {
    // Conflict cases come last, because they replace the manuals by their own.
    let (cases, questions): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| matches!(file.content, Content::Conflicts(_)));
    let mut measured = Vec::new();
    for DataFile { name, content } in questions.into_iter().chain(cases) {
        let scores = match content {
            Content::Questions(questions) => {
                Scores::Questions(Box::new(measure_questions(questions, sessions, options)?))
            }
            Content::Conflicts(cases) => Scores::Conflicts(measure_conflicts(cases, sessions, options)?),
        };
        measured.push((name.clone(), scores));
    }
    let gates = options.gates.map(|gates| gates.check(&measured_files(&measured))).transpose()?;
    Ok(EvalReport { files: measured, gates })
}

fn measure_questions<S: Sessions>(
    questions: &[Question],
    sessions: &mut S,
    options: &EvalOptions<'_>,
) -> Result<QuestionScores, S::Error> {
    let plain = match options.baseline {
        Baseline::Absent => None,
        Baseline::Plain => {
            let sections = annai_library::sections(options.library).map_err(EvalError::from)?;
            Some(PlainIndex::of(sections))
        }
    };
    sessions.over_served_manuals(|tools| {
        questions::measure(tools, plain.as_ref(), &calls::served_manuals(tools)?, questions)
    })
}

fn measure_conflicts<S: Sessions>(
    cases: &[ConflictCase],
    sessions: &mut S,
    options: &EvalOptions<'_>,
) -> Result<ConflictScores, S::Error> {
    let (with_refs, with_files): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.pair().is_some());
    let (mut outcomes, mut skipped) = (Vec::new(), Vec::new());
    if !with_refs.is_empty() {
        sessions.over_served_manuals(|tools| {
            let manuals = calls::served_manuals(tools)?;
            let (asked, missing): (Vec<_>, Vec<_>) =
                with_refs.into_iter().partition(|case| case.is_served(&manuals));
            skipped = missing;
            if !asked.is_empty() {
                let places = SectionPlaces::of(annai_library::sections(options.library)?);
                outcomes = conflicts::measure_refs(tools, &places, &asked)?;
            }
            Ok(())
        })?;
    }
    if !with_files.is_empty() {
        outcomes.extend(sessions.over_case_files(&with_files, conflicts::measure_file_case)?);
    }
    Ok(ConflictScores::of(&outcomes, &skipped))
}

fn measured_files(measured: &[(String, Scores)]) -> Vec<MeasuredFile<'_>> {
    let files = measured.iter().map(|(name, scores)| {
        let (rows, skipped_rows, absent_figures) = match scores {
            Scores::Questions(scores) => {
                (&scores.rows, &scores.skipped_rows, scores.baseline.absent_figures())
            }
            Scores::Conflicts(scores) => (&scores.rows, &scores.skipped_rows, Vec::new()),
        };
        MeasuredFile { name, rows, skipped_rows, absent_figures }
    });
    files.collect()
}

impl EvalReport {
    /// The figures as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let rows = |rows: &[Row], key: &str| rows.iter().map(|row| row.to_json(key)).collect::<Vec<_>>();
        let mut report = Map::new();
        for (_, scores) in &self.files {
            match scores {
                Scores::Questions(scores) => {
                    report.insert("facets".to_owned(), rows(&scores.rows, "facet").into());
                    report.insert("reliability".to_owned(), json!(scores.reliability));
                    report.insert("worded_reliability".to_owned(), json!(scores.worded_reliability));
                    report.insert("skipped".to_owned(), scores.skipped.into());
                }
                Scores::Conflicts(scores) => {
                    let cases = json!({ "rows": rows(&scores.rows, "row"), "skipped": scores.skipped });
                    report.insert("conflict_cases".to_owned(), cases);
                }
            }
        }
        report.extend(self.gates.as_ref().map(|gates| ("gates".to_owned(), json!(gates))));
        Value::Object(report)
    }

    /// The figures as tables.
    #[must_use]
    pub fn to_text(&self) -> String {
        let tables = self.files.iter().map(|(_, scores)| match scores {
            Scores::Questions(scores) => table::questions(scores),
            Scores::Conflicts(scores) => table::conflicts(scores),
        });
        self.with_gates(tables)
    }

    /// The same, with what was missed before the tables of each file.
    #[must_use]
    pub fn to_text_with_misses(&self) -> String {
        let tables = self.files.iter().map(|(_, scores)| {
            let (misses, tables) = match scores {
                Scores::Questions(scores) => (&scores.misses, table::questions(scores)),
                Scores::Conflicts(scores) => (&scores.misses, table::conflicts(scores)),
            };
            if misses.is_empty() { tables } else { format!("{misses}\n{tables}") }
        });
        self.with_gates(tables)
    }

    /// The tables of the files, and a line about the gates.
    fn with_gates(&self, tables: impl Iterator<Item = String>) -> String {
        let mut text = tables.collect::<Vec<_>>().join("\n");
        if let Some(gates) = &self.gates {
            text.push_str(&format!("\n{}\n", gates.summary()));
        }
        text
    }

    /// 1 / rank of the answer of each answerable question that was asked, one JSON object per line.
    #[must_use]
    pub fn each_question(&self) -> String {
        let each = self.files.iter().flat_map(|(_, scores)| match scores {
            Scores::Questions(scores) => scores.each.as_slice(),
            Scores::Conflicts(_) => &[],
        });
        each.map(|ranks| format!("{}\n", json!(ranks))).collect()
    }

    /// Which gates failed, if any did.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.gates.as_ref()?.failure()
    }
}
