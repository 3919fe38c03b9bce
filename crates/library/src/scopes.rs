//! The token scopes of the library.

use annai_core::TokenScope;

/// The token scope of the tools that read manuals and the vault.
pub const LIBRARY_READ: TokenScope = TokenScope::new("library.read");
/// The token scope of the tools that write the vault.
pub const LIBRARY_WRITE: TokenScope = TokenScope::new("library.write");
