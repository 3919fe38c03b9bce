//! Who can use a server, for the log at its start and for `annai doctor`.

use std::net::SocketAddr;

use annai_core::{Finding, Registry, Toolset as _};
use annai_server::http::{BadUrl, Deployment, reachability};
use annai_services::ServicesToolset;

use crate::app::App;

/// Who can use a server that listens on `address`, and what is dangerous or probably a mistake.
pub(super) fn findings(app: &App, address: SocketAddr, registry: &Registry) -> Result<Vec<Finding>, BadUrl> {
    let mut findings = reachability(Deployment {
        server: &app.server,
        address,
        registry,
        has_development_user: app.services.has_development_user(),
    })?;
    findings.extend(unknown_proxy(app, address, registry));
    Ok(findings)
}

/// A proxy is in front of the REST routes of the services, and its address is not known. There is one if the public URL is
/// https, which this program does not speak, or if the server listens on loopback alone.
fn unknown_proxy(app: &App, address: SocketAddr, registry: &Registry) -> Option<Finding> {
    let public_url = app.server.public_url.as_ref()?;
    let is_behind_proxy = public_url.trim().starts_with("https:") || address.ip().is_loopback();
    let has_routes = registry.has_toolset(ServicesToolset::NAME) && app.services.backend_url.is_none();
    (is_behind_proxy && has_routes && app.services.trusted_proxies.is_empty()).then(|| {
        Finding::warning(
            "access: TRUSTED_PROXIES is not set, so all visitors of the REST routes share one rate limit, that of the proxy",
            "set TRUSTED_PROXIES to the address from which the proxy connects, such as 127.0.0.1",
        )
    })
}
