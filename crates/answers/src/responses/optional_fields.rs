//! Optional fields of a request, and how an error of the API says that it does not support one of them.

use annai_core::JsonObject;
use serde_json::Value;

use super::parsed_response::text_of;

/// A field that can be omitted from a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionalField {
    /// `reasoning`
    Reasoning,
    /// `text`
    Text,
    /// `include`
    Include,
    /// `tools[0].filters`. Without it, citations outside the requested domains are still dropped.
    Filters,
    /// `tools[0].user_location`
    UserLocation,
    /// `tools[0].search_context_size`
    ContextSize,
}

impl OptionalField {
    const ALL: [Self; 6] =
        [Self::Reasoning, Self::Text, Self::Include, Self::Filters, Self::UserLocation, Self::ContextSize];

    /// The field's name in the request body.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Text => "text",
            Self::Include => "include",
            Self::Filters => "filters",
            Self::UserLocation => "user_location",
            Self::ContextSize => "search_context_size",
        }
    }

    /// Words by which an error message names the field.
    const fn message_words(self) -> &'static [&'static str] {
        match self {
            Self::Reasoning => &["reasoning"],
            Self::Text => &["text.verbosity", "verbosity", "'text'"],
            Self::Include => &["'include", "web_search_call.action.sources"],
            Self::Filters => &["filters"],
            Self::UserLocation => &["user_location"],
            Self::ContextSize => &["search_context_size"],
        }
    }

    /// The field's value in a request body.
    pub fn get(self, body: &JsonObject) -> Option<&Value> {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.get(self.name()),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                body.get("tools").and_then(|tools| tools.get(0)?.get(self.name()))
            }
        }
    }

    /// Removes the field from a request body.
    pub fn remove(self, body: &mut JsonObject) -> Option<Value> {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.shift_remove(self.name()),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                let tool = body.get_mut("tools").and_then(|tools| tools.get_mut(0));
                tool.and_then(Value::as_object_mut)?.shift_remove(self.name())
            }
        }
    }

    /// Whether the `param` of an API error names the field or a part of it.
    fn is_param(self, param: &str) -> bool {
        param.split(['.', '[']).any(|part| part == self.name())
            || (self == Self::Text && param == "verbosity")
    }
}

/// A field that a server does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedField {
    /// The field.
    pub field: OptionalField,
    /// True if the server refuses every value, false if it refuses only the value that was sent.
    pub refuses_any_value: bool,
}

/// The optional fields that an API error calls unsupported.
pub fn unsupported_fields(error: &Value) -> Vec<UnsupportedField> {
    const PHRASES: [&str; 8] = [
        "unsupported",
        "not supported",
        "unknown parameter",
        "unrecognized",
        "does not support",
        "not permitted",
        "extra inputs",
        "unexpected",
    ];
    let message = text_of(error, "message").unwrap_or_default().to_lowercase();
    let code = text_of(error, "code").unwrap_or_default();
    let by_code =
        matches!(code.as_str(), "unsupported_parameter" | "unsupported_value" | "unknown_parameter");
    if !by_code && !PHRASES.iter().any(|phrase| message.contains(phrase)) {
        return Vec::new();
    }
    let refuses_any_value = code != "unsupported_value" && !message.contains("unsupported value");
    let param = text_of(error, "param");
    let is_named = |field: &OptionalField| match &param {
        Some(param) => field.is_param(param),
        None => field.message_words().iter().any(|word| message.contains(word)),
    };
    let named = OptionalField::ALL.into_iter().filter(is_named);
    named.map(|field| UnsupportedField { field, refuses_any_value }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_that_names_a_field_is_understood() {
        let fields = |code: &str, param: &str, message: &str| {
            let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
            let error = json!({ "code": text(code), "param": text(param), "message": text(message) });
            unsupported_fields(&error)
                .into_iter()
                .map(|named| (named.field, named.refuses_any_value))
                .collect::<Vec<_>>()
        };
        for (code, param, message, field) in [
            ("unsupported_parameter", "reasoning.effort", "", vec![(OptionalField::Reasoning, true)]),
            ("unsupported_value", "text.verbosity", "", vec![(OptionalField::Text, false)]),
            ("unknown_parameter", "include[0]", "", vec![(OptionalField::Include, true)]),
            (
                "unknown_parameter",
                "tools[0].filters.allowed_domains",
                "",
                vec![(OptionalField::Filters, true)],
            ),
            (
                "",
                "",
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                vec![(OptionalField::Reasoning, true)],
            ),
            (
                "",
                "",
                "Unsupported value: 'max' for reasoning.effort",
                vec![(OptionalField::Reasoning, false)],
            ),
            ("", "", "verbosity is not supported", vec![(OptionalField::Text, true)]),
            ("invalid_value", "tools[0].filters.allowed_domains", "bad domain", vec![]),
            ("unsupported_parameter", "temperature", "", vec![]),
            ("", "", "model overloaded", vec![]),
        ] {
            assert_eq!(fields(code, param, message), field, "{code} {param} {message}");
        }
    }

    #[test]
    fn fields_are_removed_once() {
        let body = json!({ "reasoning": { "effort": "max" }, "tools": [{ "type": "t", "filters": {} }] });
        let mut body = body.as_object().cloned().unwrap();
        assert_eq!(OptionalField::Reasoning.remove(&mut body), Some(json!({ "effort": "max" })));
        assert!(OptionalField::Filters.remove(&mut body).is_some());
        assert!(
            OptionalField::Reasoning.remove(&mut body).is_none()
                && OptionalField::Filters.remove(&mut body).is_none()
        );
        assert_eq!(Value::Object(body), json!({ "tools": [{ "type": "t" }] }));
    }
}
