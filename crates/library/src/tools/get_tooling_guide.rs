//! `get_tooling_guide`.

use annai_core::tool::RegisteredTool;
use annai_core::{Access, Call, Effect, Facts, JsonObject, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;

/// What is to be done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What you want to do (default `unknown`): `explore` find and read, `produce` write a new file, `revise` change
    /// a file, `audit` check coverage or an artifact.
    #[schemars(extend("default" = "unknown"))]
    intent: Option<Purpose>,
    /// Where you want to do it (default `unknown`): in a `manual` or the `vault`, on the `web`, or with the `services` that
    /// sponsors pay for.
    #[schemars(extend("default" = "unknown"))]
    target: Option<Subject>,
}

/// What a caller wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Purpose {
    Explore,
    Produce,
    Revise,
    Audit,
    Unknown,
}

/// What a caller wants to do it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Subject {
    Manual,
    Vault,
    Web,
    Services,
    Unknown,
}

/// Where to begin, and what there is.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The name of the tool to call first.
    first_tool: &'static str,
    /// All tools that the caller sees.
    tools: Vec<Advice>,
}

/// How to use a tool.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Advice {
    /// The tool's name.
    tool_name: &'static str,
    /// When to use it.
    when_to_use: &'static str,
    /// The names of its required arguments.
    required_inputs: Vec<String>,
    /// Example arguments that are safe to start with.
    safe_defaults: JsonObject,
    /// The most common errors, each with its fix.
    common_errors: Vec<CommonError>,
}

/// A common error.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct CommonError {
    /// The error code.
    code: &'static str,
    /// How to fix it.
    fix: &'static str,
}

pub(super) struct GetToolingGuide;

impl Tool for GetToolingGuide {
    const FACTS: Facts = facts(LibraryTool {
        name: "get_tooling_guide",
        title: "How to use the library / 使い方の案内",
        description: "Return which tool of this server to call first for a purpose, and how to use each tool.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "At the beginning, when it is not clear which tool to use.",
        safe_defaults: r#"{"intent":"explore","target":"manual"}"#,
        common_errors: &[("invalid_parameter", "intent is explore, produce, revise, audit or unknown")],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(_: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let registry = call.registry().ok_or_else(|| ToolError::internal("the list of tools is gone"))?;
        let is_visible = |tool: &&RegisteredTool| tool.facts.access.lists_for(call.identity());
        let tools: Vec<_> = registry.tools().filter(is_visible).map(advice).collect();
        // Only a tool that is served can be called.
        let wanted = first_tool(input.intent, input.target);
        let is_served = tools.iter().any(|tool| tool.tool_name == wanted);
        let other = tools.iter().find(|tool| !is_served && tool.tool_name != Self::FACTS.name);
        let first_tool = other.map_or(wanted, |tool| tool.tool_name);
        call.note("intent", input.intent);
        call.note("target", input.target);
        call.note("first_tool", first_tool);
        Ok(Reply::new(Output { first_tool, tools }))
    }
}

/// The tool to call first.
const fn first_tool(intent: Option<Purpose>, target: Option<Subject>) -> &'static str {
    match (intent, target) {
        (_, Some(Subject::Web)) => "answer",
        (_, Some(Subject::Services)) => "search_services",
        (Some(Purpose::Explore), Some(Subject::Vault)) => "vault_find",
        (Some(Purpose::Produce), _) => "vault_create",
        (Some(Purpose::Revise), _) => "vault_search",
        (Some(Purpose::Audit), _) => "vault_coverage",
        (Some(Purpose::Explore | Purpose::Unknown) | None, _) => "manual_find",
    }
}

/// The advice in the declaration of a tool.
fn advice(tool: &RegisteredTool) -> Advice {
    let Facts { name, guide, .. } = &tool.facts;
    let required = tool.input_schema().get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    Advice {
        tool_name: name,
        when_to_use: guide.when,
        required_inputs: required.map(str::to_owned).collect(),
        safe_defaults: serde_json::from_str(guide.safe_defaults).unwrap_or_default(),
        common_errors: guide
            .common_errors
            .iter()
            .take(2)
            .map(|(code, fix)| CommonError { code, fix })
            .collect(),
    }
}
