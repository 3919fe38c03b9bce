//! Who can use the server: what an operator has to know at start-up, and what `annai doctor` shows.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use annai_core::{Access, Finding, Registry, TokenScope};

use super::door::Door;
use super::oauth::{OAuth, Resource};
use super::router::METRICS_READ;
use super::trust::LoopbackTrust;
use super::web_origin::{BadUrl, origin_of_setting};
use crate::ServerSection;
use crate::tokens::TokenFile;

/// What decides who can use a server.
#[derive(Clone, Copy)]
pub struct Deployment<'a> {
    /// The `server` section of the settings.
    pub server: &'a ServerSection,
    /// Where the server listens.
    pub address: SocketAddr,
    /// The tools that are served.
    pub registry: &'a Registry,
    /// Whether the owner of the machine is somebody for tools that need a person, as long as there is no issuer.
    pub has_development_user: bool,
}

/// The tools of a server that are not open to everybody, and whether anybody can use them.
struct Tools {
    /// The scopes of tools that need permission alone.
    local_scopes: Vec<TokenScope>,
    /// How many tools need to know the person.
    personal: usize,
    local_has_users: bool,
    personal_has_users: bool,
}

/// Who can use the tools of a server, one finding for each way in, and what is dangerous about it.
///
/// # Errors
///
/// A setting is not a URL.
pub fn reachability(deployment: Deployment<'_>) -> Result<Vec<Finding>, BadUrl> {
    let Deployment { server, address, registry, has_development_user } = deployment;
    Door::new(server)?;
    let trust = LoopbackTrust::new(server, address)?;
    let (is_trusting, has_issuer) = (trust.never().is_none(), server.oauth_issuer.is_some());
    let is_owner_a_person = is_trusting && has_development_user && !has_issuer;
    let local_scopes = registry.local_scopes();
    let (tokens, granted) = static_tokens(server, registry, !local_scopes.is_empty());
    let tools = Tools {
        personal: count(registry, |access| matches!(access, Access::SignedIn(_))),
        local_has_users: is_trusting
            || has_issuer
            || granted.iter().any(|token| count(registry, |access| opens(token, access)) > 0),
        personal_has_users: has_issuer || is_owner_a_person,
        local_scopes,
    };
    let mut findings = vec![loopback(deployment, &trust, &tools), oauth(server, registry), tokens];
    let open = count(registry, Access::is_open);
    if open > 0 {
        findings.push(Finding::good(format!("access: anybody may use {}", number(open))));
    }
    findings.extend(tools_without_users(&tools, registry, is_trusting));
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

fn loopback(deployment: Deployment<'_>, trust: &LoopbackTrust, tools: &Tools) -> Finding {
    if let Some(reason) = trust.never() {
        return Finding::good(format!(
            "access: loopback: nobody is trusted without a token, because {reason}"
        ));
    }
    let has_issuer = deployment.server.oauth_issuer.is_some();
    let refusing = if deployment.has_development_user && !has_issuer { 0 } else { tools.personal };
    let rest = match (refusing, has_issuer) {
        (0, _) => String::new(),
        (count, true) => format!("; {count} more only with an access token of the issuer"),
        (count, false) => format!("; {count} more only when ANNAI_DEV_USER is your e-mail address"),
    };
    Finding::good(format!(
        "access: loopback: programs on this machine may use {} without a token{rest}. Loopback trust is on; behind a proxy \
         every visitor is the owner. Set PUBLIC_URL or server.trust_loopback: false.",
        number(deployment.registry.tools().len() - refusing)
    ))
}

fn oauth(server: &ServerSection, registry: &Registry) -> Finding {
    Finding::good(match &server.oauth_issuer {
        Some(issuer) => {
            let mut text = format!("access: OAuth: people with an access token of {issuer}");
            for group in groups(registry, |access| !access.is_open()) {
                let _ = write!(text, "; {}: {}", group.name, number(group.tools(registry)));
            }
            text
        }
        None => "access: OAuth: nobody, because no issuer is set (OAUTH_ISSUER)".to_owned(),
    })
}

/// What the token file says, and the scopes of each of its valid tokens.
fn static_tokens(
    server: &ServerSection,
    registry: &Registry,
    has_local: bool,
) -> (Finding, Vec<BTreeSet<String>>) {
    let good = |text: &str| Finding::good(format!("access: static tokens: {text}"));
    let Some(path) = &server.token_file else {
        return (good("nobody, because no token file is set"), Vec::new());
    };
    let tokens = match TokenFile::new(path).read() {
        Ok(tokens) => tokens,
        Err(error) => {
            let problem = format!("access: static tokens: all are refused: {}", error.problem);
            return (Finding::bad(problem, error.remedy), Vec::new());
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let valid: Vec<_> = tokens.into_iter().filter(|token| !token.has_expired(now)).collect();
    let count = valid.len();
    let granted: Vec<BTreeSet<_>> =
        valid.into_iter().map(|token| token.scopes.into_iter().collect()).collect();
    let mut text = match (has_local, count) {
        (false, _) => "they open none of the tools that are served, which need to know the person".to_owned(),
        (true, 0) => {
            format!("nobody, because {path} has no valid token (annai token new NAME --scope SCOPE)")
        }
        (true, 1) => format!("1 valid token in {path}"),
        (true, count) => format!("{count} valid tokens in {path}"),
    };
    for group in groups(registry, Access::is_local).iter().filter(|_| count > 0) {
        let opened = match granted.iter().any(|token| group.is_granted_by(token)) {
            true => number(group.tools(registry)),
            false => "no token".to_owned(),
        };
        let _ = write!(text, "; {}: {opened}", group.name);
    }
    if granted.iter().any(|token| token.contains(METRICS_READ.as_str())) {
        let _ = write!(text, "; {}: GET /metrics", METRICS_READ.as_str());
    }
    (good(&text), granted)
}

/// The tools that nobody can use, and what to set for each kind of them. It is a problem where no others are left; tools that
/// only miss the development user of this machine are named by the finding about loopback.
fn tools_without_users(tools: &Tools, registry: &Registry, is_trusting: bool) -> Vec<Finding> {
    let (has_local, has_personal) = (!tools.local_scopes.is_empty(), tools.personal > 0);
    let is_any_used = (has_local && tools.local_has_users) || (has_personal && tools.personal_has_users);
    let finding = |what: String, fix: String| {
        if is_any_used { Finding::warning(what, fix) } else { Finding::bad(what, fix) }
    };
    let mut findings = Vec::new();
    if has_local && !tools.local_has_users {
        let scopes: Vec<_> = tools.local_scopes.iter().map(|scope| scope.as_str()).collect();
        let count = count(registry, Access::is_local);
        let what = format!("the tools that need {} ({})", scopes.join(", "), number(count));
        findings.push(finding(
            format!("access: nobody can use {what}"),
            "make a token for each person: annai token new NAME --scope SCOPE; or set OAUTH_ISSUER (or AUTH0_DOMAIN)".to_owned(),
        ));
    }
    if has_personal && !tools.personal_has_users && !(is_any_used && is_trusting) {
        let here = if is_trusting {
            ", or ANNAI_DEV_USER to your e-mail address to use them on this machine"
        } else {
            ""
        };
        findings.push(finding(
            format!("access: nobody can use the tools that need to know the person ({})", number(tools.personal)),
            format!("set OAUTH_ISSUER (or AUTH0_DOMAIN) to let people sign in{here}; static tokens do not open these tools"),
        ));
    }
    findings
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
        && !Resource::of_server(server, address)
            .names()
            .iter()
            .any(|name| name == audience.trim_end_matches('/'))
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

/// How many tools have such an access.
fn count(registry: &Registry, is_counted: impl Fn(Access) -> bool) -> usize {
    registry.tools().filter(|tool| is_counted(tool.facts.access)).count()
}

/// Whether a static token with these scopes opens a tool.
fn opens(token: &BTreeSet<String>, access: Access) -> bool {
    access.is_local() && access.is_granted_by(|scope| token.contains(scope.as_str()))
}

/// The scopes that open some tools: a scope alone, or two together for the tools that need both.
struct ScopeGroup {
    scopes: Vec<TokenScope>,
    name: String,
}

impl ScopeGroup {
    fn new(scopes: Vec<TokenScope>) -> Self {
        let name = scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" with ");
        Self { scopes, name }
    }

    /// Whether a token has all of its scopes.
    fn is_granted_by(&self, token: &BTreeSet<String>) -> bool {
        self.scopes.iter().all(|scope| token.contains(scope.as_str()))
    }

    /// How many tools its scopes open.
    fn tools(&self, registry: &Registry) -> usize {
        count(registry, |access| {
            !access.is_open() && access.is_granted_by(|scope| self.scopes.contains(&scope))
        })
    }
}

/// The groups of scopes of such tools: first each scope, then those that some tool needs together.
fn groups(registry: &Registry, is_meant: impl Fn(Access) -> bool) -> Vec<ScopeGroup> {
    let meant = || registry.tools().map(|tool| tool.facts.access).filter(|access| is_meant(*access));
    let single: BTreeSet<_> = meant().flat_map(Access::scopes).map(|scope| vec![scope]).collect();
    let both: BTreeSet<_> = meant()
        .filter(|access| matches!(access, Access::LocalBoth(..)))
        .map(|access| access.scopes().collect::<Vec<_>>())
        .collect();
    single.into_iter().chain(both).map(ScopeGroup::new).collect()
}

fn number(count: usize) -> String {
    if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") }
}
