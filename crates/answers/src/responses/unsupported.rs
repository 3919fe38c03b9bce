//! Fields that a request can do without, and how to tell that a server does not take one.

use annai_core::JsonObject;
use serde_json::Value;

use super::reply::text_of;

/// A field that a request can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Optional {
    /// `reasoning`
    Reasoning,
    /// `text`
    Text,
    /// `include`
    Include,
    /// `tools[0].filters`; what a search then cites from elsewhere is dropped all the same.
    Filters,
    /// `tools[0].user_location`
    UserLocation,
    /// `tools[0].search_context_size`
    ContextSize,
}

impl Optional {
    const ALL: [Self; 6] =
        [Self::Reasoning, Self::Text, Self::Include, Self::Filters, Self::UserLocation, Self::ContextSize];

    /// Its name in the body.
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

    /// Words of a message that mean it.
    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Reasoning => &["reasoning"],
            Self::Text => &["text.verbosity", "verbosity", "'text'"],
            Self::Include => &["'include", "web_search_call.action.sources"],
            Self::Filters => &["filters"],
            Self::UserLocation => &["user_location"],
            Self::ContextSize => &["search_context_size"],
        }
    }

    /// What it holds in a body.
    pub fn get(self, body: &JsonObject) -> Option<&Value> {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.get(self.name()),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                body.get("tools").and_then(|tools| tools.get(0)?.get(self.name()))
            }
        }
    }

    /// Takes it out of a body.
    pub fn remove(self, body: &mut JsonObject) -> Option<Value> {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.shift_remove(self.name()),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                let tool = body.get_mut("tools").and_then(|tools| tools.get_mut(0));
                tool.and_then(Value::as_object_mut)?.shift_remove(self.name())
            }
        }
    }

    /// Whether the API's `param` points at it or into it.
    fn is_param(self, param: &str) -> bool {
        param.split(['.', '[']).any(|part| part == self.name())
            || (self == Self::Text && param == "verbosity")
    }
}

/// A field that a server does not take, and how far that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported {
    /// The field.
    pub field: Optional,
    /// Whether any value is refused, or only the one that was sent.
    pub always: bool,
}

/// The optional fields that an error object calls unsupported.
pub fn unsupported(error: &Value) -> Vec<Unsupported> {
    const WORDS: [&str; 8] = [
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
    if !by_code && !WORDS.iter().any(|word| message.contains(word)) {
        return Vec::new();
    }
    let always = code != "unsupported_value" && !message.contains("unsupported value");
    let param = text_of(error, "param");
    let named = |field: &Optional| match &param {
        Some(param) => field.is_param(param),
        None => field.words().iter().any(|word| message.contains(word)),
    };
    Optional::ALL.into_iter().filter(named).map(|field| Unsupported { field, always }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_that_names_a_field_is_understood() {
        let fields = |code: &str, param: &str, message: &str| {
            let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
            let error = json!({ "code": text(code), "param": text(param), "message": text(message) });
            unsupported(&error).into_iter().map(|named| (named.field, named.always)).collect::<Vec<_>>()
        };
        for (code, param, message, field) in [
            ("unsupported_parameter", "reasoning.effort", "", vec![(Optional::Reasoning, true)]),
            ("unsupported_value", "text.verbosity", "", vec![(Optional::Text, false)]),
            ("unknown_parameter", "include[0]", "", vec![(Optional::Include, true)]),
            ("unknown_parameter", "tools[0].filters.allowed_domains", "", vec![(Optional::Filters, true)]),
            (
                "",
                "",
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                vec![(Optional::Reasoning, true)],
            ),
            ("", "", "Unsupported value: 'max' for reasoning.effort", vec![(Optional::Reasoning, false)]),
            ("", "", "verbosity is not supported", vec![(Optional::Text, true)]),
            ("invalid_value", "tools[0].filters.allowed_domains", "bad domain", vec![]),
            ("unsupported_parameter", "temperature", "", vec![]),
            ("", "", "model overloaded", vec![]),
        ] {
            assert_eq!(fields(code, param, message), field, "{code} {param} {message}");
        }
    }

    #[test]
    fn fields_are_taken_out_once() {
        let body = json!({ "reasoning": { "effort": "max" }, "tools": [{ "type": "t", "filters": {} }] });
        let mut body = body.as_object().cloned().unwrap();
        assert_eq!(Optional::Reasoning.remove(&mut body), Some(json!({ "effort": "max" })));
        assert!(Optional::Filters.remove(&mut body).is_some());
        assert!(
            Optional::Reasoning.remove(&mut body).is_none() && Optional::Filters.remove(&mut body).is_none()
        );
        assert_eq!(Value::Object(body), json!({ "tools": [{ "type": "t" }] }));
    }
}
