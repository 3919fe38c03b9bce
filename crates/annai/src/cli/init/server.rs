//! The server that a client starts: the program, its arguments, and the environment variable that it needs.

use annai_answers::{Answers, Search};
use annai_core::Toolset as _;
use annai_services::ServicesToolset;

use super::super::Failure;
use crate::app::App;
use crate::catalog;
use crate::options::Options;

/// The name of the server in the settings of clients.
pub(super) const SERVER_NAME: &str = "annai";

/// How a client starts the server.
pub(super) struct Server {
    /// The absolute path of this program.
    pub program: String,
    /// Its arguments for stdio.
    pub arguments: Vec<String>,
    /// Its arguments for HTTP.
    pub http_arguments: Vec<String>,
    /// The environment variable with the API key, if a served tool needs one.
    pub key_variable: Option<String>,
    /// The environment variable in which such a key would be.
    pub usual_variable: String,
    /// Whether it serves tools that need to know who calls, and no setting says who that is.
    pub needs_person: bool,
}

impl Server {
    pub(super) fn new(app: &App, options: &Options) -> Result<Self, Failure> {
        let registry = catalog::registry(app)?;
        let mut tools = registry.tools();
        let needs_key = tools.any(|tool| [Answers::NAME, Search::NAME].contains(&tool.toolset));
        let usual_variable = app.answers.settings.openai.api_key_env.clone();
        let is_unknown = app.services.dev_user.is_none() && app.server.oauth_issuer.is_none();
        let mut tools = registry.tools();
        let needs_person = is_unknown
            && tools
                .any(|tool| tool.toolset == ServicesToolset::NAME && tool.facts.name != "search_services");
        let words = options.server_words()?;
        let with = |first: &str| std::iter::once(first.to_owned()).chain(words.iter().cloned()).collect();
        Ok(Self {
            program: std::env::current_exe()?.display().to_string(),
            arguments: with("--stdio"),
            http_arguments: with("--http"),
            key_variable: needs_key.then(|| usual_variable.clone()),
            usual_variable,
            needs_person,
        })
    }

    /// Whether an entry with this program and these arguments starts Annai.
    pub(super) fn is_annai(&self, program: &str, arguments: &[String]) -> bool {
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_named = name == SERVER_NAME || name == "annai.exe" || program == self.program;
        is_named && arguments.iter().any(|argument| argument == "--stdio")
    }
}
