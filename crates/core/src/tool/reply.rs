//! The result of a tool: structured output, its text form, and metadata for widgets and logs.

use serde::Serialize;
use serde_json::Value;

use crate::{JsonObject, ToolError};

/// The result of a tool. About half of the MCP clients show their model only the structured content, the other half only
/// the text, so the text is derived from the output and always states all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<T> {
    /// The structured content; it matches the tool's output schema.
    pub output: T,
    /// The `_meta` of the result, for widgets and logs; models do not see it.
    pub meta: JsonObject,
    layout: TextLayout,
}

/// How the text content is derived from the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextLayout {
    /// One item: the output as compact JSON.
    Json,
    /// The string in this member as it is, then the other members as compact JSON.
    Prose(&'static str),
    /// These members as compact JSON, then the other members as compact JSON.
    Split(&'static [&'static str]),
}

impl<T> Reply<T> {
    /// Output whose text is its compact JSON.
    pub fn new(output: T) -> Self {
        Self { output, meta: JsonObject::new(), layout: TextLayout::Json }
    }

    /// Output with a long text in the member `text_member`. The first content item is that text, without the escapes of
    /// JSON; the second one is the JSON of the other members.
    pub fn prose(output: T, text_member: &'static str) -> Self {
        Self { layout: TextLayout::Prose(text_member), ..Self::new(output) }
    }

    /// Output in two content items: the JSON of the `first` members, and the JSON of the others, if there are any.
    pub fn split(output: T, first: &'static [&'static str]) -> Self {
        Self { layout: TextLayout::Split(first), ..Self::new(output) }
    }

    /// Adds a key to the result's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(key.to_owned(), value.into());
        self
    }
}

impl<T: Serialize> Reply<T> {
    /// The same reply with its output as a JSON value.
    pub(crate) fn into_json(self) -> Result<Reply<Value>, ToolError> {
        let output = serde_json::to_value(self.output).map_err(ToolError::internal)?;
        Ok(Reply { output, meta: self.meta, layout: self.layout })
    }
}

impl Reply<Value> {
    /// The text content, one string for each content item.
    #[must_use]
    pub fn text(&self) -> Vec<String> {
        let Value::Object(members) = &self.output else { return vec![self.output.to_string()] };
        match self.layout {
            TextLayout::Json => vec![self.output.to_string()],
            TextLayout::Prose(key) => {
                let prose = members.get(key).and_then(Value::as_str).unwrap_or_default();
                std::iter::once(prose.to_owned()).chain(json_of(members, |member| member != key)).collect()
            }
            TextLayout::Split(first) => {
                let is_first = |member: &str| first.contains(&member);
                let items = [json_of(members, is_first), json_of(members, |member| !is_first(member))];
                items.into_iter().flatten().collect()
            }
        }
    }
}

/// The JSON of the members that pass a filter; none when no member does.
fn json_of(members: &JsonObject, is_included: impl Fn(&str) -> bool) -> Option<String> {
    let included = members.iter().filter(|(key, _)| is_included(key));
    let included: JsonObject = included.map(|(key, value)| (key.clone(), value.clone())).collect();
    (!included.is_empty()).then(|| Value::Object(included).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_states_every_member_of_the_output() {
        let output = json!({ "text": "a \"b\"\n", "answer": "c", "more": true });
        let json = r#"{"text":"a \"b\"\n","answer":"c","more":true}"#;
        for (reply, text) in [
            (Reply::new(output.clone()), vec![json]),
            (Reply::prose(output.clone(), "text"), vec!["a \"b\"\n", r#"{"answer":"c","more":true}"#]),
            (
                Reply::split(output.clone(), &["answer", "text"]),
                vec![r#"{"text":"a \"b\"\n","answer":"c"}"#, r#"{"more":true}"#],
            ),
            (Reply::split(output, &["answer", "text", "more"]), vec![json]),
            (Reply::new(json!([1])), vec!["[1]"]),
        ] {
            assert_eq!(reply.text(), text);
        }
    }
}
