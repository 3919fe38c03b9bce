//! Authorization: who may call a tool. The rule is declared with the tool and enforced in one place, [`Access::check`].

use crate::{ErrorKind, Identity, TokenScope, ToolError};

/// One scope, or two that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenScopes {
    first: TokenScope,
    second: Option<TokenScope>,
}

impl TokenScopes {
    /// Its scopes.
    pub fn iter(self) -> impl Iterator<Item = TokenScope> {
        std::iter::once(self.first).chain(self.second)
    }

    /// Those that a predicate holds for; `None` when there are none.
    fn filter(self, keeps: impl Fn(TokenScope) -> bool) -> Option<Self> {
        let mut kept = self.iter().filter(|scope| keeps(*scope));
        let first = kept.next()?;
        Some(Self { first, second: kept.next() })
    }
}

impl From<TokenScope> for TokenScopes {
    fn from(first: TokenScope) -> Self {
        Self { first, second: None }
    }
}

/// As a sentence names them: `scope a`, or `scopes a and b`.
impl std::fmt::Display for TokenScopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.second {
            None => write!(f, "scope {}", self.first.as_str()),
            Some(second) => write!(f, "scopes {} and {}", self.first.as_str(), second.as_str()),
        }
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
    /// The same with either of two scopes. The first one is named to those who have neither.
    LocalEither(TokenScope, TokenScope),
    /// The same with both of two scopes.
    LocalBoth(TokenScope, TokenScope),
    /// The owner of the machine, and people whose token has the scope. It is listed for everybody, so that a client can
    /// offer to sign in.
    SignedIn(TokenScope),
}

/// Why a call was not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// No tool or resource has this name.
    Unknown,
    /// The caller has no token; one with these scopes is required.
    SignIn(TokenScopes),
    /// The caller's token lacks these scopes.
    Scope(TokenScopes),
}

impl Access {
    /// Whether this caller may call the tool.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn check(self, identity: &Identity) -> Result<(), Denied> {
        let Some(required) = self.required() else { return Ok(()) };
        match identity {
            Identity::Owner => Ok(()),
            Identity::Anonymous => Err(Denied::SignIn(required)),
            Identity::Person(person) => match self.missing(|scope| person.has(scope)) {
                Some(missing) => Err(Denied::Scope(missing)),
                None => Ok(()),
            },
        }
    }

    /// Whether a token with some scopes suffices, given whether it has a scope.
    #[must_use]
    pub fn is_granted_by(self, has: impl Fn(TokenScope) -> bool) -> bool {
        self.missing(has).is_none()
    }

    /// The scopes that a token lacks, given whether it has a scope.
    fn missing(self, has: impl Fn(TokenScope) -> bool) -> Option<TokenScopes> {
        match self {
            Self::LocalEither(_, other) if has(other) => None,
            _ => self.required()?.filter(|scope| !has(scope)),
        }
    }

    /// The scopes to ask for; `None` when everybody may call the tool.
    pub(super) fn required(self) -> Option<TokenScopes> {
        match self {
            Self::Anyone | Self::AnyoneOr(_) => None,
            Self::Local(scope) | Self::LocalEither(scope, _) | Self::SignedIn(scope) => Some(scope.into()),
            Self::LocalBoth(first, second) => Some(TokenScopes { first, second: Some(second) }),
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

    /// Whether the tool needs permission alone, and no person.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Local(_) | Self::LocalEither(..) | Self::LocalBoth(..))
    }

    /// The scopes that are required or make a difference.
    pub fn scopes(self) -> impl Iterator<Item = TokenScope> {
        let (first, second) = match self {
            Self::Anyone => (None, None),
            Self::AnyoneOr(scope) | Self::Local(scope) | Self::SignedIn(scope) => (Some(scope), None),
            Self::LocalEither(first, second) | Self::LocalBoth(first, second) => (Some(first), Some(second)),
        };
        first.into_iter().chain(second)
    }
}

impl Denied {
    /// The scopes that are missing; `None` when no token would help.
    #[must_use]
    pub const fn scopes(self) -> Option<TokenScopes> {
        match self {
            Self::Unknown => None,
            Self::SignIn(scopes) | Self::Scope(scopes) => Some(scopes),
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
            Denied::SignIn(scopes) => {
                Self::new(ErrorKind::Unauthorized, format!("this needs a verified token with the {scopes}"))
            }
            Denied::Scope(scopes) => {
                Self::new(ErrorKind::Forbidden, format!("the token lacks the {scopes}, which this needs"))
            }
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
        person_with(&[scope])
    }

    fn person_with(scopes: &[TokenScope]) -> Identity {
        let scopes = scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        Identity::Person(Arc::new(Person { issuer: "i".into(), subject: "s".into(), email: None, scopes }))
    }

    #[test]
    fn a_tool_may_need_one_of_two_scopes_or_both() {
        let both = |first, second| TokenScopes { first, second: Some(second) };
        for (access, scopes, expected) in [
            (Access::LocalEither(READ, WRITE), &[READ][..], Ok(())),
            (Access::LocalEither(READ, WRITE), &[WRITE], Ok(())),
            (Access::LocalEither(READ, WRITE), &[], Err(Denied::Scope(READ.into()))),
            (Access::LocalBoth(READ, WRITE), &[READ, WRITE], Ok(())),
            (Access::LocalBoth(READ, WRITE), &[READ], Err(Denied::Scope(WRITE.into()))),
            (Access::LocalBoth(READ, WRITE), &[WRITE], Err(Denied::Scope(READ.into()))),
            (Access::LocalBoth(READ, WRITE), &[], Err(Denied::Scope(both(READ, WRITE)))),
        ] {
            let person = person_with(scopes);
            assert_eq!(access.check(&person), expected, "{access:?} {scopes:?}");
            assert_eq!(access.lists_for(&person), expected.is_ok(), "{access:?} {scopes:?}");
            assert_eq!(access.check(&Identity::Owner), Ok(()));
            assert_eq!(access.scopes().collect::<Vec<_>>(), [READ, WRITE]);
        }
        let anonymous = |access: Access| access.check(&Identity::Anonymous);
        assert_eq!(anonymous(Access::LocalEither(READ, WRITE)), Err(Denied::SignIn(READ.into())));
        let denied = anonymous(Access::LocalBoth(READ, WRITE)).unwrap_err();
        assert_eq!(denied, Denied::SignIn(both(READ, WRITE)));
        let sentence = "this needs a verified token with the scopes test.read and test.write";
        assert_eq!(ToolError::from(denied).message(), sentence);
    }

    #[test]
    fn the_owner_may_call_everything_and_others_need_a_token_with_the_scope() {
        for access in [Access::Local(READ), Access::SignedIn(READ)] {
            assert_eq!(access.check(&Identity::Owner), Ok(()));
            assert_eq!(access.check(&person(READ)), Ok(()));
            assert_eq!(access.check(&person(WRITE)), Err(Denied::Scope(READ.into())));
            assert_eq!(access.check(&Identity::Anonymous), Err(Denied::SignIn(READ.into())));
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
