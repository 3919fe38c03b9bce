//! `annai init`: connects an MCP client to this server. It prints what to add to the settings of the client, or edits them.

mod choice;
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

use super::{Failure, load_app, print, tell, warn};
use crate::app::App;

use self::choice::Choice;
pub(super) use self::client::Client;
pub(super) use self::instructions::shell_word;
use self::server::Server;

use crate::library;
use crate::options::Options;
use crate::start;

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

pub(super) fn run(client: Client, action: Action, options: &Options) -> Result<(), Failure> {
    let app = load_app(options)?;
    // Who removes the server needs nothing to work, and ChatGPT connects to a server that is set up elsewhere.
    if action == Action::Remove || client == Client::Chatgpt {
        return apply(client, action, &Server::new(&app, options)?);
    }
    let Choice { options, notes } = Choice::new(&app, options)?;
    options.manuals.iter().filter_map(|folder| manuals_problem(&app, folder)).for_each(|problem| {
        warn(&options, &problem);
    });
    let server = Server::new(&start::command(&options)?, &options)?;
    if server.needs_person {
        let problem = "people are unknown to the services: set services.dev_user in annai/config.yaml of your \
                       configuration folder, or ANNAI_DEV_USER, to your e-mail address";
        warn(&options, problem);
    }
    apply(client, action, &server)?;
    for note in notes.iter().filter(|_| !options.quiet) {
        tell(options.color, "1;36", "note:", note);
    }
    Ok(())
}

fn apply(client: Client, action: Action, server: &Server) -> Result<(), Failure> {
    match action {
        Action::Print => Ok(print(&instructions::instructions(client, server))?),
        Action::Write => edit::write(client, server),
        Action::Remove => edit::remove(client, server),
    }
}

/// Why a server will not find manuals in a folder: the most likely mistake, told before somebody searches for it in the
/// client.
fn manuals_problem(app: &App, folder: &Path) -> Option<String> {
    let shown = folder.display();
    if std::fs::read_dir(folder).is_err() {
        return Some(format!("--manuals: {shown} is not a folder that can be read"));
    }
    let has_manuals = library::has_manuals(&app.library, folder);
    (!has_manuals).then(|| {
        format!(
            "--manuals: {shown} has no manuals; put documents there, or folders of documents, each one manual"
        )
    })
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
