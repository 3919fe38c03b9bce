//! Which addresses a client may connect to.

use crate::address::AddressClass;

/// Which targets a client may send requests to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only `https` URLs whose host has nothing but public addresses.
    PublicOnly,
    /// Also `http` URLs and hosts in private networks, for development and for upstreams of the operator's own network.
    AllowPrivate,
}

impl Access {
    /// Whether addresses of this class may be connected to.
    ///
    /// [`Self::AllowPrivate`] adds the classes that an operator's own hosts have. Link-local addresses are never
    /// permitted, because clouds hand out the credentials of the machine at one of them.
    #[must_use]
    pub const fn permits(self, class: AddressClass) -> bool {
        match class {
            AddressClass::Public => true,
            AddressClass::Loopback
            | AddressClass::Private
            | AddressClass::Shared
            | AddressClass::Benchmarking => {
                matches!(self, Self::AllowPrivate)
            }
            AddressClass::LinkLocal
            | AddressClass::Documentation
            | AddressClass::Multicast
            | AddressClass::Broadcast
            | AddressClass::Unspecified
            | AddressClass::Reserved => false,
        }
    }
}
