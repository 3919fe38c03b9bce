//! The commands and their arguments, as clap parses them. Their doc comments are the text of `annai help COMMAND`, which
//! fits a terminal of 80 × 24; the examples are run by a test.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use super::{campaigns, db, init, token};
use crate::options::Options;

/// The layout of `annai help`: what to start with, without the shared options.
const PROGRAM_HELP: &str = "\
{about}
{usage-heading} {usage}

{subcommands}
  --stdio        Serve MCP on stdin and stdout; MCP clients start it like this
  --http [ADDR]  Serve MCP over HTTP [default: 127.0.0.1:3001] [env: PORT]

More: annai help COMMAND (its options and examples), help options, help terms";

const DEMO_EXAMPLES: &str = "\
Examples:
  annai demo
  OPENAI_API_KEY=YOUR-KEY annai demo";
const TOOLS_EXAMPLES: &str = "\
Examples:
  annai tools
  annai tools manual_find
  annai tools --toolset library --json";
const CALL_EXAMPLES: &str = "\
Examples:
  annai call manual_list
  annai call manual_find query='rate limits' budget.max_candidates=20
  annai call manual_find '{\"query\": \"rate limits\"}' --json";
const ASK_EXAMPLES: &str = "\
Examples:
  annai ask 'What changed in the latest Rust release?'
  annai ask --quick 'What is the weather in Tokyo?'
  annai ask --detailed 'How do passkeys work?' --json";
const FIND_EXAMPLES: &str = "\
Examples:
  annai find 'how many calls run at the same moment' --manuals ~/manuals
  annai find 'is a callback from you' --also 'verifying webhook signatures'
  annai find 'rate limits' --manual api-guide --limit 3 --json

The exit status is 1 when nothing was found.";
const READ_EXAMPLES: &str = "\
Examples:
  annai read api-guide/rate-limits.md:12
  annai read manuals/api-guide/rate-limits.md:9-20
  annai read travel-policy/policy-2025.md --json";
const COVERAGE_EXAMPLES: &str = "\
Examples:
  annai coverage trip-lisbon.md --lines 1-10
  annai coverage api-migration-notes.md \\
    --artifact artifacts/migration-summary.md
  annai coverage trip-lisbon.md --lines 1-5,8 --json

The exit status is 1 when too few lines are covered.";
const AUDIT_EXAMPLES: &str = "\
Examples:
  annai audit artifacts/migration-summary.md api-migration-notes.md
  annai audit artifacts/migration-summary.md api-migration-notes.md --json

The exit status is 1 when there are problems or too little of the source is cited.";
const EVAL_EXAMPLES: &str = "\
Examples:
  annai eval --gates evals/gates.json
  annai eval --plain --each new.jsonl

Questions about manuals that are not served are skipped and counted; the manuals
of evals/manuals.txt are served unless others are set. See evals/README.md.";
const DOCTOR_EXAMPLES: &str = "\
Examples:
  annai doctor
  annai doctor --toolset library --manuals ~/manuals
  PUBLIC_URL=https://annai.example.com annai doctor --http 0.0.0.0:3001
  annai doctor --json";
const CAMPAIGNS_EXAMPLES: &str = "\
Examples:
  annai campaigns
  annai campaigns --check
  annai campaigns new --name 'Tea survey' --sponsor 'Sencha Co' --task survey \\
    --pays 50 --budget 1000 --service answer";
const DB_EXAMPLES: &str = "\
Examples:
  annai db copy --from sqlite:services.sqlite --to postgres://me@localhost/a
  DATABASE_URL=postgres://me@localhost/a annai db copy --from sqlite:a.sqlite";
const TOKEN_EXAMPLES: &str = "\
Examples:
  annai token new aiko --scope library.read
  annai token list
  annai token revoke aiko

docs/security.md explains the scopes.";
const INIT_EXAMPLES: &str = "\
Examples:
  annai init claude-code --manuals ~/manuals --write
  annai init cursor --toolset answers
  annai init claude-code --remove

--toolset, --tools, --read-only, --manuals, --vault, --config and --model are
passed on to the server. --manuals alone means --toolset library. The change is
shown first, and the file is backed up. docs/clients.md has the details.";
const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  annai completions bash > ~/.annai-completions
  annai completions fish";
const HELP_EXAMPLES: &str = "\
Examples:
  annai help init
  annai help token new
  annai help options";

/// Annai gives AI clients answers from the web and from your documents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "annai", version, max_term_width = 80, disable_help_subcommand = true)]
#[command(help_template = PROGRAM_HELP, override_usage = "annai COMMAND [OPTIONS], annai --stdio or annai --http [ADDR]")]
pub struct Cli {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Connect an MCP client, such as Claude Code, Cursor or VS Code
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// The client
        client: init::Client,
        /// Edit its settings file (not for chatgpt)
        #[arg(long)]
        write: bool,
        /// Remove what --write added to the file
        #[arg(long, conflicts_with = "write")]
        remove: bool,
    },
    /// Check the setup, and say how to fix problems
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor {
        /// Check a server that listens on this address [default: 127.0.0.1:3001] [env: PORT]
        #[arg(long, value_name = "ADDR", num_args = 0..=1)]
        #[expect(
            clippy::option_option,
            reason = "as in `annai --http`: absent, without an address, with an address"
        )]
        http: Option<Option<String>>,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Serve sample documents and sponsors, and print what to try
    #[command(after_help = DEMO_EXAMPLES)]
    Demo,
    /// Ask a question that is answered from the web, with sources
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// The question [env: OPENAI_API_KEY is required]
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// Get a thorough answer, which takes longer [env: MODEL_DETAILED]
        #[arg(long, conflicts_with = "quick")]
        detailed: bool,
        /// Get a short answer quickly [env: MODEL_QUICK]
        #[arg(long)]
        quick: bool,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Search the manuals for the sections that answer a question
    #[command(after_help = FIND_EXAMPLES)]
    Find {
        /// The question or search words
        #[arg(required = true, value_name = "QUESTION")]
        words: Vec<String>,
        /// The question in other words; up to 8 times
        #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
        also: Vec<String>,
        /// A passage that would answer it, made up if need be
        #[arg(long, value_name = "PASSAGE", allow_hyphen_values = true)]
        like: Option<String>,
        /// Search this manual first [env: DEFAULT_MANUAL_ID]
        #[arg(long, value_name = "ID")]
        manual: Option<String>,
        /// Show at most this many sections, up to 20
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20))]
        limit: u8,
        /// Print the structured results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the section of a manual, or of a vault file, around a line
    #[command(after_help = READ_EXAMPLES)]
    Read {
        /// FILE:LINE, FILE:LINE-LINE or FILE, as `annai find` prints it or as MANUAL/PATH
        #[arg(value_name = "FILE:LINE")]
        place: String,
        /// Print the structured result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the tools, or show the arguments of one
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools {
        /// The tool whose arguments to show
        name: Option<String>,
        /// Print JSON, with schemas
        #[arg(long)]
        json: bool,
    },
    /// Call one tool
    #[command(after_help = CALL_EXAMPLES)]
    Call {
        /// The name of the tool; `annai tools` lists the names
        tool: String,
        /// One JSON object, or key=value pairs (outer.inner=value for a nested key, key=a,b for a list)
        #[arg(value_name = "JSON|KEY=VALUE")]
        arguments: Vec<String>,
        /// Print the structured result as JSON, which a pipe gets anyway
        #[arg(long)]
        json: bool,
    },
    /// Show which lines of a vault file were read or cited
    #[command(after_help = COVERAGE_EXAMPLES)]
    Coverage {
        /// The path of the file, relative to the vault
        file: String,
        /// The line ranges that count as covered, such as 1-10,20-30
        #[arg(long, value_name = "RANGES")]
        lines: Option<String>,
        /// A file made from it, whose cited lines (`source_lines`) count as covered
        #[arg(long, value_name = "PATH")]
        artifact: Option<String>,
        /// Print the result of the tool vault_coverage as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check that an artifact cites and states what its source says
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit {
        /// The path of the artifact, relative to the vault
        artifact: String,
        /// The path of the file it was made from, relative to the vault
        source: String,
        /// Print the result of the tool artifact_audit as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make, list or revoke tokens for use from other machines
    #[command(after_help = TOKEN_EXAMPLES, disable_help_subcommand = true)]
    Token {
        #[command(subcommand)]
        command: token::TokenCommand,
    },
    /// List the campaigns of sponsors and their budgets, or create one
    #[command(after_help = CAMPAIGNS_EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
    Campaigns {
        /// Check that every budget equals what remains, was spent and is reserved
        #[arg(long)]
        check: bool,
        /// Print the campaigns, or what the check found, as JSON
        #[arg(long)]
        json: bool,
        #[command(subcommand)]
        command: Option<campaigns::CampaignsCommand>,
    },
    /// Move the database of the services to PostgreSQL
    #[command(after_help = DB_EXAMPLES, disable_help_subcommand = true)]
    Db {
        #[command(subcommand)]
        command: db::DbCommand,
    },
    /// Measure how well manual_find answers questions with known answers
    #[command(after_help = EVAL_EXAMPLES)]
    Eval {
        /// Questions or conflict cases: a file, or a folder
        #[arg(default_value = "evals")]
        questions: PathBuf,
        /// Measure a plain BM25 search too, beside manual_find
        #[arg(long)]
        plain: bool,
        /// Leave these groups of rules out of the search
        #[arg(long, value_name = "GROUP", value_delimiter = ',')]
        without: Vec<String>,
        /// Exit with status 1 if a bound in this file is missed
        #[arg(long, value_name = "FILE")]
        gates: Option<PathBuf>,
        /// Write the rank of each answer to this file
        #[arg(long, value_name = "FILE")]
        each: Option<PathBuf>,
        /// Only compare two files that --each has written
        #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["plain", "without", "gates", "each", "misses"])]
        compare: Vec<PathBuf>,
        /// Also list what was answered wrongly
        #[arg(long)]
        misses: bool,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Show the help of a command, the shared options or the terms
    #[command(after_help = HELP_EXAMPLES)]
    Help {
        /// A command such as token new, or one of: options, terms
        #[arg(value_name = "TOPIC")]
        topic: Vec<String>,
    },
    /// Print a documentation page that is generated from the code, or write the manual pages
    #[command(hide = true)]
    Docs {
        /// The page
        page: DocsPage,
        /// The folder for the manual pages (`annai docs man`), which is made if it does not exist
        #[arg(default_value = "man")]
        folder: PathBuf,
    },
}

/// The generated pages.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum DocsPage {
    /// docs/tools.md
    Tools,
    /// docs/config.md
    Config,
    /// docs/openapi.yaml
    Openapi,
    /// docs/errors.md
    Errors,
    /// The manual pages, one for each command, written to a folder
    Man,
}
