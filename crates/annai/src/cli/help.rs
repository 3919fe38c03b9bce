//! `annai help`: the help of a command, the options that all commands share, and the words that the help uses.

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use super::{Cli, Failure, print};

/// The words that the help uses.
const TERMS: &str = "\
manual    A folder of documents that are only read, such as a product manual.
          Each folder directly below --manuals is one manual, unless --manuals
          has documents of its own: then it is a single manual.
vault     A folder of documents that tools may also create and change (--vault).
artifact  A vault file made from another one, such as a flowchart; its elements
          cite lines of their source.
tool      One operation that an MCP client can call; `annai tools` lists them.
toolset   A group of tools: answers and search ask the web, library works on
          manuals and the vault, services runs what sponsors pay for.
";

/// What `annai` alone prints: what to do first.
pub(super) const FIRST_STEPS: &str = "\
Annai gives AI clients answers from the web and from your documents, over MCP.

  annai demo                                    See what it does, on samples
  annai find 'a question' --manuals DIR         Search your own manuals
  annai init claude-code --manuals DIR --write  Connect a client

annai help lists all commands, and annai doctor checks the setup.
";

/// A parser's error without suggestions of commands that the help does not list.
pub(super) fn without_hidden_suggestions(mut error: clap::Error) -> clap::Error {
    let command = Cli::command();
    let is_hidden = |name: &String| command.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) else {
        return error;
    };
    if !names.iter().any(is_hidden) {
        return error;
    }
    let shown: Vec<_> = names.iter().filter(|name| !is_hidden(name)).cloned().collect();
    error.remove(ContextKind::SuggestedSubcommand);
    if !shown.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
    }
    error
}

pub(super) fn run(topic: &[String]) -> Result<(), Failure> {
    let words: Vec<_> = topic.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        [] => program().to_string(),
        ["options"] => format!("Options of every command (* may be repeated):\n{}", shared_options()),
        ["terms"] => TERMS.to_owned(),
        names => command(names)?.to_string(),
    };
    print(&text)?;
    Ok(())
}

/// The help of the program.
pub(super) fn program() -> StyledStr {
    Cli::command().render_help()
}

/// The help of a command, or of a command inside it.
fn command(names: &[&str]) -> Result<StyledStr, Failure> {
    let mut root = Cli::command();
    root.build();
    let mut found = &mut root;
    for name in names {
        let shown = found.get_subcommands().filter(|each| !each.is_hide_set());
        let known: Vec<_> = shown.map(|each| each.get_name().to_owned()).collect();
        let unknown = || {
            let known = known.join(", ");
            Failure::usage(format!(
                "there is no command named `{name}`; the topics are options, terms, {known}"
            ))
        };
        found = found.find_subcommand_mut(name).ok_or_else(unknown)?;
    }
    Ok(found.render_help())
}

/// The options that may follow every command.
fn shared_options() -> String {
    let options =
        Cli::command().get_arguments().filter(|arg| arg.is_global_set()).cloned().collect::<Vec<_>>();
    let page = clap::Command::new("options").disable_help_flag(true).max_term_width(80);
    let page = page.args(options.into_iter().map(|arg| arg.hide(false).global(false)));
    page.help_template("{options}").render_help().to_string().trim_end().to_owned() + "\n"
}
