//! Loads the configuration from the command line, the environment and the file, and starts the log.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annai_answers::{Answers, AnswersConfig, AnswersSettings};
use annai_core::config::{self, CommandLineValue, Config, ConfigError, Secret};
use annai_core::telemetry::{self, Log};
use annai_core::{Registry, Toolset as _};
use annai_server::{LogLevel, ServerSection, ServerSettings};
use annai_services::ServicesSettings;
use tracing::level_filters::LevelFilter;

use crate::catalog::{self, ToolsetName};
use crate::cli::{ColorWhen, Options};
use crate::library::{self, LibrarySection};

/// The configured program.
pub struct App {
    /// Every setting, with its origin.
    pub config: Config,
    /// The `server` section.
    pub server: ServerSection,
    /// The settings and the API key of the answers and search toolsets.
    pub answers: AnswersConfig,
    /// The `library` section.
    pub library: LibrarySection,
    /// The `services` section.
    pub services: annai_services::ServicesSection,
    /// The toolsets chosen with `--toolset`; empty means all.
    pub toolsets: Vec<ToolsetName>,
    /// Problems of the configuration that do not keep the program from starting.
    pub warnings: Vec<String>,
    /// When to use colors.
    pub color: ColorWhen,
    /// Whether commands print only results and errors.
    pub is_quiet: bool,
}

impl App {
    /// Loads the configuration and starts the log, for a server.
    pub fn start(options: &Options) -> Result<Self, ConfigError> {
        let app = Self::load(options, &read_env)?;
        let log = log_settings(&app.server)?;
        telemetry::start(match (options.quiet, options.verbose) {
            (true, _) => Log { level: log.level.min(LevelFilter::ERROR), calls: LevelFilter::ERROR, ..log },
            (_, true) => Log { level: log.level.max(LevelFilter::INFO), calls: LevelFilter::INFO, ..log },
            _ => log,
        });
        for warning in &app.warnings {
            tracing::warn!("{warning}");
        }
        Ok(app)
    }

    /// The same for a command, which logs only errors unless `--debug` is given.
    pub fn start_quietly(options: &Options) -> Result<Self, ConfigError> {
        let app = Self::load(options, &read_env)?;
        let log = log_settings(&app.server)?;
        telemetry::start(if app.server.debug {
            log
        } else if options.verbose {
            Log { level: log.level.max(LevelFilter::INFO), calls: LevelFilter::INFO, ..log }
        } else {
            // The command itself says whether its calls failed.
            Log { level: LevelFilter::ERROR, calls: LevelFilter::OFF, ..log }
        });
        Ok(app)
    }

    /// The same without environment variables.
    #[cfg(test)]
    pub fn without_environment(options: &Options) -> Result<Self, ConfigError> {
        let app = Self::load(options, &|_| None)?;
        telemetry::start(log_settings(&app.server)?);
        Ok(app)
    }

    /// The same with the API key alone of all environment variables: the user's own settings do not change the demo, and it
    /// can answer questions.
    pub fn with_key_only(options: &Options) -> Result<Self, ConfigError> {
        let app = Self::load(options, &|name| read_env(name).filter(|_| name == "OPENAI_API_KEY"))?;
        telemetry::start(log_settings(&app.server)?);
        Ok(app)
    }

    fn load(options: &Options, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let (file, missing) = config::find(options.config.as_deref(), env)?;
        let folder = file.as_ref().and_then(|file| file.path.parent()).map(Path::to_owned);
        let config = catalog::keys().load(file, env, options.given())?;
        let mut server = config.get::<ServerSettings>()?.server;
        for path in [&mut server.debug_file, &mut server.token_file].into_iter().flatten() {
            *path = with_home(path, env);
        }
        server.token_file = server.token_file.or_else(|| data_file(env, "tokens.json"));
        let answers = answers(&config, folder.unwrap_or_default(), env)?;
        let config_warnings = config.warnings().iter().cloned().chain(missing);
        let warnings = config_warnings.chain(answers.settings.warnings()).collect();
        let library = library::section(&config, env("HOME").as_deref(), cache_folder(env))?;
        let mut services = config.get::<ServicesSettings>()?.services;
        services.expand_home(env("HOME").as_deref());
        services.database_path = services.database_path.or_else(|| data_file(env, "services.sqlite"));
        let toolsets = options.toolsets();
        let (color, is_quiet) = (color(options.color), options.quiet);
        let mut app =
            Self { config, server, answers, library, services, toolsets, warnings, color, is_quiet };
        // A wrong name among the tools stops every command, as any other wrong setting does.
        let registry = app.registry()?;
        // The other tools work without the instructions of the answer tools, so their file does not stop the start.
        if registry.has_toolset(Answers::NAME) {
            app.warnings.extend(app.answers.policy_problem());
        }
        Ok(app)
    }

    /// The tools that the options and settings choose. A toolset is opened on its first call.
    pub fn registry(&self) -> Result<Arc<Registry>, ConfigError> {
        catalog::registry(self)
    }
}

impl Options {
    /// The settings that the command line gives.
    fn given(&self) -> Vec<CommandLineValue> {
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

/// When to use colors: `auto` means never if `NO_COLOR` is set to any value, or `TERM` is `dumb`.
pub fn color(option: ColorWhen) -> ColorWhen {
    let is_off = || {
        read_env("NO_COLOR").is_some_and(|value| !value.is_empty())
            || read_env("TERM").as_deref() == Some("dumb")
    };
    if option == ColorWhen::Auto && is_off() { ColorWhen::Never } else { option }
}

/// An environment variable that says where another program keeps its files.
pub fn folder_variable(name: &str) -> Option<PathBuf> {
    read_env(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn read_env(name: &str) -> Option<String> {
    let variable = if cfg!(windows) && name == "HOME" { "USERPROFILE" } else { name };
    std::env::var(variable).ok()
}

/// The cache folder of this user: `annai` in `XDG_CACHE_HOME`, else in the default cache folder of the system.
fn cache_folder(env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let default_folder = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    Some(user_folder(env, "XDG_CACHE_HOME", default_folder)?.display().to_string())
}

/// A file in the data folder of this user.
fn data_file(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let (variable, default_folder) = match std::env::consts::OS {
        "macos" => ("XDG_DATA_HOME", "Library/Application Support"),
        "windows" => ("LOCALAPPDATA", "AppData/Local"),
        _ => ("XDG_DATA_HOME", ".local/share"),
    };
    let folder = user_folder(env, variable, default_folder)?;
    Some(folder.join(name).display().to_string())
}

/// The folder `annai` in the folder that a variable names, else in the default folder of the system.
fn user_folder(
    env: &dyn Fn(&str) -> Option<String>,
    variable: &str,
    default_folder: &str,
) -> Option<PathBuf> {
    let given = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = given
        .or_else(|| Some(PathBuf::from(env("HOME").filter(|home| !home.is_empty())?).join(default_folder)))?;
    Some(folder.join("annai"))
}

/// The settings of the answers and search toolsets, with the API key from the environment variable that they name.
fn answers(
    config: &Config,
    folder: PathBuf,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<AnswersConfig, ConfigError> {
    let mut settings = config.get::<AnswersSettings>()?;
    if let Some(path) = &mut settings.policy.system.path {
        *path = with_home(path, env);
    }
    let problems: Vec<_> =
        settings.problems().iter().map(|(key, problem)| config.key_error(key, problem)).collect();
    if !problems.is_empty() {
        return Err(ConfigError(problems));
    }
    let key = env(&settings.openai.api_key_env).map(Secret::new);
    let debug = config.get::<ServerSettings>()?.server.debug;
    Ok(AnswersConfig { settings: Arc::new(settings), key, folder, debug })
}

/// A path of the settings with its leading `~` replaced by the home folder.
fn with_home(path: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    config::expand_home(Path::new(path), env("HOME").as_deref()).display().to_string()
}

fn log_settings(server: &ServerSection) -> Result<Log, ConfigError> {
    let level = match (server.debug, server.log_level) {
        (true, _) | (_, LogLevel::Debug) => LevelFilter::DEBUG,
        (_, LogLevel::Info) => LevelFilter::INFO,
        (_, LogLevel::Warn) => LevelFilter::WARN,
        (_, LogLevel::Error) => LevelFilter::ERROR,
    };
    let file = server.debug_file.as_deref().filter(|_| server.debug).map(open_log).transpose()?;
    Ok(Log { level, calls: level, file })
}

fn open_log(path: &str) -> Result<File, ConfigError> {
    let folder = Path::new(path).parent().map_or(Ok(()), std::fs::create_dir_all);
    let open = folder.and_then(|()| OpenOptions::new().create(true).append(true).open(path));
    open.map_err(|error| {
        ConfigError(vec![format!("server.debug_file: {path} cannot be opened for writing: {error}")])
    })
}
