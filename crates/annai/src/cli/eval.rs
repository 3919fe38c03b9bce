//! `annai eval`: measures `manual_find`, and prints the figures.

use std::path::Path;

use annai_core::config::Origin;
use annai_core::{ErrorKind, JsonObject};
use annai_eval::{Baseline, ConflictCase, EvalError, EvalOptions, Gates, Sessions, Tools};
use serde_json::Value;

use super::call::Format;
use super::local_session::{LocalSession, failed_call, missing_tool};
use super::temporary_folder::{self, TemporaryFolder};
use super::terminal::plain;
use super::{Failure, exit_code, print};
use crate::app::App;
use crate::catalog;

/// The exit status after a signal, as shells have it for Ctrl-C.
const EXIT_SIGNAL: u8 = 130;

/// What to measure, and how to print it.
pub(super) struct EvalCommand<'a> {
    /// A file, or a folder with files of fixed names.
    pub path: &'a Path,
    /// Whether the plain search is measured too.
    pub baseline: Baseline,
    /// The groups of rules that are left out.
    pub without: &'a [String],
    /// The file with the bounds of the figures.
    pub gates: Option<&'a Path>,
    /// The file that gets what was found for each question.
    pub each: Option<&'a Path>,
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

/// What the search is compared with.
pub(super) const fn baseline(plain: bool) -> Baseline {
    if plain { Baseline::Plain } else { Baseline::Absent }
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

pub(super) fn run(mut app: App, command: &EvalCommand<'_>) -> Result<(), Failure> {
    use_default_manuals(&mut app, command.path)?;
    // The statistics must not contain the questions, or each run would change the results of the next.
    app.library.adaptive_tuning = false;
    app.library.keeps_no_statistics = true;
    app.library.rules = annai_eval::rules_without(command.without)?;
    let gates = command.gates.map(Gates::read).transpose()?;
    let files = annai_eval::read(command.path)?;
    let library = app.library.clone();
    let options = EvalOptions { library: &library, baseline: command.baseline, gates: gates.as_ref() };
    let report = annai_eval::evaluate(&files, &mut LocalSessions(app), &options)?;
    let text = match command.output {
        Output::Json => format!("{:#}\n", report.to_json()),
        Output::Table => plain(&report.to_text()),
        Output::TableWithMisses => plain(&report.to_text_with_misses()),
    };
    print(&text)?;
    if let Some(path) = command.each {
        let failed = |error| Failure::new(format!("{} cannot be written: {error}", path.display()));
        std::fs::write(path, report.each_question()).map_err(failed)?;
    }
    report.failure().map_or(Ok(()), |message| Err(Failure::new(message)))
}

/// Compares two files that `--each` has written.
pub(super) fn compare(before: &Path, after: &Path, format: Format) -> Result<(), Failure> {
    let comparison = annai_eval::compare(before, after)?;
    let text = match format {
        Format::Json => format!("{:#}\n", serde_json::json!(comparison)),
        Format::Text => plain(&comparison.to_text()),
    };
    Ok(print(&text)?)
}

/// Uses the folders of manuals that the file `manuals.txt` beside the questions names, unless others are set. Its paths are
/// relative to the file, so that the command works in any folder.
fn use_default_manuals(app: &mut App, questions: &Path) -> Result<(), Failure> {
    let keys = ["library.manuals", "library.manual_dirs", "library.manuals_root", "library.workspace_root"];
    let folder = if questions.is_dir() { Some(questions) } else { questions.parent() };
    let list = folder.unwrap_or(Path::new("")).join("manuals.txt");
    if keys.iter().any(|key| *app.config.origin(key) != Origin::Default) || !list.is_file() {
        return Ok(());
    }
    let text = annai_eval::read_text(&list, "name a folder of manuals in each line")?;
    let names = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let folders = names.map(|name| list.with_file_name(name).display().to_string());
    app.library.manuals = folders.collect();
    Ok(())
}

/// Sessions with the tools of the program.
struct LocalSessions(App);

impl LocalSessions {
    /// Makes the files of a case the only manual that is served.
    fn serve_files(&mut self, folder: &TemporaryFolder, case: &ConflictCase) -> Result<(), Failure> {
        for file in &case.files {
            folder.write(&format!("{0}/manuals/{0}/{1}", case.id, file.path), &file.text)?;
        }
        let path = |name: &str| folder.path().join(&case.id).join(name).display().to_string();
        let library = &mut self.0.library;
        library.manuals = vec![path("manuals")];
        library.vault_root = Some(path("vault"));
        library.cache_dir = Some(path("cache"));
        library.default_manual_id = None;
        Ok(())
    }
}

impl Sessions for LocalSessions {
    type Error = Failure;

    fn over_served_manuals<T>(
        &mut self,
        ask: impl FnOnce(&dyn Tools) -> Result<T, EvalError>,
    ) -> Result<T, Failure> {
        LocalSession::run(&self.0, |session| Ok(ask(session)?))
    }

    /// The manuals are in a temporary folder, which is deleted at the end, also after a signal.
    fn over_case_files<T>(
        &mut self,
        cases: &[&ConflictCase],
        ask: impl Fn(&dyn Tools, &ConflictCase) -> Result<T, EvalError>,
    ) -> Result<Vec<T>, Failure> {
        LocalSession::run_with(catalog::registry(&self.0)?, |session| {
            let stop = session.stop_on_signal(temporary_folder::delete_all)?;
            let folder = TemporaryFolder::new("eval")?;
            let outcomes = cases.iter().map(|case| {
                if stop.is_cancelled() {
                    let message = "stopped by a signal".to_owned();
                    return Err(Failure { message, exit_code: EXIT_SIGNAL });
                }
                self.serve_files(&folder, case)?;
                self.over_served_manuals(|tools| ask(tools, case))
            });
            outcomes.collect()
        })
    }
}

impl Tools for LocalSession {
    fn call(&self, tool: &str, arguments: JsonObject) -> Result<Value, EvalError> {
        match self.try_call(tool, arguments, None) {
            Some(Ok(reply)) => Ok(reply.output),
            Some(Err(failed)) => {
                let message = failed_call(tool, &failed.error).message;
                Err(EvalError { kind: failed.error.kind(), message })
            }
            None => Err(EvalError { kind: ErrorKind::NotConfigured, message: missing_tool(tool) }),
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Self { message: error.message, exit_code: exit_code(error.kind) }
    }
}
