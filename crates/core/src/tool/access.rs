//! Authorization: who may call a tool. The rule is declared with the tool and enforced in one place, [`Access::check`].

use crate::{ErrorKind, Identity, ToolError};

/// An OAuth scope that a token can grant. The toolset that uses a scope declares it as a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenScope(&'static str);

impl TokenScope {
    /// The scope with this name in a token, such as `library.read`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name in a token.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// Who may call a tool or read a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Anyone,
    /// Everybody. For people whose token has the scope, it also uses what is known about them.
    AnyoneOr(TokenScope),
    /// The owner of the machine, and people whose token has the scope. It is not listed for others.
    Local(TokenScope),
    /// The owner of the machine, and people whose token has the scope. It is listed for everybody, so that a client can
    /// offer to sign in.
    SignedIn(TokenScope),
}

/// Why a call was not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// No tool or resource has this name.
    Unknown,
    /// The caller has no token; one with this scope is required.
    SignIn(TokenScope),
    /// The caller's token lacks this scope.
    Scope(TokenScope),
}

impl Access {
    /// Whether this caller may call the tool.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn check(self, identity: &Identity) -> Result<(), Denied> {
        match (self, identity) {
            (Self::Anyone | Self::AnyoneOr(_), _) | (_, Identity::Owner) => Ok(()),
            (Self::Local(scope) | Self::SignedIn(scope), Identity::Anonymous) => Err(Denied::SignIn(scope)),
            (Self::Local(scope) | Self::SignedIn(scope), Identity::Person(person)) => {
                if person.has(scope) {
                    Ok(())
                } else {
                    Err(Denied::Scope(scope))
                }
            }
        }
    }

    /// Whether the tool is listed for this caller.
    #[must_use]
    pub fn lists_for(self, identity: &Identity) -> bool {
        matches!(self, Self::SignedIn(_)) || self.check(identity).is_ok()
    }

    /// Whether everybody may call the tool.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Anyone | Self::AnyoneOr(_))
    }

    /// The scope that is required or makes a difference, if any.
    #[must_use]
    pub const fn scope(self) -> Option<TokenScope> {
        match self {
            Self::Anyone => None,
            Self::AnyoneOr(scope) | Self::Local(scope) | Self::SignedIn(scope) => Some(scope),
        }
    }
}

impl Denied {
    /// The scope that is missing; `None` when no token would help.
    #[must_use]
    pub const fn scope(self) -> Option<TokenScope> {
        match self {
            Self::Unknown => None,
            Self::SignIn(scope) | Self::Scope(scope) => Some(scope),
        }
    }
}

impl From<Denied> for ToolError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Unknown => Self::new(
                ErrorKind::NotFound,
                "no tool has this name; call tools/list for the available names",
            ),
            Denied::SignIn(scope) => Self::new(
                ErrorKind::Unauthorized,
                format!("this needs a verified token with the scope {}", scope.as_str()),
            ),
            Denied::Scope(scope) => Self::new(
                ErrorKind::Forbidden,
                format!("the token lacks the scope {}, which this needs", scope.as_str()),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Person;

    const READ: TokenScope = TokenScope::new("test.read");
    const WRITE: TokenScope = TokenScope::new("test.write");

    fn person(scope: TokenScope) -> Identity {
        let scopes = [scope.as_str().to_owned()].into();
        Identity::Person(Arc::new(Person { issuer: "i".into(), subject: "s".into(), email: None, scopes }))
    }

    #[test]
    fn the_owner_may_call_everything_and_others_need_a_token_with_the_scope() {
        for access in [Access::Local(READ), Access::SignedIn(READ)] {
            assert_eq!(access.check(&Identity::Owner), Ok(()));
            assert_eq!(access.check(&person(READ)), Ok(()));
            assert_eq!(access.check(&person(WRITE)), Err(Denied::Scope(READ)));
            assert_eq!(access.check(&Identity::Anonymous), Err(Denied::SignIn(READ)));
        }
        for open in [Access::Anyone, Access::AnyoneOr(READ)] {
            assert_eq!(open.check(&Identity::Anonymous), Ok(()));
            assert_eq!(open.check(&person(WRITE)), Ok(()));
            assert!(open.is_open());
        }
    }

    #[test]
    fn only_local_tools_are_hidden_from_callers_who_may_not_call_them() {
        for (access, identity, listed) in [
            (Access::Anyone, Identity::Anonymous, true),
            (Access::AnyoneOr(READ), Identity::Anonymous, true),
            (Access::SignedIn(READ), Identity::Anonymous, true),
            (Access::SignedIn(READ), person(WRITE), true),
            (Access::Local(READ), Identity::Anonymous, false),
            (Access::Local(READ), person(WRITE), false),
            (Access::Local(READ), person(READ), true),
            (Access::Local(READ), Identity::Owner, true),
        ] {
            assert_eq!(access.lists_for(&identity), listed, "{access:?} {identity:?}");
        }
    }
}
