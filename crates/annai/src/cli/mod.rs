//! The command line: one file a command.

mod audit;
mod call;
mod demo;
mod docs;
mod doctor;
mod eval;
mod find;
mod init;
mod serve;
mod terminal;
mod tools;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use annai_core::config::ConfigError;
use annai_core::telemetry;
use clap::{CommandFactory, Parser, Subcommand};

use crate::app::App;
use crate::catalog::ToolsetName;

/// What went wrong before the program could do its work, or because of how it was called.
const USAGE: u8 = 2;

/// Grounded help for AI clients over MCP.
#[derive(Debug, Parser)]
#[command(name = "annai", version, about, max_term_width = 100)]
#[command(after_help = "Start with `annai demo`. An MCP client runs `annai --stdio`.")]
pub struct Cli {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that stand before or after a command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Serve MCP on stdin and stdout (what an MCP client runs)
    #[arg(long)]
    stdio: bool,
    /// Serve MCP over HTTP (default address 127.0.0.1:3001, or the port in PORT)
    #[arg(long, value_name = "ADDR", num_args = 0..=1, conflicts_with = "stdio")]
    #[expect(clippy::option_option, reason = "absent, without an address, with an address")]
    http: Option<Option<String>>,
    /// Serve only this toolset of tools; may be repeated
    #[arg(long, value_name = "NAME", global = true)]
    toolset: Vec<ToolsetName>,
    /// Read this YAML file instead of the one in the configuration folder
    #[arg(long, value_name = "PATH", global = true)]
    pub config: Option<PathBuf>,
    /// Read manuals below this folder; may be repeated
    #[arg(long, value_name = "DIR", global = true)]
    pub manuals: Vec<PathBuf>,
    /// Use this model for `answer` (model_profiles.answer.model)
    #[arg(long, value_name = "ID", global = true)]
    pub model: Option<String>,
    /// Print the configuration in force and where each value came from, as JSON on stderr
    #[arg(long)]
    show_config: bool,
    /// Log what passes over the wire, also to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, global = true)]
    #[expect(clippy::option_option, reason = "absent, without a path, with a path")]
    pub debug: Option<Option<PathBuf>>,
}

impl Options {
    /// The toolsets that were asked for, each once.
    pub fn toolsets(&self) -> Vec<ToolsetName> {
        let mut toolsets = Vec::new();
        for toolset in &self.toolset {
            if !toolsets.contains(toolset) {
                toolsets.push(*toolset);
            }
        }
        toolsets
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve on a throw-away workspace and print what to try
    Demo,
    /// List the tools
    Tools {
        /// As JSON, with their schemas
        #[arg(long)]
        json: bool,
    },
    /// Run one tool from the shell
    Call {
        /// Its name
        tool: String,
        /// Its arguments: one JSON object, or key=value pairs (nested.key=value, key=a,b for lists)
        #[arg(value_name = "JSON|KEY=VALUE")]
        arguments: Vec<String>,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask the web, and read the answer with its sources
    Ask {
        /// The question
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// Research thoroughly (answer_detailed)
        #[arg(long, conflicts_with = "quick")]
        detailed: bool,
        /// Be brief and fast (answer_quick)
        #[arg(long)]
        quick: bool,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Find the best sections of the manuals for a question
    Find {
        /// The question or the words
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// Look in this manual first
        #[arg(long, value_name = "ID")]
        manual: Option<String>,
        /// How many sections to show
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
        limit: u8,
        /// Print the structured results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which lines of a vault file are covered
    Coverage {
        /// The file, from the vault
        file: String,
        /// The lines that were read or cited, as in 1-10,20-30
        #[arg(long, value_name = "RANGES")]
        lines: Option<String>,
        /// The artifact whose source_lines count as cited
        #[arg(long, value_name = "PATH")]
        artifact: Option<String>,
    },
    /// Check that an artifact rests on its source
    Audit {
        /// The artifact, from the vault
        artifact: String,
        /// What it was made of, from the vault
        source: String,
    },
    /// Measure how well manual_find answers questions whose answers are known
    Eval {
        /// A file of questions, or a folder with questions.jsonl
        #[arg(default_value = "evals")]
        questions: PathBuf,
        /// Show the questions that were not answered among the first five
        #[arg(long)]
        misses: bool,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the set-up and say what to fix
    Doctor,
    /// Print how to connect a client
    Init {
        /// Which one
        client: init::Client,
    },
    /// Print completions for a shell
    Completions {
        /// Which one
        shell: clap_complete::Shell,
    },
    /// Print a generated page of the documentation
    #[command(hide = true)]
    Docs {
        /// Which page
        page: docs::Page,
    },
}

/// Runs the program as its command line asks.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
        }
    };
    let result = execute(&cli);
    telemetry::flush(Duration::from_millis(500));
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
    match &cli.command {
        Some(_) if options.stdio || options.http.is_some() => {
            Err(Failure::usage("--stdio and --http serve; give either them or a command"))
        }
        _ if options.show_config => {
            print_config(&App::start_quietly(options)?)?;
            Ok(())
        }
        Some(Command::Demo) => demo::run(),
        Some(Command::Call { tool, arguments, json }) => {
            call::run(&quietly(options)?, tool, arguments, call::Format::new(*json))
        }
        Some(Command::Ask { words, detailed, quick, json }) => {
            let tool = match (detailed, quick) {
                (true, _) => "answer_detailed",
                (_, true) => "answer_quick",
                _ => "answer",
            };
            let arguments = serde_json::json!({ "query": words.join(" ") }).to_string();
            call::run(&quietly(options)?, tool, &[arguments], call::Format::new(*json))
        }
        Some(Command::Find { words, manual, limit, json }) => {
            let wanted = find::Wanted {
                question: &words.join(" "),
                manual: manual.as_deref(),
                limit: usize::from(*limit),
                json: *json,
            };
            find::run(&quietly(options)?, &wanted)
        }
        Some(Command::Coverage { file, lines, artifact }) => {
            audit::coverage(&quietly(options)?, file, lines.as_deref(), artifact.as_deref())
        }
        Some(Command::Audit { artifact, source }) => audit::run(&quietly(options)?, artifact, source),
        Some(Command::Eval { questions, misses, json }) => {
            eval::run(quietly(options)?, questions, *json, *misses)
        }
        Some(Command::Doctor) => doctor::run(options),
        Some(Command::Init { client }) => init::run(*client),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "annai", &mut script);
            print(&String::from_utf8_lossy(&script))?;
            Ok(())
        }
        Some(Command::Tools { json }) => tools::run(&quietly(options)?, *json),
        Some(Command::Docs { page }) => docs::run(&quietly(options)?, *page),
        None if options.stdio => serve::stdio(&App::start(options)?),
        None if let Some(address) = &options.http => serve::http(&App::start(options)?, address.as_deref()),
        None if let Some(Some(word)) = &options.debug => {
            let word = word.display();
            let message =
                format!("--debug took `{word}` for its file; write the command first: annai {word} --debug");
            Err(Failure::usage(message))
        }
        None => {
            print(&Cli::command().render_help().to_string())?;
            Ok(())
        }
    }
}

/// The program for a command: what deserves a word is told before the command says its own.
fn quietly(options: &Options) -> Result<App, Failure> {
    let app = App::start_quietly(options)?;
    for warning in &app.warnings {
        writeln!(io::stderr(), "annai: {warning}")?;
    }
    Ok(app)
}

fn print_config(app: &App) -> io::Result<()> {
    let mut shown = app.config.show(env!("CARGO_PKG_VERSION"));
    if let (false, Some(shown)) = (app.warnings.is_empty(), shown.as_object_mut()) {
        shown.insert("warnings".to_owned(), app.warnings.clone().into());
    }
    writeln!(io::stderr(), "{shown:#}")
}

/// Prints what a command is for. Only commands print to stdout; a server's stdout is the protocol's.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Why a command failed, and the status that it leaves.
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
        Self { message: message.into(), exit_code: USAGE }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self { message: error.to_string(), exit_code: USAGE }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever read our output has seen enough.
        let exit_code = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        let message = if exit_code == 0 { String::new() } else { error.to_string() };
        Self { message, exit_code }
    }
}
