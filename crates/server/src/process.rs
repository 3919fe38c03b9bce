//! Shutdown on signals.

use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The grace period: how long calls in progress may continue after a signal. Container runtimes usually kill a process 10
/// or more seconds after their signal, so a longer period would not be granted. Calls that are not finished then are
/// answered with an error (stdio) or cut off (HTTP).
pub const GRACE: Duration = Duration::from_secs(10);

/// Returns a token that the first signal cancels; a second signal calls `clean_up` and ends the process, with status 130.
/// The handlers are installed before this returns, so no later signal is missed.
///
/// # Errors
///
/// When the signal handlers cannot be installed.
pub fn stop_on_signal(clean_up: fn()) -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::listen()?;
    let token = stop.clone();
    tokio::spawn(async move {
        let name = signals.next().await;
        tracing::info!("received {name}; stopping when the calls in progress are answered");
        token.cancel();
        signals.next().await;
        clean_up();
        std::process::exit(130);
    });
    Ok(stop)
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        let _ = tokio::signal::ctrl_c().await;
        "Ctrl-C"
    }
}
