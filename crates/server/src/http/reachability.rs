//! Who can use the server: what an operator has to know at start-up, and what `annai doctor` shows.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::{Finding, Registry};

use super::oauth::OAuth;
use super::trust::LoopbackTrust;
use super::web_origin::{BadUrl, origin_of_setting};
use super::{Door, resource};
use crate::ServerSection;
use crate::tokens::TokenFile;

/// How to let anybody in.
const HOW_TO_OPEN: &str =
    "set OAUTH_ISSUER (or AUTH0_DOMAIN), or make a token for each person: annai token new NAME --scope SCOPE";

/// Who can use the tools of a server that listens on `address`, one finding for each way in, and what is dangerous about it.
///
/// # Errors
///
/// A setting is not a URL.
pub fn reachability(
    server: &ServerSection,
    address: SocketAddr,
    registry: &Registry,
) -> Result<Vec<Finding>, BadUrl> {
    Door::new(server)?;
    let trust = LoopbackTrust::new(server, address)?;
    let (tokens, valid_tokens) = static_tokens(server);
    let is_open = registry.is_open_to_anyone();
    let mut findings = vec![loopback(&trust, registry), oauth(server, registry), tokens];
    if is_open {
        let count = registry.tools().filter(|tool| tool.facts.access.is_open()).count();
        findings.push(Finding::good(format!("access: anybody may use {}", tools(count))));
    }
    if trust.never().is_some() && server.oauth_issuer.is_none() && valid_tokens == 0 {
        let others = if is_open { "the other tools" } else { "the tools" };
        findings.push(Finding::bad(format!("access: nobody can use {others}"), HOW_TO_OPEN));
    }
    findings.extend(dangers(server, address)?);
    Ok(findings)
}

/// Checks that the issuer can be reached; `None` when there is none.
///
/// # Errors
///
/// A setting is not a URL.
pub async fn check_oauth(server: &ServerSection) -> Result<Option<Finding>, BadUrl> {
    match &server.oauth_issuer {
        Some(issuer) => Ok(Some(OAuth::new(issuer, Vec::new())?.check().await)),
        None => Ok(None),
    }
}

fn loopback(trust: &LoopbackTrust, registry: &Registry) -> Finding {
    Finding::good(match trust.never() {
        Some(reason) => format!("access: loopback: nobody is trusted without a token, because {reason}"),
        None => format!(
            "access: loopback: programs on this machine may use {} without a token. Loopback trust is on; behind a proxy \
             every visitor is the owner. Set PUBLIC_URL or server.trust_loopback: false.",
            tools(registry.tools().len())
        ),
    })
}

fn oauth(server: &ServerSection, registry: &Registry) -> Finding {
    Finding::good(match &server.oauth_issuer {
        Some(issuer) => {
            let mut text = format!("access: OAuth: people with an access token of {issuer}");
            for scope in registry.scopes() {
                let needs = |access: annai_core::Access| !access.is_open() && access.scope() == Some(*scope);
                let of_scope = registry.tools().filter(|tool| needs(tool.facts.access));
                let _ = write!(text, "; {}: {}", scope.as_str(), tools(of_scope.count()));
            }
            text
        }
        None => "access: OAuth: nobody, because no issuer is set (OAUTH_ISSUER)".to_owned(),
    })
}

/// What the token file says, and the number of tokens that are valid.
fn static_tokens(server: &ServerSection) -> (Finding, usize) {
    let Some(path) = &server.token_file else {
        return (Finding::good("access: static tokens: nobody, because no token file is set"), 0);
    };
    match TokenFile::new(path).read() {
        Ok(tokens) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let valid: Vec<_> = tokens.iter().filter(|token| !token.has_expired(now)).collect();
            let text = match valid.len() {
                0 => {
                    format!("nobody, because {path} has no valid token (annai token new NAME --scope SCOPE)")
                }
                1 => format!("1 valid token in {path}"),
                count => format!("{count} valid tokens in {path}"),
            };
            (Finding::good(format!("access: static tokens: {text}")), valid.len())
        }
        Err(error) => {
            let problem = format!("access: static tokens: all are refused: {error}");
            (Finding::bad(problem, "let only the user that runs the server read the file"), 0)
        }
    }
}

/// What works, and is dangerous or probably a mistake.
fn dangers(server: &ServerSection, address: SocketAddr) -> Result<Vec<Finding>, BadUrl> {
    let mut findings = Vec::new();
    let public_url = server.public_url.as_deref();
    let public = public_url.map(|url| origin_of_setting("server.public_url", url)).transpose()?;
    if !address.ip().is_loopback() && !public.as_ref().is_some_and(|public| public.is_https()) {
        findings.push(Finding::warning(
            "access: the server listens beyond loopback without an https PUBLIC_URL, so tokens may travel in clear",
            "put a reverse proxy with TLS in front (docs/operations.md), and set PUBLIC_URL to its https address",
        ));
    }
    if !address.ip().is_loopback() && public.is_none() {
        findings.push(Finding::warning(
            "access: only requests for the host localhost are allowed",
            "to allow another host name, set PUBLIC_URL",
        ));
    }
    if let (Some(audience), Some(_)) = (&server.oauth_audience, &server.oauth_issuer)
        && !resource(server, address).names().iter().any(|name| name == audience.trim_end_matches('/'))
    {
        findings.push(Finding::warning(
            format!(
                "access: the audience {audience} is not the URL of this server, which clients ask tokens for"
            ),
            "set AUTH0_AUDIENCE to PUBLIC_URL or to PUBLIC_URL/mcp, or let the issuer map one to the other",
        ));
    }
    Ok(findings)
}

fn tools(count: usize) -> String {
    if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") }
}
