//! The schema of a request for a response, as in the reference of the real API.

use serde_json::Value;

use super::input::input;
use super::refusal::Refusal;
use super::schema::Kind::{self, Any, By, Flag, Integer, List, Map, Number, Object, OneOf, ShortText, Text};
use super::schema::{Field, by_type, wrong_type};

const UNLIMITED: usize = usize::MAX;
const LEVELS: Kind = OneOf(&["low", "medium", "high"]);
const SUMMARIES: Kind = OneOf(&["auto", "concise", "detailed"]);

/// The fields of a request.
pub(super) const REQUEST: &[Field] = &[
    Field::required("model", Text),
    Field::optional("input", By(input)),
    Field::nullable("background", Flag),
    Field::nullable("context_management", List(&COMPACTION, UNLIMITED)),
    Field::nullable("conversation", By(conversation)),
    Field::nullable("include", List(&INCLUDE, UNLIMITED)),
    Field::nullable("instructions", Text),
    Field::nullable("max_output_tokens", Integer(16, i64::MAX)),
    Field::nullable("max_tool_calls", Integer(i64::MIN, i64::MAX)),
    Field::nullable("metadata", By(metadata)),
    Field::nullable("moderation", MODERATION),
    Field::nullable("parallel_tool_calls", Flag),
    Field::nullable("previous_response_id", Text),
    Field::nullable("prompt", PROMPT),
    Field::nullable("prompt_cache_key", Text),
    Field::optional("prompt_cache_options", CACHE_OPTIONS),
    Field::nullable("prompt_cache_retention", OneOf(&["in_memory", "24h"])),
    Field::nullable("reasoning", REASONING),
    Field::nullable("safety_identifier", ShortText(64)),
    Field::nullable(
        "service_tier",
        OneOf(&["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]),
    ),
    Field::nullable("store", Flag),
    Field::nullable("stream", Flag),
    Field::nullable("stream_options", Object(&[Field::optional("include_obfuscation", Flag)])),
    Field::nullable("temperature", Number(0.0, 2.0)),
    Field::optional(
        "text",
        Object(&[Field::optional("format", By(format)), Field::nullable("verbosity", LEVELS)]),
    ),
    Field::optional("tool_choice", By(tool_choice)),
    Field::optional("tools", List(&By(tool), UNLIMITED)),
    Field::nullable("top_logprobs", Integer(0, 20)),
    Field::nullable("top_p", Number(0.0, 1.0)),
    Field::nullable("truncation", OneOf(&["auto", "disabled"])),
    Field::optional("user", Text),
];

const INCLUDE: Kind = OneOf(&[
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
]);

const REASONING: Kind = Object(&[
    Field::nullable("effort", OneOf(&["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
    Field::nullable("summary", SUMMARIES),
    Field::nullable("generate_summary", SUMMARIES),
    Field::nullable("context", OneOf(&["auto", "current_turn", "all_turns"])),
    Field::optional("mode", Text),
]);

const COMPACTION: Kind =
    Object(&[Field::required("type", Text), Field::nullable("compact_threshold", Integer(1000, i64::MAX))]);

const MODERATED: Kind = Object(&[Field::required("mode", OneOf(&["score", "block"]))]);

const MODERATION: Kind = Object(&[
    Field::required("model", Text),
    Field::nullable(
        "policy",
        Object(&[Field::nullable("input", MODERATED), Field::nullable("output", MODERATED)]),
    ),
]);

const PROMPT: Kind = Object(&[
    Field::required("id", Text),
    Field::nullable("version", Text),
    Field::nullable("variables", Map(&Any)),
]);

const CACHE_OPTIONS: Kind = Object(&[
    Field::optional("ttl", OneOf(&["30m"])),
    Field::optional("mode", OneOf(&["implicit", "explicit"])),
]);

const CONVERSATION: Kind = Object(&[Field::required("id", Text)]);

fn conversation(value: &Value, path: &str) -> Result<(), Refusal> {
    match value {
        Value::String(_) => Ok(()),
        Value::Object(_) => CONVERSATION.check(value, path),
        _ => Err(wrong_type(path, "a string or an object", value)),
    }
}

fn metadata(value: &Value, path: &str) -> Result<(), Refusal> {
    Map(&ShortText(512)).check(value, path)?;
    let object = value.as_object().into_iter().flatten();
    let (count, longest) =
        object.fold((0, 0), |(count, longest), (name, _)| (count + 1, longest.max(name.chars().count())));
    match (count, longest) {
        (17.., _) => Err(Refusal::bad(format!(
            "Invalid '{path}': at most 16 properties are allowed, but got {count}."
        ))
        .code("object_above_max_properties")
        .param(path)),
        (_, 65..) => Err(Refusal::bad(format!("Invalid '{path}': a key has more than 64 characters."))
            .code("invalid_value")
            .param(path)),
        _ => Ok(()),
    }
}

fn format(value: &Value, path: &str) -> Result<(), Refusal> {
    const BARE: Kind = Object(&[Field::required("type", Text)]);
    const SCHEMA: Kind = Object(&[
        Field::required("type", Text),
        Field::required("name", Text),
        Field::required("schema", Map(&Any)),
        Field::optional("description", Text),
        Field::nullable("strict", Flag),
    ]);
    by_type(&[("text", BARE), ("json_schema", SCHEMA), ("json_object", BARE)], &[], value, path)
}

fn tool_choice(value: &Value, path: &str) -> Result<(), Refusal> {
    const NAMED: Kind = Object(&[Field::required("type", Text), Field::required("name", Text)]);
    const MCP: Kind = Object(&[
        Field::required("type", Text),
        Field::required("server_label", Text),
        Field::nullable("name", Text),
    ]);
    const ALLOWED: Kind = Object(&[
        Field::required("type", Text),
        Field::required("mode", OneOf(&["auto", "required"])),
        Field::required("tools", List(&Map(&Any), UNLIMITED)),
    ]);
    const HOSTED: &[&str] = &[
        "file_search",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "computer",
        "computer_use_preview",
        "computer_use",
        "image_generation",
        "code_interpreter",
        "programmatic_tool_calling",
        "apply_patch",
        "shell",
    ];
    match value {
        Value::String(_) => OneOf(&["none", "auto", "required"]).check(value, path),
        Value::Object(_) => {
            let deep = &[("allowed_tools", ALLOWED), ("function", NAMED), ("mcp", MCP), ("custom", NAMED)];
            by_type(deep, HOSTED, value, path)
        }
        _ => Err(wrong_type(path, "a string or an object", value)),
    }
}

fn tool(value: &Value, path: &str) -> Result<(), Refusal> {
    const PLACE: &[Field] = &[
        Field::optional("type", OneOf(&["approximate"])),
        Field::nullable("country", Text),
        Field::nullable("region", Text),
        Field::nullable("city", Text),
        Field::nullable("timezone", Text),
    ];
    const SEARCH: Kind = Object(&[
        Field::required("type", Text),
        Field::optional("external_web_access", Flag),
        Field::nullable("filters", Object(&[Field::nullable("allowed_domains", List(&By(domain), 100))])),
        Field::nullable("user_location", Object(PLACE)),
        Field::optional("search_context_size", LEVELS),
    ]);
    const PREVIEW: Kind = Object(&[
        Field::required("type", Text),
        Field::nullable("user_location", Object(PLACE)),
        Field::optional("search_context_size", LEVELS),
        Field::optional("search_content_types", List(&OneOf(&["text", "image"]), UNLIMITED)),
    ]);
    const DEEP: &[(&str, Kind)] = &[
        ("web_search", SEARCH),
        ("web_search_2025_08_26", SEARCH),
        ("web_search_preview", PREVIEW),
        ("web_search_preview_2025_03_11", PREVIEW),
    ];
    const OTHERS: &[&str] = &[
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "function",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
    ];
    by_type(DEEP, OTHERS, value, path)
}

fn domain(value: &Value, path: &str) -> Result<(), Refusal> {
    let Value::String(domain) = value else { return Err(wrong_type(path, "a string", value)) };
    let is_bare = !domain.is_empty() && !domain.contains(['/', ':', ' ', '?', '#', '@']);
    if is_bare {
        return Ok(());
    }
    let message = format!("Invalid '{path}': '{domain}' is not a domain name without scheme and path.");
    Err(Refusal::bad(message).code("invalid_value").param(path))
}
