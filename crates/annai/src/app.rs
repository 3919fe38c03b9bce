//! The configured program: what the command line, the environment and the configuration file have set.

use annai_answers::AnswersConfig;
use annai_core::config::Config;
use annai_server::ServerSection;

use crate::library::LibrarySection;
use crate::options::ColorWhen;
use crate::toolset_name::ToolsetName;

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
