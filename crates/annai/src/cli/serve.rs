//! `annai --stdio` and `annai --http`: run as a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;

use annai_core::Registry;
use annai_server::http::{HttpOptions, HttpServer, Sessions, StartError};
use annai_server::stdio::{self, StdioOptions};
use annai_server::{McpService, process};
use axum::Router;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::{Failure, print_config, reachability};
use crate::app::App;
use crate::catalog;

pub(super) fn stdio(app: &App, show_config: bool) -> Result<(), Failure> {
    print_config_at_start(app, show_config);
    let service = McpService::new(catalog::registry(app)?, catalog::server_name(&app.toolsets));
    let options = StdioOptions::new(&app.server);
    // A single thread serves the single client: it starts faster and passes no messages between threads. Long
    // computations of tools run on tokio's blocking threads.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(stdio::serve_process(service, options));
    // A blocking read of a terminal cannot be cancelled, so the process ends without waiting for it.
    runtime.shutdown_background();
    served.map_err(|error| Failure::new(format!("stdout cannot be written: {error}")))
}

/// Prints the configuration if `--show-config` is given or `server.show_config_on_start` is set. The server starts even if
/// stderr is closed.
fn print_config_at_start(app: &App, show_config: bool) {
    if show_config || app.server.show_config_on_start {
        let _ = print_config(app);
    }
}

pub(super) fn http(app: &App, address: Option<&str>, show_config: bool) -> Result<(), Failure> {
    print_config_at_start(app, show_config);
    let address = parse_address(address, app.server.port)?;
    Host::new(|| ())?.serve(app, address, Vec::new(), async |mut address, _| {
        log_reachability(app, address)?;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        tracing::info!(url = format!("http://{address}/mcp"), "listening");
        Ok(())
    })
}

/// Logs who can use the server, a line for each way in, and what to set where that is nobody.
fn log_reachability(app: &App, address: SocketAddr) -> Result<(), Failure> {
    let findings =
        reachability::findings(app, address, &*catalog::registry(app)?).map_err(StartError::Url)?;
    for finding in findings {
        match finding.fix {
            Some(fix) => tracing::warn!("{}; {fix}", finding.what),
            None => tracing::info!("{}", finding.what),
        }
    }
    Ok(())
}

/// The runtime of an HTTP server, with the signal handlers that stop it.
pub(super) struct Host {
    runtime: Runtime,
    stop: CancellationToken,
}

impl Host {
    /// Starts the runtime and installs the signal handlers. From then on a signal stops the server gracefully; a second
    /// one calls `clean_up` and ends the process.
    pub(super) fn new(clean_up: fn()) -> Result<Self, Failure> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let stop = runtime.block_on(async { process::stop_on_signal(clean_up) })?;
        Ok(Self { runtime, stop })
    }

    /// Serves until a signal arrives; `ready` runs beside it as soon as the address is bound, and ends the server if it
    /// fails.
    pub(super) fn serve(
        self,
        app: &App,
        address: SocketAddr,
        mut routes: Vec<Router>,
        ready: impl AsyncFnOnce(SocketAddr, &Arc<Registry>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let name = catalog::server_name(&app.toolsets);
        let registry = catalog::registry(app)?;
        routes.extend(annai_services::routers(&registry).into_iter().flatten());
        let proxies = app.services.trusted_proxies.clone();
        let options = HttpOptions {
            service: McpService::new(registry.clone(), name),
            sessions: Sessions::None,
            version: name.version,
            routes,
            is_trusted_proxy: Arc::new(move |peer| proxies.iter().any(|range| range.contains(peer))),
        };
        let served = self.runtime.block_on(async {
            let server = HttpServer::bind(address, &app.server, options).await?;
            // The leases of runs that another process left behind end without any traffic.
            annai_services::start(&registry);
            let address = server.address()?;
            let mut serving = pin!(server.serve(self.stop.clone()));
            let ready = async {
                let outcome = ready(address, &registry).await;
                if outcome.is_err() {
                    self.stop.cancel();
                }
                outcome
            };
            tokio::select! {
                biased;
                outcome = ready => {
                    serving.await;
                    outcome
                }
                () = &mut serving => Ok(()),
            }
        });
        self.runtime.shutdown_background();
        served
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Bind(..) => Self::new(error.to_string()),
            StartError::Url(_) => Self::usage(error.to_string()),
        }
    }
}

/// Parses the address of `--http`: `127.0.0.1:3001`, `[::1]:3001`, `localhost:3001`, `:3001` or `3001`.
pub(super) fn parse_address(text: Option<&str>, port: u16) -> Result<SocketAddr, Failure> {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let Some(text) = text else { return Ok(loopback(port)) };
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let number = match text.strip_prefix("localhost") {
        Some("") => Ok(port),
        // Without the colon, as in `localhost0`, it is not an address.
        Some(rest) => rest.strip_prefix(':').unwrap_or("x").parse(),
        None => text.strip_prefix(':').unwrap_or(text).parse(),
    };
    number.map(loopback).map_err(|_| {
        Failure::usage(format!(
            "--http: expected an address such as 127.0.0.1:3001, [::1]:3001 or 3001, got \"{text}\""
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_leave_out_the_host_or_the_port() {
        for (text, address) in [
            (None, "127.0.0.1:3001"),
            (Some("8080"), "127.0.0.1:8080"),
            (Some(":8080"), "127.0.0.1:8080"),
            (Some("localhost"), "127.0.0.1:3001"),
            (Some("localhost:8080"), "127.0.0.1:8080"),
            (Some("0.0.0.0"), "0.0.0.0:3001"),
            (Some("[::1]:8080"), "[::1]:8080"),
        ] {
            assert_eq!(parse_address(text, 3001).unwrap(), address.parse().unwrap(), "{text:?}");
        }
        for text in ["example.com:80", "70000", "1.2.3.4:x", "localhost0", "tools", ""] {
            assert!(parse_address(Some(text), 3001).is_err(), "{text}");
        }
    }
}
