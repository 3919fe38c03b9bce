//! The limits that `/mcp` and the routes of toolsets share.

use std::sync::Arc;
use std::time::Duration;

use annai_core::Identity;
use http::request::Parts;

use super::authentication::UnknownToken;
use super::body;
use super::peers::PeerRule;
use super::pending_bytes::{PendingBytes, ReservedBytes, Sender, Standing};
use crate::bulkheads::Bulkheads;

/// The limits.
#[derive(Clone)]
pub struct Limits {
    /// The maximum size of a request body in bytes.
    pub max_body_bytes: usize,
    /// The budget for bodies that are read or wait to be handled.
    pub pending_bytes: Arc<PendingBytes>,
    /// Whose bodies are counted together.
    pub peers: PeerRule,
    /// The maximum duration of a request to a toolset's route. The registry enforces the same limit on MCP calls.
    pub call_timeout: Duration,
    /// The places for calls in flight; further calls wait for one.
    pub places: Bulkheads,
}

impl Limits {
    /// Begins the body of a request to `/mcp`.
    pub fn begin_body(&self, parts: &Parts, identity: &Identity) -> ReservedBytes {
        let declared = body::declared(&parts.headers);
        match identity {
            Identity::Owner => self.pending_bytes.begin(Standing::Known, None, declared),
            Identity::Person(_) => {
                let person = Sender::Person(identity.principal());
                self.pending_bytes.begin(Standing::Known, Some(person), declared)
            }
            Identity::Anonymous => {
                self.pending_bytes.begin(Standing::Anonymous, Some(self.address(parts)), declared)
            }
        }
    }

    /// Begins the body of a request to a route of a toolset, which has let the caller in before it reads the body.
    pub fn begin_admitted_body(&self, parts: &Parts, identity: &Identity) -> ReservedBytes {
        let sender = (*identity != Identity::Owner).then(|| self.address(parts));
        self.pending_bytes.begin(Standing::Known, sender, body::declared(&parts.headers))
    }

    /// Begins the body of a request whose token is refused.
    pub fn begin_refused_body(&self, parts: &Parts) -> ReservedBytes {
        let client = self.peers.client(parts);
        let token = parts.extensions.get::<UnknownToken>().filter(|_| client.is_shared);
        let sender = token.map_or(Sender::Address(client.network), |token| Sender::UnknownToken(token.0));
        self.pending_bytes.begin(Standing::Refused, Some(sender), None)
    }

    fn address(&self, parts: &Parts) -> Sender {
        Sender::Address(self.peers.client(parts).network)
    }
}
