//! `annai eval`: how well `manual_find` answers questions whose answers are known, beside a plain search.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use annai_core::{Call, Identity, JsonObject, Registry};
use annai_library::baseline::Plain;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::{Failure, print};
use crate::app::App;

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

/// A section: its heading's text or line, or neither for a whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    manual_id: String,
    path: String,
    title: Option<String>,
    line: Option<u64>,
}

/// A section that was found.
struct Hit {
    manual_id: String,
    path: String,
    title: String,
    line: u64,
}

impl Expected {
    fn is(&self, hit: &Hit) -> bool {
        self.manual_id == hit.manual_id
            && self.path == hit.path
            && match (self.line, &self.title) {
                (Some(line), _) => line == hit.line,
                (None, Some(title)) => *title == hit.title,
                (None, None) => true,
            }
    }
}

/// How well questions were answered, on average.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Score {
    recall_5: f64,
    recall_10: f64,
    recall_20: f64,
    mrr: f64,
}

impl Score {
    fn of(expected: &[Expected], hits: &[Hit]) -> Self {
        let recall = |most: usize| {
            let found =
                expected.iter().filter(|expected| hits.iter().take(most).any(|hit| expected.is(hit))).count();
            found as f64 / expected.len().max(1) as f64
        };
        let first = hits.iter().position(|hit| expected.iter().any(|expected| expected.is(hit)));
        let mrr = first.map_or(0.0, |first| 1.0 / (first + 1) as f64);
        Self { recall_5: recall(5), recall_10: recall(10), recall_20: recall(20), mrr }
    }

    fn add(&mut self, other: Self, share: f64) {
        self.recall_5 += other.recall_5 * share;
        self.recall_10 += other.recall_10 * share;
        self.recall_20 += other.recall_20 * share;
        self.mrr += other.mrr * share;
    }
}

/// One question's outcome.
struct Outcome {
    facet: String,
    ours: Score,
    plain: Score,
    chars: usize,
    millis: f64,
}

/// The questions of one facet together.
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
            row.annai.add(outcome.ours, share);
            row.plain.add(outcome.plain, share);
            row.chars += outcome.chars as f64 * share;
            row.millis += outcome.millis * share;
        }
        row
    }
}

pub(super) fn run(mut app: App, questions: &Path, json: bool, misses: bool) -> Result<(), Failure> {
    // Questions of a test are nothing to learn from.
    app.library.adaptive_tuning = false;
    let questions = read(questions)?;
    let registry = app.registry()?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let plain = Plain::read(&app.library).map_err(|error| Failure::new(error.message()))?;
    let mut outcomes = Vec::new();
    let mut missed = String::new();
    for question in &questions {
        let asked = Instant::now();
        let found = runtime.block_on(call(&registry, "manual_find", json!({ "query": question.query })))?;
        let millis = asked.elapsed().as_secs_f64() * 1e3;
        let more = json!({ "trace_id": found.get("trace_id"), "kind": "integrated_top", "limit": 20 });
        let more = runtime.block_on(call(&registry, "manual_hits", more))?;
        let ours: Vec<_> =
            more.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(hit).collect();
        let theirs = plain.search(&question.query, 20).into_iter().map(|section| Hit {
            manual_id: section.manual_id.clone(),
            path: section.path.clone(),
            title: section.title.clone(),
            line: section.line as u64,
        });
        let score = Score::of(&question.expected, &ours);
        if misses && score.recall_5 < 1.0 {
            let best: Vec<_> = ours
                .iter()
                .take(5)
                .map(|hit| format!("{}/{}:{} {}", hit.manual_id, hit.path, hit.line, hit.title))
                .collect();
            missed.push_str(&format!("{} {}\n  {}\n", question.id, question.query, best.join("\n  ")));
        }
        outcomes.push(Outcome {
            facet: question.facet.clone(),
            ours: score,
            plain: Score::of(&question.expected, &theirs.collect::<Vec<_>>()),
            chars: found.to_string().chars().count(),
            millis,
        });
    }
    let mut facets: Vec<_> = outcomes.iter().map(|outcome| outcome.facet.as_str()).collect();
    facets.sort_unstable();
    facets.dedup();
    let mut rows: Vec<_> = facets
        .iter()
        .map(|facet| {
            Row::of(facet, &outcomes.iter().filter(|outcome| outcome.facet == **facet).collect::<Vec<_>>())
        })
        .collect();
    rows.push(Row::of("all", &outcomes.iter().collect::<Vec<_>>()));
    let text = if json { format!("{:#}\n", json!({ "facets": rows })) } else { missed + &table(&rows) };
    print(&text)?;
    Ok(())
}

/// The questions of a file, or of `questions.jsonl` in a folder.
fn read(path: &Path) -> Result<Vec<Question>, Failure> {
    let path: PathBuf = if path.is_dir() { path.join("questions.jsonl") } else { path.to_owned() };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}; give a file of questions", path.display()))
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(number, line)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::usage(format!("{}:{}: {error}", path.display(), number + 1)))
    });
    read.collect()
}

pub(super) async fn call(registry: &Arc<Registry>, tool: &str, arguments: Value) -> Result<Value, Failure> {
    let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
    let admitted = registry.admit(tool, &Identity::Owner).map_err(|_| {
        Failure::usage(format!("{tool} is not served here; leave --toolset out or add library"))
    })?;
    let called = admitted.call(arguments, Call::new("eval")).await;
    called
        .map(|reply| reply.output)
        .map_err(|failed| Failure::new(format!("{tool}: {}", failed.error.message())))
}

fn hit(item: &Value) -> Option<Hit> {
    let place = item.get("ref")?;
    let text = |key: &str| place.get(key).and_then(Value::as_str).map(str::to_owned);
    let line = place.get("start_line").and_then(Value::as_u64).unwrap_or(1);
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
