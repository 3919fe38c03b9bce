//! Which tools are served: `--toolset`, `--tools`, `--read-only`, their settings, and the headers that narrow a request; and
//! the instructions, which name only tools that the caller sees.

use annai_testkit::http::HttpServer;
use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

/// The names that `annai tools --json` lists with these arguments.
fn listed(home: &Home, arguments: &[&str]) -> Vec<String> {
    let output = annai(home).args(["tools", "--json"]).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    names(&serde_json::from_str(&stdout(&output)).unwrap())
}

fn names(tools: &Value) -> Vec<String> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_are_chosen_and_removed_by_name() {
    let home = Home::new();
    assert_eq!(listed(&home, &["--tools", "vault_ls, answer"]), ["answer", "vault_ls"]);
    assert_eq!(listed(&home, &["--tools", "answer", "--tools", "vault_ls,-answer"]), ["vault_ls"]);
    let mut others = listed(&home, &[]);
    others.retain(|name| name != "answer" && name != "vault_write");
    assert_eq!(listed(&home, &["--tools", "-answer,-vault_write"]), others);
    let removed = ["--toolset", "answers", "--tools=-answer_quick"];
    assert_eq!(listed(&home, &removed), ["answer", "answer_detailed"]);
    let read_only = listed(&home, &["--read-only"]);
    for (name, reads) in
        [("vault_read", true), ("answer", true), ("vault_write", false), ("vault_create", false)]
    {
        assert_eq!(read_only.iter().any(|each| each == name), reads, "{name}");
    }
    // The settings and the environment do the same; the command line overrides them.
    let config = home.write("c.yaml", "server: { tools: [-answer, -vault_write], read_only: false }\n");
    let config = ["--config", config.to_str().unwrap()];
    assert_eq!(listed(&home, &config), others);
    assert_eq!(listed(&home, &[&config[..], &["--tools", "answer"]].concat()), ["answer"]);
    let output = annai(&home).args(["tools", "--json"]).env("ANNAI_READ_ONLY", "1").output().unwrap();
    assert_eq!(names(&serde_json::from_str(&stdout(&output)).unwrap()), read_only);
    let output = annai(&home).args(["--show-config", "--tools", "answer", "--read-only"]).output().unwrap();
    let shown: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(
        (&shown["effective"]["server"]["tools"], &shown["effective"]["server"]["read_only"]),
        (&json!(["answer"]), &json!(true))
    );
    assert_eq!(shown["origins"]["server.tools"], "--tools");
}

#[test]
fn wrong_names_stop_the_start_and_say_what_exists() {
    let home = Home::new();
    for (arguments, problem) in [
        (
            &["--tools", "answers"][..],
            "--tools: server.tools: there is no tool named `answers`; did you mean `answer`?",
        ),
        (&["--tools", "-none"], "--tools: server.tools: there is no tool named `none`; "),
        (
            &["--toolset", "library", "--tools", "answer"],
            "--tools: server.tools: the tool `answer` belongs to the toolset `answers`, which is not served",
        ),
        (
            &["--tools", "vault_write", "--read-only"],
            "--read-only: server.read_only: no tool is left to serve",
        ),
    ] {
        for command in [&["--stdio"][..], &["tools"], &["--show-config"]] {
            let output = annai(&home).args(command).args(arguments).output().unwrap();
            let (code, text) = (output.status.code(), stderr(&output));
            assert_eq!(code, Some(2), "{command:?} {arguments:?}: {text}");
            assert!(text.contains(problem), "{command:?} {arguments:?}: {text}");
        }
    }
}

#[test]
fn commands_use_only_the_chosen_tools() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    let run = |arguments: &[&str]| {
        let output = annai(&home).args(arguments).env("PORT", "0").output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, _, text) = run(&["call", "vault_ls", "--tools", "-vault_ls"]);
    assert_eq!(
        (code, text.as_str()),
        (Some(2), "error: there is no tool named `vault_ls`; `annai tools` lists the tools\n")
    );
    let (code, _, text) = run(&["find", "a", "--tools", "vault_ls"]);
    assert!(code == Some(2) && text.contains("needs the tool manual_find"), "{text}");
    // Without tools that use the API, no key is needed.
    let (code, text, _) = run(&["doctor", "--tools", "manual_find,manual_read"]);
    assert!(code == Some(0) && text.contains("tools: 2 tools;") && !text.contains("answers:"), "{text}");
    let (_, text, _) = run(&["init", "cursor", "--tools", "-answer", "--read-only"]);
    assert!(
        text.replace(char::is_whitespace, "").contains(r#"["--stdio","--tools=-answer","--read-only"]"#),
        "{text}"
    );
}

#[test]
fn a_tool_that_is_not_chosen_is_unknown() {
    let home = Home::new();
    let mut command = annai(&home);
    let mut server = StdioServer::start(command.args(["--stdio", "--read-only"]), Framing::Lines);
    server.initialize("2025-06-18");
    let error = server.call("vault_create", json!({ "path": "a.md", "content": "" }))["error"].take();
    let message = "unknown tool: vault_create; tools/list lists the tools";
    assert_eq!(error, json!({ "code": -32602, "message": message }));
    // The guide of the library does not name it either.
    let guide =
        server.call("get_tooling_guide", json!({}))["result"]["structuredContent"]["tools"].to_string();
    assert!(guide.contains("\"vault_read\"") && !guide.contains("\"vault_create\""), "{guide}");
    server.finish();
}

#[test]
fn instructions_name_the_tools_that_the_caller_sees() {
    let home = Home::new();
    let instructions = |arguments: &[&str]| {
        let mut server = StdioServer::start(annai(&home).arg("--stdio").args(arguments), Framing::Lines);
        let told = server.initialize("2025-11-25")["result"]["instructions"].take();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let discovered =
            server.request("server/discover", json!({ "_meta": meta }))["result"]["instructions"].take();
        assert_eq!(told, discovered);
        told.as_str().unwrap_or_default().to_owned()
    };
    let all = instructions(&[]);
    assert!(all.len() < 2000, "{}", all.len());
    assert!(all.starts_with("To answer a question about the world"), "{all}");
    for tool in ["`answer`", "`chatgpt_o3_search`", "`manual_find`", "`vault_find`", "`artifact_audit`"] {
        assert!(all.contains(tool), "{tool}: {all}");
    }
    let library = instructions(&["--toolset", "library", "--tools", "-vault_coverage"]);
    assert!(library.contains("`manual_find`") && !library.contains("`vault_coverage`"), "{library}");
    assert!(!library.contains("`answer"), "{library}");
    assert!(!instructions(&["--tools", "-chatgpt_o3_search"]).contains("links and snippets"));
}

/// Sends a request with headers that narrow it, and returns the status and the reply.
fn post(server: &HttpServer, headers: &[(&str, &str)], method: &str, params: &Value) -> (u16, Value) {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = server.post(headers, &message);
    (response.status, response.json())
}

#[test]
fn headers_narrow_what_one_request_sees() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    let server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0", "--tools", "-vault_write"]));
    let list = |headers: &[(&str, &str)]| {
        names(&post(&server, headers, "tools/list", &json!({})).1["result"]["tools"])
    };
    let all = list(&[]);
    assert!(all.len() > 20 && !all.contains(&"vault_write".to_owned()), "{all:?}");
    let answers = ("x-annai-toolsets", "answers, search");
    assert_eq!(list(&[answers]), ["answer", "answer_detailed", "answer_quick", "chatgpt_o3_search"]);
    let library = ("x-annai-toolsets", "library");
    let reading = list(&[library, ("x-annai-readonly", "true")]);
    assert!(
        reading.contains(&"vault_read".to_owned()) && !reading.contains(&"vault_create".to_owned()),
        "{reading:?}"
    );
    assert!(!reading.contains(&"answer".to_owned()));
    // Headers cannot bring back what the server does not serve, and other requests see everything.
    assert!(!list(&[library, ("x-annai-readonly", "0")]).contains(&"vault_write".to_owned()));
    assert_eq!(list(&[]), all);

    // What is not listed is unknown.
    let call = |headers: &[(&str, &str)], name: &str, arguments: Value| {
        post(&server, headers, "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let (status, reply) = call(&[answers], "vault_ls", json!({}));
    assert_eq!((status, &reply["error"]["code"]), (200, &json!(-32602)), "{reply}");
    let (_, reply) =
        call(&[("x-annai-readonly", "1")], "vault_create", json!({ "path": "a.md", "content": "" }));
    assert!(reply["error"]["message"].as_str().unwrap().starts_with("unknown tool: vault_create"), "{reply}");
    assert_eq!(
        call(&[library], "manual_list", json!({})).1["result"]["structuredContent"]["items"][0]["manual_id"],
        "m"
    );
    let (_, guide) = call(&[library, ("x-annai-readonly", "1")], "get_tooling_guide", json!({}));
    assert!(
        !guide["result"]["structuredContent"]["tools"].to_string().contains("\"vault_create\""),
        "{guide}"
    );

    // Completion and instructions follow.
    let argument = json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "manual_id", "value": "" } });
    let completed = |headers: &[(&str, &str)]| {
        post(&server, headers, "completion/complete", &argument).1["result"]["completion"]["values"].take()
    };
    assert_eq!((completed(&[library]), completed(&[answers])), (json!(["m"]), json!([])));
    let initialize = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
    let (_, info) = post(&server, &[library], "initialize", &initialize);
    let told = info["result"]["instructions"].as_str().unwrap();
    assert!(told.contains("`manual_find`") && !told.contains("`answer`"), "{told}");
}

#[test]
fn wrong_headers_are_refused() {
    let home = Home::new();
    let server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0", "--toolset", "library"]));
    for (header, message) in [
        (
            ("x-annai-toolsets", "library,answers"),
            "X-Annai-Toolsets: no toolset named `answers` is served; the served toolsets are library",
        ),
        (("x-annai-toolsets", ""), "X-Annai-Toolsets: expected names of toolsets, separated by commas"),
        (("x-annai-readonly", "yes"), "X-Annai-Readonly: expected true or false"),
    ] {
        let (status, reply) = post(&server, &[header], "tools/list", &json!({}));
        assert_eq!((status, &reply["error"]), (400, &json!({ "code": -32600, "message": message })));
    }
    let preflight = [("origin", "http://localhost:6274"), ("access-control-request-method", "POST")];
    let response = server.send("OPTIONS", "/mcp", &preflight, "");
    let allowed = response.header("access-control-allow-headers").unwrap();
    assert!(allowed.contains("X-Annai-Toolsets, X-Annai-Readonly"), "{allowed}");
}
