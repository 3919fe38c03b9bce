//! How the process is told to end.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long calls may go on after a signal.
pub const GRACE: Duration = Duration::from_secs(10);

/// The first signal asks to end; the second does not ask.
pub async fn stop_on_signal(stop: CancellationToken) {
    if let Some(name) = signal().await {
        tracing::info!("{name}: ending when the calls under way are answered");
        stop.cancel();
        if signal().await.is_some() {
            std::process::exit(130);
        }
    }
}

#[cfg(unix)]
async fn signal() -> Option<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate()).ok()?, signal(SignalKind::interrupt()).ok()?);
    tokio::select! {
        _ = terminate.recv() => Some("SIGTERM"),
        _ = interrupt.recv() => Some("SIGINT"),
    }
}

#[cfg(not(unix))]
async fn signal() -> Option<&'static str> {
    tokio::signal::ctrl_c().await.ok().map(|()| "Ctrl-C")
}
