//! The command line: one file per command.

mod arguments;
#[cfg(unix)]
mod audit;
mod call;
mod campaigns;
mod db;
#[cfg(unix)]
mod demo;
#[cfg(unix)]
mod demo_services;
#[cfg(unix)]
mod demo_tour;
mod docs;
mod doctor;
mod error_reference;
#[cfg(unix)]
mod eval;
#[cfg(unix)]
mod file_place;
#[cfg(unix)]
mod find;
mod help;
mod init;
mod local_session;
mod reachability;
#[cfg(unix)]
mod read;
mod serve;
#[cfg(unix)]
mod temporary_folder;
mod terminal;
mod token;
mod tools;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::time::Duration;

use annai_core::config::ConfigError;
use annai_core::{ErrorKind, ToolError, telemetry};
use clap::{CommandFactory, FromArgMatches as _, ValueEnum as _};

use crate::app::App;
use crate::options::{ColorWhen, Options};
use crate::start;
use arguments::Command;
use terminal::Colors;

pub use arguments::Cli;

/// The exit status when nothing was found, a check failed, or the work could not be done.
const EXIT_FAILURE: u8 = 1;
/// The exit status for wrong arguments and for a configuration that is missing or wrong.
const EXIT_USAGE: u8 = 2;
/// How long to wait at the end until the log is written. It is short, because the reader of stderr may have stopped reading.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// What `--stdio` says to a person who started it in a terminal; a program would not be talking to one.
const STDIO_NOTICE: &str = "This is an MCP server that waits for JSON messages on stdin; MCP clients start it. \
Ctrl-D or Ctrl-C stops it.\n`annai init CLIENT` connects a client, and `annai call` runs a tool from the shell.";

/// Runs the command or server that the command line asks for, and returns the exit status.
pub fn run() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // The option must work for errors about other options too, so it is read before they are.
    let color = color_option(&arguments);
    let parsed = Cli::command().color(color.into()).try_get_matches_from(arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let error = help::without_hidden_suggestions(error);
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(EXIT_USAGE));
        }
    };
    let result = execute(&cli);
    telemetry::flush(LOG_FLUSH_TIMEOUT);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                tell(color, "1;31", "error:", &failure.message);
            }
            ExitCode::from(failure.exit_code)
        }
    }
}

/// The value of `--color`, or `auto` if it is absent or wrong.
fn color_option(arguments: &[OsString]) -> ColorWhen {
    let arguments = arguments.iter().map(|argument| argument.to_str().unwrap_or_default());
    let following = arguments.clone().skip(1);
    let value = arguments.zip(following.chain([""])).find_map(|(option, next)| match option {
        "--color" => Some(next),
        _ => option.strip_prefix("--color="),
    });
    value.and_then(|value| ColorWhen::from_str(value, false).ok()).unwrap_or(ColorWhen::Auto)
}

/// Prints an error or a warning to stderr, in the same form as clap prints errors about arguments.
fn tell(color: ColorWhen, code: &str, kind: &str, message: &str) {
    let colors = Colors::of(&io::stderr(), color.for_environment());
    let _ = writeln!(io::stderr(), "{} {}", colors.paint(code, kind), terminal::plain(message));
}

fn execute(cli: &Cli) -> Result<(), Failure> {
    let options = &cli.options;
    let serves = options.stdio || options.http.is_some();
    if cli.command.is_some() && serves {
        return Err(Failure::usage(
            "--stdio and --http start a server and cannot be combined with a command; use one or the other",
        ));
    }
    if options.show_config && !serves {
        print_config(&start::command(options)?)?;
    }
    match &cli.command {
        Some(command) => run_command(command, options),
        None if options.show_config && !serves => Ok(()),
        None => serve_or_print_help(options),
    }
}

fn run_command(command: &Command, options: &Options) -> Result<(), Failure> {
    match command {
        #[cfg(unix)]
        Command::Demo => demo::run(options),
        Command::Call { tool, arguments, json } => {
            // A pipe or a file is read by a program.
            let format = call::Format::new(*json || !io::stdout().is_terminal());
            call::run(&load_app(options)?, tool, arguments, format)
        }
        Command::Ask { words, detailed, quick, json } => {
            let tool = match (detailed, quick) {
                (true, _) => "answer_detailed",
                (_, true) => "answer_quick",
                _ => "answer",
            };
            let arguments = serde_json::json!({ "query": words.join(" ") }).to_string();
            call::run(&load_app(options)?, tool, &[arguments], call::Format::new(*json))
        }
        #[cfg(unix)]
        Command::Find { words, also, like, manual, limit, json } => {
            let find_options = find::FindOptions {
                question: &words.join(" "),
                other_words: &annai_library::OtherWords {
                    phrasings: also.clone(),
                    hypothetical: like.clone(),
                },
                manual: manual.as_deref(),
                limit: usize::from(*limit),
                json: *json,
                shell_options: &find::shell_options(options),
            };
            find::run(&load_app(options)?, &find_options)
        }
        #[cfg(unix)]
        Command::Read { place, json } => {
            read::run(&load_app(options)?, place, call::Format::new(*json), &find::shell_options(options))
        }
        #[cfg(unix)]
        Command::Coverage { file, lines, artifact, json } => {
            let format = call::Format::new(*json);
            audit::coverage(&load_app(options)?, file, lines.as_deref(), artifact.as_deref(), format)
        }
        #[cfg(unix)]
        Command::Audit { artifact, source, json } => {
            audit::run(&load_app(options)?, artifact, source, call::Format::new(*json))
        }
        #[cfg(unix)]
        Command::Eval { compare, json, .. } if let [before, after] = compare.as_slice() => {
            eval::compare(before, after, call::Format::new(*json))
        }
        #[cfg(unix)]
        Command::Eval { questions, plain, without, gates, each, misses, json, .. } => {
            let command = eval::EvalCommand {
                path: questions,
                baseline: eval::baseline(*plain),
                without,
                gates: gates.as_deref(),
                each: each.as_deref(),
                output: eval::Output::new(*json, *misses),
            };
            eval::run(load_app(options)?, &command)
        }
        #[cfg(not(unix))]
        Command::Demo
        | Command::Find { .. }
        | Command::Read { .. }
        | Command::Coverage { .. }
        | Command::Audit { .. }
        | Command::Eval { .. } => Err(Failure::usage(crate::library::ABSENCE.unwrap_or_default())),
        Command::Doctor { http, json } => {
            doctor::run(options, http.as_ref().and_then(Option::as_deref), call::Format::new(*json))
        }
        Command::Campaigns { check, json, command } => {
            let format = call::Format::new(*json);
            campaigns::run(&load_app(options)?, *check, command.as_ref(), format, options)
        }
        Command::Db { command } => {
            let app = load_app(options)?;
            let url = app.services.database_url.as_ref().map(annai_core::config::Secret::expose);
            db::run(command, url)
        }
        Command::Token { command } => token::run(&load_app(options)?, command),
        Command::Init { client, write, remove } => {
            init::run(*client, init::Action::new(*write, *remove), options)
        }
        Command::Completions { shell } => print_completions(*shell),
        Command::Tools { name, json } => tools::run(&load_app(options)?, name.as_deref(), *json),
        Command::Help { topic } => help::run(topic),
        Command::Docs { page, folder } => docs::run(&load_app(options)?, *page, folder),
    }
}

fn serve_or_print_help(options: &Options) -> Result<(), Failure> {
    if options.stdio {
        let app = start::server(options)?;
        if io::stdin().is_terminal() && !options.quiet {
            writeln!(io::stderr(), "{STDIO_NOTICE}")?;
        }
        return serve::stdio(&app, options.show_config);
    }
    if let Some(address) = &options.http {
        return serve::http(&start::server(options)?, address.as_deref(), options.show_config);
    }
    if let Some(Some(word)) = &options.debug {
        let word = word.display();
        let message = format!(
            "--debug took `{word}` as the path of its log file; if it is a command, write it first: annai {word} --debug"
        );
        return Err(Failure::usage(message));
    }
    print(help::FIRST_STEPS)?;
    Ok(())
}

fn print_completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    // The help of a command leaves the shared options out; the completion offers them.
    let mut command = Cli::command().mut_args(|arg| arg.hide(false));
    clap_complete::generate(shell, &mut command, "annai", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(())
}

/// Loads the configuration for a command, and prints its warnings before the output of the command.
fn load_app(options: &Options) -> Result<App, Failure> {
    let app = start::command(options)?;
    app.warnings.iter().for_each(|warning| warn(options, warning));
    Ok(app)
}

/// Prints a warning to stderr, unless only results and errors are wanted.
fn warn(options: &Options, message: &str) {
    if !options.quiet {
        tell(options.color, "1;33", "warning:", message);
    }
}

fn print_config(app: &App) -> io::Result<()> {
    let mut config = app.config.show(env!("CARGO_PKG_VERSION"));
    if let (false, Some(config)) = (app.warnings.is_empty(), config.as_object_mut()) {
        config.insert("warnings".to_owned(), app.warnings.clone().into());
    }
    writeln!(io::stderr(), "{config:#}")
}

/// Prints the output of a command. Only commands print to stdout; the stdout of a server belongs to the protocol.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Why a command failed, and its exit status. An empty message prints nothing: the command has already said it.
#[derive(Debug)]
struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: EXIT_FAILURE }
    }

    fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: EXIT_USAGE }
    }
}

/// The exit status for a kind of error: the same cause has the same status in every command.
const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidParameter
        | ErrorKind::InvalidPath
        | ErrorKind::InvalidScope
        | ErrorKind::OutOfScope
        | ErrorKind::NotConfigured => EXIT_USAGE,
        _ => EXIT_FAILURE,
    }
}

impl From<&ToolError> for Failure {
    fn from(error: &ToolError) -> Self {
        // A command does not log its calls, so the cause of an internal error is told here.
        let message = match std::error::Error::source(error) {
            Some(cause) if error.kind() == ErrorKind::Internal => format!("internal error: {cause}"),
            _ => error.message().to_owned(),
        };
        Self { message, exit_code: exit_code(error.kind()) }
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::from(&error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self { message: error.to_string(), exit_code: EXIT_USAGE }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // The reader has closed the pipe (as `head` does), which is not a failure.
        let exit_code = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        let message = if exit_code == 0 { String::new() } else { error.to_string() };
        Self { message, exit_code }
    }
}
