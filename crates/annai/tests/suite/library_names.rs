//! The vault cannot become a program: names that other programs run or obey, execute bits, hidden files, and the quota that all
//! processes share.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Shelf, annai};

const MANUAL: &str = "# Rules\n\n[core]\n";

/// The calls of all tools that write, to a path.
fn writes(path: &str) -> Vec<(&'static str, Value)> {
    let from = json!({ "target": "manual", "manual_id": "m", "path": "a.md", "start_line": 1 });
    vec![
        ("vault_create", json!({ "path": path, "content": "x" })),
        ("vault_write", json!({ "path": path, "content": "x", "mode": "overwrite" })),
        ("vault_write", json!({ "path": path, "content": "x", "mode": "append" })),
        ("vault_replace", json!({ "path": path, "find": "o", "replace": "x" })),
        ("bridge_copy_section", json!({ "from_ref": from, "to_path": path, "mode": "overwrite" })),
        ("bridge_copy_section", json!({ "from_ref": from, "to_path": path, "mode": "append" })),
        (
            "bridge_copy_file",
            json!({ "manual_id": "m", "from_path": "b.json", "to_path": path, "mode": "overwrite" }),
        ),
    ]
}

fn shelf_with(env: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::new(env);
    shelf.write("manuals/m/a.md", MANUAL);
    shelf.write("manuals/m/b.json", "{}");
    shelf
}

fn mode_of(shelf: &Shelf, path: &str) -> u32 {
    std::fs::metadata(shelf.home.0.join("vault").join(path)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(shelf: &Shelf, path: &str, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(shelf.home.0.join("vault").join(path), permissions).unwrap();
}

#[test]
fn no_tool_writes_a_name_that_programs_run_or_obey() {
    let mut shelf = shelf_with(&[]);
    for path in [
        ".git/config",
        ".GIT/config",
        "notes/.envrc",
        ".obsidian/plugins/x/main.js",
        ".mcp.json",
        ".claude/settings.json",
        ".vscode/tasks.json",
        "CLAUDE.md",
        "notes/agents.MD",
        "HEAD",
        "mirror.git/config",
    ] {
        shelf.write(&format!("vault/{path}"), "old\n");
        for (tool, arguments) in writes(path) {
            let error = shelf.fail(tool, arguments);
            assert_eq!((&error["code"], &error["details"]["path"]), (&json!("forbidden"), &json!(path)));
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("library.vault_allow_names"), "{message}");
        }
        assert_eq!(shelf.file(path), "old\n");
    }
    for path in ["\u{200c}.git/config", "GIT~1/config", "AGENTS.md.", "SKILL.md", ".x"] {
        let error = shelf.fail("vault_create", json!({ "path": path, "content": "x" }));
        assert_eq!(error["code"], "forbidden", "{error}");
        assert!(!shelf.home.0.join("vault").join(path).exists(), "{path}");
    }
    shelf.call("vault_create", json!({ "path": "notes/agents.txt", "content": "x" }));
}

/// The attack itself, with the real git: a repository that names a program, made of files alone.
#[test]
fn the_vault_does_not_become_a_repository_that_runs_a_program() {
    let mut shelf = shelf_with(&[]);
    let config =
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch ran; false\"\n";
    for folder in [".git/", "", "deep/"] {
        for (name, content) in
            [("HEAD", "ref: refs/heads/main\n"), ("config", config), ("objects/x", ""), ("refs/x", "")]
        {
            let arguments = json!({ "path": format!("{folder}{name}"), "content": content });
            shelf.server.call("vault_create", arguments);
        }
        let vault = shelf.home.0.join("vault");
        let inside = if folder == "deep/" { vault.join("deep") } else { vault.clone() };
        let mut git = Command::new("git");
        git.arg("status").current_dir(&inside).env_clear().env("PATH", "/usr/bin:/bin");
        git.env("HOME", &shelf.home.0).env("GIT_CEILING_DIRECTORIES", &shelf.home.0);
        let output = git.output().unwrap();
        assert!(!output.status.success(), "{folder:?} is not a repository: {output:?}");
        assert!(!inside.join("ran").exists() && !vault.join(".git/ran").exists(), "{folder:?}");
    }
}

#[test]
fn a_file_with_an_execute_bit_is_not_changed() {
    let mut shelf = shelf_with(&[]);
    shelf.write("vault/run.txt", "old\n");
    for mode in [0o755, 0o744, 0o654, 0o645] {
        set_mode(&shelf, "run.txt", mode);
        for (tool, arguments) in writes("run.txt").into_iter().skip(1) {
            let error = shelf.fail(tool, arguments);
            assert_eq!(error["code"], "forbidden", "{tool}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("run.txt has an execute bit"), "{message}");
        }
        assert_eq!((shelf.file("run.txt").as_str(), mode_of(&shelf, "run.txt")), ("old\n", mode));
    }
    set_mode(&shelf, "run.txt", 0o640);
    shelf.call("vault_write", json!({ "path": "run.txt", "content": "new\n", "mode": "overwrite" }));
    assert_eq!((shelf.file("run.txt").as_str(), mode_of(&shelf, "run.txt")), ("new\n", 0o640));
}

#[test]
fn new_files_are_never_more_than_0644_whatever_the_umask() {
    let shelf = shelf_with(&[]);
    for (umask, expected) in [("000", 0o644), ("022", 0o644), ("077", 0o600)] {
        let program = annai(&shelf.home);
        let mut command = Command::new("sh");
        let script = format!("umask {umask}; exec \"$0\" call vault_create path=u{umask}.md content=x");
        command.args(["-c", &script]).arg(program.get_program());
        command.env_clear().env("HOME", &shelf.home.0).env("WORKSPACE_ROOT", ".").current_dir(&shelf.home.0);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(mode_of(&shelf, &format!("u{umask}.md")), expected, "umask {umask}");
    }
}

#[test]
fn hidden_files_are_neither_read_listed_nor_searched_and_the_replies_say_so() {
    let mut shelf = shelf_with(&[]);
    shelf.write("vault/a.md", "The budget is here.\n");
    shelf.write("vault/.git/config", "budget\n");
    shelf.write("vault/.git/deep/x.md", "budget\n");
    shelf.write("vault/notes/.secret.md", "budget\n");
    shelf.write("vault/notes/b.md", "nothing\n");
    let listed = shelf.call("vault_ls", json!({}));
    let names: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!((names, &listed["hidden"]), (vec!["a.md", "notes"], &json!(1)));
    let listed = shelf.call("vault_ls", json!({ "relative_dir": "notes" }));
    assert_eq!((&listed["total"], &listed["hidden"]), (&json!(1), &json!(1)));
    let found = shelf.call("vault_search", json!({ "query": "budget" }));
    assert_eq!((&found["total"], &found["results"][0]["path"]), (&json!(1), &json!("a.md")));
    assert_eq!((&found["hidden"], &found["warnings"]), (&json!(2), &json!(0)));
    let found = shelf.call("vault_find", json!({ "query": "budget" }));
    assert_eq!((&found["summary"]["candidates"], &found["summary"]["files_total"]), (&json!(1), &json!(2)));
    let notice = "2 hidden files and folders of the vault were not searched: their names begin with a dot";
    assert_eq!(found["summary"]["notices"], json!([notice]));
    let coverage = json!({ "path": ".git/config", "cited_ranges": [] });
    for (tool, arguments) in [
        ("vault_read", json!({ "path": ".git/config", "full": true })),
        ("vault_read", json!({ "path": "notes/.secret.md", "full": true })),
        ("vault_scan", json!({ "path": ".Git/config" })),
        ("vault_coverage", coverage),
        ("artifact_audit", json!({ "artifact_path": "a.md", "source_path": ".git/config" })),
        ("artifact_audit", json!({ "artifact_path": ".git/deep/x.md", "source_path": "a.md" })),
        ("vault_ls", json!({ "relative_dir": ".git" })),
        ("vault_search", json!({ "query": "budget", "relative_dir": ".git/deep" })),
        ("vault_find", json!({ "query": "budget", "scope": { "relative_dir": ".git" } })),
    ] {
        let error = shelf.fail(tool, arguments);
        assert_eq!(error["code"], "forbidden", "{tool}: {error}");
        assert!(error["message"].as_str().unwrap().contains("begins with a dot"), "{tool}: {error}");
    }
    // What agents read as instructions is not hidden: the owner may have put it there.
    shelf.write("vault/AGENTS.md", "Use tabs.\n");
    assert_eq!(shelf.call("vault_read", json!({ "path": "AGENTS.md", "full": true }))["text"], "Use tabs.");
}

#[test]
fn the_owner_can_allow_names() {
    let mut shelf = shelf_with(&[("VAULT_ALLOW_NAMES", "agents.md,.drafts,run.txt")]);
    for (path, mode) in [("AGENTS.md", 0o644), (".drafts/a.md", 0o644), ("run.txt", 0o755)] {
        shelf.call("vault_create", json!({ "path": path, "content": "old plan\n" }));
        set_mode(&shelf, path, mode);
        shelf.call("vault_replace", json!({ "path": path, "find": "old", "replace": "new" }));
        assert_eq!(shelf.call("vault_read", json!({ "path": path, "full": true }))["text"], "new plan");
        assert_eq!(mode_of(&shelf, path), mode);
    }
    let listed = shelf.call("vault_ls", json!({ "relative_dir": ".drafts" }));
    assert_eq!((&listed["entries"][0]["path"], &listed["hidden"]), (&json!(".drafts/a.md"), &Value::Null));
    let found = shelf.call("vault_search", json!({ "query": "plan", "relative_dir": ".drafts" }));
    assert_eq!(found["total"], 1);
    // It is still hidden from those who do not name it, and from the index.
    assert_eq!(shelf.call("vault_search", json!({ "query": "plan" }))["hidden"], 1);
    let error = shelf.fail("vault_find", json!({ "query": "plan", "scope": { "relative_dir": ".drafts" } }));
    assert!(error["message"].as_str().unwrap().contains("vault_search"), "{error}");
    for path in ["CLAUDE.md", ".git/config", ".system/lock", ".drafts/.x"] {
        assert_eq!(shelf.fail("vault_create", json!({ "path": path, "content": "x" }))["code"], "forbidden");
    }
}

#[test]
fn four_processes_share_one_quota() {
    const LIMIT: usize = 40;
    let shelf = shelf_with(&[]);
    let config = shelf.home.write("quota.yaml", &format!("library:\n  vault_max_files: {LIMIT}\n"));
    let config = config.to_str().unwrap();
    let mut servers: Vec<_> = (0..4).map(|_| shelf.serve(&["--config", config])).collect();
    // Each process has seen the vault before the others write.
    for (number, server) in servers.iter_mut().enumerate() {
        let reply = server.call("vault_create", json!({ "path": format!("{number}.md"), "content": "x" }));
        assert!(reply["result"]["isError"] != true, "{reply}");
    }
    let written: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = servers
            .iter_mut()
            .enumerate()
            .map(|(number, server)| {
                scope.spawn(move || {
                    let mut written = 0;
                    for count in 0..LIMIT {
                        let path = format!("{number}/{count}.md");
                        let reply = server.call("vault_create", json!({ "path": path, "content": "x" }));
                        written += usize::from(reply["result"]["isError"] != true);
                    }
                    written
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(written + 4, LIMIT);
    let mut files = 0;
    for folder in ["", "0", "1", "2", "3"] {
        let Ok(entries) = std::fs::read_dir(shelf.home.0.join("vault").join(folder)) else { continue };
        files += entries.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_file()).count();
    }
    assert_eq!(files, LIMIT);
}
