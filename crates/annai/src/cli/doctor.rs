//! `annai doctor`: checks the setup and says how to fix each problem.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener};

use annai_answers::{Answers, Search};
use annai_core::config::{ConfigError, Origin};
use annai_core::finding::counted;
use annai_core::{Finding, Identity, Registry, Toolset as _};
use annai_server::http::{BadUrl, check_oauth, running_version};
use annai_services::ServicesToolset;
use serde_json::{Value, json};

use super::call::Format;
use super::terminal::{Colors, plain};
use super::{Failure, print, reachability, serve};
use crate::app::App;
use crate::catalog;
use crate::library::{self, Library};
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
    let findings = match checked {
        Ok(findings) => findings,
        Err(error) => error
            .0
            .iter()
            .map(|problem| Finding::bad(format!("configuration: {problem}"), FIX_SETTING))
            .collect(),
    };
    let colors = Colors::of(&io::stdout(), options.color.for_environment());
    let shown = findings.iter().filter(|finding| finding.fix.is_some() || !options.quiet);
    print(&match format {
        Format::Text => report(&shown.collect::<Vec<_>>(), problem_count(&findings), colors),
        Format::Json => format!("{:#}\n", to_json(&findings)),
    })?;
    if problem_count(&findings) == 0 { Ok(()) } else { Err(Failure::new(String::new())) }
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

fn problem_count(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.is_problem()).count()
}

/// The findings for programs: what was checked, how that ended, and how to fix it.
fn to_json(findings: &[Finding]) -> Value {
    let entries = findings.iter().map(|finding| {
        let status = match finding {
            Finding { is_warning: true, .. } => "warning",
            finding if finding.is_problem() => "problem",
            _ => "ok",
        };
        json!({ "status": status, "what": finding.what, "fix": finding.fix })
    });
    json!({ "problems": problem_count(findings), "findings": entries.collect::<Vec<_>>() })
}

fn report(findings: &[&Finding], problems: usize, colors: Colors) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = match finding {
            Finding { is_warning: true, .. } => colors.paint(33, "!"),
            finding if finding.is_problem() => colors.paint(31, "✗"),
            _ => colors.paint(32, "✓"),
        };
        let _ = writeln!(text, "{mark} {}", plain(&finding.what));
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "  → {}", plain(fix));
        }
    }
    let number = if problems == 0 { "No problems".to_owned() } else { counted(problems, "problem") };
    let _ = writeln!(text, "{number} found.");
    text
}

/// Runs every check that applies to the served toolsets.
fn check(app: &App, listener: &Listener) -> Result<Vec<Finding>, ConfigError> {
    let mut findings = configuration(app);
    let registry = catalog::registry(app)?;
    findings.extend([tools(&registry), port(listener)]);
    findings.extend(access(app, listener.address, &registry));
    let (serves_answers, serves_search) =
        (registry.has_toolset(Answers::NAME), registry.has_toolset(Search::NAME));
    if serves_answers || serves_search {
        findings.extend(answers(app, serves_answers, serves_search));
    }
    if registry.has_toolset(Library::NAME) {
        findings.extend(library::check(&app.library));
    }
    if registry.has_toolset(ServicesToolset::NAME) {
        let checked = block_on("services", annai_services::check(&registry));
        findings.extend(checked.unwrap_or_else(|finding| vec![finding]));
    }
    Ok(findings)
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
