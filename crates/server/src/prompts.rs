//! Prompts over MCP: their list entries, and their text.

use std::collections::HashMap;

use annai_core::{Identity, JsonObject, Prompt, Registry};
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, Prompt as ListedPrompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

use crate::icon;

/// The entry of a prompt in `prompts/list`.
pub fn listed(prompt: &Prompt) -> ListedPrompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut listed = PromptArgument::new(argument.name);
        listed.description = Some(argument.description.to_owned());
        listed.required = Some(argument.is_required);
        listed
    });
    let mut listed = ListedPrompt::new(prompt.name, Some(prompt.description), Some(arguments.collect()));
    listed.title = Some(prompt.title.to_owned());
    listed.icons = (!prompt.icon.is_empty()).then(|| vec![icon::of_svg(prompt.icon)]);
    listed
}

/// The text of a prompt, as a message of the user.
pub fn get(
    registry: &Registry,
    request: GetPromptRequestParams,
    identity: &Identity,
) -> Result<GetPromptResult, ErrorData> {
    let invalid = |message: String| ErrorData::invalid_params(message, None);
    let prompt = registry.prompts(identity).find(|prompt| prompt.name == request.name);
    let prompt = prompt.ok_or_else(|| {
        let shown: String = request.name.chars().take(80).collect();
        invalid(format!("name: unknown prompt {shown}; prompts/list lists the prompts"))
    })?;
    let arguments = texts(request.arguments.unwrap_or_default()).map_err(invalid)?;
    let text = prompt.render(&arguments).map_err(|error| invalid(error.message().to_owned()))?;
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(prompt.description.to_owned());
    Ok(result)
}

/// The arguments, which MCP defines as text.
fn texts(arguments: JsonObject) -> Result<HashMap<String, String>, String> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(format!("arguments.{}: expected a string", name.chars().take(80).collect::<String>())),
    };
    arguments.into_iter().map(text).collect()
}
