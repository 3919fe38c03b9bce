//! The guarded HTTP client for requests to addresses that other people choose, such as the upstreams of sponsors.
//!
//! Such an address must not become a way into the network of this server. Therefore:
//!
//! - A [`Target`] is an `https` URL. Its host may be a name or a public address; [`classify`] knows which addresses are
//!   public.
//! - A name is resolved once for each connection. Every address of it must be public, and the connection goes to one of
//!   exactly these addresses. Connections are not reused, so each request is checked anew.
//! - No proxy is used, not even one from the environment. There are no cookies, and redirects are not followed.
//! - Time and size are limited ([`EgressSettings`]), and a reply counts only if it is complete.
//!
//! Nothing here is logged, and nothing is retried: both are up to the caller. Dropping a future of this crate closes its
//! connection.

mod access;
mod address;
mod client;
mod error;
mod guard;
mod headers;
mod limits;
mod reply;
mod request;
mod resolver;
mod target;

pub use access::Access;
pub use address::{AddressClass, classify};
pub use client::{EgressClient, EgressSettings, Network};
pub use error::{EgressError, HeaderProblem, UrlProblem};
pub use guard::{ForbiddenAddress, LookupError};
pub use headers::RequestHeaders;
pub use reply::Reply;
pub use request::{Method, OutboundRequest};
pub use resolver::{Resolver, SystemResolver};
pub use target::Target;
