//! The body of a request, and what a model takes.

use annai_core::JsonObject;
use serde_json::{Value, json};

use crate::config::{AnswersSettings, Effort, Verbosity};

/// What is asked.
pub struct Request<'a> {
    /// The model's id.
    pub model: &'a str,
    /// What the model is told.
    pub instructions: &'a str,
    /// The question and its hints.
    pub input: &'a str,
    /// How long it thinks.
    pub effort: Option<Effort>,
    /// How much it writes.
    pub verbosity: Option<Verbosity>,
    /// The only sites that the search may use; none = all.
    pub domains: &'a [String],
    /// Whether it decides itself if it searches.
    pub search: Searching,
}

/// Whether the model decides itself if it searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searching {
    /// It does.
    Free,
    /// It must.
    Forced,
}

impl Request<'_> {
    /// The JSON that is sent.
    pub fn body(&self, settings: &AnswersSettings) -> JsonObject {
        let mut tool = JsonObject::new();
        tool.insert("type".into(), settings.openai.web_search_type.as_str().into());
        if !self.domains.is_empty() {
            tool.insert("filters".into(), json!({ "allowed_domains": self.domains }));
        }
        if let Some(location) = &settings.search.user_location {
            tool.insert("user_location".into(), json!(location));
        }
        if let Some(size) = settings.search.context_size {
            tool.insert("search_context_size".into(), json!(size));
        }
        let mut body = JsonObject::new();
        body.insert("model".into(), self.model.into());
        body.insert("instructions".into(), self.instructions.into());
        body.insert("input".into(), self.input.into());
        body.insert("tools".into(), Value::Array(vec![Value::Object(tool)]));
        if self.search == Searching::Forced {
            body.insert("tool_choice".into(), "required".into());
        }
        body.insert("include".into(), json!(["web_search_call.action.sources"]));
        let supports = Supports::of(self.model);
        if let Some(verbosity) = self.verbosity.filter(|_| supports.verbosity) {
            body.insert("text".into(), json!({ "verbosity": verbosity }));
        }
        if let Some(effort) = self.effort.filter(|_| supports.reasoning) {
            // The API refuses the least effort together with a search.
            let effort = if effort == Effort::Minimal { Effort::Low } else { effort };
            body.insert("reasoning".into(), json!({ "effort": effort }));
        }
        body.insert("store".into(), false.into());
        merge(&mut body, &settings.openai.extra_body);
        body
    }
}

fn merge(below: &mut JsonObject, above: &JsonObject) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            _ => drop(below.insert(key.clone(), value.clone())),
        }
    }
}

/// What a model takes, judged by its name. An unknown name gets both; if it refuses, the client remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supports {
    /// `text.verbosity`.
    pub verbosity: bool,
    /// `reasoning.effort`.
    pub reasoning: bool,
}

impl Supports {
    /// What the model of this id takes.
    pub fn of(model: &str) -> Self {
        let id = model.strip_prefix("ft:").unwrap_or(model).to_ascii_lowercase();
        if let Some(version) = id.strip_prefix("gpt-") {
            let digits = version.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
            if let Ok(generation) = digits.parse::<u32>() {
                return Self { verbosity: generation >= 5, reasoning: generation >= 5 };
            }
        }
        if id.starts_with("o3") || id.starts_with("o4") {
            return Self { verbosity: false, reasoning: true };
        }
        Self { verbosity: true, reasoning: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: Request<'static> = Request {
        model: "gpt-6.1-terra",
        instructions: "policy",
        input: "question",
        effort: Some(Effort::Minimal),
        verbosity: Some(Verbosity::High),
        domains: &[],
        search: Searching::Free,
    };

    #[test]
    fn the_body_is_what_the_api_takes() {
        let body = REQUEST.body(&AnswersSettings::default());
        assert_eq!(
            Value::Object(body),
            json!({
                "model": "gpt-6.1-terra",
                "instructions": "policy",
                "input": "question",
                "tools": [{ "type": "web_search", "user_location": { "type": "approximate", "timezone": "Asia/Tokyo" } }],
                "include": ["web_search_call.action.sources"],
                "text": { "verbosity": "high" },
                "reasoning": { "effort": "low" },
                "store": false,
            })
        );
    }

    #[test]
    fn settings_shape_the_body() {
        let mut settings = AnswersSettings::default();
        settings.search.user_location = None;
        settings.search.context_size = Some(Verbosity::Low);
        settings.openai.web_search_type = "web_search_preview".into();
        settings.openai.extra_body =
            json!({ "reasoning": { "summary": "auto" }, "user": "u" }).as_object().cloned().unwrap();
        let domains = ["jma.go.jp".to_owned()];
        let request = Request { model: "o3", domains: &domains, search: Searching::Forced, ..REQUEST };
        let body = Value::Object(request.body(&settings));
        assert_eq!(
            body["tools"],
            json!([{
                "type": "web_search_preview",
                "filters": { "allowed_domains": ["jma.go.jp"] },
                "search_context_size": "low",
            }])
        );
        assert_eq!(body["tool_choice"], "required");
        assert_eq!(body["reasoning"], json!({ "effort": "low", "summary": "auto" }));
        assert_eq!((&body["user"], body.get("text")), (&json!("u"), None));
    }

    #[test]
    fn names_tell_what_a_model_takes() {
        for (model, verbosity, reasoning) in [
            ("gpt-5-mini", true, true),
            ("gpt-6.1-terra", true, true),
            ("gpt-10", true, true),
            ("GPT-5", true, true),
            ("gpt-4.1", false, false),
            ("gpt-4o", false, false),
            ("gpt-3.5-turbo", false, false),
            ("ft:gpt-4.1:me", false, false),
            ("o3", false, true),
            ("o4-mini", false, true),
            ("my-deployment", true, true),
            ("gpt-oss:20b", true, true),
            ("openai/gpt-4o", true, true),
        ] {
            assert_eq!(Supports::of(model), Supports { verbosity, reasoning }, "{model}");
        }
    }
}
