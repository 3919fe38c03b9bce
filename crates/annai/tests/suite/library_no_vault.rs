//! Without a vault nothing is created in the folder in which a client starts the program.

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Home, annai};

fn serve(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> StdioServer {
    let mut command = annai(home);
    command.args(["--stdio", "--toolset", "library"]).args(arguments).envs(env.iter().copied());
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    server
}

fn entries(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(&home.0).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn writing_says_what_to_set_and_reading_works() {
    let (home, manuals) = (Home::new(), Home::new());
    manuals.write("guide/a.md", "# Refunds\n\nRefunds take 14 days.\n");
    let folder = manuals.0.to_str().unwrap();
    let mut server = serve(&home, &["--manuals", folder], &[("XDG_CACHE_HOME", folder)]);
    let manual = json!({ "target": "manual", "manual_id": "guide", "path": "a.md", "start_line": 1 });
    for (tool, arguments) in [
        ("vault_create", json!({ "path": "a.md", "content": "x" })),
        ("vault_write", json!({ "path": "a.md", "content": "x", "mode": "append" })),
        ("vault_replace", json!({ "path": "a.md", "find": "x", "replace": "y" })),
        ("bridge_copy_section", json!({ "from_ref": manual, "to_path": "a.md", "mode": "overwrite" })),
        ("vault_ls", json!({})),
        ("vault_find", json!({ "query": "refunds" })),
    ] {
        let reply = server.call(tool, arguments);
        let error = &reply["result"]["_meta"]["annai/error"];
        assert_eq!(error["code"], "not_configured", "{tool}: {reply}");
        for way in ["--vault DIR", "VAULT_ROOT", "WORKSPACE_ROOT"] {
            assert!(error["message"].as_str().unwrap().contains(way), "{tool}: {error}");
        }
    }
    for (tool, arguments) in [
        ("manual_find", json!({ "query": "how long do refunds take" })),
        ("manual_read", json!({ "ref": manual })),
        ("manual_list", json!({})),
        ("get_tooling_guide", json!({})),
    ] {
        let reply = server.call(tool, arguments);
        assert!(reply["result"]["structuredContent"].is_object(), "{tool}: {reply}");
    }
    drop(server);
    assert_eq!(entries(&home), Vec::<String>::new());
}

#[test]
fn a_chosen_vault_is_created_and_one_that_exists_is_used() {
    let create = json!({ "path": "a.md", "content": "x" });
    for (arguments, env, file) in [
        (&["--vault", "notes"][..], &[][..], "notes/a.md"),
        (&[], &[("VAULT_ROOT", "notes")], "notes/a.md"),
        (&[], &[("WORKSPACE_ROOT", ".")], "vault/a.md"),
        (&["--config", "c.yaml"], &[], "other/vault/a.md"),
    ] {
        let home = Home::new();
        home.write("c.yaml", "library: { workspace_root: other }\n");
        let reply = serve(&home, arguments, env).call("vault_create", create.clone());
        assert_eq!(reply["result"]["structuredContent"]["written_path"], "a.md", "{reply}");
        assert!(home.0.join(file).exists(), "{file}");
    }
    let home = Home::new();
    home.write("vault/b.md", "# B\n");
    home.write("manuals/m/a.md", "# A\n\nText.\n");
    let mut server = serve(&home, &[], &[]);
    server.call("manual_find", json!({ "query": "text" }));
    assert_eq!(server.call("vault_create", create)["result"]["isError"], Value::Null);
    drop(server);
    assert!(home.0.join("vault/a.md").exists());
    assert!(
        !home.0.join("vault/.system/adaptive_stats.jsonl").exists(),
        "nobody has said that this is the vault"
    );
}
