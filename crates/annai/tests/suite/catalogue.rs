//! One test over all tools. About half of the MCP clients show their model only the structured result, the other half only
//! the text, so each of the two must state everything. The test calls every tool and compares the two channels.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{Asking, annai};

/// The first words of the descriptions. A description starts with a verb, because models choose tools by what they do.
const VERBS: &[&str] = &[
    "Append",
    "Check",
    "Compute",
    "Copy",
    "Count",
    "Create",
    "Find",
    "Get",
    "List",
    "Overwrite",
    "Page",
    "Perform",
    "Provide",
    "Read",
    "Record",
    "Register",
    "Replace",
    "Return",
    "Run",
    "Search",
    "Show",
    "Write",
];

/// Documents that make the tools return several results, conflicts, exceptions, and texts that are cut off.
const FILES: &[(&str, &str)] = &[
    (
        "manuals/travel/policy.md",
        "# Travel policy\n\n## Hotels\n\nHotels are paid up to 12,000 yen per night. However, fairs are an exception.\n\n\
         ## Trains\n\nGreen cars are not covered. See [Hotels](#hotels).\n",
    ),
    (
        "manuals/travel/faq.md",
        "# FAQ\n\n## Hotels\n\nHotels are paid up to 15,000 yen per night.\n\n## \"Quotes\" and \\backslashes\\\n\n\tTabs.\n",
    ),
    ("manuals/travel/codes.json", "{ \"codes\": [{ \"code\": \"H-1\", \"text\": \"Hotels\" }] }\n"),
    (
        "manuals/medical-ja/yakkan.md",
        "# 約款\n\n## 給付金\n\n入院給付金は1日につき5,000円とする。ただし、検査入院は対象外とする。\n",
    ),
    ("vault/plan.md", "# Plan\n\nStep one: \"open\".\n\nStep two: close.\n\n## Hotels\n\nBook hotels.\n"),
    ("vault/notes/hotels.md", "# Notes\n\nHotels are full.\n"),
    (
        "vault/artifacts/flow.md",
        "# Flow\nsource_lines: 1-3\n\n```mermaid\nflowchart TD\n  A[Open] --> B[Close]\n  X[Lost] --> B\n```\n\n- A source_lines: 3\n",
    ),
];

/// The calls, in order. `$trace_id` stands for the last trace that a find has returned, `$campaign_id` for the campaign that
/// a search has found.
fn calls() -> Vec<(&'static str, Value)> {
    let place = |path: &str, line: u64| json!({ "target": "manual", "manual_id": "travel", "path": path, "start_line": line });
    let ranges = json!([{ "start_line": 1, "end_line": 3 }]);
    vec![
        ("answer", json!({ "query": "weather in Tokyo", "domains": null })),
        ("answer", json!({ "query": "HTTP 404 の意味", "style": "bullets" })),
        ("answer_detailed", json!({ "query": "weather" })),
        ("answer_quick", json!({ "query": "weather" })),
        ("chatgpt_o3_search", json!({ "query": "東京の天気", "timeframe": null })),
        ("get_tooling_guide", json!({ "intent": "explore" })),
        ("manual_list", json!({})),
        ("manual_ls", json!({})),
        ("manual_ls", json!({ "manual_id": "travel" })),
        ("manual_toc", json!({ "manual_id": "travel" })),
        (
            "manual_find",
            json!({ "query": "hotels per night", "manual_id": "travel", "budget": { "time_ms": null } }),
        ),
        ("manual_hits", json!({ "trace_id": "$trace_id", "kind": "candidates", "limit": 1 })),
        ("manual_hits", json!({ "trace_id": "$trace_id", "kind": "conflicts" })),
        ("manual_hits", json!({ "trace_id": "$trace_id", "kind": "integrated_top" })),
        ("manual_find", json!({ "query": "検査入院の給付金", "excerpt_chars": 240 })),
        ("manual_hits", json!({ "trace_id": "$trace_id", "excerpt_chars": 240 })),
        ("manual_find", json!({ "query": "zeppelins" })),
        (
            "manual_read",
            json!({ "ref": place("policy.md", 3), "scope": "section", "limits": { "max_chars": 20 } }),
        ),
        ("manual_read", json!({ "ref": place("faq.md", 7) })),
        ("manual_read", json!({ "ref": place("codes.json", 1) })),
        ("manual_excepts", json!({ "manual_id": "travel" })),
        ("vault_find", json!({ "query": "hotels" })),
        ("manual_hits", json!({ "trace_id": "$trace_id", "kind": "candidates" })),
        ("vault_ls", json!({})),
        ("vault_ls", json!({ "relative_dir": "notes" })),
        ("vault_read", json!({ "path": "plan.md", "full": true, "limits": { "max_chars": 10 } })),
        ("vault_read", json!({ "path": "plan.md", "range": { "start_line": 3, "end_line": 5 } })),
        ("vault_scan", json!({ "path": "plan.md", "chunk_lines": 2 })),
        ("vault_scan", json!({ "path": "plan.md", "cursor": { "start_line": 3 } })),
        ("vault_search", json!({ "query": "hotels", "mode": "loose" })),
        ("vault_search", json!({ "query": "[", "mode": "regex" })),
        ("vault_create", json!({ "path": "artifacts/new.md", "content": "# New\n\nOld text.\n" })),
        (
            "vault_write",
            json!({ "path": "artifacts/new.md", "content": "More.\n", "mode": "append", "if_sha256": null }),
        ),
        ("vault_replace", json!({ "path": "artifacts/new.md", "find": "Old", "replace": "New" })),
        ("vault_coverage", json!({ "path": "plan.md", "cited_ranges": ranges })),
        ("artifact_audit", json!({ "artifact_path": "artifacts/flow.md", "source_path": "plan.md" })),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("policy.md", 3), "to_path": "artifacts/hotels.md", "mode": "overwrite" }),
        ),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("policy.md", 3), "to_path": "artifacts/hotels.md", "mode": "append", "cite": true }),
        ),
        ("artifact_audit", json!({ "artifact_path": "artifacts/hotels.md", "source_path": "plan.md" })),
        (
            "bridge_copy_file",
            json!({ "from_path": "codes.json", "manual_id": "travel", "to_path": "artifacts/codes.json", "mode": "overwrite" }),
        ),
        ("authenticate_user", json!({ "email": "me@example.com", "region": "JP", "roles": ["developer"] })),
        ("search_services", json!({ "intent": "no such thing" })),
        ("search_services", json!({ "q": "tea", "max_budget_cents": 100 })),
        ("get_task_details", json!({ "campaign_id": "$campaign_id" })),
        (
            "complete_task",
            json!({ "campaign_id": "$campaign_id", "task_name": "survey", "details": "{}", "consent": {
                "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": false } }),
        ),
        ("run_service", json!({ "service": "answer", "input": "weather in Tokyo" })),
        ("get_user_status", json!({})),
        ("set_preferences", json!({ "preferences": [{ "task_type": "survey", "level": "preferred" }] })),
        ("get_preferences", json!({})),
    ]
}

#[test]
fn both_channels_of_every_tool_state_the_same_facts() {
    let mut asking = Asking::with("", &[("ANNAI_DEV_USER", "me@example.com")]);
    for (path, text) in FILES {
        asking.home.write(path, text);
    }
    let campaign =
        "campaigns new --name Tea --sponsor Sencha --task survey --pays 50 --budget 1000 --service answer";
    let created = annai(&asking.home).args(campaign.split(' ')).output().unwrap();
    assert!(created.status.success(), "{created:?}");
    let (mut trace_id, mut campaign_id, mut called) = (Value::Null, Value::Null, BTreeSet::new());
    for (tool, mut arguments) in calls() {
        if arguments["trace_id"] == "$trace_id" {
            arguments["trace_id"] = trace_id.clone();
        }
        if arguments["campaign_id"] == "$campaign_id" {
            arguments["campaign_id"] = campaign_id.clone();
        }
        let reply = asking.server.call(tool, arguments.clone());
        let result = &reply["result"];
        assert!(result["isError"] != true && reply.get("error").is_none(), "{tool} {arguments}: {reply}");
        let output = &result["structuredContent"];
        let (structured, text) = (facts(output), text_facts(&result["content"], output));
        assert!(!structured.is_empty(), "{tool} {arguments}: {reply}");
        assert_eq!(
            structured, text,
            "{tool} {arguments}: the structured result (left) and the text (right) differ"
        );
        if let Some(found) = output.get("trace_id") {
            trace_id = found.clone();
        }
        if let Some(found) = output.pointer("/services/0/service_id") {
            campaign_id = found.clone();
        }
        called.insert(tool.to_owned());
    }
    let list = asking.server.request("tools/list", json!({}));
    let served: BTreeSet<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(called, served, "the calls of this test (left) and the served tools (right) differ");
}

/// The strings and numbers of a value, sorted.
fn facts(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found.sort();
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(_) | Value::Number(_) => found.push(value.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => members.values().for_each(|member| collect(member, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The strings and numbers of the text items. An item is a text of the output as it is, or JSON.
fn text_facts(content: &Value, output: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for item in content.as_array().unwrap() {
        let text = &item["text"];
        let is_prose =
            output.as_object().is_some_and(|members| members.values().any(|member| member == text));
        match serde_json::from_str(text.as_str().unwrap()) {
            Ok(json) if !is_prose => found.extend(facts(&json)),
            _ => found.push(text.to_string()),
        }
    }
    found.sort();
    found
}

#[test]
fn descriptions_start_with_a_verb_and_arguments_are_never_null() {
    let mut asking = Asking::new();
    let list = asking.server.request("tools/list", json!({}));
    for tool in list["result"]["tools"].as_array().unwrap() {
        let description = tool["description"].as_str().unwrap();
        // Where the description is Japanese, its English sentence follows.
        let english = description.rsplit_once("。 ").map_or(description, |(_, english)| english);
        let first = english.split_whitespace().next().unwrap_or_default();
        assert!(VERBS.contains(&first), "{}: if {first} is a verb, add it to VERBS", tool["name"]);
        assert_no_null(&tool["inputSchema"], &tool["name"]);
    }
}

/// Clients refuse the whole tool list when an argument has a list of types, the type `null`, or `null` as a value.
fn assert_no_null(schema: &Value, tool: &Value) {
    match schema {
        Value::Object(members) => {
            let kind = members.get("type").unwrap_or(&Value::Bool(true));
            // Below `properties`, `type` may be the name of an argument.
            assert!(kind != "null" && !kind.is_array(), "{tool}: {schema}");
            members.values().for_each(|member| assert_no_null(member, tool));
        }
        Value::Array(items) => items.iter().for_each(|item| assert_no_null(item, tool)),
        other => assert!(!other.is_null(), "{tool}: null in the schema"),
    }
}
