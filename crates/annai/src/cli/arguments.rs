//! The command-line arguments, as clap parses them. Their doc comments are the text of `annai help`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::{campaigns, db, docs, init, token};
use crate::catalog::ToolsetName;

/// The words that the help uses, and where to start.
const AFTER_HELP: &str = "\
Terms:
  manual    A folder of documents that are only read, such as a product manual.
  vault     A folder of documents that tools may also create and change.
  artifact  A vault file made from another one, such as a flowchart; its elements cite lines of their source.

To try it out, run `annai demo`. To use it from an MCP client, run `annai init <CLIENT>` and follow the
instructions; the client then starts `annai --stdio`.";

/// How to call `annai eval`.
const EVAL_AFTER_HELP: &str = "\
Examples:
  annai eval --manuals examples/workspace/manuals --gates evals/gates.json
  annai eval evals/held-out.jsonl --manuals ~/corpora
  annai eval evals/conflicts.jsonl --misses

Questions about manuals that are not in the given folders are skipped and counted. The formats are described in
evals/README.md.";

/// How to call `annai campaigns`.
const CAMPAIGNS_AFTER_HELP: &str = "\
Examples:
  annai campaigns
  annai campaigns --check
  annai campaigns new --name 'Tea survey' --sponsor 'Sencha Co' --task survey --pays 50 --budget 1000 --service answer";

/// How to call `annai token`.
const TOKEN_AFTER_HELP: &str = "\
Examples:
  annai token new aiko --scope library.read
  annai token new backup --scope library.read --scope library.write --expires never
  annai token revoke aiko

The tokens are stored, as SHA-256 digests, in the file that the setting server.token_file (ANNAI_TOKEN_FILE) names.
docs/security.md explains the scopes.";

/// An MCP server that gives AI clients answers from the web and from local documents.
#[derive(Debug, Parser)]
#[command(name = "annai", version, max_term_width = 100)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// The options of the program. Those that are `global` may also follow a command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Run as an MCP server on stdin and stdout; MCP clients start the program like this
    #[arg(long)]
    pub(super) stdio: bool,
    /// Run as an HTTP server with MCP at /mcp, on an address such as 127.0.0.1:3001 or a port such as 3001 [default:
    /// 127.0.0.1:3001, or the port in the environment variable PORT]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, conflicts_with = "stdio")]
    #[expect(clippy::option_option, reason = "absent, without an address, with an address")]
    pub(super) http: Option<Option<String>>,
    /// Offer only the tools of this toolset; may be repeated [default: all toolsets]
    #[arg(long, value_name = "NAME", global = true)]
    toolset: Vec<ToolsetName>,
    /// Offer only these tools, separated by commas; may be repeated. A name with a leading `-` removes that tool, and a
    /// list of only such names offers all other tools [default: all tools of the toolsets]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true, global = true)]
    pub tools: Vec<String>,
    /// Offer only tools that change nothing
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Read this YAML configuration file [default: annai/config.yaml, else
    /// openai-responses-mcp/config.yaml, in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "PATH", global = true)]
    pub config: Option<PathBuf>,
    /// Read the manuals in this folder; may be repeated [default: MANUALS_ROOT, else the folder
    /// `manuals` in WORKSPACE_ROOT]
    #[arg(long, value_name = "DIR", global = true)]
    pub manuals: Vec<PathBuf>,
    /// Use this OpenAI model for the tool `answer` (overrides the setting model_profiles.answer.model)
    #[arg(long, value_name = "ID", global = true)]
    pub model: Option<String>,
    /// Print the effective configuration and the origin of each value as JSON to stderr; exit, unless --stdio or --http
    /// starts a server
    #[arg(long)]
    pub(super) show_config: bool,
    /// Log every message that is received or sent (size, method and id, not its content) to stderr and, if given, to
    /// the file PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, global = true)]
    #[expect(clippy::option_option, reason = "absent, without a path, with a path")]
    pub debug: Option<Option<PathBuf>>,
}

impl Options {
    /// The chosen toolsets without repetitions; empty when none was chosen, which means all.
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
pub(super) enum Command {
    /// Start an HTTP server with sample documents in a temporary folder, and print examples to try
    Demo,
    /// List the tools
    Tools {
        /// Print the tools as JSON, with their schemas
        #[arg(long)]
        json: bool,
    },
    /// Call one tool from the shell
    Call {
        /// The name of the tool; `annai tools` lists the names
        tool: String,
        /// The arguments of the tool: one JSON object, or key=value pairs (outer.inner=value for a nested key,
        /// key=a,b for a list)
        #[arg(value_name = "JSON|KEY=VALUE")]
        arguments: Vec<String>,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask a question that is answered from the web, with sources (needs an OpenAI API key)
    Ask {
        /// The question
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// Get a thorough answer, which takes longer (the tool `answer_detailed`)
        #[arg(long, conflicts_with = "quick")]
        detailed: bool,
        /// Get a short answer quickly (the tool `answer_quick`)
        #[arg(long)]
        quick: bool,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Search the manuals for the sections that best match a question
    Find {
        /// The question or search words
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// Another way to ask the question, with words that the manuals may use instead; may be repeated, at most 8 times
        #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
        also: Vec<String>,
        /// A passage of one to three sentences that would answer the question, as the manuals may say it
        #[arg(long, value_name = "PASSAGE", allow_hyphen_values = true)]
        like: Option<String>,
        /// Search this manual first; other manuals are searched only if it does not have enough
        #[arg(long, value_name = "ID")]
        manual: Option<String>,
        /// The maximum number of sections to show, from 1 to 20
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
        limit: u8,
        /// Print the structured results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which lines of a vault file have been read or cited, and which have not
    Coverage {
        /// The path of the file, relative to the vault
        file: String,
        /// The line ranges that count as covered, such as 1-10,20-30
        #[arg(long, value_name = "RANGES")]
        lines: Option<String>,
        /// A file made from this one, such as a flowchart; the lines that it cites (`source_lines`) count as covered
        #[arg(long, value_name = "PATH")]
        artifact: Option<String>,
    },
    /// Check that every element of an artifact, such as a flowchart, cites lines of its source file
    Audit {
        /// The path of the artifact, relative to the vault
        artifact: String,
        /// The path of the file from which the artifact was made, relative to the vault
        source: String,
    },
    /// Measure how well the tool `manual_find` finds known answers, knows whether it has, and reports contradictions
    #[command(after_help = EVAL_AFTER_HELP)]
    Eval {
        /// A file of questions or of conflict cases in JSON Lines format, or a folder with the file questions.jsonl,
        /// conflicts.jsonl or both
        #[arg(default_value = "evals")]
        questions: PathBuf,
        /// Compare the figures with the minimums and maximums in this JSON file; the exit status is 1 if one is missed
        #[arg(long, value_name = "FILE")]
        gates: Option<PathBuf>,
        /// Also list the questions whose answer is not among the first five results, the unanswerable questions that
        /// are reported as ready, the questions that their other wordings make worse, and the conflict cases that are
        /// judged wrongly
        #[arg(long)]
        misses: bool,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration, the API key, the folders and the port, and say how to fix problems
    Doctor,
    /// List the campaigns of the sponsors and what remains of their budgets, or create one
    #[command(after_help = CAMPAIGNS_AFTER_HELP, args_conflicts_with_subcommands = true)]
    Campaigns {
        /// Check instead that every budget equals what remains, what was spent and what is reserved; the exit status is 1
        /// if one does not
        #[arg(long)]
        check: bool,
        #[command(subcommand)]
        command: Option<campaigns::CampaignsCommand>,
    },
    /// Move the database of the services
    Db {
        #[command(subcommand)]
        command: db::DbCommand,
    },
    /// Make, list or revoke tokens with which people use this server from other machines
    #[command(after_help = TOKEN_AFTER_HELP)]
    Token {
        #[command(subcommand)]
        command: token::TokenCommand,
    },
    /// Print the instructions to connect an MCP client
    Init {
        /// The client
        client: init::Client,
    },
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a documentation page that is generated from the code
    #[command(hide = true)]
    Docs {
        /// The page
        page: docs::Page,
    },
}
