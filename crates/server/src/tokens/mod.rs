//! Static tokens: access for a team without an identity provider. `annai token new` makes one, and the server accepts it as
//! long as it stands in the token file and has not expired. The file holds digests, never tokens.

mod file;
mod last_use;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
mod record;
mod token_verifier;

pub use file::{TokenFile, TokenFileError, UnusableFile};
pub use record::{TOKEN_ISSUER, TOKEN_PREFIX, TokenRecord};
pub use token_verifier::StaticTokens;

#[cfg(test)]
mod tests;
