//! Coverage, artifact audits, the tooling guide and the adaptive statistics.

use std::process::Command;

use serde_json::{Value, json};

use crate::{Home, Shelf, annai};

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn coverage_counts_every_line_once() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(10));
    shelf.write("vault/empty.md", "");
    let range = |start: u64, end: u64| json!({ "start_line": start, "end_line": end });
    let cited = json!([range(4, 5), range(1, 2), range(5, 6), range(100, 200)]);
    let found = shelf.call("vault_coverage", json!({ "path": "./source.md", "cited_ranges": cited }));
    let expected = json!({
        "path": "source.md", "total_lines": 10, "covered_lines": 5, "coverage_ratio": 0.5,
        "covered_ranges": [range(1, 2), range(4, 6)], "uncovered_ranges": [range(3, 3), range(7, 10)],
        "more": false, "read_coverage_ratio": 0.0, "meets_min_coverage": false,
        "next_actions": [{ "type": "vault_scan", "confidence": 0.9, "params": { "path": "source.md", "cursor": { "start_line": 3 }, "chunk_lines": 1 } }],
    });
    assert_eq!(found, expected);
    let all = json!({ "path": "source.md", "cited_ranges": [range(1, 9)] });
    let met = shelf.call("vault_coverage", all);
    assert_eq!(
        (&met["meets_min_coverage"], &met["next_actions"][0]["type"]),
        (&json!(true), &json!("artifact_audit"))
    );
    assert_eq!(met["next_actions"][0]["params"], Value::Null);
    let with =
        json!({ "path": "source.md", "cited_ranges": [range(1, 10)], "artifact_path": "artifacts/a.md" });
    let met = shelf.call("vault_coverage", with);
    assert_eq!(
        met["next_actions"][0]["params"],
        json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" })
    );
    let empty = shelf.call("vault_coverage", json!({ "path": "empty.md", "cited_ranges": [] }));
    assert_eq!((&empty["coverage_ratio"], &empty["meets_min_coverage"]), (&json!(1.0), &json!(true)));
    for (arguments, code, part) in [
        (
            json!({ "path": "source.md", "cited_ranges": [range(5, 3)] }),
            "invalid_parameter",
            "cited_ranges[0]",
        ),
        (
            json!({ "path": "source.md", "cited_ranges": [{ "start_line": -1, "end_line": 3 }] }),
            "invalid_parameter",
            "start_line",
        ),
        (json!({ "path": "source.md", "cited_ranges": [range(0, 3)] }), "invalid_parameter", "start_line"),
        (json!({ "path": "source.md" }), "invalid_parameter", "cited_ranges"),
        (json!({ "path": "none.md", "cited_ranges": [] }), "not_found", "none.md"),
        (json!({ "path": "../x", "cited_ranges": [] }), "invalid_path", ".."),
        (json!({ "path": ".system/x", "cited_ranges": [] }), "forbidden", ".system"),
    ] {
        let error = shelf.fail("vault_coverage", arguments.clone());
        assert_eq!(error["code"], code, "{arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{arguments}: {error}");
    }
    // A large number of ranges is merged, too.
    let many: Vec<_> = (0..60_000_u64).map(|number| range(number % 10 + 1, number % 10 + 1)).collect();
    let found = shelf.call("vault_coverage", json!({ "path": "source.md", "cited_ranges": many }));
    assert_eq!(found["covered_ranges"], json!([range(1, 10)]));
    for (count, part) in [(60_001, "60000"), (100_000, "200000 values")] {
        let many: Vec<_> = (0..count).map(|_| range(1, 1)).collect();
        let reply = shelf
            .server
            .call("vault_coverage", json!({ "path": "source.md", "cited_ranges": many }))
            .to_string();
        assert!(reply.contains(part), "{count}: {reply}");
    }
}

const FLOW: &str = "# Flow\nsource_lines: 1-10\n\n```mermaid\nflowchart TD\n  A[Start] --> B{Ready?}\n  B -->|yes| C((Go))\n  X[Lost] --> C\n```\n\n- A source_lines: 1-2\n- B source_lines: 3\n- C source_lines: 90-99\n";

fn kinds(found: &Value) -> Vec<(&str, &str)> {
    let findings = found["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| (finding["kind"].as_str().unwrap(), finding["node_id"].as_str().unwrap_or("-")))
        .collect()
}

#[test]
fn flowcharts_are_parsed() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(10));
    shelf.write("vault/artifacts/flow.md", FLOW);
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/flow.md", "source_path": "source.md" }));
    let expected =
        [("orphan_branch", "B"), ("rootless_node", "C"), ("rootless_node", "X"), ("orphan_branch", "X")];
    assert_eq!(kinds(&found), expected, "{found:#}");
    assert_eq!(
        (&found["rootless_nodes"], &found["orphan_branches"], &found["one_way_refs"]),
        (&json!(2), &json!(2), &json!(0))
    );
    assert_eq!((&found["coverage_ratio"], &found["uncovered_ranges_count"]), (&json!(1.0), &json!(0)));
    assert_eq!(found["needs_forced_full_scan"], true);
    assert_eq!(
        found["next_actions"][0]["params"],
        json!({ "path": "source.md", "cursor": { "start_line": 1 }, "chunk_lines": 10 })
    );
    // A corrected artifact has no findings.
    let good = FLOW
        .replace("C source_lines: 90-99", "C source_lines: 4-10\n- X source_lines: 5")
        .replace("X[Lost] --> C", "B -->|no| X[Lost] --> C");
    shelf.write("vault/artifacts/flow.md", &good);
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/flow.md", "source_path": "source.md" }));
    assert_eq!(
        (kinds(&found), &found["needs_forced_full_scan"], &found["next_actions"][0]["type"]),
        (vec![], &json!(false), &json!("stop")),
        "{found:#}"
    );
    shelf.write("vault/artifacts/flow.md", good.replace("A[Start] -->", "A[Start] ??>"));
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/flow.md", "source_path": "source.md" }));
    assert!(kinds(&found).contains(&("not_understood", "-")), "{found:#}");
    shelf.write(
        "vault/artifacts/seq.md",
        "# S\nsource_lines: 1-10\n```mermaid\nsequenceDiagram\n  A->>B: hi\n```\n",
    );
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/seq.md", "source_path": "source.md" }));
    assert_eq!(kinds(&found), [("not_understood", "-")]);
}

#[test]
fn headings_marks_and_references_are_elements() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(20));
    let text = "# Summary\n\nsource_lines: 1-5, 8\n\n## Rules\n\nSee [Limits](#limits). source_lines: 6-7\n\n## Limits\n\nBack to [Rules](#rules). source_lines: 9-12\n\n## Dates\n\nAs in [Limits](#limits) and [Gone](#gone). source_lines: 13-20\n\n## Loose\n\n根拠なし要素\n";
    shelf.write("vault/artifacts/a.md", text);
    let audit = json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" });
    let found = shelf.call("artifact_audit", audit);
    let expected = [
        ("one_way_ref", "Dates"),
        ("one_way_ref", "Dates"),
        ("rootless_node", "Loose"),
        ("rootless_node", "Loose"),
    ];
    assert_eq!(kinds(&found), expected, "{found:#}");
    assert_eq!((&found["coverage_ratio"], &found["one_way_refs"]), (&json!(1.0), &json!(2)));
    let message = found["findings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("line 13, Dates: ") && message.contains("Limits"), "{message}");
    let some = json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md", "cited_ranges": [{ "start_line": 1, "end_line": 4 }] });
    let found = shelf.call("artifact_audit", some);
    assert_eq!(
        (&found["coverage_ratio"], &found["next_actions"][0]["params"]["cursor"]["start_line"]),
        (&json!(0.2), &json!(5))
    );
    shelf.write("vault/artifacts/none.md", "just text\n");
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/none.md", "source_path": "source.md" }));
    assert_eq!((&found["coverage_ratio"], &found["marginal_gain"]), (&Value::Null, &Value::Null));
    // An element without citations is a finding.
    assert_eq!(
        (&found["needs_forced_full_scan"], &found["next_actions"][0]["type"]),
        (&json!(true), &json!("vault_scan"))
    );
    // A wrong range is reported even next to a correct one, and citations before the first heading count.
    shelf.write("vault/artifacts/b.md", "source_lines: 1-10\n\n# H\nsource_lines: 11-20, 50-60\n");
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/b.md", "source_path": "source.md" }));
    assert_eq!((kinds(&found), &found["coverage_ratio"]), (vec![("rootless_node", "H")], &json!(1.0)));
}

#[test]
fn json_graphs_of_the_usual_shapes_are_read() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(10));
    let mut audit = |name: &str, graph: Value| {
        shelf.write(&format!("vault/artifacts/{name}.json"), graph.to_string());
        shelf.call(
            "artifact_audit",
            json!({ "artifact_path": format!("artifacts/{name}.json"), "source_path": "source.md" }),
        )
    };
    let good = [
        json!({ "nodes": [{ "id": "a", "source_lines": "1-5" }, { "id": "b", "source_lines": [6, 10] }], "edges": [{ "from": "a", "to": "b" }] }),
        json!({ "nodes": { "a": { "source_lines": "1-5" }, "b": { "source_lines": [[6, 8], [9, 10]] } }, "edges": [["a", "b"]] }),
        json!({ "elements": { "nodes": [{ "data": { "id": "a", "source_lines": 1 } }, { "data": { "id": "b", "source_lines": { "start_line": 2, "end_line": 10 } } }], "edges": [{ "data": { "source": "a", "target": "b" } }] } }),
        json!({ "id": "a", "source_lines": "1-5", "children": [{ "id": "b", "source_lines": "6-10" }] }),
        json!({ "nodes": [{ "id": "1", "position": {}, "data": { "label": "x", "source_lines": "1-10" } }, { "id": "2", "data": { "name": "y", "source_lines": "1" } }], "edges": [{ "id": "e", "source": "1", "target": "2" }] }),
        json!({ "directed": true, "graph": {}, "nodes": [{ "id": 1, "source_lines": "1-10" }, { "id": 2, "source_lines": "3" }], "links": [{ "source": 1, "target": 2 }] }),
        json!({ "nodes": [{ "name": "p", "source_lines": "1-10" }, { "name": "q", "source_lines": "3" }], "links": [{ "source": 0, "target": 1 }] }),
        json!({ "initial": "on", "states": { "off": { "source_lines": "1", "on": { "GO": "on" } }, "on": { "source_lines": "2-10", "on": { "STOP": { "target": "off" } } } } }),
        json!({ "nodes": [{ "id": "u1", "name": "Start", "source_lines": "1-10" }, { "id": "u2", "name": "End", "source_lines": "2" }], "connections": { "Start": { "main": [[{ "node": "End", "type": "main" }]] } } }),
        json!({ "graph": { "nodes": { "a": { "metadata": { "source_lines": "1-10" } }, "b": { "metadata": { "source_lines": "2" } } }, "edges": [{ "source": "a", "target": "b" }] } }),
        json!([{ "id": "a", "source_lines": "1-5", "next": ["b"] }, { "id": "b", "source_lines": "6-10", "next": "a" }]),
    ];
    for (index, graph) in good.into_iter().enumerate() {
        let found = audit(&format!("good{index}"), graph);
        assert_eq!(kinds(&found), [], "{index}: {found:#}");
        assert_eq!(found["coverage_ratio"], 1.0);
    }
    let bad = json!({
        "nodes": [
            { "id": "a", "source_lines": "1-10", "type": "decision", "refs": ["b"] }, { "id": "b" },
            { "id": "c", "source_lines": "soon" }, { "id": "a" },
        ],
        "edges": [{ "from": "a", "to": "a" }, { "from": "a", "to": "b" }, { "from": "a", "to": "z" }],
    });
    let found = audit("bad", bad);
    let mut all = kinds(&found);
    all.sort_unstable();
    let expected = [
        ("not_understood", "-"),
        ("not_understood", "a"),
        ("not_understood", "c"),
        ("one_way_ref", "a"),
        ("orphan_branch", "c"),
        ("rootless_node", "b"),
    ];
    assert_eq!(all, expected, "{found:#}");
    let odd =
        json!({ "nodes": [{ "id": "a", "source_lines": "1-10" }, { "label": "x" }], "edges": ["a->b"] });
    assert_eq!(kinds(&audit("nameless", odd)), [("not_understood", "-"), ("not_understood", "-")]);
    for (index, graph) in [json!(3), json!({ "x": 1 }), json!([])].into_iter().enumerate() {
        assert_eq!(kinds(&audit(&format!("odd{index}"), graph)), [("not_understood", "-")]);
    }
    let circle = json!({ "nodes": [{ "id": "a", "source_lines": "1-10" }, { "id": "b", "source_lines": "1" }], "edges": [["a", "b"], ["b", "a"], ["a", "a"]] });
    assert_eq!(kinds(&audit("circle", circle)), []);
}

#[test]
fn large_artifacts_are_audited_or_refused() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(10));
    let section = format!("# S\nsource_lines: 1-10\n{}\n", "words ".repeat(1000));
    shelf.write("vault/artifacts/big.md", section.repeat(8000));
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/big.md", "source_path": "source.md" }));
    assert_eq!(found["rootless_nodes"], 0);
    let nodes: Vec<_> = (0..90_000).map(|number| json!({ "id": number })).collect();
    shelf.write("vault/artifacts/big.json", json!({ "nodes": nodes, "edges": [] }).to_string());
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/big.json", "source_path": "source.md" }));
    assert_eq!((&found["rootless_nodes"], &found["more"]), (&json!(90_000), &json!(true)));
    let shown = found["findings"].as_array().unwrap().len();
    assert!((100..=200).contains(&shown) && found.to_string().chars().count() < 25_000, "{shown}");
    shelf.write("vault/artifacts/huge.json", format!("[{}1]", "1,".repeat(500_000)));
    let error = shelf.fail(
        "artifact_audit",
        json!({ "artifact_path": "artifacts/huge.json", "source_path": "source.md" }),
    );
    assert_eq!(error["code"], "forbidden");
}

#[test]
fn following_the_next_actions_leads_from_find_to_audit_and_ends() {
    for (source, artifact) in [
        (lines(300), "# A\nsource_lines: 1-300\n".to_owned()),
        (lines(500), "# A\nsource_lines: 1-3\n\n# B\n".to_owned()),
        (lines(1), FLOW.to_owned()),
    ] {
        let mut shelf = Shelf::new(&[]);
        shelf.write("vault/source.md", &source);
        shelf.write("vault/artifacts/a.md", &artifact);
        let start = json!({ "query": "zxqv nothing" });
        let mut call = ("vault_find".to_owned(), start);
        let (mut kinds, mut made) = (Vec::new(), Vec::new());
        for step in 0.. {
            assert!(step < 40, "{kinds:?}");
            assert!(!made.contains(&call), "{call:?} again after {kinds:?}");
            made.push(call.clone());
            kinds.push(call.0.clone());
            let reply = shelf.call(&call.0, call.1.clone());
            let next = reply["next_actions"][0].clone();
            if call.0 == "vault_read" {
                // An audit with findings leads to the place to fix.
                assert_eq!((&call.1["path"], &next), (&json!("artifacts/a.md"), &Value::Null));
                break;
            }
            let kind = next["type"].as_str().unwrap().to_owned();
            // Only the caller knows the path of the artifact.
            let params = match (kind.as_str(), &next["params"]) {
                ("stop", _) => break,
                ("artifact_audit", Value::Null) => {
                    json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" })
                }
                (_, params) => params.clone(),
            };
            call = (kind, params);
        }
        let journey = ["vault_find", "vault_scan", "vault_coverage", "artifact_audit"];
        let mut left = journey.iter().peekable();
        for kind in &kinds {
            if left.peek().is_some_and(|next| *next == kind) {
                left.next();
            }
        }
        assert!(left.peek().is_none(), "{kinds:?}");
    }
}

#[test]
fn diagrams_are_found_wherever_markdown_has_them() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/source.md", lines(10));
    let chart = "flowchart TD\nA --> B\nX --> B\n";
    for (name, text) in [
        ("case", format!("```Mermaid\n{chart}```\n")),
        ("words", format!("```mermaid {{.x}}\n{chart}```\n")),
        ("braces", format!("```{{mermaid}}\n{chart}```\n")),
        ("colons", format!(":::mermaid\n{chart}:::\n")),
        ("tildes", format!("~~~~mermaid\n{chart}~~~~\n")),
        (
            "quote",
            format!(
                "> ```mermaid\n{}> ```\n",
                chart.lines().map(|line| format!("> {line}\n")).collect::<String>()
            ),
        ),
        (
            "list",
            format!(
                "- x\n\n  ```mermaid\n{}  ```\n",
                chart.lines().map(|line| format!("  {line}\n")).collect::<String>()
            ),
        ),
        ("inline", format!("```foo``` is inline\n\n```mermaid\n{chart}```\n")),
        ("longer", format!("````markdown\n```mermaid\nno\n```\n````\n\n```mermaid\n{chart}```\n")),
        ("open", format!("```mermaid\n{chart}")),
    ] {
        shelf.write(
            &format!("vault/artifacts/{name}.md"),
            format!("\u{feff}# H\n\nsource_lines: 1-10\n\n{text}"),
        );
        let found = shelf.call(
            "artifact_audit",
            json!({ "artifact_path": format!("artifacts/{name}.md"), "source_path": "source.md" }),
        );
        assert!(kinds(&found).contains(&("orphan_branch", "X")), "{name}: {found:#}");
    }
    shelf.write("vault/notes/x.mmd", chart);
    let found =
        shelf.call("artifact_audit", json!({ "artifact_path": "notes/x.mmd", "source_path": "source.md" }));
    assert!(kinds(&found).contains(&("orphan_branch", "X")), "{found:#}");
    // Citations on lines that start with an id, with any list marker.
    let marks = "- **A**: source_lines: 1-3\n1. B source_lines: 4\n> X（見よ） source_lines: 5-10\n";
    shelf.write("vault/artifacts/marks.md", format!("# H\n```mermaid\n{chart}A --> X\n```\n{marks}"));
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/marks.md", "source_path": "source.md" }));
    assert_eq!((kinds(&found), &found["coverage_ratio"]), (vec![], &json!(1.0)), "{found:#}");
}

#[test]
fn the_tooling_guide_matches_the_tool_list() {
    let mut shelf = Shelf::new(&[]);
    let first = |shelf: &mut Shelf, arguments: Value| {
        shelf.call("get_tooling_guide", arguments)["first_tool"].clone()
    };
    for (arguments, expected) in [
        (json!({}), "manual_find"),
        (json!({ "intent": "explore" }), "manual_find"),
        (json!({ "intent": "explore", "target": "manual" }), "manual_find"),
        (json!({ "intent": "explore", "target": "vault" }), "vault_find"),
        (json!({ "intent": "produce" }), "vault_create"),
        (json!({ "intent": "revise", "target": "vault" }), "vault_search"),
        (json!({ "intent": "audit" }), "vault_coverage"),
        (json!({ "intent": "unknown", "target": "unknown" }), "manual_find"),
    ] {
        assert_eq!(first(&mut shelf, arguments.clone()), expected, "{arguments}");
    }
    for wrong in
        [json!({ "intent": "x" }), json!({ "target": "x" }), json!({ "intent": 3 }), json!({ "more": 1 })]
    {
        assert_eq!(shelf.fail("get_tooling_guide", wrong)["code"], "invalid_parameter");
    }
    let guide = shelf.call("get_tooling_guide", json!({}));
    let listed = shelf.server.request("tools/list", json!({}))["result"]["tools"].take();
    let names = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|tool| tool[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&guide["tools"], "tool_name"), names(&listed, "name"));
    for tool in guide["tools"].as_array().unwrap() {
        let declared =
            listed.as_array().unwrap().iter().find(|listed| listed["name"] == tool["tool_name"]).unwrap();
        let required = declared["inputSchema"].get("required").cloned().unwrap_or(json!([]));
        assert_eq!(tool["required_inputs"], required, "{}", tool["tool_name"]);
        for input in required.as_array().unwrap() {
            assert!(
                tool["safe_defaults"].get(input.as_str().unwrap()).is_some(),
                "{}: {input}",
                tool["tool_name"]
            );
        }
        assert!(
            tool["common_errors"].as_array().unwrap().len() <= 2
                && !tool["when_to_use"].as_str().unwrap().is_empty()
        );
    }
}

/// The statistics, which are written after the reply.
fn stats(shelf: &Shelf) -> Vec<Value> {
    shelf.server.process.wait_until_idle();
    let bytes = std::fs::read(shelf.home.0.join("vault/.system/adaptive_stats.jsonl")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn statistics_contain_numbers_but_no_text() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/alpha/secretfile.md",
        "# Confidential heading\n\nThe xylophone is purple.\n\n## Other\n\nNothing.\n",
    );
    shelf.write("manuals/beta/b.md", "# B\n\nThe xylophone is elsewhere.\n");
    shelf.write("vault/note.md", "x\n");
    let found = shelf.call("manual_find", json!({ "query": "purple xylophone", "manual_id": "alpha" }));
    shelf.call("manual_read", json!({ "ref": found["top"][0]["ref"], "scope": "section" }));
    shelf.call("manual_read", json!({ "ref": { "target": "manual", "manual_id": "alpha", "path": "secretfile.md", "start_line": 5 } }));
    assert_eq!((stats(&shelf).len(), &stats(&shelf)[0]["used"]), (1, &json!(2)));
    shelf.call("manual_find", json!({ "query": "purple xylophone" }));
    let lines = stats(&shelf);
    assert_eq!(lines.len(), 2);
    for key in [
        "ts",
        "query_hash",
        "scanned_files",
        "candidates",
        "warnings",
        "max_stage_applied",
        "scope_expanded",
        "cutoff_reason",
        "unscanned_sections_count",
        "est_tokens",
        "est_tokens_in",
        "est_tokens_out",
        "added_evidence_count",
        "added_est_tokens",
        "marginal_gain",
        "candidate_low_threshold",
        "file_bias_threshold",
    ] {
        assert!(lines[0].get(key).is_some(), "{key}");
    }
    assert_eq!(
        (&lines[0]["candidate_low_threshold"], &lines[0]["file_bias_threshold"]),
        (&json!(3), &json!(0.8))
    );
    // Two sections were read, of which the first find had returned one; the second find added nothing.
    assert_eq!((&lines[0]["used"], &lines[0]["used_found"]), (&json!(2), &json!(1)), "{lines:?}");
    assert_eq!(lines[1]["added_evidence_count"], 0, "{lines:?}");
    let text = std::fs::read_to_string(shelf.home.0.join("vault/.system/adaptive_stats.jsonl"))
        .unwrap()
        .to_lowercase();
    let trace = found["trace_id"].as_str().unwrap();
    for word in ["xylophone", "purple", "secretfile", "confidential", "alpha", "beta", trace] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn a_read_is_credited_to_the_find_that_returned_the_section() {
    let mut shelf = Shelf::new(&[("ALLOW_FILE_SCOPE", "true")]);
    for number in 0..3 {
        let text: String = (0..4).map(|part| format!("## Part {part}\n\nwidget\n\n")).collect();
        shelf.write(&format!("manuals/m/f{number}.md"), text);
    }
    shelf.write("vault/note.md", "x\n");
    let first = shelf.call("manual_find", json!({ "query": "widget", "budget": { "max_candidates": 4 } }));
    let left = shelf.call("manual_hits", json!({ "trace_id": first["trace_id"], "kind": "unscanned" }));
    let rest: Vec<_> = left["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["path"].as_str().unwrap().to_owned())
        .collect();
    let whole = ["f0.md", "f1.md", "f2.md"]
        .into_iter()
        .find(|path| !rest.iter().any(|left| left == path))
        .expect("a file of the first");
    shelf
        .call("manual_find", json!({ "query": "widget", "only_unscanned_from_trace_id": first["trace_id"] }));
    let place = |path: &str| json!({ "ref": { "target": "manual", "manual_id": "m", "path": path, "start_line": 1 } });
    shelf.call("manual_read", place(whole));
    shelf.call("manual_read", place(&rest[0]));
    let copy = json!({ "manual_id": "m", "from_path": whole, "to_path": "copy.md", "mode": "overwrite", "limits": { "allow_file": true } });
    shelf.call("bridge_copy_file", copy);
    let lines = stats(&shelf);
    let uses = |line: &Value| (line["used"].as_u64().unwrap(), line["used_found"].as_u64().unwrap());
    assert_eq!((uses(&lines[0]), uses(&lines[1])), ((2, 2), (1, 1)), "{lines:?}");
}

#[test]
fn a_foreign_file_at_the_statistics_path_is_left_alone() {
    for kind in ["link", "text"] {
        let home = Home::new();
        let other = home.write("important.txt", "my own words\nsecond line\n");
        home.write("manuals/m/a.md", "# A\n\nwidget\n");
        let path = home.0.join("stats");
        match kind {
            "link" => std::os::unix::fs::symlink(&other, &path).unwrap(),
            _ => std::fs::copy(&other, &path).map(drop).unwrap(),
        }
        let mut command = annai(&home);
        let mut server = annai_testkit::mcp::StdioServer::start(
            command.args(["--stdio", "--toolset", "library"]).env("ADAPTIVE_STATS_PATH", &path),
            annai_testkit::mcp::Framing::Lines,
        );
        server.initialize("2025-06-18");
        for _ in 0..2 {
            let found = server.call("manual_find", json!({ "query": "widget" }));
            let place = found["result"]["structuredContent"]["top"][0]["ref"].clone();
            server.call("manual_read", json!({ "ref": place }));
        }
        server.finish();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "my own words\nsecond line\n");
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept.starts_with("my own words\nsecond line\n"), "{kind}: {kept}");
    }
}

#[test]
fn damaged_statistics_are_skipped() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# A\n\nwidget\n");
    let find = |shelf: &mut Shelf| {
        shelf.call("manual_find", json!({ "query": "widget" }))["summary"]["candidates"].clone()
    };
    // Without a vault, no statistics file is created.
    assert_eq!((find(&mut shelf), stats(&shelf).len()), (json!(1), 0));
    assert!(!shelf.home.0.join("vault").exists());
    shelf.write(
        "vault/.system/adaptive_stats.jsonl",
        b"{\"ts\": 1, broken\n\xff\xfe\n{\"ts\":99999999999999}\n{\"half".as_slice(),
    );
    assert_eq!(find(&mut shelf), 1);
    assert_eq!(
        stats(&shelf).iter().filter(|line| line.get("query_hash").is_some()).count(),
        1,
        "{:?}",
        stats(&shelf)
    );
    // Whatever somebody writes into the file, the thresholds in force move by one step a day.
    let mut line = stats(&shelf).pop().unwrap();
    (line["candidate_low_threshold"], line["file_bias_threshold"]) = (json!(900), json!(7.5));
    shelf.write("vault/.system/adaptive_stats.jsonl", format!("{line}\n"));
    for _ in 0..2 {
        assert_eq!(find(&mut shelf), 1);
        let last = stats(&shelf).pop().unwrap();
        assert_eq!(
            (&last["candidate_low_threshold"], &last["file_bias_threshold"]),
            (&json!(3), &json!(0.8))
        );
    }
    // The size of the file is limited.
    let many: String = (0..3000).map(|_| format!("{line}\n")).collect();
    shelf.write("vault/.system/adaptive_stats.jsonl", many);
    find(&mut shelf);
    find(&mut shelf);
    assert_eq!(stats(&shelf).len(), 200);
    std::fs::remove_file(shelf.home.0.join("vault/.system/adaptive_stats.jsonl")).unwrap();
    std::fs::create_dir(shelf.home.0.join("vault/.system/adaptive_stats.jsonl")).unwrap();
    assert_eq!(find(&mut shelf), 1);
    let mut off = Shelf::new(&[("ADAPTIVE_TUNING", "false")]);
    off.write("manuals/m/a.md", "# A\n\nwidget\n");
    off.write("vault/note.md", "x\n");
    assert_eq!(find(&mut off), 1);
    // Without tuning, the statistics are kept.
    assert_eq!(stats(&off).len(), 1);
    assert_eq!(stats(&off)[0]["candidate_low_threshold"], 3);
}

#[test]
fn annai_coverage_and_audit_print_bars_and_locations() {
    let home = Home::new();
    home.write("vault/source.md", &lines(10));
    home.write("vault/artifacts/flow.md", FLOW);
    let run = |arguments: &[&str]| -> (String, Option<i32>) {
        let mut command: Command = annai(&home);
        let done = command.args(arguments).output().unwrap();
        (String::from_utf8(done.stdout).unwrap() + &String::from_utf8_lossy(&done.stderr), done.status.code())
    };
    let (text, code) = run(&["coverage", "source.md", "--lines", "1-5,9"]);
    assert!(
        text.contains("█████░░░█░")
            && text.contains("6 of 10 lines covered, 60.0 %")
            && text.contains("source.md:6 to 8"),
        "{text}"
    );
    // Too few lines are covered.
    assert_eq!(code, Some(1));
    // Paths as the command prints them are accepted as arguments.
    let (text, code) = run(&["coverage", "vault/source.md", "--lines", "1-10"]);
    assert!(text.contains("100.0 %") && code == Some(0), "{text}");
    let (text, _) = run(&["coverage", "source.md", "--artifact", "artifacts/flow.md"]);
    assert!(text.contains("10 of 10 lines covered, 100.0 %"), "{text}");
    let (text, code) = run(&["audit", "artifacts/flow.md", "source.md"]);
    assert!(text.contains("flow.md:8  rootless_node  X: ") && text.contains("4 problems found"), "{text}");
    assert_eq!(code, Some(1));
    for (arguments, part, status) in [
        (&["coverage", "none.md"][..], "none.md does not exist", 1),
        (&["coverage", "source.md", "--lines", "9-1"], "--lines: expected line ranges", 2),
        (&["audit", "none.md", "source.md"], "none.md does not exist", 1),
        (&["audit", "../x", "source.md"], "..", 2),
    ] {
        let (text, code) = run(arguments);
        assert!(text.contains(part), "{arguments:?}: {text}");
        assert_eq!(code, Some(status), "{arguments:?}");
    }
}
