//! The body of a request to the Responses API, and the options that a model supports.

use annai_core::JsonObject;
use bytes::Bytes;
use serde_json::{Value, json};

use super::optional_fields::OptionalField;
use crate::config::{AnswersSettings, ReasoningEffort, UserLocation, Verbosity};

/// A question to a model, from which the request body is built.
pub struct RequestSpec<'a> {
    /// The model's id.
    pub model: &'a str,
    /// The instructions for the model.
    pub instructions: &'a str,
    /// The question and its hints.
    pub input: &'a str,
    /// How much the model reasons.
    pub effort: Option<ReasoningEffort>,
    /// How long the answer is.
    pub verbosity: Option<Verbosity>,
    /// The only domains that the search may use; an empty list allows all.
    pub domains: &'a [String],
    /// Whether the model must search.
    pub search: SearchMode,
    /// The IANA name of the person's time zone.
    pub timezone: &'a str,
}

/// Whether the model must search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// The model decides whether it searches.
    Optional,
    /// The model must search.
    Required,
}

/// A request body with its serialized form, which also identifies the request for deduplication and caching.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestBody {
    fields: JsonObject,
    json: Bytes,
}

impl RequestBody {
    /// Serialises these fields.
    #[expect(clippy::expect_used, reason = "a map with string keys and JSON values always serializes")]
    pub fn new(fields: JsonObject) -> Self {
        let json = serde_json::to_vec(&fields).expect("a JSON object serializes").into();
        Self { fields, json }
    }

    /// The fields.
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// The text of a field; empty if it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The serialized body without `stream`: the same for calls that differ only in how the response is transferred.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// The body as it is sent. For a streamed response, `"stream":true` is appended to the serialized object.
    pub fn to_bytes(&self, stream: bool) -> Bytes {
        match self.json.strip_suffix(b"}") {
            Some(start) if stream => [start, b",\"stream\":true}"].concat().into(),
            _ => self.json.clone(),
        }
    }

    /// The same body with another input.
    pub fn with_input(&self, input: String) -> Self {
        let mut fields = self.fields.clone();
        fields.insert("input".to_owned(), input.into());
        Self::new(fields)
    }

    /// The same body without these fields, and the names of those that it had.
    pub fn without(&self, omitted: &[OptionalField]) -> (Self, Vec<&'static str>) {
        let mut fields = self.fields.clone();
        let removed = omitted.iter().filter(|field| field.remove(&mut fields).is_some());
        let names: Vec<_> = removed.map(|field| field.name()).collect();
        (Self::new(fields), names)
    }
}

impl RequestSpec<'_> {
    /// The request body.
    pub fn body(&self, settings: &AnswersSettings) -> RequestBody {
        let mut body = JsonObject::new();
        body.insert("model".into(), self.model.into());
        body.insert("instructions".into(), self.instructions.into());
        body.insert("input".into(), self.input.into());
        body.insert("tools".into(), Value::Array(vec![self.search_tool(settings).into()]));
        if self.search == SearchMode::Required {
            body.insert("tool_choice".into(), "required".into());
        }
        body.insert("include".into(), json!(["web_search_call.action.sources"]));
        let supported = ModelCapabilities::of(self.model);
        if let Some(verbosity) = self.verbosity.filter(|_| supported.verbosity) {
            body.insert("text".into(), json!({ "verbosity": verbosity }));
        }
        if let Some(effort) = self.effort.filter(|_| supported.reasoning) {
            // The API refuses the effort `minimal` together with web search.
            let effort = if effort == ReasoningEffort::Minimal { ReasoningEffort::Low } else { effort };
            body.insert("reasoning".into(), json!({ "effort": effort }));
        }
        body.insert("store".into(), false.into());
        merge(&mut body, &settings.openai.extra_body);
        RequestBody::new(body)
    }

    fn search_tool(&self, settings: &AnswersSettings) -> JsonObject {
        let mut tool = JsonObject::new();
        tool.insert("type".into(), settings.openai.web_search_type.as_str().into());
        if !self.domains.is_empty() {
            tool.insert("filters".into(), json!({ "allowed_domains": self.domains }));
        }
        if let Some(location) = &settings.search.user_location {
            let timezone = Some(self.timezone.to_owned());
            tool.insert("user_location".into(), json!(UserLocation { timezone, ..location.clone() }));
        }
        if let Some(size) = settings.search.context_size {
            tool.insert("search_context_size".into(), json!(size));
        }
        tool
    }
}

/// Merges `overrides` into `base`, object by object.
fn merge(base: &mut JsonObject, overrides: &JsonObject) {
    for (key, value) in overrides {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(overrides)) => merge(base, overrides),
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

/// The options that a model supports, derived from its id. For an unknown id both are sent; if the API then refuses
/// one, the client remembers that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCapabilities {
    /// Whether the model supports `text.verbosity`.
    pub verbosity: bool,
    /// Whether the model supports `reasoning.effort`.
    pub reasoning: bool,
}

impl ModelCapabilities {
    /// The capabilities of the model with this id.
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

    const SPEC: RequestSpec<'static> = RequestSpec {
        model: "gpt-6.1-terra",
        instructions: "policy",
        input: "question",
        effort: Some(ReasoningEffort::Minimal),
        verbosity: Some(Verbosity::High),
        domains: &[],
        search: SearchMode::Optional,
        timezone: "Europe/Berlin",
    };

    #[test]
    fn the_body_has_the_form_of_the_api() {
        let body = SPEC.body(&AnswersSettings::default());
        assert_eq!(
            Value::Object(body.fields),
            json!({
                "model": "gpt-6.1-terra",
                "instructions": "policy",
                "input": "question",
                "tools": [{ "type": "web_search", "user_location": { "type": "approximate", "timezone": "Europe/Berlin" } }],
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
        let spec = RequestSpec { model: "o3", domains: &domains, search: SearchMode::Required, ..SPEC };
        let body = Value::Object(spec.body(&settings).fields);
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
    fn the_id_tells_the_capabilities_of_a_model() {
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
            assert_eq!(ModelCapabilities::of(model), ModelCapabilities { verbosity, reasoning }, "{model}");
        }
    }

    #[test]
    fn the_serialized_body_follows_every_change() {
        let body = SPEC.body(&AnswersSettings::default());
        let parse = |bytes: &Bytes| serde_json::from_slice::<Value>(bytes).unwrap();
        assert_eq!(parse(body.json()), Value::Object(body.fields().clone()));
        assert_eq!(body.to_bytes(false), body.json());

        let mut streamed = body.fields().clone();
        streamed.insert("stream".into(), true.into());
        assert_eq!(body.to_bytes(true), serde_json::to_vec(&streamed).unwrap());

        let other = body.with_input("another question".into());
        assert_eq!((other.text("input"), other.text("model")), ("another question", "gpt-6.1-terra"));
        assert_eq!(parse(other.json())["input"], "another question");

        let (fewer, names) = body.without(&[OptionalField::Text, OptionalField::Filters]);
        assert_eq!((fewer.fields().get("text"), names), (None, vec!["text"]));
        assert_eq!(parse(fewer.json()), Value::Object(fewer.fields().clone()));
    }
}
