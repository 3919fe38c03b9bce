//! `annai init`: what it prints for each client, and how it edits their settings.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

const CLIENTS: [&str; 9] = [
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "gemini-cli",
    "zed",
    "windsurf",
    "chatgpt",
];

fn init(home: &Home, arguments: &[&str]) -> Output {
    annai(home).arg("init").args(arguments).output().unwrap()
}

/// Runs the command and expects it to succeed.
fn edit(home: &Home, arguments: &[&str]) -> String {
    let output = init(home, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_client_has_instructions_with_absolute_paths_and_the_given_options() {
    let home = Home::new();
    home.write("docs/guide/a.md", "# A\n");
    let config = home.write("c.yaml", "");
    for client in CLIENTS {
        let options =
            ["--manuals", "docs", "--config", "c.yaml", "--tools", "-manual_toc", "--toolset", "library"];
        let text = edit(&home, &[&[client], &options[..], &["--read-only"]].concat());
        assert!(text.contains(env!("CARGO_BIN_EXE_annai")), "{client}: {text}");
        let home = home.0.canonicalize().unwrap();
        for word in ["--toolset", "library", "--tools=-manual_toc", "--read-only", "--manuals", "--config"] {
            assert!(text.contains(word), "{client}: {word} is not in {text}");
        }
        for path in [home.join("docs"), home.join("c.yaml")] {
            assert!(
                text.contains(&path.display().to_string()),
                "{client}: {} is not in {text}",
                path.display()
            );
        }
        assert!(!text.contains("OPENAI_API_KEY"), "the library needs no key: {text}");
    }
    assert!(config.exists());
    assert_eq!(init(&home, &["netscape"]).status.code(), Some(2));
    // A wrong tool is a wrong setting here too, before a client runs into it.
    let output = init(&home, &["cursor", "--tools", "manual_fnid"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `manual_find`?"), "{}", stderr(&output));
}

#[test]
fn a_key_is_needed_only_by_tools_that_use_the_api_and_manuals_alone_mean_the_library() {
    let home = Home::new();
    home.write("m/guide/a.md", "# A\n");
    for (options, needs_key) in [
        (&["--toolset", "search"][..], true),
        (&["--toolset", "services"], false),
        (&["--tools", "manual_find"], false),
        (&["--manuals", "m"], false),
        (&["--manuals", "m", "--toolset", "library", "--toolset", "answers"], true),
    ] {
        let text = edit(&home, &[&["claude-desktop"], options].concat());
        assert_eq!(text.contains("OPENAI_API_KEY"), needs_key, "{options:?}: {text}");
    }
    assert!(edit(&home, &["zed", "--manuals", "m"]).contains("\"library\""));
    let yaml = home.write("c.yaml", "openai: { api_key_env: MY_KEY }\n");
    let text = edit(&home, &["gemini-cli", "--toolset", "answers", "--config", yaml.to_str().unwrap()]);
    assert!(text.contains("\"MY_KEY\": \"$MY_KEY\""), "{text}");
    // The most likely mistakes with the folder are told at once.
    std::fs::create_dir(home.0.join("empty")).unwrap();
    for (folder, problem) in [("nowhere", "is not a folder that can be read"), ("empty", "has no manuals")] {
        let output = init(&home, &["cursor", "--manuals", folder]);
        assert!(stderr(&output).starts_with("warning: --manuals: ") && stderr(&output).contains(problem));
    }
}

#[test]
fn only_what_can_work_here_is_connected_unless_the_user_chooses() {
    let home = Home::new();
    home.write("m/guide/a.md", "# A\n");
    let output = init(&home, &["cursor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).starts_with("error: nothing can work here yet. Add --manuals DIR"),
        "{}",
        stderr(&output)
    );
    let connect = |env: &[(&str, &str)]| {
        let output = annai(&home).args(["init", "cursor"]).envs(env.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        let json = text.split_once("\n\n").unwrap().1.split("\n\n").next().unwrap();
        let settings: Value = serde_json::from_str(json).unwrap();
        (settings["mcpServers"]["annai"]["args"].clone(), stderr(&output))
    };
    let (arguments, notes) = connect(&[("OPENAI_API_KEY", "sk-0123456789")]);
    assert_eq!(arguments, json!(["--stdio", "--toolset", "answers", "--toolset", "search"]));
    assert!(
        notes.contains("note: the library is left out, because no folder of documents is set"),
        "{notes}"
    );
    assert!(
        notes.contains("note: the services are left out, because they need to know who calls"),
        "{notes}"
    );
    let folder = home.0.join("m").display().to_string();
    let (arguments, notes) = connect(&[("MANUALS_ROOT", &folder)]);
    assert_eq!(arguments, json!(["--stdio", "--toolset", "library"]));
    assert!(
        notes.contains("note: answers and search are left out, because OPENAI_API_KEY is not set here"),
        "{notes}"
    );
    let all =
        [("MANUALS_ROOT", folder.as_str()), ("OPENAI_API_KEY", "sk-0"), ("ANNAI_DEV_USER", "me@example.com")];
    assert_eq!(connect(&all), (json!(["--stdio"]), String::new()));
}

#[test]
fn settings_are_created_changed_and_removed() {
    let home = Home::new();
    home.write("m/guide/a.md", "# A\n");
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
        ("zed", ".config/zed/settings.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ] {
        if cfg!(target_os = "macos") && client == "vscode" {
            continue;
        }
        let path = home.0.join(file);
        // In a folder that does not exist.
        let text = edit(&home, &[client, "--manuals", "m", "--write"]);
        assert!(text.contains(&format!("{file}:\n+ ")) && text.contains("\nWritten.\n"), "{client}: {text}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "it may hold keys");
        let created = read(&path);
        assert!(text.contains("+ ") && created.lines().all(|line| text.contains(line)), "{text}");
        assert!(
            edit(&home, &[client, "--manuals", "m", "--write"])
                .ends_with("up to date; nothing was changed.\n")
        );
        assert_eq!(read(&path), created);
        let text = edit(&home, &[client, "--toolset", "answers", "--write"]);
        assert!(text.contains("OPENAI_API_KEY") && !text.contains("backup"), "{client}: {text}");
        edit(&home, &[client, "--remove"]);
        assert!(!path.exists(), "{client}: the file contained nothing else");
        let backup = format!("{}.annai-backup", path.display());
        assert!(!Path::new(&backup).exists(), "{client}");
        assert!(edit(&home, &[client, "--remove"]).contains("has no server named annai"));
    }
    let output = init(&home, &["chatgpt", "--write"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
}

#[test]
fn settings_of_others_keep_every_byte_and_come_back_with_remove() {
    let json = "\u{feff}// servers\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": { \"command\": \"x\" }, // mine\r\n\t},\r\n}\r\n";
    for (client, file, text) in [
        ("cursor", ".cursor/mcp.json", json),
        ("cursor", ".cursor/mcp.json", "{}"),
        ("cursor", ".cursor/mcp.json", ""),
        ("claude-code", ".claude.json", "{\"numStartups\":3,\"projects\":{\"/a\":{\"mcpServers\":{}}}}"),
        ("claude-code", ".claude.json", "{ \"mcpServers\": { } }"),
        ("claude-code", ".claude.json", "{ \"a\": 1, \"mcpServers\": {\"x\":{}, } }"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "{ \"inputs\": [ {\"id\":\"x\"} ], \"servers\": {\"x\":{}} }",
        ),
        ("codex", ".codex/config.toml", "model = \"gpt-5\" # mine\n\n[mcp_servers.x]\ncommand = \"x\""),
        ("codex", ".codex/config.toml", "a = 1\r\n"),
    ] {
        if cfg!(target_os = "macos") && client == "vscode" {
            continue;
        }
        let home = Home::new();
        let path = home.write(file, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let backup = format!("{}.annai-backup", path.display());
        let shown = edit(&home, &[client, "--toolset", "library", "--write"]);
        assert!(shown.contains("Written. The backup is "), "{shown}");
        assert!(read(Path::new(&backup)) == text && read(&path) != text, "{client}: {text:?}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        // Another change keeps the backup of the file without the server.
        edit(&home, &[client, "--toolset", "answers", "--write"]);
        assert_eq!(read(Path::new(&backup)), text);
        assert!(edit(&home, &[client, "--remove"]).contains("The file is as it was before."));
        assert!(read(&path) == text && !Path::new(&backup).exists(), "{client}: {:?}", read(&path));
    }
}

#[test]
fn changes_of_others_after_the_backup_survive() {
    let home = Home::new();
    let path = home.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n");
    edit(&home, &["cursor", "--toolset", "library", "--write"]);
    let text = read(&path).replace("\"x\": {}", "\"x\": { \"command\": \"new\" }");
    std::fs::write(&path, text).unwrap();
    edit(&home, &["cursor", "--remove"]);
    assert_eq!(read(&path), "{\n  \"mcpServers\": {\n    \"x\": { \"command\": \"new\" }\n  }\n}\n");
}

#[test]
fn a_file_that_cannot_be_edited_is_left_alone() {
    let refuse = |home: &Home, client: &str, problem: &str| {
        for action in ["--write", "--remove"] {
            let output = init(home, &[client, "--toolset", "library", action]);
            assert_eq!(output.status.code(), Some(1), "{action}: {}", stdout(&output));
            assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
            assert!(stderr(&output).contains(problem), "{problem} is not in {}", stderr(&output));
        }
    };
    let home = Home::new();
    for (client, file, text, problem) in [
        ("cursor", ".cursor/mcp.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "mcp.json:3: expected `,` or `}`"),
        ("vscode", ".config/Code/User/mcp.json", "{\n", "mcp.json:2: "),
        ("codex", ".codex/config.toml", "a = 1\nb =\n", "config.toml:2: expected a value"),
    ] {
        if cfg!(target_os = "macos") && client == "vscode" {
            continue;
        }
        let path = home.write(file, text);
        refuse(&home, client, problem);
        assert_eq!(read(&path), text);
    }
    let path = home.0.join(".claude.json");
    std::fs::write(&path, b"{\n\"a\": \"\xff\"}").unwrap();
    refuse(&home, "claude-code", ".claude.json: line 2: the text is not UTF-8");
    // A server of somebody else with the same name.
    let other = "{ \"mcpServers\": { \"annai\": { \"command\": \"npx\", \"args\": [\"other\"] } } }";
    std::fs::write(&path, other).unwrap();
    let output = init(&home, &["claude-code", "--toolset", "library", "--write"]);
    assert!(
        stderr(&output).contains("already has a server named annai, which starts `npx`"),
        "{}",
        stderr(&output)
    );
    refuse(&home, "claude-code", "named annai");
    assert_eq!(read(&path), other);
    // Files that may not be written.
    std::fs::write(&path, "{}").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    let output = init(&home, &["claude-code", "--toolset", "library", "--write"]);
    assert!(stderr(&output).contains("is read-only and was not changed"), "{}", stderr(&output));
    assert_eq!(read(&path), "{}");
    assert!(!home.0.join(".claude.json.annai-backup").exists());
    let home = Home::new();
    std::fs::create_dir(home.0.join(".claude.json")).unwrap();
    refuse(&home, "claude-code", "expected a regular file");
    let home = Home::new();
    home.write(".cursor", "a file where the folder should be");
    assert_eq!(init(&home, &["cursor", "--toolset", "library", "--write"]).status.code(), Some(1));
    let home = Home::new();
    symlink("nowhere", home.0.join(".claude.json")).unwrap();
    refuse(&home, "claude-code", "symbolic link to a file that does not exist");
}

#[test]
fn a_linked_file_stays_a_link_and_other_folders_are_respected() {
    let home = Home::new();
    let real = home.write("dotfiles/claude.json", "{}\n");
    let link = home.0.join(".claude.json");
    symlink(&real, &link).unwrap();
    edit(&home, &["claude-code", "--toolset", "library", "--write"]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let settings: Value = serde_json::from_str(&read(&real)).unwrap();
    assert_eq!(settings["mcpServers"]["annai"]["args"], json!(["--stdio", "--toolset", "library"]));
    edit(&home, &["claude-code", "--remove"]);
    assert_eq!(read(&real), "{}\n");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    for (client, variable, file) in
        [("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"), ("codex", "CODEX_HOME", "config.toml")]
    {
        let output = annai(&home)
            .args(["init", client, "--toolset", "library", "--write"])
            .env(variable, home.0.join("elsewhere"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(home.0.join("elsewhere").join(file).exists(), "{client}");
    }
}
