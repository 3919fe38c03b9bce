//! Resolves names and lets only permitted addresses through. The HTTP client connects to nothing else, except to literal
//! addresses, for which it asks no resolver and which [`Guard::check_literal`] checks.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::access::Access;
use crate::address::AddressClass;
use crate::resolver::Resolver;

/// Why a name leads to no address that may be connected to. It is private: it names addresses.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LookupError {
    /// The resolver failed.
    #[error("the look-up failed: {0}")]
    Failed(Arc<io::Error>),
    /// The resolver found the name, but no address of it.
    #[error("the name has no address")]
    NoAddress,
    /// The name has an address that may not be connected to.
    #[error(transparent)]
    Forbidden(ForbiddenAddress),
}

/// An address that may not be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{address} is not permitted: it is in a {class} range")]
pub struct ForbiddenAddress {
    /// The address.
    pub address: IpAddr,
    /// Its class.
    pub class: AddressClass,
}

/// The check of addresses, as the resolver of the HTTP client.
#[derive(Clone)]
pub(crate) struct Guard {
    pub access: Access,
    pub classify: fn(IpAddr) -> AddressClass,
    pub resolver: Arc<dyn Resolver>,
}

impl Guard {
    /// Checks the address of a URL whose host is an address.
    pub fn check_literal(&self, address: IpAddr) -> Result<(), ForbiddenAddress> {
        check_address(address, self.access, self.classify)
    }

    /// All addresses of a name. One that is not permitted forbids the name, because an honest public name has none.
    pub async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let addresses =
            self.resolver.resolve(name).await.map_err(|error| LookupError::Failed(Arc::new(error)))?;
        if addresses.is_empty() {
            return Err(LookupError::NoAddress);
        }
        for &address in &addresses {
            self.check_literal(address).map_err(LookupError::Forbidden)?;
        }
        Ok(addresses)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.lookup(name.as_str()).await?;
            // The HTTP client replaces the port 0 by that of the URL.
            let sockets = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(sockets) as Addrs)
        })
    }
}

/// Checks one address.
pub(crate) fn check_address(
    address: IpAddr,
    access: Access,
    classify: fn(IpAddr) -> AddressClass,
) -> Result<(), ForbiddenAddress> {
    let class = classify(address);
    if access.permits(class) { Ok(()) } else { Err(ForbiddenAddress { address, class }) }
}
