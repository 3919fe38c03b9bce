//! The caller of a tool: the owner of the machine, an anonymous client, or a person with a verified token.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

/// The caller. A transport authenticates it; [`crate::Registry::admit`] authorises its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The owner of the machine: stdio, the command line, or a trusted loopback request.
    Owner,
    /// A caller without a token.
    Anonymous,
    /// A caller with a verified token.
    Person(Arc<Person>),
}

/// The address of the client, which the HTTP transport stores in the extensions of each request, beside its [`Identity`].
/// It is that of the last proxy where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

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

/// The claims of a verified token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who issued the token: the URL of an OpenID issuer, or `annai:token` for a static token.
    pub issuer: String,
    /// The issuer's id of the person; unique only together with the issuer.
    pub subject: String,
    /// The verified e-mail address; static tokens have none.
    pub email: Option<String>,
    /// The scopes that the token grants, including those that no tool of this server requires.
    pub scopes: BTreeSet<String>,
}

impl Person {
    /// Whether the token grants a scope.
    #[must_use]
    pub fn has(&self, scope: TokenScope) -> bool {
        self.scopes.contains(scope.as_str())
    }
}

/// The key under which state of a caller is stored. It is the same for every token of a person, whatever its scopes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The owner of the machine.
    Owner,
    /// All callers without a token; they share their stored state.
    Anonymous,
    /// One verified person.
    Person {
        /// Who issued the token.
        issuer: String,
        /// The issuer's id of the person.
        subject: String,
    },
}

impl Identity {
    /// Who issued the token of a person, and the issuer's id of the person.
    #[must_use]
    pub fn issuer_and_subject(&self) -> Option<(&str, &str)> {
        match self {
            Self::Person(person) => Some((&person.issuer, &person.subject)),
            Self::Owner | Self::Anonymous => None,
        }
    }

    /// The key under which state of this caller is stored.
    #[must_use]
    pub fn principal(&self) -> Principal {
        match self {
            Self::Owner => Principal::Owner,
            Self::Anonymous => Principal::Anonymous,
            Self::Person(person) => {
                Principal::Person { issuer: person.issuer.clone(), subject: person.subject.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_does_not_depend_on_scopes_or_email() {
        let person = |subject: &str, scopes: &[&str]| {
            Identity::Person(Arc::new(Person {
                issuer: "https://issuer.example".into(),
                subject: subject.into(),
                email: (scopes.len() > 1).then(|| "a@example.com".into()),
                scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            }))
        };
        assert_eq!(person("1", &["a"]).principal(), person("1", &["a", "b"]).principal());
        assert_ne!(person("1", &["a"]).principal(), person("2", &["a"]).principal());
        assert_ne!(Identity::Owner.principal(), Identity::Anonymous.principal());
    }
}
