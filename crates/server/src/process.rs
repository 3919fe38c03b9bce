//! How the process is told to end.

use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long calls may go on after a signal.
pub const GRACE: Duration = Duration::from_secs(10);

/// A token that the first signal fires; the second one ends the process. From here on no signal is missed.
///
/// # Errors
///
/// When the handlers cannot be installed.
pub fn stop_on_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::listen()?;
    let token = stop.clone();
    tokio::spawn(async move {
        let name = signals.next().await;
        tracing::info!("{name}: ending when the calls under way are answered");
        token.cancel();
        signals.next().await;
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
