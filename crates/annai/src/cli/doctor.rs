//! `annai doctor`: what is in order, what is not, and how to mend it.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use annai_core::config::Origin;
use annai_core::{Finding, Identity};
use annai_server::http::Door;

use super::terminal::{Colours, plain};
use super::{Failure, Options, print};
use crate::app::{self, App};
use crate::catalog::ToolsetName;

const FIX: &str = "correct it where it is set, or take it out";

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let findings = match App::start_quietly(options) {
        Ok(app) => look(&app),
        Err(error) => {
            error.0.iter().map(|problem| Finding::bad(format!("configuration: {problem}"), FIX)).collect()
        }
    };
    let colours = Colours::of(&io::stdout(), app::no_color());
    print(&report(&findings, colours))?;
    if findings.iter().all(|finding| finding.fix.is_none()) {
        Ok(())
    } else {
        Err(Failure::new(String::new()))
    }
}

fn report(findings: &[Finding], colours: Colours) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = if finding.fix.is_none() { colours.paint(32, "✓") } else { colours.paint(31, "✗") };
        let _ = writeln!(text, "{mark} {}", plain(&finding.what));
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "  → {fix}");
        }
    }
    text
}

fn look(app: &App) -> Vec<Finding> {
    let mut findings = configuration(app);
    findings.extend([tools(app), door(app), port(app)]);
    let (serves_answers, serves_search) = (app.serves(ToolsetName::Answers), app.serves(ToolsetName::Search));
    if serves_answers || serves_search {
        findings.extend(answers(app, serves_answers, serves_search));
    }
    if app.serves(ToolsetName::Library) {
        findings.extend(annai_library::check(&app.library));
    }
    findings
}

/// The key, the API's address and the models.
fn answers(app: &App, answers: bool, search: bool) -> Vec<Finding> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Finding::bad(format!("answers: {error}"), "free some resources")],
    };
    runtime.block_on(annai_answers::check(&app.answers, answers, search))
}

fn configuration(app: &App) -> Vec<Finding> {
    if !app.warnings.is_empty() {
        return app
            .warnings
            .iter()
            .map(|warning| Finding::bad(format!("configuration: {warning}"), FIX))
            .collect();
    }
    let shown = app.config.show("");
    let file = shown.pointer("/sources/yaml").and_then(serde_json::Value::as_str);
    let what = file.unwrap_or("no file, defaults and environment");
    vec![Finding::good(format!("configuration: {what}"))]
}

/// Whether the door of HTTP can be hung with these settings.
fn door(app: &App) -> Finding {
    match Door::new(&app.server, SocketAddr::from((Ipv4Addr::LOCALHOST, app.server.port))) {
        Ok(_) => Finding::good("http: hosts and origins are in order"),
        Err(error) => Finding::bad(format!("http: {error}"), FIX),
    }
}

/// The tools that are served, and how much of a model's context their list takes.
fn tools(app: &App) -> Finding {
    match app.registry() {
        Ok(registry) => {
            let bytes = registry.list(&Identity::Owner).len();
            Finding::good(format!("tools: {} declared, the list is {bytes} bytes", registry.tools().len()))
        }
        Err(error) => Finding::bad(format!("tools: {error}"), "this build is broken; reinstall"),
    }
}

fn port(app: &App) -> Finding {
    let port = app.server.port;
    let origin = match app.config.origin("server.port") {
        Origin::Default => String::new(),
        origin => format!(" (from {origin})"),
    };
    match TcpListener::bind(("127.0.0.1", port)) {
        Ok(_) => Finding::good(format!("http: port {port}{origin} is free")),
        Err(error) => Finding::bad(
            format!("http: port {port}{origin} cannot be used: {error}"),
            "stop the other program, or choose another port: annai --http 127.0.0.1:3002, or PORT=3002",
        ),
    }
}
