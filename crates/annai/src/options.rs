//! The options of the program: those that start a server, and those that every command shares.

use std::path::{Path, PathBuf};

use annai_core::config::CommandLineValue;
use clap::ValueEnum;

use crate::environment;
use crate::toolset_name::ToolsetName;

/// The options of the program. Those that are `global` may also follow a command; `annai help options` lists them, and the
/// help of a command leaves them out.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Serve MCP on stdin and stdout; MCP clients start the program like this
    #[arg(long)]
    pub stdio: bool,
    /// Serve MCP over HTTP at /mcp [default: 127.0.0.1:3001] [env: PORT]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, conflicts_with = "stdio")]
    #[expect(clippy::option_option, reason = "absent, without an address, with an address")]
    pub http: Option<Option<String>>,
    /// Serve only answers, search, library or services *
    #[arg(long, value_name = "NAME", global = true, hide = true, hide_possible_values = true)]
    pub toolset: Vec<ToolsetName>,
    /// Serve only these (a,b) or all but these (-a,-b) * [env: ANNAI_TOOLS]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        global = true,
        hide = true
    )]
    pub tools: Vec<String>,
    /// Serve only what changes nothing [env: ANNAI_READ_ONLY]
    #[arg(long, global = true, hide = true)]
    pub read_only: bool,
    /// Read the manuals in this folder * [default: manuals in WORKSPACE_ROOT] [env: MANUALS_ROOT]
    #[arg(long, value_name = "DIR", global = true, hide = true)]
    pub manuals: Vec<PathBuf>,
    /// Read the manual in this folder under this id *
    #[arg(long, value_name = "ID=DIR", global = true, hide = true)]
    pub manual_dir: Vec<String>,
    /// Read and change the files in this folder [default: vault in WORKSPACE_ROOT] [env: VAULT_ROOT]
    #[arg(long, value_name = "DIR", global = true, hide = true)]
    pub vault: Option<PathBuf>,
    /// Read this YAML configuration [default: annai/config.yaml in ~/.config] [env: XDG_CONFIG_HOME]
    #[arg(long, value_name = "PATH", global = true, hide = true)]
    pub config: Option<PathBuf>,
    /// Use this model for `answer` [env: MODEL_ANSWER]
    #[arg(long, value_name = "ID", global = true, hide = true)]
    pub model: Option<String>,
    /// Use colors: auto, always or never [env: NO_COLOR]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        hide = true,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: ColorWhen,
    /// Print only results and errors
    #[arg(long, short, global = true, hide = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also log every tool call to stderr [env: LOG_LEVEL]
    #[arg(long, short, global = true, hide = true)]
    pub verbose: bool,
    /// Log the size, method and id of every message to stderr, and to PATH [env: DEBUG]
    #[arg(long, value_name = "PATH", num_args = 0..=1, global = true, hide = true)]
    #[expect(clippy::option_option, reason = "absent, without a path, with a path")]
    pub debug: Option<Option<PathBuf>>,
    /// Print all settings and where each comes from to stderr first
    #[arg(long, global = true, hide = true)]
    pub show_config: bool,
}

/// The values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always, also in a file or a pipe
    Always,
    /// Never
    Never,
}

impl ColorWhen {
    /// When to use colors in this environment: `auto` means never if `NO_COLOR` is set to any value, or `TERM` is `dumb`.
    pub fn for_environment(self) -> Self {
        let is_off = || {
            environment::variable("NO_COLOR").is_some_and(|value| !value.is_empty())
                || environment::variable("TERM").as_deref() == Some("dumb")
        };
        if self == Self::Auto && is_off() { Self::Never } else { self }
    }
}

impl From<ColorWhen> for clap::ColorChoice {
    fn from(when: ColorWhen) -> Self {
        match when {
            ColorWhen::Auto => Self::Auto,
            ColorWhen::Always => Self::Always,
            ColorWhen::Never => Self::Never,
        }
    }
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

    /// The options that choose which tools a server serves and what they work on, as words of a command line. Paths do not
    /// depend on the current folder, because the server may be started in another one.
    pub fn server_words(&self) -> std::io::Result<Vec<String>> {
        let mut words = Vec::new();
        for toolset in self.toolsets() {
            let name = toolset.to_possible_value().map(|value| value.get_name().to_owned());
            words.extend(name.map(|name| ["--toolset".to_owned(), name]).into_iter().flatten());
        }
        if !self.tools.is_empty() {
            words.push(format!("--tools={}", self.tools.join(",")));
        }
        if self.read_only {
            words.push("--read-only".to_owned());
        }
        let manuals = self.manuals.iter().map(|path| ("--manuals", path));
        for named in &self.manual_dir {
            let named = match named.split_once('=') {
                Some((id, path)) if !path.is_empty() => {
                    format!("{id}={}", absolute(Path::new(path))?.display())
                }
                _ => named.clone(),
            };
            words.extend(["--manual-dir".to_owned(), named]);
        }
        let vault = self.vault.iter().map(|path| ("--vault", path));
        let config = self.config.iter().map(|path| ("--config", path));
        for (option, path) in manuals.chain(vault).chain(config) {
            words.extend([option.to_owned(), absolute(path)?.display().to_string()]);
        }
        if let Some(model) = &self.model {
            words.extend(["--model".to_owned(), model.clone()]);
        }
        Ok(words)
    }

    /// The settings that the command line gives.
    pub fn given(&self) -> Vec<CommandLineValue> {
        let mut given = Vec::new();
        if let Some(model) = &self.model {
            let value = model.as_str().into();
            given.push(CommandLineValue { option: "--model", key: "model_profiles.answer.model", value });
        }
        if !self.manuals.is_empty() {
            let folders: Vec<_> = self.manuals.iter().map(|folder| folder.display().to_string()).collect();
            given.push(CommandLineValue {
                option: "--manuals",
                key: "library.manuals",
                value: folders.into(),
            });
        }
        if !self.manual_dir.is_empty() {
            let value = self.manual_dir.clone().into();
            given.push(CommandLineValue { option: "--manual-dir", key: "library.manual_dirs", value });
        }
        if let Some(vault) = &self.vault {
            let value = vault.display().to_string().into();
            given.push(CommandLineValue { option: "--vault", key: "library.vault_root", value });
        }
        if !self.tools.is_empty() {
            let names: Vec<_> = self.tools.iter().map(|name| name.trim()).collect();
            given.push(CommandLineValue { option: "--tools", key: "server.tools", value: names.into() });
        }
        if self.read_only {
            let value = true.into();
            given.push(CommandLineValue { option: "--read-only", key: "server.read_only", value });
        }
        if let Some(file) = &self.debug {
            let mut set = |key, value| given.push(CommandLineValue { option: "--debug", key, value });
            set("server.debug", true.into());
            if let Some(file) = file {
                set("server.debug_file", file.display().to_string().into());
            }
        }
        given
    }
}

/// The absolute path of a file; a `~` that the shell has left is the home folder.
fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let home = environment::folder("HOME").filter(|_| path.starts_with("~"));
    let in_home = home.and_then(|home| Some(home.join(path.strip_prefix("~").ok()?)));
    std::path::absolute(in_home.as_deref().unwrap_or(path))
}
