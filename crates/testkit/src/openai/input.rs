//! Validates the `input` of a request: a string, or the items of a conversation.

use serde_json::Value;

use super::refusal::Refusal;
use super::schema::Kind::{self, Any, By, List, Object, OneOf, Text};
use super::schema::{Field, by_type, one_of, tag, wrong_type};

const UNLIMITED: usize = usize::MAX;

/// The types of items. Only messages are validated further; of the others, the type is enough for these tests.
const ITEMS: &[&str] = &[
    "message",
    "additional_tools",
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "computer_call",
    "computer_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "file_search_call",
    "function_call",
    "function_call_output",
    "image_generation_call",
    "item_reference",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
    "reasoning",
    "shell_call",
    "shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
];

const CACHE_BREAKPOINT: Kind = Object(&[Field::required("mode", OneOf(&["explicit"]))]);

const MESSAGE: Kind = Object(&[
    Field::required("role", OneOf(&["user", "assistant", "system", "developer"])),
    Field::required("content", By(content)),
    Field::optional("type", OneOf(&["message"])),
    Field::optional("id", Text),
    Field::optional("status", OneOf(&["in_progress", "completed", "incomplete"])),
    Field::nullable("phase", OneOf(&["commentary", "final_answer"])),
]);

/// Validates the `input` field.
pub(super) fn input(value: &Value, path: &str) -> Result<(), Refusal> {
    match value {
        Value::String(_) => Ok(()),
        Value::Array(_) => List(&By(item), UNLIMITED).check(value, path),
        _ => Err(wrong_type(path, "a string or an array", value)),
    }
}

fn item(value: &Value, path: &str) -> Result<(), Refusal> {
    // The type may be omitted for a message, and for an item reference, which has an id and no role.
    match value.get("type") {
        None if value.get("id").is_some() && value.get("role").is_none() => Ok(()),
        None => MESSAGE.check(value, path),
        Some(Value::Null) if value.get("id").is_some() => Ok(()),
        Some(_) => match tag(value, "type", path)? {
            "message" => MESSAGE.check(value, path),
            other => one_of(ITEMS, other, &format!("{path}.type")),
        },
    }
}

fn content(value: &Value, path: &str) -> Result<(), Refusal> {
    match value {
        Value::String(_) => Ok(()),
        Value::Array(_) => List(&By(part), UNLIMITED).check(value, path),
        _ => Err(wrong_type(path, "a string or an array", value)),
    }
}

fn part(value: &Value, path: &str) -> Result<(), Refusal> {
    const TEXT: Kind = Object(&[
        Field::required("type", Text),
        Field::required("text", Text),
        Field::optional("prompt_cache_breakpoint", CACHE_BREAKPOINT),
    ]);
    const IMAGE: Kind = Object(&[
        Field::required("type", Text),
        Field::nullable("image_url", Text),
        Field::nullable("file_id", Text),
        Field::optional("detail", OneOf(&["low", "high", "auto", "original"])),
        Field::optional("prompt_cache_breakpoint", CACHE_BREAKPOINT),
    ]);
    const FILE: Kind = Object(&[
        Field::required("type", Text),
        Field::nullable("file_id", Text),
        Field::optional("filename", Text),
        Field::optional("file_data", Text),
        Field::optional("file_url", Text),
        Field::optional("detail", OneOf(&["auto", "low", "high"])),
        Field::optional("prompt_cache_breakpoint", CACHE_BREAKPOINT),
    ]);
    const OUTPUT_TEXT: Kind = Object(&[
        Field::required("type", Text),
        Field::required("text", Text),
        Field::optional("annotations", List(&Any, UNLIMITED)),
        Field::optional("logprobs", List(&Any, UNLIMITED)),
    ]);
    const REFUSAL: Kind = Object(&[Field::required("type", Text), Field::required("refusal", Text)]);
    const PARTS: &[(&str, Kind)] = &[
        ("input_text", TEXT),
        ("input_image", IMAGE),
        ("input_file", FILE),
        ("output_text", OUTPUT_TEXT),
        ("refusal", REFUSAL),
    ];
    by_type(PARTS, &[], value, path)
}
