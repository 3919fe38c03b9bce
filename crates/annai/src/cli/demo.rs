//! `annai demo`: serves sample documents from a temporary workspace, and prints examples to try.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::demo_tour::{self, Tour};
use super::init::shell_word;
use super::temporary_folder::{self, TemporaryFolder};
use super::terminal::Colors;
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
    let (color, is_quiet) = (options.color.for_environment(), options.quiet);
    // The signal handlers come first, so that no signal can end the process before the workspace is deleted.
    let host = serve::Host::new(temporary_folder::delete_all)?;
    let workspace = TemporaryFolder::new("demo")?;
    // A JSON string is also a YAML string, whatever characters the path contains.
    let root = serde_json::Value::from(workspace.path().display().to_string());
    let database = serde_json::Value::from(workspace.path().join("services.sqlite").display().to_string());
    let settings = format!(
        "# The settings of the demo, deleted when it ends.\nserver:\n  log_level: warn\nlibrary:\n  workspace_root: {root}\n\
         services:\n  database_path: {database}\n  dev_user: {USER}\n  allow_private_upstreams: true\n"
    );
    let config = workspace.write(CONFIG, &settings)?;
    let script = write_script(&workspace, &config)?;
    for (path, text) in SAMPLES {
        workspace.write(&format!("manuals/{path}"), text)?;
    }
    let (summary, text) = demo_tour::SUMMARY;
    workspace.write(summary, text)?;
    workspace.write(
        "vault/notes.md",
        "# Notes\n\nYou may change the files of the demo's vault; they are deleted when the demo ends.\n",
    )?;
    let cli = Cli::try_parse_from([Path::new("annai"), Path::new("--config"), &config]);
    let options = cli.map_err(|error| Failure::new(error.to_string()))?.options;
    let app = start::with_key_only(&options)?;
    let address = free_address(app.server.port)?;
    host.serve(&app, address, vec![demo_services::routes()], async |address, registry| {
        let campaign = demo_services::seed(registry, address).await?;
        if !is_quiet {
            let colors = Colors::of(&io::stdout(), color);
            let tour = Tour { registry, campaign, user: USER, colors }.run().await?;
            print(&format!("{tour}\n"))?;
        }
        print(&welcome(&address, &script))?;
        Ok(())
    })?;
    let path = workspace.path().to_owned();
    drop(workspace);
    if path.exists() {
        return Err(Failure::new(format!("{} could not be deleted; delete it by hand", path.display())));
    }
    print("\nThe demo has ended, and its workspace was deleted.\n")?;
    Ok(())
}

/// The configured port if it is free, else any free port.
fn free_address(port: u16) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    Ok(listener?.local_addr()?)
}

/// Writes a script that runs this program with the settings of the demo, so that what to type is short. Of the user's
/// environment it passes on what the terminal needs and the API key: other settings would lead it away from the demo, and its
/// caches stay in the workspace.
fn write_script(workspace: &TemporaryFolder, config: &Path) -> Result<PathBuf, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let program = shell_word(&std::env::current_exe()?.display().to_string());
    let config = shell_word(&config.display().to_string());
    let home = shell_word(&workspace.path().display().to_string());
    let text = format!(
        "#!/bin/sh\nexec env -i HOME={home} PATH=\"$PATH\" TERM=\"$TERM\" LANG=\"$LANG\" \\\n  \
         ${{OPENAI_API_KEY:+\"OPENAI_API_KEY=$OPENAI_API_KEY\"}} {program} --config {config} \"$@\"\n"
    );
    let script = workspace.write("annai", &text)?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700))?;
    Ok(script)
}

/// What to try: `script` runs this program with the settings of the demo.
fn welcome(address: &SocketAddr, script: &Path) -> String {
    let annai = shell_word(&script.display().to_string());
    let steps = [
        format!("{annai} find 'when are calls refused'"),
        format!("{annai} call search_services intent='count words'"),
        format!("{annai} call run_service service=word-count input='the way is the goal'"),
        format!("{annai} call get_user_status"),
        format!("{annai} campaigns"),
        format!("claude mcp add --transport http annai http://{address}/mcp"),
    ];
    format!(
        "The demo serves http://{address}/mcp (and /health, /metrics). In another terminal:\n  {}\n\
         Ctrl-C ends the demo and deletes its files.\n",
        steps.join("\n  ")
    )
}
