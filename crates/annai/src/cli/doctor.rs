//! `annai doctor`: checks the setup and says how to fix each problem.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener};

use annai_answers::{Answers, AnswersSettings, Search};
use annai_core::config::{ConfigError, Origin};
use annai_core::finding::{Outcome, counted};
use annai_core::{Finding, Identity, Registry, Toolset as _};
use annai_server::http::{BadUrl, check_oauth, running_version};
use annai_services::ServicesToolset;
use serde_json::{Map, Value, json};

use super::call::Format;
use super::terminal::{Colors, cell, plain};
use super::{Failure, print, reachability, serve};
use crate::app::App;
use crate::catalog;
use crate::library::{self, Library, LibrarySettings};
use crate::options::Options;
use crate::start;

/// How to fix a wrong setting.
const FIX_SETTING: &str = "correct the setting, or remove it to use the default";

/// Checks a server with these options; `address` is that of its `--http`.
pub(super) fn run(options: &Options, address: Option<&str>, format: Format) -> Result<(), Failure> {
    let checked = match start::command(options) {
        Ok(app) => check(&app, &Listener::new(&app, address)?),
        Err(error) => Err(error),
    };
    let report = checked.unwrap_or_else(|error| {
        let wrong = |problem: &String| Finding::bad(format!("configuration: {problem}"), FIX_SETTING);
        Report { findings: error.0.iter().map(wrong).collect(), uses: Vec::new() }
    });
    print(&match format {
        Format::Text => {
            report.text(Colors::of(&io::stdout(), options.color.for_environment()), options.quiet)
        }
        Format::Json => format!("{:#}\n", report.json()),
    })?;
    if report.problem_count() == 0 { Ok(()) } else { Err(Failure::new(String::new())) }
}

/// All findings, and which uses of the program are ready.
struct Report {
    findings: Vec<Finding>,
    uses: Vec<Use>,
}

/// What the program can be used for, and whether it is ready.
struct Use {
    name: &'static str,
    is_ready: bool,
}

impl Report {
    fn problem_count(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_problem()).count()
    }

    /// Adds the findings about a use. What nobody has set up is not a problem: a machine on which only one of them is wanted
    /// is in order.
    fn add_use(&mut self, name: &'static str, is_set_up: bool, mut findings: Vec<Finding>) {
        let is_ready = !findings.iter().any(Finding::is_problem);
        if !is_set_up {
            findings.iter_mut().filter(|finding| finding.is_problem()).for_each(|finding| {
                finding.outcome = Outcome::NotReady;
            });
        }
        self.findings.extend(findings);
        self.uses.push(Use { name, is_ready });
    }

    /// The findings for programs: what was checked, how that ended, and how to fix it.
    fn json(&self) -> Value {
        let entry = |finding: &Finding| json!({ "status": finding.outcome.name(), "what": finding.what, "fix": finding.fix });
        let findings: Vec<_> = self.findings.iter().map(entry).collect();
        let uses: Map<_, _> =
            self.uses.iter().map(|used| (used.name.to_owned(), used.is_ready.into())).collect();
        json!({ "problems": self.problem_count(), "ready": uses, "findings": findings })
    }

    fn text(&self, colors: Colors, is_quiet: bool) -> String {
        let mut text = String::new();
        for finding in self.findings.iter().filter(|finding| finding.fix.is_some() || !is_quiet) {
            let mark = match finding.outcome {
                Outcome::Good => colors.paint(32, "✓"),
                Outcome::Warning => colors.paint(33, "!"),
                Outcome::NotReady => colors.paint(36, "–"),
                Outcome::Bad => colors.paint(31, "✗"),
            };
            let _ = writeln!(text, "{mark} {}", cell(&finding.what));
            if let Some(fix) = &finding.fix {
                let _ = writeln!(text, "  → {}", plain(fix));
            }
        }
        if is_quiet {
            return text;
        }
        for (is_ready, label) in [(true, "Ready"), (false, "Not ready")] {
            let names: Vec<_> =
                self.uses.iter().filter(|used| used.is_ready == is_ready).map(|used| used.name).collect();
            if !names.is_empty() {
                let _ = writeln!(text, "{label}: {}.", names.join(", "));
            }
        }
        let problems = self.problem_count();
        let number = if problems == 0 { "No problems".to_owned() } else { counted(problems, "problem") };
        let _ = writeln!(text, "{number} found.");
        text
    }
}

/// Where the server listens.
struct Listener {
    address: SocketAddr,
    /// What it is called in findings: as the user has written it.
    name: String,
}

impl Listener {
    fn new(app: &App, given: Option<&str>) -> Result<Self, Failure> {
        let port = app.server.port;
        let address = serve::parse_address(given, port)?;
        let name = match (given, app.config.origin("server.port")) {
            (Some(_), _) => address.to_string(),
            (None, Origin::Default) => format!("port {port}"),
            (None, origin) => format!("port {port} (from {origin})"),
        };
        Ok(Self { address, name })
    }
}

/// Runs every check that applies to the served toolsets.
fn check(app: &App, listener: &Listener) -> Result<Report, ConfigError> {
    let registry = catalog::registry(app)?;
    let mut findings = configuration(app);
    findings.extend([tools(&registry), port(listener)]);
    findings.extend(access(app, listener.address, &registry));
    let mut report = Report { findings, uses: Vec::new() };
    // What was asked for by name is set up, and so is what has a setting.
    let is_chosen = !app.toolsets.is_empty() || !app.server.tools.is_empty();
    let (serves_answers, serves_search) =
        (registry.has_toolset(Answers::NAME), registry.has_toolset(Search::NAME));
    if serves_answers || serves_search {
        let is_set_up = is_chosen || app.answers.key.is_some() || app.config.sets_any::<AnswersSettings>();
        report.add_use("answers", is_set_up, answers(app, serves_answers, serves_search));
    }
    if registry.has_toolset(Library::NAME) {
        let has_documents = library::folder_exists(&app.library);
        let is_set_up = is_chosen || has_documents || app.config.sets_any::<LibrarySettings>();
        report.add_use("library", is_set_up, library::check(&app.library));
    }
    if registry.has_toolset(ServicesToolset::NAME) {
        let checked = block_on("services", annai_services::check(&registry));
        report.add_use("services", true, checked.unwrap_or_else(|finding| vec![finding]));
        // The findings about access say what is missing.
        if !knows_people(app)
            && let Some(services) = report.uses.last_mut()
        {
            services.is_ready = false;
        }
    }
    Ok(report)
}

/// Whether a setting says how the callers of the services are known.
fn knows_people(app: &App) -> bool {
    app.services.dev_user.is_some()
        || app.server.oauth_issuer.is_some()
        || app.services.gpt_actions_api_key.is_some()
}

/// Checks the API key, the address of the API and the models.
fn answers(app: &App, answers: bool, search: bool) -> Vec<Finding> {
    let checked = block_on("answers", annai_answers::check(&app.answers, answers, search));
    checked.unwrap_or_else(|finding| vec![finding])
}

/// Waits for a check that uses the network; the error is a finding about the part that could not be checked.
fn block_on<T>(part: &str, check: impl Future<Output = T>) -> Result<T, Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Finding::bad(
            format!("{part}: {error}"),
            "close other programs to free memory or threads, and try again",
        )
    })?;
    Ok(runtime.block_on(check))
}

fn configuration(app: &App) -> Vec<Finding> {
    if !app.warnings.is_empty() {
        return app
            .warnings
            .iter()
            .map(|warning| Finding::bad(format!("configuration: {warning}"), FIX_SETTING))
            .collect();
    }
    let config = app.config.show("");
    let file = config.pointer("/sources/yaml").and_then(Value::as_str);
    let what = file.unwrap_or("no configuration file; defaults and environment variables are used");
    vec![Finding::good(format!("configuration: {what}"))]
}

/// Shows who can use `--http`, and checks the settings about it and the issuer.
fn access(app: &App, address: SocketAddr, registry: &Registry) -> Vec<Finding> {
    let wrong_setting = |error: BadUrl| Finding::bad(format!("http: {error}"), FIX_SETTING);
    let mut findings = match reachability::findings(app, address, registry) {
        Ok(findings) => findings,
        Err(error) => return vec![wrong_setting(error)],
    };
    match block_on("oauth", check_oauth(&app.server)) {
        Ok(Ok(issuer)) => findings.extend(issuer),
        Ok(Err(error)) => findings.push(wrong_setting(error)),
        Err(finding) => findings.push(finding),
    }
    findings
}

/// Counts the tools, and shows the size of their list, which takes up context of every model that uses the server.
fn tools(registry: &Registry) -> Finding {
    let bytes = registry.list(&Identity::Owner).len();
    Finding::good(format!("tools: {}; tools/list has {bytes} bytes", counted(registry.tools().len(), "tool")))
}

/// Checks that the address of `--http` is free, or that a server of this program has it already.
fn port(Listener { address, name }: &Listener) -> Finding {
    let error = match TcpListener::bind(address) {
        Ok(_) => return Finding::good(format!("http: {name} is free")),
        Err(error) => error,
    };
    match block_on("http", running_version(*address)) {
        Ok(Some(version)) => {
            Finding::good(format!("http: {name} is in use: Annai {version} is running there"))
        }
        _ => Finding::bad(
            format!("http: {name} cannot be used: {error}"),
            "stop the program that uses the port, or choose another port: annai --http 127.0.0.1:3002, or PORT=3002",
        ),
    }
}
