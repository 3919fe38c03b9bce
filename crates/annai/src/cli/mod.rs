//! The command line: one file per command.

mod arguments;
mod audit;
mod call;
mod campaigns;
mod db;
mod demo;
mod demo_services;
mod docs;
mod doctor;
mod eval;
mod find;
mod init;
mod local_session;
mod serve;
mod temporary_folder;
mod terminal;
mod token;
mod tools;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use annai_core::config::ConfigError;
use annai_core::telemetry;
use annai_library::OtherWords;
use clap::{CommandFactory, Parser};

use crate::app::App;
use arguments::Command;
pub use arguments::{Cli, Options};

/// The exit status for wrong arguments and for a configuration that is missing or wrong.
const EXIT_USAGE: u8 = 2;
/// How long to wait at the end until the log is written. It is short, because the reader of stderr may have stopped reading.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs the command or server that the command line asks for, and returns the exit status.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
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
                let _ = writeln!(io::stderr(), "annai: {}", failure.message);
            }
            ExitCode::from(failure.exit_code)
        }
    }
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
        return Ok(print_config(&App::start_quietly(options)?)?);
    }
    match &cli.command {
        Some(command) => run_command(command, options),
        None => serve_or_print_help(options),
    }
}

fn run_command(command: &Command, options: &Options) -> Result<(), Failure> {
    match command {
        Command::Demo => demo::run(),
        Command::Call { tool, arguments, json } => {
            call::run(&load_app(options)?, tool, arguments, call::Format::new(*json))
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
        Command::Find { words, also, like, manual, limit, json } => {
            let find_options = find::FindOptions {
                question: &words.join(" "),
                other_words: &OtherWords { phrasings: also.clone(), hypothetical: like.clone() },
                manual: manual.as_deref(),
                limit: usize::from(*limit),
                json: *json,
                shell_options: &find::shell_options(options),
            };
            find::run(&load_app(options)?, &find_options)
        }
        Command::Coverage { file, lines, artifact } => {
            audit::coverage(&load_app(options)?, file, lines.as_deref(), artifact.as_deref())
        }
        Command::Audit { artifact, source } => audit::run(&load_app(options)?, artifact, source),
        Command::Eval { questions, gates, misses, json } => {
            let eval_options = eval::EvalOptions {
                path: questions,
                gates: gates.as_deref(),
                output: eval::Output::new(*json, *misses),
            };
            eval::run(load_app(options)?, &eval_options)
        }
        Command::Doctor => doctor::run(options),
        Command::Campaigns { check, command } => {
            campaigns::run(&load_app(options)?, *check, command.as_ref())
        }
        Command::Db { command } => {
            let app = load_app(options)?;
            let url = app.services.database_url.as_ref().map(annai_core::config::Secret::expose);
            db::run(command, url)
        }
        Command::Token { command } => token::run(&load_app(options)?, command),
        Command::Init { client } => init::run(*client, options),
        Command::Completions { shell } => print_completions(*shell),
        Command::Tools { json } => tools::run(&load_app(options)?, *json),
        Command::Docs { page } => docs::run(&load_app(options)?, *page),
    }
}

fn serve_or_print_help(options: &Options) -> Result<(), Failure> {
    if options.stdio {
        return serve::stdio(&App::start(options)?, options.show_config);
    }
    if let Some(address) = &options.http {
        return serve::http(&App::start(options)?, address.as_deref(), options.show_config);
    }
    if let Some(Some(word)) = &options.debug {
        let word = word.display();
        let message = format!(
            "--debug took `{word}` as the path of its log file; if it is a command, write it first: annai {word} --debug"
        );
        return Err(Failure::usage(message));
    }
    print(&Cli::command().render_help().to_string())?;
    Ok(())
}

fn print_completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "annai", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(())
}

/// Loads the configuration for a command, and prints its warnings before the output of the command.
fn load_app(options: &Options) -> Result<App, Failure> {
    let app = App::start_quietly(options)?;
    for warning in &app.warnings {
        writeln!(io::stderr(), "annai: {warning}")?;
    }
    Ok(app)
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
        Self { message: message.into(), exit_code: 1 }
    }

    fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: EXIT_USAGE }
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
