//! The MCP prompts of a toolset: requests in words that a person chooses in a client, often as a slash command.

use std::collections::HashMap;

use crate::{Access, ToolError};

/// A prompt. What it needs is declared, as with a tool.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// The name that clients ask for.
    pub name: &'static str,
    /// The name that clients show to people.
    pub title: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: &'static [PromptArgument],
    /// For whom it is listed: those who may see the tools that it leads to.
    pub access: Access,
    /// The tool that it leads to first. The prompt exists only where this tool is served.
    pub tool: &'static str,
    /// The icon that clients may show beside it: the source text of an SVG image.
    pub icon: &'static str,
    /// The text for the model, from the arguments that were given.
    pub text: fn(&HashMap<String, String>) -> String,
}

/// An argument of a prompt. All arguments are text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether it must be given.
    pub is_required: bool,
}

impl Prompt {
    /// The text for the model.
    ///
    /// # Errors
    ///
    /// An argument is unknown, or a required one is missing.
    pub fn render(&self, arguments: &HashMap<String, String>) -> Result<String, ToolError> {
        let names = || self.arguments.iter().map(|argument| argument.name).collect::<Vec<_>>().join(", ");
        let is_known = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        if let Some(unknown) = arguments.keys().find(|name| !is_known(name)) {
            let shown: String = unknown.chars().take(80).collect();
            return Err(ToolError::invalid(format!("arguments.{shown}: unknown; expected {}", names())));
        }
        let is_given = |name: &str| arguments.get(name).is_some_and(|value| !value.trim().is_empty());
        let mut required = self.arguments.iter().filter(|argument| argument.is_required);
        match required.find(|argument| !is_given(argument.name)) {
            Some(missing) => Err(ToolError::invalid(format!("arguments.{}: required", missing.name))),
            None => Ok((self.text)(arguments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIND: Prompt = Prompt {
        name: "find",
        title: "Find",
        description: "Finds.",
        arguments: &[
            PromptArgument { name: "what", description: "What.", is_required: true },
            PromptArgument { name: "where", description: "Where.", is_required: false },
        ],
        access: Access::Anyone,
        tool: "find",
        icon: "",
        text: |arguments| format!("Find {}.", arguments["what"]),
    };

    #[test]
    fn arguments_are_checked_before_the_text_is_made() {
        let render = |given: &[(&str, &str)]| {
            let arguments =
                given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            FIND.render(&arguments).map_err(|error| error.message().to_owned())
        };
        assert_eq!(render(&[("what", "tea")]), Ok("Find tea.".to_owned()));
        assert_eq!(render(&[("where", "here")]), Err("arguments.what: required".to_owned()));
        assert_eq!(render(&[("what", " ")]), Err("arguments.what: required".to_owned()));
        let unknown = Err("arguments.why: unknown; expected what, where".to_owned());
        assert_eq!(render(&[("what", "tea"), ("why", "x")]), unknown);
    }
}
