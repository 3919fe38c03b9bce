//! The checks of `annai doctor` for this toolset: the database and its books, the keys, and the prices.

use std::path::Path;

use annai_core::finding::counted;
use annai_core::owner_only::others_can_open;
use annai_core::{Finding, Registry, ToolError};

use crate::backend::RemoteServices;
use crate::domain::text::one_line;
use crate::error::ServicesError;
use crate::runs::tool_offers;
use crate::store::{BookViolation, Migration};
use crate::toolset::{ServicesConfig, ServicesToolset};

/// How many wrong books are shown; of the others, only the number.
const MAX_SHOWN_VIOLATIONS: usize = 5;
/// The longest finding in characters. What this program says is shorter.
const MAX_FINDING_CHARS: usize = 2000;

/// Checks the toolset, if it is served. The database is read, but neither created nor migrated.
pub async fn check(registry: &Registry) -> Vec<Finding> {
    let mut findings = findings(registry).await;
    // A damaged database, another server or an operating system has a say in them, and none of them may end the line: what
    // followed would look like a finding of its own.
    for finding in &mut findings {
        finding.what = one_line(&finding.what, MAX_FINDING_CHARS);
    }
    findings
}

async fn findings(registry: &Registry) -> Vec<Finding> {
    let Some(toolset) = registry.toolset::<ServicesToolset>() else { return Vec::new() };
    let config = toolset.config();
    let mut findings = match config.remote() {
        // The database, the keys and the prices are the other server's.
        Ok(Some(remote)) => return vec![check_backend(&remote).await],
        Err(error) => return vec![not_configured(&error)],
        Ok(None) => check_database(config).await,
    };
    findings.extend(check_keys(config));
    let offers = tool_offers(registry, &config.section.tool_prices);
    let unknown = config.section.tool_prices.keys().filter(|tool| offers.get(tool).is_none());
    findings.extend(unknown.map(|tool| {
        Finding::bad(
            format!("services: services.tool_prices names `{tool}`, which no sponsor can buy here"),
            "correct the name, or remove the entry",
        )
    }));
    findings
}

/// A setting without which the services cannot be used.
fn not_configured(error: &ToolError) -> Finding {
    let (what, fix) = error.message().split_once("; ").unwrap_or((error.message(), "correct the setting"));
    Finding::bad(format!("services: {what}"), fix)
}

/// The server that has the services: whether it answers, and accepts the key.
async fn check_backend(remote: &RemoteServices) -> Finding {
    let base = remote.base();
    let bad = |what: String, fix: &str| Finding::bad(format!("services: {what}"), fix);
    match remote.check().await {
        Ok(()) => Finding::good(format!("services: they are on {base}, which answers and accepts the key")),
        Err(ServicesError::BackendKeyRefused) => bad(
            format!("they are on {base}, which refuses the key of this server"),
            "set MCP_INTERNAL_API_KEY to the internal key of that server, which is not its key for GPT actions",
        ),
        Err(error @ ServicesError::BackendUnavailable(_)) => {
            let cause = annai_core::causes(&error).unwrap_or_else(|| error.to_string());
            let what = format!(
                "they are on {base}, which cannot be reached or answers in an unexpected form: {cause}"
            );
            bad(what, "check RUST_BACKEND_URL, and that the server there runs")
        }
        Err(error) => bad(format!("they are on {base}, which answers: {error}"), "look at that server"),
    }
}

async fn check_database(config: &ServicesConfig) -> Vec<Finding> {
    let store = match config.store(Migration::Refuse) {
        Ok(store) => store,
        Err(error) => return vec![not_configured(&error)],
    };
    if config.section.database_url.is_some() {
        let name = "PostgreSQL (DATABASE_URL)";
        return match store.check_books().await {
            Ok(violations) => books(name, &violations),
            Err(error) => vec![unusable(name, &error)],
        };
    }
    let path = config.section.database_path.clone().unwrap_or_default();
    let metadata = std::fs::metadata(&path);
    if metadata.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return vec![missing(Path::new(&path))];
    }
    let mut findings = match store.check_books().await {
        Ok(violations) => books(&path, &violations),
        Err(error) => vec![unusable(&path, &error)],
    };
    if metadata.is_ok_and(|metadata| metadata.is_file() && others_can_open(&metadata)) {
        findings.push(Finding::warning(
            format!("services: other users of this machine can open the database {path}"),
            format!("chmod 600 {path}"),
        ));
    }
    findings
}

fn books(path: &str, violations: &[BookViolation]) -> Vec<Finding> {
    if violations.is_empty() {
        return vec![Finding::good(format!("services: the database is {path}, and its books balance"))];
    }
    let shown = violations.iter().take(MAX_SHOWN_VIOLATIONS).map(|violation| {
        let fix = match violation.is_overdrawn() {
            true => "add at least this amount to its budget (add_budget_cents)",
            false => {
                "find out what changed the database other than this program, and restore it from a backup"
            }
        };
        Finding::bad(format!("services: {violation}"), fix)
    });
    let more = violations.len().saturating_sub(MAX_SHOWN_VIOLATIONS);
    let rest = (more > 0).then(|| {
        let what = format!("services: {} more", counted(more, "wrong budget"));
        Finding::bad(what, "see annai campaigns --check")
    });
    shown.chain(rest).collect()
}

fn unusable(path: &str, error: &ServicesError) -> Finding {
    let text = match error {
        ServicesError::Internal(_) => error.for_operator(),
        _ => error.to_string(),
    };
    let (what, fix) = text.split_once("; ").unwrap_or((&text, "correct what is named"));
    let what = format!("services: {path}: {what}");
    match error {
        ServicesError::NotMigrated { .. } => Finding::warning(what, fix),
        _ => Finding::bad(what, fix),
    }
}

/// A database that does not exist yet: whether the nearest folder that exists can be written to.
fn missing(path: &Path) -> Finding {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists());
    let is_writable = folder.is_some_and(|folder| {
        let probe = folder.join(format!(".annai-doctor-{}", std::process::id()));
        let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&probe).is_ok();
        created && std::fs::remove_file(probe).is_ok()
    });
    let path = path.display();
    match is_writable {
        true => Finding::good(format!(
            "services: the database {path} does not exist yet; it is created with the first use"
        )),
        false => Finding::bad(
            format!("services: the database {path} does not exist and cannot be created"),
            "set SERVICES_DATABASE_PATH to a file in a folder that the server can write to",
        ),
    }
}

fn check_keys(config: &ServicesConfig) -> Vec<Finding> {
    let section = &config.section;
    // Behind a public address nobody is the owner of this machine.
    let is_public = config.public_url.is_some();
    let is_set = |key: &Option<annai_core::config::Secret>| {
        key.as_ref().is_some_and(|key| !key.expose().trim().is_empty())
    };
    let (gpt, internal) = (&section.gpt_actions_api_key, &section.mcp_internal_api_key);
    let mut findings = Vec::new();
    if is_set(gpt) && gpt == internal {
        findings.push(Finding::warning(
            "services: MCP_INTERNAL_API_KEY is the same as GPT_ACTIONS_API_KEY, so it cannot name identities",
            "give the internal key a value of its own if another Annai server uses this one",
        ));
    }
    if !is_set(gpt) && !is_set(internal) {
        findings.push(match is_public {
            true => Finding::warning(
                "services: no key is set, so /gpt/* answers to nobody",
                "set GPT_ACTIONS_API_KEY if GPT Actions or other programs use these routes",
            ),
            false => {
                Finding::good("services: no key is set, so /gpt/* answers only to the owner of this machine")
            }
        });
    }
    if !is_set(&section.sponsor_api_key) {
        findings.push(match is_public {
            true => Finding::warning(
                "services: SPONSOR_API_KEY is not set, so campaigns can be created only with `annai campaigns new`",
                "set SPONSOR_API_KEY if sponsors use the REST routes",
            ),
            false => Finding::good(
                "services: SPONSOR_API_KEY is not set, so only the owner of this machine can create campaigns",
            ),
        });
    }
    if section.allow_private_upstreams {
        findings.push(Finding::warning(
            "services: upstreams may have private addresses and plain http, so sponsors can reach this network",
            "unset ALLOW_PRIVATE_UPSTREAMS unless every sponsor is trusted",
        ));
    }
    findings
}
