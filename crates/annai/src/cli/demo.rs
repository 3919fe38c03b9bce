//! `annai demo`: serves sample documents from a temporary workspace, and prints examples to try.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use clap::Parser as _;

use annai_services::domain::ids::CampaignId;

use super::init::shell_word;
use super::temporary_folder::TemporaryFolder;
use super::{Cli, Failure, demo_services, print, serve};
use crate::options::Options;
use crate::start;

/// The person who uses the services of the demo.
const USER: &str = "demo@example.com";
/// The file with the settings of the demo.
const CONFIG: &str = "config.yaml";

/// A sample document: its path and its text. `samples` has links to the example workspace, because a published crate contains
/// only what is in its folder.
macro_rules! sample {
    ($path:literal) => {
        ($path, include_str!(concat!("../../samples/", $path)))
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

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    if let Some(option) = options.server_words()?.first() {
        let option = option.split('=').next().unwrap_or(option);
        return Err(Failure::usage(format!(
            "{option}: the demo has settings of its own; leave the option out"
        )));
    }
    // The signal handlers come first, so that no signal can end the process before the workspace is deleted.
    let host = serve::Host::new()?;
    let workspace = TemporaryFolder::new("demo")?;
    // A JSON string is also a YAML string, whatever characters the path contains.
    let root = serde_json::Value::from(workspace.path().display().to_string());
    let database = serde_json::Value::from(workspace.path().join("services.sqlite").display().to_string());
    let settings = format!(
        "# The settings of the demo, deleted when it ends.\nserver:\n  log_level: warn\nlibrary:\n  workspace_root: {root}\n\
         services:\n  database_path: {database}\n  dev_user: {USER}\n  allow_private_upstreams: true\n"
    );
    let config = workspace.write(CONFIG, &settings)?;
    for (path, text) in SAMPLES {
        workspace.write(&format!("manuals/{path}"), text)?;
    }
    workspace.write(
        "vault/notes.md",
        "# Notes\n\nYou may change the files of the demo's vault; they are deleted when the demo ends.\n",
    )?;
    let cli = Cli::try_parse_from([Path::new("annai"), Path::new("--config"), &config]);
    let options = cli.map_err(|error| Failure::new(error.to_string()))?.options;
    let app = start::with_key_only(&options)?;
    let address = free_address(app.server.port)?;
    host.serve(&app, address, vec![demo_services::routes()], async |server, registry| {
        let address = server.address()?;
        let campaign = demo_services::seed(registry, address).await?;
        print(&welcome(&address, workspace.path(), campaign)?)?;
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

fn welcome(address: &SocketAddr, workspace: &Path, campaign: CampaignId) -> Result<String, Failure> {
    let config = shell_word(&workspace.join(CONFIG).display().to_string());
    let program = shell_word(&std::env::current_exe()?.display().to_string());
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let read = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"manual_find","arguments":{"query":"how many requests per minute"}}}"#;
    let call = |tool: &str, arguments: String| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        format!("  curl -s http://{address}/mcp -H 'content-type: application/json' -d '{body}'\n")
    };
    let consent = r#"{"data_sharing_agreed":true,"purpose_acknowledged":true,"contact_permission":false}"#;
    let details = format!(r#""details":"{{\"email\":\"{USER}\",\"favorite_tea\":\"sencha\"}}""#);
    let journey = [
        call("search_services", r#"{"intent":"count words"}"#.to_owned()),
        call("get_task_details", format!(r#"{{"campaign_id":"{campaign}"}}"#)),
        call(
            "complete_task",
            format!(
                r#"{{"campaign_id":"{campaign}","task_name":"tea survey",{details},"consent":{consent}}}"#
            ),
        ),
        call("run_service", r#"{"service":"word-count","input":"the way is the goal"}"#.to_owned()),
        call("get_user_status", "{}".to_owned()),
    ]
    .concat();
    Ok(format!(
        "Annai is running with sample documents in a temporary workspace: {}\n\n\
         Open in a browser:\n  http://{address}/health\n  http://{address}/metrics\n\n\
         Try in another terminal:\n  curl -s http://{address}/mcp -H 'content-type: application/json' -d '{list}'\n  \
         curl -s http://{address}/mcp -H 'content-type: application/json' -d '{read}'\n  \
         {program} --config {config} tools\n  {program} --config {config} doctor\n\n\
         Use a service that a sponsor pays for, as {USER}, step by step:\n{journey}  \
         {program} --config {config} campaigns\n\n\
         Connect an MCP client:\n  claude mcp add --transport http annai http://{address}/mcp\n  \
         Connect one to your own folders instead: {program} init --help\n\n\
         Ctrl-C ends the demo and deletes the workspace.\n",
        workspace.display()
    ))
}
