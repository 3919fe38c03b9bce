//! A tool of a registry, whatever its input, output and toolset are.

use std::sync::OnceLock;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Facts, NumberParsing, Reply};
use crate::{Call, ErrorText, JsonObject, ToolError, WireError};

/// A type-erased tool.
pub(super) trait Runner: Send + Sync {
    fn run<'a>(
        &'a self,
        call: &'a Call,
        arguments: JsonObject,
    ) -> BoxFuture<'a, Result<Reply<Value>, ToolError>>;

    /// Opens the toolset, if no call has done so yet.
    fn open(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    fn wire(&self, error: &ToolError) -> WireError;
}

/// A type-erased tool of a registry. Only an [`super::Admitted`] can run it.
pub struct RegisteredTool {
    /// Its facts.
    pub facts: &'static Facts,
    /// The name of the toolset it belongs to.
    pub toolset: &'static str,
    /// What its result says to a caller who must sign in first, if the toolset has a sentence of its own.
    pub sign_in_message: Option<&'static str>,
    pub(super) numbers: NumberParsing,
    pub(super) schemas: OnceLock<(JsonObject, JsonObject)>,
    pub(super) make_schemas: fn() -> (JsonObject, JsonObject),
    pub(super) runner: Box<dyn Runner>,
}

impl RegisteredTool {
    /// The schema that arguments are validated against.
    pub fn input_schema(&self) -> &JsonObject {
        &self.schemas.get_or_init(self.make_schemas).0
    }

    /// The schema of the structured results.
    pub fn output_schema(&self) -> &JsonObject {
        &self.schemas.get_or_init(self.make_schemas).1
    }

    /// What the text of the result is when a call fails with this error.
    pub fn error_text(&self, error: &ToolError) -> ErrorText {
        match self.runner.wire(error).into_result(error.kind()) {
            WireError::Result { text, .. } => text,
            WireError::Rpc { .. } | WireError::Http { .. } => ErrorText::Json,
        }
    }
}
