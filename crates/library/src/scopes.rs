//! The token scopes of the library, and who may do what with them.

use annai_core::{Access, TokenScope};

/// The token scope of the tools that read manuals and the vault.
pub(crate) const LIBRARY_READ: TokenScope = TokenScope::new("library.read");
/// The token scope of the tools that write the vault. It includes reading the vault: who may replace a text in a file learns
/// whether the file contains it, so a promise that writers cannot read could not be kept. It does not include the manuals.
pub(crate) const LIBRARY_WRITE: TokenScope = TokenScope::new("library.write");

/// Who may read the vault.
pub(crate) const READS_VAULT: Access = Access::LocalEither(LIBRARY_READ, LIBRARY_WRITE);
/// Who may copy from a manual into the vault. Both scopes are needed, because a copy can be read by whoever writes the vault.
pub(crate) const COPIES_MANUALS: Access = Access::LocalBoth(LIBRARY_READ, LIBRARY_WRITE);
