//! Who calls: the owner of the machine, somebody unknown, or a person whose token was verified.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::TokenScope;

/// Who calls. Transports establish it; [`crate::Registry::admit`] decides what it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The owner of the machine: stdio, the command line, or a trusted loopback request.
    Owner,
    /// Somebody who presented no token.
    Anonymous,
    /// Somebody whose token was verified.
    Person(Arc<Person>),
}

/// A verified person, as their token describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who vouches for them: the URL of an OpenID issuer, or `annai:token` for a static token.
    pub issuer: String,
    /// The issuer's own id for them; unique only together with the issuer.
    pub subject: String,
    /// Their verified e-mail address; static tokens have none.
    pub email: Option<String>,
    /// The scopes that the token grants, including those that no tool here asks for.
    pub scopes: BTreeSet<String>,
}

impl Person {
    /// Whether the token grants a scope.
    #[must_use]
    pub fn has(&self, scope: TokenScope) -> bool {
        self.scopes.contains(scope.as_str())
    }
}

/// What state is kept under: the same caller has the same principal, whatever scopes the token of the moment grants.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The owner of the machine.
    Owner,
    /// Everybody who presented no token; they share whatever is kept for them.
    Anonymous,
    /// One verified person.
    Person {
        /// Who vouches for them.
        issuer: String,
        /// The issuer's own id for them.
        subject: String,
    },
}

impl Identity {
    /// What state of this caller is kept under.
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
