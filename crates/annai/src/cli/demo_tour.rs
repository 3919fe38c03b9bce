//! What `annai demo` shows before it waits: a find, a read, an audit and a sponsored run, each a real call of a tool.

use std::sync::Arc;

use annai_core::{Call, Identity, JsonObject, Registry};
use annai_services::domain::ids::CampaignId;
use serde_json::{Value, json};

use super::Failure;
use super::local_session::failed_call;
use super::terminal::{Colors, plain, truncate};

/// The question of the tour.
const QUESTION: &str = "how many calls may run at the same moment";
/// The summary of the vault that is audited, with a number that the manual does not have.
pub(super) const SUMMARY: (&str, &str) = (
    "vault/summary.md",
    "# Calls at the same moment\nsource_lines: 63-65\n\nThe Standard plan allows 20 calls at the same moment, the Scale plan 200.\n",
);
/// The maximum length of a line, so that it fits a terminal with its indentation.
const MAX_CHARS: usize = 76;

/// The tools of the demo, called as its user.
pub(super) struct Tour<'a> {
    pub registry: &'a Arc<Registry>,
    pub campaign: CampaignId,
    /// The person who uses the services.
    pub user: &'a str,
    pub colors: Colors,
}

impl Tour<'_> {
    /// Makes the calls, and returns what to print about them.
    pub(super) async fn run(&self) -> Result<String, Failure> {
        let found = self.call("manual_find", json!({ "query": QUESTION })).await?;
        let top = found.pointer("/top/0").unwrap_or(&Value::Null);
        let place = top.get("ref").unwrap_or(&Value::Null);
        let mut text = self.title("Find", &format!("\"{QUESTION}\""));
        text.push_str(&self.line(&format!("{}  {}", location(place), headings(top))));
        let summary =
            |key: &str| found.pointer(&format!("/summary/{key}")).and_then(Value::as_u64).unwrap_or(0);
        text.push_str(&self.line(&format!(
            "{} sections match; {} files were searched, and {} were not.",
            summary("candidates"),
            summary("scanned_files"),
            summary("unscanned_files") + summary("unsearchable_files"),
        )));

        let read = self.call("manual_read", json!({ "ref": place, "scope": "section" })).await?;
        text.push_str(&self.title("Read", "the section, with its place"));
        let section = read.get("text").and_then(Value::as_str).unwrap_or_default();
        for line in wrapped(section.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default()) {
            text.push_str(&self.line(&line));
        }

        let arguments = json!({
            "artifact_path": SUMMARY.0.trim_start_matches("vault/"),
            "source": { "target": "manual", "manual_id": place.get("manual_id"), "path": place.get("path") },
        });
        let audit = self.call("artifact_audit", arguments).await?;
        text.push_str(&self.title("Audit", "a summary that says \"the Scale plan 200\""));
        for finding in audit.get("findings").and_then(Value::as_array).into_iter().flatten() {
            let message = finding.get("message").and_then(Value::as_str).unwrap_or_default();
            for line in wrapped(message.split("; ").next().unwrap_or(message)) {
                text.push_str(&self.line(&line));
            }
        }
        text.push_str(&self.sponsored_run().await?);
        Ok(text)
    }

    /// Does the task of a sponsor and runs a service that the sponsor pays for.
    async fn sponsored_run(&self) -> Result<String, Failure> {
        let consent = json!({
            "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": false,
        });
        let details = json!({ "email": self.user, "favorite_tea": "sencha" }).to_string();
        let task = json!({
            "campaign_id": self.campaign, "task_name": "tea survey", "details": details, "consent": consent,
        });
        self.call("complete_task", task).await?;
        let run = json!({ "service": "word-count", "input": "the way is the goal" });
        let run = self.call("run_service", run).await?;
        let field = |key: &str| match run.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let mut text = self.title("Sponsored run", "count words, after the task \"tea survey\" of Sencha Co");
        text.push_str(&self.line(&format!("the way is the goal → {}", field("output"))));
        let (sponsor, service) = (field("sponsored_by"), field("service"));
        text.push_str(&self.line(&format!("{sponsor} paid for this run of {service}.")));
        Ok(text)
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
        let admitted = self.registry.admit(tool, &Identity::Owner);
        let admitted = admitted.map_err(|_| Failure::new(format!("the demo does not serve {tool}")))?;
        let reply = admitted.call(arguments, Call::new("demo")).await;
        Ok(reply.map_err(|failed| failed_call(tool, &failed.error))?.output)
    }

    fn title(&self, step: &str, what: &str) -> String {
        format!("{} {what}\n", self.colors.paint(1, &format!("{step}:")))
    }

    fn line(&self, text: &str) -> String {
        format!("  {}\n", self.colors.paint(36, &truncate(&plain(text).replace('\n', " "), MAX_CHARS)))
    }
}

/// The file and line of a place.
fn location(place: &Value) -> String {
    let text = |key: &str| place.get(key).and_then(Value::as_str).unwrap_or_default();
    let line = place.get("start_line").and_then(Value::as_u64).unwrap_or(1);
    format!("{}/{}:{line}", text("manual_id"), text("path"))
}

/// The headings of a hit.
fn headings(hit: &Value) -> String {
    let headings = hit.get("heading_path").and_then(Value::as_array).into_iter().flatten();
    headings.filter_map(Value::as_str).collect::<Vec<_>>().join(" > ")
}

/// The words of a paragraph in lines that fit.
fn wrapped(paragraph: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < MAX_CHARS => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
