//! Loads the configuration from the command line, the environment and the file, and starts the log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annai_answers::{Answers, AnswersConfig, AnswersSettings, MachineZoneError, Search, Zone};
use annai_core::Toolset as _;
use annai_core::config::{self, Config, ConfigError, Secret};
use annai_core::telemetry::{self, Log};
use annai_server::{LogLevel, ServerSection, ServerSettings};
use annai_services::ServicesSettings;
use tracing::level_filters::LevelFilter;

use crate::app::App;
use crate::catalog;
use crate::environment::{self, cache_folder, data_file, with_home};
use crate::library;
use crate::options::Options;

/// Loads the configuration and starts the log, for a server.
pub fn server(options: &Options) -> Result<App, ConfigError> {
    let app = load(options, &environment::variable)?;
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
pub fn command(options: &Options) -> Result<App, ConfigError> {
    let app = load(options, &environment::variable)?;
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
pub fn without_environment(options: &Options) -> Result<App, ConfigError> {
    let app = load(options, &|_| None)?;
    telemetry::start(log_settings(&app.server)?);
    Ok(app)
}

/// The same with the API key alone of all environment variables: the user's own settings do not change the demo, and it
/// can answer questions.
pub fn with_key_only(options: &Options) -> Result<App, ConfigError> {
    let app = load(options, &|name| environment::variable(name).filter(|_| name == "OPENAI_API_KEY"))?;
    telemetry::start(log_settings(&app.server)?);
    Ok(app)
}

fn load(options: &Options, env: &dyn Fn(&str) -> Option<String>) -> Result<App, ConfigError> {
    let (file, missing) = config::find(options.config.as_deref(), env)?;
    let folder = file.as_ref().and_then(|file| file.path.parent()).map(Path::to_owned);
    let config = catalog::keys().load(file, env, options.given())?;
    let mut server = config.get::<ServerSettings>()?.server;
    for path in [&mut server.debug_file, &mut server.token_file].into_iter().flatten() {
        *path = with_home(path, env);
    }
    server.token_file = server.token_file.or_else(|| data_file(env, "tokens.json"));
    let (default_zone, zone_problem) = default_zone(options, env);
    let answers = answers(&config, folder.unwrap_or_default(), default_zone, env)?;
    let config_warnings = config.warnings().iter().cloned().chain(missing);
    let warnings = config_warnings.chain(answers.settings.warnings()).collect();
    let library = library::section(&config, env("HOME").as_deref(), cache_folder(env))?;
    let mut services = config.get::<ServicesSettings>()?.services;
    services.expand_home(env("HOME").as_deref());
    services.database_path = services.database_path.or_else(|| data_file(env, "services.sqlite"));
    let toolsets = options.toolsets();
    let (color, is_quiet) = (options.color.for_environment(), options.quiet);
    let mut app = App { config, server, answers, library, services, toolsets, warnings, color, is_quiet };
    // A wrong name among the tools stops every command, as any other wrong setting does.
    let registry = catalog::registry(&app)?;
    // The other tools work without the instructions of the answer tools, so their file does not stop the start.
    if registry.has_toolset(Answers::NAME) {
        app.warnings.extend(app.answers.policy_problem());
    }
    let asks = [Answers::NAME, Search::NAME].iter().any(|toolset| registry.has_toolset(toolset));
    if asks && app.answers.settings.search.zone().is_none() {
        app.warnings.extend(zone_problem);
    }
    Ok(app)
}

/// The settings of the answers and search toolsets, with the API key from the environment variable that they name.
fn answers(
    config: &Config,
    folder: PathBuf,
    default_zone: Zone,
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
    let zone = settings.search.zone().unwrap_or(default_zone);
    Ok(AnswersConfig { settings: Arc::new(settings), key, zone, folder, debug })
}

/// The time zone of people who name none, and why it is not that of their machine although it should be. The toolsets
/// know neither the transport nor the name of the server, so the choice is made here.
fn default_zone(options: &Options, env: &dyn Fn(&str) -> Option<String>) -> (Zone, Option<String>) {
    let is_http = options.http.is_some();
    let name = catalog::server_name(&options.toolsets()).name;
    // A server in place of `openai-responses-mcp` keeps its zone; the search server of the same users follows it.
    let replaces_tokyo = ["openai-responses-mcp", "mcp-o3-search"].contains(&name);
    if let Some(tokyo) = Zone::parse("Asia/Tokyo").filter(|_| (options.stdio || is_http) && replaces_tokyo) {
        return (tokyo, None);
    }
    // The callers of an HTTP server need not be where it is.
    if is_http {
        return (Zone::utc(), None);
    }
    let problem = match Zone::of_machine() {
        Ok(zone) => return (zone, None),
        // A system that names no zone at all is in UTC, as it is for the other programs there.
        Err(MachineZoneError::Unknown) if env("TZ").is_none_or(|zone| zone.is_empty()) => {
            return (Zone::utc(), None);
        }
        Err(problem) => problem,
    };
    let warning = format!(
        "the time zone of this machine cannot be used ({problem}), so the answer and search tools take UTC; set TZ or \
         search.user_location.timezone to an IANA time zone such as Europe/Berlin"
    );
    (Zone::utc(), Some(warning))
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
    telemetry::open_file(Path::new(path)).map_err(|error| {
        ConfigError(vec![format!("server.debug_file: {path} cannot be opened for writing: {error}")])
    })
}
