//! The result of a tool: structured output, text for people, and metadata for widgets.

use serde::Serialize;
use serde_json::Value;

use crate::{JsonObject, ToolError};

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<T> {
    /// The structured content, for programs and models; it matches the tool's output schema.
    pub output: T,
    /// The text content, for people and for models whose client ignores structured content; one content item each.
    pub text: Vec<String>,
    /// The `_meta` of the result, for widgets and logs; models do not see it.
    pub meta: JsonObject,
}

impl<T> Reply<T> {
    /// Output with one text.
    pub fn new(output: T, text: impl Into<String>) -> Self {
        Self { output, text: vec![text.into()], meta: JsonObject::new() }
    }

    /// Adds a key to the result's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(key.to_owned(), value.into());
        self
    }
}

impl<T: Serialize> Reply<T> {
    /// Output whose text is its own JSON.
    ///
    /// # Errors
    ///
    /// The output cannot be serialized.
    pub fn as_json(output: T) -> Result<Self, ToolError> {
        let text = serde_json::to_string(&output).map_err(ToolError::internal)?;
        Ok(Self::new(output, text))
    }

    /// The same reply with its output as a JSON value.
    pub(crate) fn into_json(self) -> Result<Reply<Value>, ToolError> {
        let output = serde_json::to_value(self.output).map_err(ToolError::internal)?;
        Ok(Reply { output, text: self.text, meta: self.meta })
    }
}
