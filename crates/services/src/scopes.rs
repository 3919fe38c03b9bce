//! The scopes that tokens need for the tools.

use annai_core::TokenScope;

/// The scope of tools that read what is known about the person.
pub const USER_READ: TokenScope = TokenScope::new("user.read");
/// The scope of tools that change it.
pub const USER_WRITE: TokenScope = TokenScope::new("user.write");
/// The scope of reading tasks.
pub const TASKS_READ: TokenScope = TokenScope::new("tasks.read");
/// The scope of completing tasks.
pub const TASKS_WRITE: TokenScope = TokenScope::new("tasks.write");
/// The scope of running services.
pub const SERVICES_EXECUTE: TokenScope = TokenScope::new("services.execute");
