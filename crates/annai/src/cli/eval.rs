//! `annai eval`: measures the retrieval quality of `manual_find` on questions with known answers, next to a plain BM25
//! search as the baseline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use annai_library::baseline::PlainIndex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::local_session::LocalSession;
use super::{Failure, print};
use crate::app::App;

/// How many results of each question are scored: the largest k of the recall@k figures.
const MAX_SCORED_HITS: usize = 20;

/// A question and the sections that answer it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    id: String,
    #[serde(default)]
    facet: String,
    query: String,
    #[serde(default)]
    expected: Vec<Expected>,
}

/// A section that answers a question, identified by its line or its heading; a whole file if neither is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    manual_id: String,
    path: String,
    title: Option<String>,
    line: Option<u64>,
}

/// A section in the results.
struct Hit {
    manual_id: String,
    path: String,
    title: String,
    line: u64,
}

impl Expected {
    fn matches(&self, hit: &Hit) -> bool {
        self.manual_id == hit.manual_id
            && self.path == hit.path
            && match (self.line, &self.title) {
                (Some(line), _) => line == hit.line,
                (None, Some(title)) => *title == hit.title,
                (None, None) => true,
            }
    }
}

/// Retrieval scores, of one question or averaged over several: recall among the first 5, 10 and 20 results, and the mean
/// reciprocal rank of the first expected section.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Score {
    recall_5: f64,
    recall_10: f64,
    recall_20: f64,
    mrr: f64,
}

impl Score {
    fn of(expected: &[Expected], hits: &[Hit]) -> Self {
        let recall = |k: usize| {
            let found = expected
                .iter()
                .filter(|expected| hits.iter().take(k).any(|hit| expected.matches(hit)))
                .count();
            found as f64 / expected.len().max(1) as f64
        };
        let first = hits.iter().position(|hit| expected.iter().any(|expected| expected.matches(hit)));
        let mrr = first.map_or(0.0, |first| 1.0 / (first + 1) as f64);
        Self { recall_5: recall(5), recall_10: recall(10), recall_20: recall(20), mrr }
    }

    /// Adds the scores of a question, weighted, to an average.
    fn add(&mut self, other: Self, weight: f64) {
        self.recall_5 += other.recall_5 * weight;
        self.recall_10 += other.recall_10 * weight;
        self.recall_20 += other.recall_20 * weight;
        self.mrr += other.mrr * weight;
    }
}

/// The scores of one question.
struct Outcome {
    facet: String,
    annai: Score,
    plain: Score,
    /// The length of the result of `manual_find`, which takes up context of the model.
    chars: usize,
    millis: f64,
    /// A description of the question, if not every expected section is among the first five results.
    miss: Option<String>,
}

/// The average scores of the questions of one facet.
#[derive(Debug, Serialize)]
struct Row {
    facet: String,
    questions: usize,
    annai: Score,
    plain: Score,
    chars: f64,
    millis: f64,
}

impl Row {
    fn of(facet: &str, outcomes: &[&Outcome]) -> Self {
        let share = 1.0 / outcomes.len().max(1) as f64;
        let mut row = Self {
            facet: facet.to_owned(),
            questions: outcomes.len(),
            annai: Score::default(),
            plain: Score::default(),
            chars: 0.0,
            millis: 0.0,
        };
        for outcome in outcomes {
            row.annai.add(outcome.annai, share);
            row.plain.add(outcome.plain, share);
            row.chars += outcome.chars as f64 * share;
            row.millis += outcome.millis * share;
        }
        row
    }
}

/// What the command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// A table.
    Table,
    /// The questions that were not fully answered, then the table.
    TableWithMisses,
    /// The scores as JSON.
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

pub(super) fn run(mut app: App, questions: &Path, output: Output) -> Result<(), Failure> {
    // The statistics must not contain the questions, or each run would change the results of the next.
    app.library.adaptive_tuning = false;
    app.library.keeps_no_statistics = true;
    let questions = read_questions(questions)?;
    let baseline = PlainIndex::read(&app.library).map_err(|error| Failure::new(error.message()))?;
    let outcomes = LocalSession::run(&app, |session| {
        questions.iter().map(|question| evaluate(session, &baseline, question)).collect::<Result<Vec<_>, _>>()
    })?;
    let rows = rows_by_facet(&outcomes);
    let text = match output {
        Output::Json => format!("{:#}\n", json!({ "facets": rows })),
        Output::Table => table(&rows),
        Output::TableWithMisses => {
            let misses: String = outcomes.iter().filter_map(|outcome| outcome.miss.as_deref()).collect();
            misses + &table(&rows)
        }
    };
    print(&text)?;
    Ok(())
}

/// Asks one question, and scores the results of `manual_find` and of the baseline.
fn evaluate(session: &LocalSession, baseline: &PlainIndex, question: &Question) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let report = session.call("manual_find", &json!({ "query": question.query }))?;
    let millis = started.elapsed().as_secs_f64() * 1e3;
    let arguments = json!({
        "trace_id": report.get("trace_id"), "kind": "integrated_top", "limit": MAX_SCORED_HITS,
    });
    let page = session.call("manual_hits", &arguments)?;
    let hits: Vec<_> =
        page.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(parse_hit).collect();
    let baseline_hits = baseline.search(&question.query, MAX_SCORED_HITS).into_iter().map(|section| Hit {
        manual_id: section.manual_id.clone(),
        path: section.path.clone(),
        title: section.title.clone(),
        line: section.line as u64,
    });
    let annai = Score::of(&question.expected, &hits);
    Ok(Outcome {
        facet: question.facet.clone(),
        annai,
        plain: Score::of(&question.expected, &baseline_hits.collect::<Vec<_>>()),
        chars: report.to_string().chars().count(),
        millis,
        miss: (annai.recall_5 < 1.0).then(|| describe_miss(question, &hits)),
    })
}

/// The question and the first five results, for `--misses`.
fn describe_miss(question: &Question, hits: &[Hit]) -> String {
    let first: Vec<_> = hits
        .iter()
        .take(5)
        .map(|hit| format!("{}/{}:{} {}", hit.manual_id, hit.path, hit.line, hit.title))
        .collect();
    format!("{} {}\n  {}\n", question.id, question.query, first.join("\n  "))
}

/// One row per facet in alphabetical order, then one for all questions.
fn rows_by_facet(outcomes: &[Outcome]) -> Vec<Row> {
    let mut facets: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        facets.entry(&outcome.facet).or_default().push(outcome);
    }
    let mut rows: Vec<_> = facets.iter().map(|(facet, outcomes)| Row::of(facet, outcomes)).collect();
    rows.push(Row::of("all", &outcomes.iter().collect::<Vec<_>>()));
    rows
}

/// Reads the questions from a file, or from `questions.jsonl` in a folder.
fn read_questions(path: &Path) -> Result<Vec<Question>, Failure> {
    let path: PathBuf = if path.is_dir() { path.join("questions.jsonl") } else { path.to_owned() };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!(
            "{} cannot be read: {error}; give the path of a file with questions",
            path.display()
        ))
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let questions = lines.map(|(number, line)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::usage(format!("{}:{}: {error}", path.display(), number + 1)))
    });
    questions.collect()
}

/// Reads an item of `manual_hits`.
fn parse_hit(item: &Value) -> Option<Hit> {
    let reference = item.get("ref")?;
    let text = |key: &str| reference.get(key).and_then(Value::as_str).map(str::to_owned);
    let line = reference.get("start_line").and_then(Value::as_u64).unwrap_or(1);
    Some(Hit {
        manual_id: text("manual_id")?,
        path: text("path")?,
        title: text("title").unwrap_or_default(),
        line,
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:18} {:>4}  {:>6} {:>6} {:>6} {:>6}   {:>9} {:>9}   {:>6} {:>8}\n",
        "facet", "n", "R@5", "R@10", "R@20", "MRR", "plain R@5", "plain MRR", "chars", "ms"
    );
    for row in rows {
        text.push_str(&format!(
            "{:18} {:>4}  {:>6.3} {:>6.3} {:>6.3} {:>6.3}   {:>9.3} {:>9.3}   {:>6.0} {:>8.1}\n",
            row.facet,
            row.questions,
            row.annai.recall_5,
            row.annai.recall_10,
            row.annai.recall_20,
            row.annai.mrr,
            row.plain.recall_5,
            row.plain.mrr,
            row.chars,
            row.millis
        ));
    }
    text
}
