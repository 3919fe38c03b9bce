//! Integration tests that run the real executable.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails loudly")]

mod suite {
    mod answers_contract;
    mod answers_failures;
    mod answers_flight;
    mod answers_links;
    mod answers_private;
    mod answers_profiles;
    mod answers_text;
    mod answers_zone;
    mod ask;
    mod catalogue;
    mod command_line;
    mod configuration;
    #[cfg(unix)]
    mod debug_file;
    mod docs;
    mod eval;
    mod eval_cases;
    mod eval_wordings;
    mod exit_codes;
    mod find_command;
    mod help;
    mod http;
    #[cfg(target_os = "linux")]
    mod http_addresses;
    mod http_gone;
    mod http_keys;
    #[cfg(target_os = "linux")]
    mod http_memory;
    mod init;
    mod library_absence;
    mod library_audit;
    mod library_conflicts;
    mod library_crashes;
    mod library_excerpts;
    mod library_files;
    mod library_find;
    mod library_find_odd;
    mod library_folders;
    mod library_hardening;
    mod library_journeys;
    mod library_names;
    mod library_no_vault;
    mod library_paging;
    mod library_read;
    mod library_resources;
    mod library_safety;
    mod library_scopes;
    mod library_support;
    mod library_vault;
    mod library_wordings;
    mod reachability;
    mod refusals;
    mod search;
    mod seed_examples;
    mod selection;
    mod stdio;
    mod tool_entries;
}

use std::path::PathBuf;
use std::process::{Command, Output};

use annai_testkit::mcp::{Framing, StdioServer};
use annai_testkit::openai::{self, FakeOpenai};
use serde_json::Value;

/// The program with an empty home folder and an empty environment.
fn annai(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annai"));
    command.env_clear().env("HOME", &home.0).current_dir(&home.0);
    command
}

/// Runs a command of the program on a terminal, as a person does, and returns what it prints there without line-end
/// carriage returns, and its exit status.
fn on_terminal(home: &Home, arguments: &[&str]) -> (String, Option<i32>) {
    const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    #[expect(clippy::disallowed_methods, reason = "Python is found by the path of the test run")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new("python3");
    command.args(["-c", SPAWN, env!("CARGO_BIN_EXE_annai")]).args(arguments);
    command.env_clear().env("PATH", path).env("HOME", &home.0).env("NO_COLOR", "1").current_dir(&home.0);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    (stdout(&output).replace("\r\n", "\n"), output.status.code())
}

/// A server with the answers and search tools, and the fake API that it uses.
struct Asking {
    api: FakeOpenai,
    server: StdioServer,
    home: Home,
}

impl Asking {
    fn new() -> Self {
        Self::with("", &[])
    }

    /// Starts the server with this YAML configuration and these environment variables.
    fn with(yaml: &str, env: &[(&str, &str)]) -> Self {
        let (api, home) = (FakeOpenai::start(), Home::new());
        let config = home.write("config.yaml", yaml);
        let mut command = annai(&home);
        command.arg("--stdio").arg("--config").arg(config);
        command.env("OPENAI_BASE_URL", api.base_url()).env("OPENAI_API_KEY", openai::KEY);
        command.envs(env.iter().copied());
        let mut server = StdioServer::start(&mut command, Framing::Lines);
        server.initialize("2025-06-18");
        Self { api, server, home }
    }

    /// Calls a tool and returns its structured result.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.server.call(tool, arguments);
        assert!(reply.get("error").is_none(), "{reply}; log: {}", self.server.process.log());
        reply["result"]["structuredContent"].clone()
    }

    /// Calls a tool and returns its JSON-RPC error.
    fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.server.call(tool, arguments);
        reply.get("error").unwrap_or_else(|| panic!("{reply}")).clone()
    }

    /// The body of a request that the API received, by its index.
    fn body(&self, index: usize) -> Value {
        self.api.requests()[index].body.clone()
    }
}

/// A workspace, and a server with the library tools that uses it.
struct Shelf {
    home: Home,
    server: StdioServer,
}

impl Shelf {
    /// Starts a server with an empty workspace and these environment variables.
    fn new(env: &[(&str, &str)]) -> Self {
        let home = Home::new();
        let mut command = annai(&home);
        // The home folder is the workspace; without this setting nothing would be created in it.
        command.env("WORKSPACE_ROOT", ".");
        let mut server = StdioServer::start(
            command.args(["--stdio", "--toolset", "library"]).envs(env.iter().copied()),
            Framing::Lines,
        );
        server.initialize("2025-06-18");
        Self { home, server }
    }

    /// Starts another server with the same workspace.
    fn serve(&self, arguments: &[&str]) -> StdioServer {
        let mut command = annai(&self.home);
        command.env("WORKSPACE_ROOT", ".");
        let mut server = StdioServer::start(
            command.args(["--stdio", "--toolset", "library"]).args(arguments),
            Framing::Lines,
        );
        server.initialize("2025-06-18");
        server
    }

    /// Writes a file in the workspace.
    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.home.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The text of a vault file.
    fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.home.0.join("vault").join(path)).unwrap()
    }

    /// Calls a tool and returns its structured result.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.server.call(tool, arguments);
        assert!(reply["result"]["isError"] != true && reply.get("error").is_none(), "{tool}: {reply}");
        reply["result"]["structuredContent"].clone()
    }

    /// Calls a tool and returns its error.
    fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.server.call(tool, arguments);
        assert_eq!(reply["result"]["isError"], true, "{tool}: {reply}");
        let error = reply["result"]["_meta"]["annai/error"].clone();
        let text: Value =
            serde_json::from_str(reply["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, error);
        assert!(reply["result"].get("structuredContent").is_none());
        error
    }
}

/// A temporary home folder, deleted at the end of the test.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("annai-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file below it and returns its path.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
