//! `annai init`: connects an MCP client to this server. It prints what to add to the settings of the client, or edits them.

mod client;
mod edit;
mod file;
mod instructions;
mod json_edit;
#[cfg(test)]
mod json_edit_tests;
mod json_entry;
mod json_tree;
mod server;
mod toml_edit;
#[cfg(test)]
mod toml_edit_tests;
mod toml_scan;

use std::path::Path;

use super::{Failure, print, tell};
use crate::app::App;

pub(super) use self::client::Client;
pub(super) use self::instructions::shell_word;
use self::server::Server;

pub(super) use self::server::server_options;
use crate::options::Options;

/// What to do with the settings of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Print what to add.
    Print,
    /// Add it.
    Write,
    /// Remove what was added.
    Remove,
}

impl Action {
    pub(super) const fn new(write: bool, remove: bool) -> Self {
        match (write, remove) {
            (true, _) => Self::Write,
            (false, true) => Self::Remove,
            (false, false) => Self::Print,
        }
    }
}

pub(super) fn run(app: &App, client: Client, action: Action, options: &Options) -> Result<(), Failure> {
    let server = Server::new(app, options)?;
    if action != Action::Remove && !options.quiet {
        options.manuals.iter().filter_map(|folder| manuals_problem(folder)).for_each(|problem| {
            tell(options.color, "1;33", "warning:", &problem);
        });
    }
    if action != Action::Remove && !options.quiet && client != Client::Chatgpt && server.needs_person {
        let problem = "people are unknown to the services: set services.dev_user in annai/config.yaml of your \
                       configuration folder, or ANNAI_DEV_USER, to your e-mail address";
        tell(options.color, "1;33", "warning:", problem);
    }
    match action {
        Action::Print => print(&instructions::instructions(client, &server))?,
        Action::Write => edit::write(client, &server)?,
        Action::Remove => edit::remove(client, &server)?,
    }
    Ok(())
}

/// Why a server will not find manuals in a folder: the most likely mistake, told before somebody searches for it in the
/// client.
fn manuals_problem(folder: &Path) -> Option<String> {
    let shown = folder.display();
    let Ok(mut entries) = std::fs::read_dir(folder) else {
        return Some(format!("--manuals: {shown} is not a folder that can be read"));
    };
    let has_manuals = entries.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir()));
    let problem =
        || format!("--manuals: {shown} has no folders; each folder directly below it is one manual");
    (!has_manuals).then(problem)
}

/// Why a text cannot be edited, and in which line.
#[derive(Debug, PartialEq, Eq)]
struct EditError {
    line: usize,
    problem: String,
}

/// The number of the line that a position is in, from 1.
fn line_of(text: &str, position: usize) -> usize {
    text.get(..position).unwrap_or(text).matches('\n').count() + 1
}

/// The line break that a text uses.
fn line_break(text: &str) -> &'static str {
    match text.find('\n').and_then(|at| text.get(..at)) {
        Some(line) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
