//! `annai demo`: the server on a throw-away workspace, and what to try with it.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::{Cli, Failure, print, serve};
use crate::app::App;

/// A sample manual: its path and its text.
macro_rules! sample {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../examples/workspace/manuals/", $path)))
    };
}

/// Manuals to try the library on, from the samples of the repository.
const SAMPLES: &[(&str, &str)] = &[
    sample!("api-guide/rate-limits.md"),
    sample!("api-guide/authentication.md"),
    sample!("travel-policy/policy-2025.md"),
    sample!("travel-policy/archive/policy-2024.md"),
    sample!("medical-insurance-ja/yakkan-2025/02-kyufu.md"),
    sample!("medical-insurance-ja/yakkan-2025/beppyo.md"),
    sample!("jinji-kitei/zaitaku-kinmu.md"),
];

pub(super) fn run() -> Result<(), Failure> {
    // First the signals, so that none of them leaves the workspace behind.
    let host = serve::Host::new()?;
    let workspace = Workspace::new()?;
    // A path as JSON is a path as YAML.
    let root = serde_json::Value::from(workspace.0.display().to_string());
    let settings = format!(
        "# The demo's own settings; they go with it.\nserver:\n  log_level: warn\nlibrary:\n  workspace_root: {root}\n"
    );
    let config = workspace.write("config.yaml", &settings)?;
    for (path, text) in SAMPLES {
        workspace.write(&format!("manuals/{path}"), text)?;
    }
    workspace.write(
        "vault/notes.md",
        "# Notes\n\nThe demo's vault is yours to change; it goes with the demo.\n",
    )?;
    let cli = Cli::try_parse_from([Path::new("annai"), Path::new("--config"), &config]);
    let options = cli.map_err(|error| Failure::new(error.to_string()))?.options;
    let app = App::without_environment(&options)?;
    host.serve(&app, free_address(app.server.port)?, |server| {
        print(&welcome(&server.address()?, &workspace.0)?)?;
        Ok(())
    })?;
    print("\nThe demo has ended; its workspace is gone.\n")?;
    Ok(())
}

/// The usual port if it is free, else any.
fn free_address(port: u16) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    Ok(listener?.local_addr()?)
}

fn welcome(address: &SocketAddr, workspace: &Path) -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    let program = program.display();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let read = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"manual_find","arguments":{"query":"how many requests per minute"}}}"#;
    Ok(format!(
        "Annai is running on a throw-away workspace: {}\n\n\
         Open\n  http://{address}/health\n  http://{address}/metrics\n\n\
         Try\n  curl -s http://{address}/mcp -H 'content-type: application/json' -d '{list}'\n  \
         curl -s http://{address}/mcp -H 'content-type: application/json' -d '{read}'\n  \
         {program} tools\n  {program} doctor\n\n\
         Connect a client\n  claude mcp add --transport http annai http://{address}/mcp\n  \
         {program} init cursor      (or claude-code, claude-desktop, vscode, codex, chatgpt)\n\n\
         Ctrl-C ends it.\n",
        workspace.display()
    ))
}

/// A folder that goes with the demo.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Result<Self, Failure> {
        let parent = std::env::temp_dir();
        // What a killed demo left behind is in nobody's way.
        for attempt in 0..1000 {
            let path = parent.join(format!("annai-demo-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let fix = "set TMPDIR to a folder that can be written";
                    return Err(Failure::new(format!("{} cannot be made: {error}; {fix}", path.display())));
                }
            }
        }
        Err(Failure::new(format!("{} is full of annai-demo folders; remove them", parent.display())))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
        std::fs::File::create_new(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
