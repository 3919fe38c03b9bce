//! `annai demo`: serves sample documents from a temporary workspace, and prints examples to try.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use clap::Parser as _;

use super::temporary_folder::TemporaryFolder;
use super::{Cli, Failure, print, serve};
use crate::app::App;

/// A sample document: its path and its text.
macro_rules! sample {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../../examples/workspace/manuals/", $path)))
    };
}

/// The sample manuals, which are part of the program.
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
    // The signal handlers come first, so that no signal can end the process before the workspace is deleted.
    let host = serve::Host::new()?;
    let workspace = TemporaryFolder::new("demo")?;
    // A JSON string is also a YAML string, whatever characters the path contains.
    let root = serde_json::Value::from(workspace.path().display().to_string());
    let settings = format!(
        "# The settings of the demo, deleted when it ends.\nserver:\n  log_level: warn\nlibrary:\n  workspace_root: {root}\n"
    );
    let config = workspace.write("config.yaml", &settings)?;
    for (path, text) in SAMPLES {
        workspace.write(&format!("manuals/{path}"), text)?;
    }
    workspace.write(
        "vault/notes.md",
        "# Notes\n\nYou may change the files of the demo's vault; they are deleted when the demo ends.\n",
    )?;
    let cli = Cli::try_parse_from([Path::new("annai"), Path::new("--config"), &config]);
    let options = cli.map_err(|error| Failure::new(error.to_string()))?.options;
    let app = App::without_environment(&options)?;
    host.serve(&app, free_address(app.server.port)?, |server| {
        print(&welcome(&server.address()?, workspace.path())?)?;
        Ok(())
    })?;
    print("\nThe demo has ended, and its workspace was deleted.\n")?;
    Ok(())
}

/// The configured port if it is free, else any free port.
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
        "Annai is running with sample documents in a temporary workspace: {}\n\n\
         Open in a browser:\n  http://{address}/health\n  http://{address}/metrics\n\n\
         Try in another terminal:\n  curl -s http://{address}/mcp -H 'content-type: application/json' -d '{list}'\n  \
         curl -s http://{address}/mcp -H 'content-type: application/json' -d '{read}'\n  \
         {program} tools\n  {program} doctor\n\n\
         Connect an MCP client:\n  claude mcp add --transport http annai http://{address}/mcp\n  \
         {program} init cursor      (or claude-code, claude-desktop, vscode, codex, chatgpt)\n\n\
         Ctrl-C ends the demo and deletes the workspace.\n",
        workspace.display()
    ))
}
