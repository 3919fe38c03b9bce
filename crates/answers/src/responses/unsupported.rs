//! Fields that a request can do without, and how to tell that a server does not take one.

use annai_core::JsonObject;
use serde_json::Value;

use super::failure::{Cause, Failed};

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

    /// Takes it out of a body; tells whether it was there.
    pub fn remove(self, body: &mut JsonObject) -> bool {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.shift_remove(self.name()).is_some(),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                let tool = body.get_mut("tools").and_then(|tools| tools.get_mut(0));
                let tool = tool.and_then(Value::as_object_mut);
                tool.is_some_and(|tool| tool.shift_remove(self.name()).is_some())
            }
        }
    }

    fn is_in(self, body: &JsonObject) -> bool {
        match self {
            Self::Reasoning | Self::Text | Self::Include => body.contains_key(self.name()),
            Self::Filters | Self::UserLocation | Self::ContextSize => {
                let tool = body.get("tools").and_then(|tools| tools.get(0));
                tool.is_some_and(|tool| tool.get(self.name()).is_some())
            }
        }
    }

    /// Whether the API's `param` points at it or into it.
    fn is_param(self, param: &str) -> bool {
        param.split(['.', '[']).any(|part| part == self.name())
            || (self == Self::Text && param == "verbosity")
    }
}

/// The optional field of the body that a refusal calls unsupported, if it names one.
pub fn named_in(failed: &Failed, body: &JsonObject) -> Option<Optional> {
    const CODES: [&str; 3] = ["unsupported_parameter", "unsupported_value", "unknown_parameter"];
    const WORDS: [&str; 6] = [
        "unsupported",
        "not supported",
        "unknown parameter",
        "unrecognized",
        "does not support",
        "not permitted",
    ];
    if failed.cause != Cause::Refused || !matches!(failed.status, Some(400 | 422)) {
        return None;
    }
    let message = failed.message.as_deref().unwrap_or_default().to_lowercase();
    let code = failed.code.as_deref();
    if !code.is_some_and(|code| CODES.contains(&code)) && !WORDS.iter().any(|word| message.contains(word)) {
        return None;
    }
    let names = |field: &Optional| match failed.param.as_deref() {
        Some(param) => field.is_param(param),
        None => field.words().iter().any(|word| message.contains(word)),
    };
    Optional::ALL.into_iter().find(|field| field.is_in(body) && names(field))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(status: u16, code: &str, param: &str, message: &str) -> Option<Optional> {
        let text = |text: &str| (!text.is_empty()).then(|| text.into());
        let failed = Failed {
            status: Some(status),
            code: text(code),
            param: text(param),
            message: text(message),
            ..Failed::new(Cause::Refused, "")
        };
        let body = json!({
            "reasoning": {}, "text": {}, "include": [], "tools": [{ "filters": {}, "user_location": {} }],
        });
        named_in(&failed, body.as_object().unwrap())
    }

    #[test]
    fn a_refusal_that_names_a_field_is_understood() {
        for (code, param, message, field) in [
            ("unsupported_parameter", "reasoning.effort", "", Some(Optional::Reasoning)),
            ("unsupported_value", "text.verbosity", "", Some(Optional::Text)),
            ("unknown_parameter", "include[0]", "", Some(Optional::Include)),
            ("unknown_parameter", "tools[0].filters.allowed_domains", "", Some(Optional::Filters)),
            (
                "",
                "",
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                Some(Optional::Reasoning),
            ),
            ("", "", "verbosity is not supported", Some(Optional::Text)),
            ("invalid_value", "tools[0].filters.allowed_domains", "bad domain", None),
            ("unsupported_parameter", "temperature", "", None),
            ("", "", "model overloaded", None),
            // What is not in the body cannot be left out.
            ("unknown_parameter", "tools[0].search_context_size", "", None),
        ] {
            assert_eq!(named(400, code, param, message), field, "{code} {param} {message}");
        }
        assert_eq!(named(500, "unsupported_parameter", "reasoning", ""), None);
    }

    #[test]
    fn fields_are_taken_out_once() {
        let mut body = json!({ "reasoning": {}, "tools": [{ "type": "t", "filters": {} }] })
            .as_object()
            .cloned()
            .unwrap();
        assert!(Optional::Reasoning.remove(&mut body) && Optional::Filters.remove(&mut body));
        assert!(!Optional::Reasoning.remove(&mut body) && !Optional::Filters.remove(&mut body));
        assert_eq!(Value::Object(body), json!({ "tools": [{ "type": "t" }] }));
    }
}
