//! Tools of this server as services: which of them a sponsor may buy, and buying one.

use std::collections::BTreeMap;
use std::sync::Arc;

use annai_core::{Call, ErrorKind, Identity, JsonObject, ProofOfReservation, Registry, Sponsor};

use crate::domain::money::Cents;
use crate::domain::tool_offers::{ToolOffer, ToolOffers};
use crate::store::Reservation;
use crate::upstream::{UpstreamFailure, UpstreamReply};

/// The tools of a registry that a sponsor may buy. `prices` are the operator's, 0 where there is none.
#[must_use]
pub fn tool_offers(registry: &Registry, prices: &BTreeMap<String, Cents>) -> ToolOffers {
    let offers = registry.tools().filter_map(|tool| match tool.facts.sponsor {
        Sponsor::Input(argument) => {
            let min_price = prices.get(tool.facts.name).copied().unwrap_or_default();
            Some((tool.facts.name.to_owned(), ToolOffer { argument, min_price }))
        }
        Sponsor::Never => None,
    });
    let left_out = registry.left_out().filter(|facts| matches!(facts.sponsor, Sponsor::Input(_)));
    offers.collect::<ToolOffers>().with_left_out(left_out.map(|facts| facts.name.to_owned()))
}

/// The tools of a registry that a sponsor may buy and that can run at present. Those that lack a setting count as left out.
pub async fn ready_tool_offers(registry: &Registry, prices: &BTreeMap<String, Cents>) -> ToolOffers {
    let all = tool_offers(registry, prices);
    let mut unready = Vec::new();
    for tool in registry.tools().map(|tool| tool.facts.name).filter(|name| all.get(name).is_some()) {
        if registry.prepare(tool).await.is_err() {
            unready.push(tool);
        }
    }
    all.without(&unready)
}

/// A reservation for a call of a tool. Only a [`Reservation`] that a store returned can become one.
struct ToolPurchase<'a> {
    tool: &'a str,
    identity: &'a Identity,
    _reservation: &'a Reservation,
}

impl ProofOfReservation for ToolPurchase<'_> {
    fn tool(&self) -> &str {
        self.tool
    }

    fn identity(&self) -> &Identity {
        self.identity
    }
}

/// What a purchased call needs.
pub struct ToolCall<'a> {
    pub registry: &'a Arc<Registry>,
    pub identity: &'a Identity,
    pub tool: &'a str,
    pub argument: &'static str,
    pub input: &'a str,
    pub request_id: &'a str,
}

/// Calls a tool that is paid for. The output is its first text item.
pub async fn call_tool(
    call: ToolCall<'_>,
    reservation: &Reservation,
) -> Result<UpstreamReply, UpstreamFailure> {
    let purchase = ToolPurchase { tool: call.tool, identity: call.identity, _reservation: reservation };
    let failure = |problem: String| UpstreamFailure { status: None, problem };
    let admitted = call
        .registry
        .purchase(call.tool, &purchase)
        .map_err(|_| failure(format!("the tool `{}` cannot be bought", call.tool)))?;
    let arguments = JsonObject::from_iter([(call.argument.to_owned(), call.input.into())]);
    match admitted.call(arguments, Call::new(call.request_id)).await {
        Ok(reply) => {
            let body = reply.text().into_iter().next().unwrap_or_default();
            Ok(UpstreamReply { status: 200, body })
        }
        // The sentence about a wrong argument helps the caller; others may be about the operator's account.
        Err(failed) if failed.error.kind() == ErrorKind::InvalidParameter => {
            Err(failure(format!("the tool `{}` refused the input: {}", call.tool, failed.error.message())))
        }
        Err(failed) => {
            Err(failure(format!("the tool `{}` failed with {}", call.tool, failed.error.kind().code())))
        }
    }
}
