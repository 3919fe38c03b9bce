//! Finds the addresses of names.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

/// The maximum number of look-ups at a time. A look-up occupies a thread until the system gives up, also when nobody
/// waits for it any more; a slow name server that a stranger chose must not occupy all threads of the runtime's pool
/// (512), which the rest of the program needs too. Further look-ups wait, within the time limit of their requests.
const MAX_CONCURRENT_LOOKUPS: usize = 64;

/// Finds the addresses of names. Tests replace it.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
pub struct SystemResolver {
    permits: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MAX_CONCURRENT_LOOKUPS)) }
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                // The thread holds the permit, not the future, which may be dropped before.
                let _permit = permit;
                let sockets = (name.as_str(), 0).to_socket_addrs()?;
                Ok(sockets.map(|socket| socket.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_knows_this_machine() {
        let addresses = SystemResolver::default().resolve("localhost").await.unwrap();
        assert!(!addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback), "{addresses:?}");
    }
}
