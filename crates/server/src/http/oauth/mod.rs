//! OAuth 2.1, the part of a resource server: the metadata that leads clients to the issuer, and the verification of the
//! access tokens that they bring.

mod claims;
mod email;
mod issuer;
mod jws;
mod key_cache;
mod keys;
mod metadata;
mod verifier;

pub use key_cache::RETRY_DELAY;
pub use metadata::{Resource, routes};
pub use verifier::{OAuth, TokenRefusal, VerifiedToken};
