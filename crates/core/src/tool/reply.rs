//! The three parts of a result: structure, what a person reads, what only a widget reads.

use serde::Serialize;
use serde_json::Value;

use crate::{JsonObject, ToolError};

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<T> {
    /// What programs and models read; it fits the tool's output schema.
    pub output: T,
    /// What people read, one content item each; the first line of a conversation, not a copy of the output.
    pub text: Vec<String>,
    /// What only a widget or a log reads.
    pub meta: JsonObject,
}

impl<T> Reply<T> {
    /// Output with one sentence for people.
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
    /// Output whose text is its own JSON, where a contract asks for that.
    pub fn as_json(output: T) -> Result<Self, ToolError> {
        let text = serde_json::to_string(&output).map_err(ToolError::internal)?;
        Ok(Self::new(output, text))
    }

    /// The same reply with its output as a JSON value.
    pub(crate) fn erase(self) -> Result<Reply<Value>, ToolError> {
        let output = serde_json::to_value(self.output).map_err(ToolError::internal)?;
        Ok(Reply { output, text: self.text, meta: self.meta })
    }
}
