//! `annai eval`: measures `manual_find` on questions with known answers, bare and with other wordings, next to a plain BM25
//! search as the baseline, and on cases of which is known whether they contain a contradiction.

mod bootstrap;
mod calls;
mod conflict_cases;
mod conflict_scores;
mod figures;
mod gates;
mod input;
mod outcome;
mod questions;
mod reliability;
mod row;
mod scores;
mod table;

use std::path::Path;

use annai_core::config::Origin;
use annai_library::baseline::PlainIndex;
use serde_json::{Map, Value, json};

use self::conflict_cases::ConflictCase;
use self::conflict_scores::ConflictScores;
use self::gates::{GateReport, Gates, MeasuredFile};
use self::input::{Content, DataFile};
use self::row::Row;
use self::scores::QuestionScores;
use super::local_session::LocalSession;
use super::terminal::plain;
use super::{Failure, print};
use crate::app::App;

/// What to measure, and how to print it.
pub(super) struct EvalOptions<'a> {
    /// A file, or a folder with files of fixed names.
    pub path: &'a Path,
    /// The file with the bounds of the figures.
    pub gates: Option<&'a Path>,
    pub output: Output,
}

/// What the command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// Tables.
    Table,
    /// What was missed, then the tables.
    TableWithMisses,
    /// The figures as JSON.
    Json,
}

impl Output {
    pub(super) const fn new(json: bool, misses: bool) -> Self {
        match (json, misses) {
            (true, _) => Self::Json,
            (false, true) => Self::TableWithMisses,
            (false, false) => Self::Table,
        }
    }
}

/// The figures of a file.
enum Scores {
    Questions(Box<QuestionScores>),
    Conflicts(ConflictScores),
}

/// Uses the folders of manuals that the file `manuals.txt` beside the questions names, unless others are set. Its paths are
/// relative to the file, so that the command works in any folder.
pub(super) fn use_default_manuals(app: &mut App, questions: &Path) -> Result<(), Failure> {
    let keys = ["library.manuals", "library.manual_dirs", "library.manuals_root", "library.workspace_root"];
    let folder = if questions.is_dir() { Some(questions) } else { questions.parent() };
    let list = folder.unwrap_or(Path::new("")).join("manuals.txt");
    if keys.iter().any(|key| *app.config.origin(key) != Origin::Default) || !list.is_file() {
        return Ok(());
    }
    let text = input::read_text(&list, "name a folder of manuals in each line")?;
    let names = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let folders = names.map(|name| list.with_file_name(name).display().to_string());
    app.library.manuals = folders.collect();
    Ok(())
}

pub(super) fn run(mut app: App, options: &EvalOptions<'_>) -> Result<(), Failure> {
    // The statistics must not contain the questions, or each run would change the results of the next.
    app.library.adaptive_tuning = false;
    app.library.keeps_no_statistics = true;
    let gates = options.gates.map(Gates::read).transpose()?;
    let files = input::read(options.path)?;
    let mut measured = Vec::new();
    // Conflict cases come last, because they replace the manuals by their own.
    let (cases, questions): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| matches!(file.content, Content::Conflicts(_)));
    for DataFile { name, content } in questions.into_iter().chain(cases) {
        let scores = match content {
            Content::Questions(questions) => Scores::Questions(Box::new(measure_questions(&app, questions)?)),
            Content::Conflicts(cases) => Scores::Conflicts(measure_conflicts(&mut app, cases)?),
        };
        measured.push((name.as_str(), scores));
    }
    let gates = gates.map(|gates| gates.check(&measured_files(&measured))).transpose()?;
    let text = match options.output {
        Output::Json => format!("{:#}\n", to_json(&measured, gates.as_ref())),
        Output::Table | Output::TableWithMisses => {
            plain(&to_text(&measured, gates.as_ref(), options.output == Output::TableWithMisses))
        }
    };
    print(&text)?;
    gates.and_then(|gates| gates.failure()).map_or(Ok(()), Err)
}

fn measure_questions(app: &App, questions: &[questions::Question]) -> Result<QuestionScores, Failure> {
    let baseline = read_sections(app)?;
    LocalSession::run(app, |session| {
        scores::measure(session, &baseline, &calls::served_manuals(session)?, questions)
    })
}

fn measure_conflicts(app: &mut App, cases: &[ConflictCase]) -> Result<ConflictScores, Failure> {
    let (with_refs, with_files): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.pair().is_some());
    let (mut outcomes, mut skipped) = (Vec::new(), Vec::new());
    if !with_refs.is_empty() {
        LocalSession::run(app, |session| {
            let manuals = calls::served_manuals(session)?;
            let (asked, missing): (Vec<_>, Vec<_>) =
                with_refs.into_iter().partition(|case| case.is_served(&manuals));
            skipped = missing;
            if !asked.is_empty() {
                outcomes = conflict_scores::measure_refs(session, &read_sections(app)?, &asked)?;
            }
            Ok(())
        })?;
    }
    if !with_files.is_empty() {
        outcomes.extend(conflict_scores::measure_files(app, &with_files)?);
    }
    Ok(ConflictScores::of(&outcomes, &skipped))
}

/// The sections of all manuals.
fn read_sections(app: &App) -> Result<PlainIndex, Failure> {
    PlainIndex::read(&app.library).map_err(|error| Failure::new(error.message()))
}

fn measured_files<'a>(measured: &'a [(&'a str, Scores)]) -> Vec<MeasuredFile<'a>> {
    let files = measured.iter().map(|(name, scores)| {
        let (rows, skipped_rows) = match scores {
            Scores::Questions(scores) => (&scores.rows, &scores.skipped_rows),
            Scores::Conflicts(scores) => (&scores.rows, &scores.skipped_rows),
        };
        MeasuredFile { name, rows, skipped_rows }
    });
    files.collect()
}

fn to_json(measured: &[(&str, Scores)], gates: Option<&GateReport>) -> Value {
    let rows = |rows: &[Row], key: &str| rows.iter().map(|row| row.to_json(key)).collect::<Vec<_>>();
    let mut report = Map::new();
    for (_, scores) in measured {
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
    report.extend(gates.map(|gates| ("gates".to_owned(), json!(gates))));
    Value::Object(report)
}

fn to_text(measured: &[(&str, Scores)], gates: Option<&GateReport>, with_misses: bool) -> String {
    let parts = measured.iter().map(|(_, scores)| {
        let (misses, tables) = match scores {
            Scores::Questions(scores) => (&scores.misses, table::questions(scores)),
            Scores::Conflicts(scores) => (&scores.misses, table::conflicts(scores)),
        };
        if with_misses && !misses.is_empty() { format!("{misses}\n{tables}") } else { tables }
    });
    let mut text = parts.collect::<Vec<_>>().join("\n");
    if let Some(GateReport { checked, failed, unchecked }) = gates {
        text.push_str(&format!("\n{} of {checked} gates passed", checked - failed.len()));
        if *unchecked > 0 {
            text.push_str(&format!(
                "; {unchecked} were not checked, because their questions or cases were not asked"
            ));
        }
        text.push('\n');
    }
    text
}
