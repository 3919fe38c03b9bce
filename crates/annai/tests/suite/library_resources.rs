//! The files of the library as MCP resources, and the prompts of the library.

use serde_json::{Value, json};

use crate::Shelf;

fn list(shelf: &mut Shelf) -> Vec<Value> {
    let (mut cursor, mut all) = (None, Vec::new());
    loop {
        let params = cursor.map_or_else(|| json!({}), |cursor: Value| json!({ "cursor": cursor }));
        let reply = shelf.server.request("resources/list", params);
        all.extend(reply["result"]["resources"].as_array().unwrap_or_else(|| panic!("{reply}")).clone());
        match reply["result"].get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => return all,
        }
    }
}

fn uris(shelf: &mut Shelf) -> Vec<String> {
    list(shelf).iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

fn read(shelf: &mut Shelf, uri: &str) -> Value {
    shelf.server.request("resources/read", json!({ "uri": uri }))
}

#[test]
fn files_are_listed_with_their_types_and_read_by_their_uris() {
    let mut shelf = Shelf::new(&[]);
    assert_eq!(list(&mut shelf), Vec::<Value>::new(), "no folders, no resources");
    shelf.write("manuals/hr/rules/leave rules.md", "# Leave\n\nTen days.\n");
    shelf.write("manuals/規程/第1章.md", "# 目的\n\nこの規程は目的を定める。\n");
    shelf.write("manuals/hr/fees.json", r#"{"fee": 3}"#);
    shelf.write("vault/notes/50%.md", "# Half\n");
    shelf.write("vault/.system/stats.jsonl", "{}\n");
    let expected = [
        "manual://hr/fees.json",
        "manual://hr/rules/leave%20rules.md",
        "manual://%E8%A6%8F%E7%A8%8B/%E7%AC%AC1%E7%AB%A0.md",
        "vault:///notes/50%25.md",
    ];
    assert_eq!(uris(&mut shelf), expected);
    let listed = list(&mut shelf);
    let types: Vec<_> = listed.iter().map(|resource| resource["mimeType"].as_str().unwrap()).collect();
    assert_eq!(types, ["application/json", "text/markdown", "text/markdown", "text/markdown"]);
    assert_eq!(listed[1]["name"], "hr/rules/leave rules.md");
    assert_eq!(listed[1]["title"], "leave rules.md");
    for (uri, text) in expected.iter().zip([
        r#"{"fee": 3}"#,
        "# Leave\n\nTen days.",
        "# 目的\n\nこの規程は目的を定める。",
        "# Half",
    ]) {
        let reply = read(&mut shelf, uri);
        let contents = reply["result"]["contents"].as_array().unwrap_or_else(|| panic!("{uri}: {reply}"));
        assert_eq!(contents.len(), 1, "{reply}");
        assert_eq!(contents[0]["text"], text);
        assert_eq!(contents[0]["uri"], *uri);
    }
    let templates = shelf.server.request("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    let templates: Vec<_> = templates.iter().map(|each| each["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(templates, ["manual://{manual_id}/{+path}{?line,char}", "vault:///{+path}{?line,char}"]);
}

#[test]
fn a_long_file_is_read_in_parts_that_join_to_the_whole() {
    let mut shelf = Shelf::new(&[]);
    let text: String = (1..=4000).map(|line| format!("{line}: 行 {}\n", "word ".repeat(line % 7))).collect();
    let one_line = "長".repeat(50_000);
    shelf.write("manuals/hr/long.md", &text);
    shelf.write("vault/long.md", &text);
    shelf.write("vault/line.txt", &one_line);
    for (first, whole) in
        [("manual://hr/long.md", &text), ("vault:///long.md", &text), ("vault:///line.txt", &one_line)]
    {
        let (mut uri, mut joined) = (first.to_owned(), String::new());
        for part in 0.. {
            assert!(part < 20, "{first} does not end");
            let reply = read(&mut shelf, &uri);
            let contents = reply["result"]["contents"].as_array().unwrap_or_else(|| panic!("{uri}: {reply}"));
            let own = contents[0]["text"].as_str().unwrap();
            assert!(own.chars().count() <= 20_000);
            joined.push_str(own);
            let Some(next) = contents.get(1) else { break };
            let note = next["text"].as_str().unwrap();
            uri = next["uri"].as_str().unwrap().to_owned();
            assert!(note.contains(&uri) && note.starts_with("These were lines "), "{note}");
            // The parts of a vault file end without the line break that follows them.
            if !uri.contains("char=") && first.starts_with("vault") {
                joined.push('\n');
            }
        }
        assert_eq!(joined.trim_end(), whole.trim_end(), "{first}");
    }
}

#[test]
fn what_is_no_file_of_the_library_is_not_found() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/hr/a.md", "# A\n");
    shelf.write("vault/b.md", "# B\n");
    shelf.write("secret.md", "secret");
    std::os::unix::fs::symlink(shelf.home.0.join("secret.md"), shelf.home.0.join("vault/link.md")).unwrap();
    for uri in [
        "manual://hr/none.md",
        "manual://none/a.md",
        "manual://hr/../../secret.md",
        "manual://hr/%2E%2E/%2E%2E/secret.md",
        "manual://../secret.md",
        "vault:///../secret.md",
        "vault:///link.md",
        "vault:///.system/stats.jsonl",
        "vault:///b.md?line=9",
        "vault:///b.md?line=x",
        "vault:///b.md#L1",
        "manual://hr/a.md%00",
        "file:///etc/passwd",
        "",
    ] {
        let reply = read(&mut shelf, uri);
        let error = reply.get("error").unwrap_or_else(|| panic!("{uri}: {reply}"));
        assert!(!error.to_string().contains("secret\""), "{uri}: {error}");
    }
    for cursor in ["", "x", "manual_file/x", "vault_file/0:b.md", "nothing/"] {
        let reply = shelf.server.request("resources/list", json!({ "cursor": cursor }));
        assert_eq!(reply["error"]["code"], -32602, "{cursor}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("cursor"), "{reply}");
    }
}

#[test]
fn lists_of_many_files_have_pages() {
    let mut shelf = Shelf::new(&[]);
    for number in 0..1200 {
        shelf.write(&format!("manuals/hr/f{number:04}.md"), "# A\n");
    }
    shelf.write("vault/last.md", "# B\n");
    let first = shelf.server.request("resources/list", json!({}));
    assert_eq!(first["result"]["resources"].as_array().unwrap().len(), 500);
    let all = uris(&mut shelf);
    assert_eq!(all.len(), 1201);
    assert_eq!(all.last().unwrap(), "vault:///last.md");
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn resources_and_prompts_exist_where_their_tools_are_served() {
    let shelf = Shelf::new(&[]);
    shelf.write("manuals/hr/a.md", "# A\n");
    shelf.write("vault/b.md", "# B\n");
    let mut server = shelf.serve(&["--tools", "manual_find,manual_read"]);
    let reply = server.request("resources/read", json!({ "uri": "vault:///b.md" }));
    assert!(reply.get("error").is_some(), "{reply}");
    let reply = server.request("resources/read", json!({ "uri": "manual://hr/a.md" }));
    assert!(reply.get("result").is_some(), "{reply}");
    let reply = server.request("prompts/list", json!({}));
    let prompts = reply["result"]["prompts"].as_array().unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["explore_topic", "compare_editions"]);
    let icon = &prompts[0]["icons"][0];
    assert!(icon["src"].as_str().unwrap().starts_with("data:image/svg+xml;base64,"), "{icon}");
}

#[test]
fn prompts_quote_their_arguments_and_complete_them() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/hr-2025/a.md", "# A\n");
    shelf.write("manuals/hr-2026/a.md", "# A\n");
    let arguments = json!({ "topic": "Leave", "manual_id": "hr-2025", "other_manual_id": "hr-2026" });
    let params = json!({ "name": "compare_editions", "arguments": arguments });
    let reply = shelf.server.request("prompts/get", params);
    let text = reply["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains(r#"manual_id "hr-2025""#) && text.contains(r#"manual_id "hr-2026""#), "{text}");
    let missing = shelf.server.request("prompts/get", json!({ "name": "explore_topic" }));
    assert_eq!(missing["error"]["message"], "arguments.topic: required");
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "compare_editions" },
        "argument": { "name": "other_manual_id", "value": "hr-2026" },
    });
    let reply = shelf.server.request("completion/complete", params);
    assert_eq!(reply["result"]["completion"]["values"], json!(["hr-2026"]));
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "manual://{manual_id}/{+path}{?line,char}" },
        "argument": { "name": "path", "value": "" },
        "context": { "arguments": { "manual_id": "hr-2026" } },
    });
    let reply = shelf.server.request("completion/complete", params);
    assert_eq!(reply["result"]["completion"]["values"], json!(["a.md"]));
}
