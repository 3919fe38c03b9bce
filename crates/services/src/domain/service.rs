//! What the key of a service stands for: a sponsored API, or a tool of this server that campaigns name.

use super::money::Cents;
use super::sponsored_api::SponsoredApi;
use super::tool_offers::ToolOffers;

/// A service that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service<'a> {
    /// Its sponsored API; `None` for a tool that only campaigns name.
    pub api: Option<&'a SponsoredApi>,
    /// The tool that runs it, with the argument for the input; `None` for an HTTP upstream.
    pub tool: Option<(&'a str, &'static str)>,
    /// The least that it costs, whatever its sponsors say.
    min_price: Cents,
}

/// Why a service cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// Nothing has this key, or its sponsor has switched it off.
    Unknown,
    /// Its upstream is a tool that is not served, or not the tool that has its name.
    NotServed {
        /// The name of the tool.
        tool: String,
    },
}

impl<'a> Service<'a> {
    /// Finds out what a key stands for. `api` is the sponsored API with this key; `is_targeted` tells whether any campaign
    /// names the key.
    ///
    /// # Errors
    ///
    /// Why the service cannot be run.
    pub fn resolve(
        key: &'a str,
        api: Option<&'a SponsoredApi>,
        is_targeted: bool,
        tools: &ToolOffers,
    ) -> Result<Self, Unresolved> {
        let tool = match api {
            Some(api) if !api.active => return Err(Unresolved::Unknown),
            // A key that is the name of a tool must not lead anywhere else.
            Some(api) if tools.get(key).is_some() && api.tool() != Some(key) => {
                return Err(Unresolved::NotServed { tool: key.to_owned() });
            }
            Some(api) => api.tool(),
            None if is_targeted && tools.get(key).is_some() => Some(key),
            None if is_targeted && tools.is_left_out(key) => {
                return Err(Unresolved::NotServed { tool: key.to_owned() });
            }
            None => return Err(Unresolved::Unknown),
        };
        let Some(name) = tool else { return Ok(Self { api, tool: None, min_price: Cents::ZERO }) };
        let offer = tools.get(name).ok_or_else(|| Unresolved::NotServed { tool: name.to_owned() })?;
        Ok(Self { api, tool: Some((name, offer.argument)), min_price: offer.min_price })
    }

    /// What one run costs a campaign with this subsidy: the price of the sponsored API, or the subsidy where there is none.
    #[must_use]
    pub fn price_at(&self, subsidy: Cents) -> Cents {
        self.api.map_or(subsidy, |api| api.price_cents).max(self.min_price)
    }

    /// What one run costs where no campaign pays.
    #[must_use]
    pub fn price(&self) -> Cents {
        self.api.map_or(Cents::ZERO, |api| api.price_cents).max(self.min_price)
    }

    /// Whether a campaign with this subsidy would pay for it, budget aside: the subsidy covers the price.
    #[must_use]
    pub fn is_covered_by(&self, subsidy: Cents) -> bool {
        self.price_at(subsidy) <= subsidy
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sponsored_api::tests::{api, tools};
    use super::*;

    #[test]
    fn a_key_stands_for_an_api_or_for_a_tool_that_a_campaign_names() {
        let (scrape, tools) = (api(&json!({})).unwrap(), tools());
        let service = Service::resolve("scrape", Some(&scrape), false, &tools).unwrap();
        assert_eq!((service.tool, service.price().get()), (None, 10));
        let service = Service::resolve("answer", None, true, &tools).unwrap();
        assert_eq!((service.tool, service.price().get()), (Some(("answer", "query")), 5));
        // Without a sponsored API the subsidy is the price.
        assert_eq!(service.price_at(Cents::parse(50).unwrap()).get(), 50);
        for (key, is_targeted) in [("answer", false), ("none", true)] {
            assert_eq!(Service::resolve(key, None, is_targeted, &tools), Err(Unresolved::Unknown), "{key}");
        }
    }

    #[test]
    fn a_switched_off_or_unserved_service_cannot_be_run() {
        let tools = tools();
        let off = SponsoredApi { active: false, ..api(&json!({})).unwrap() };
        assert_eq!(Service::resolve("scrape", Some(&off), true, &tools), Err(Unresolved::Unknown));
        let gone = SponsoredApi { upstream_url: "tool:gone".into(), ..api(&json!({})).unwrap() };
        let not_served = |tool: &str| Err(Unresolved::NotServed { tool: tool.into() });
        assert_eq!(Service::resolve("scrape", Some(&gone), false, &tools), not_served("gone"));
        // A campaign may name a tool that the operator does not serve; a name that no tool has is unknown.
        let tools = tools.with_left_out(["chatgpt_o3_search".to_owned()]);
        let resolve = |key: &'static str, is_targeted| Service::resolve(key, None, is_targeted, &tools);
        assert_eq!(resolve("chatgpt_o3_search", true), not_served("chatgpt_o3_search"));
        assert_eq!(resolve("chatgpt_o3_search", false), Err(Unresolved::Unknown));
        assert_eq!(resolve("none", true), Err(Unresolved::Unknown));
        // A sponsored API from before the tool existed does not hide it.
        let hidden = SponsoredApi { service_key: "answer".into(), ..api(&json!({})).unwrap() };
        assert_eq!(Service::resolve("answer", Some(&hidden), false, &tools), not_served("answer"));
    }

    #[test]
    fn the_operators_price_applies_when_it_rose_after_the_api_was_created() {
        let tools = tools();
        let mut cheap = api(&json!({ "upstream_url": "tool:answer" })).unwrap();
        cheap.price_cents = Cents::ZERO;
        let service = Service::resolve("scrape", Some(&cheap), false, &tools).unwrap();
        assert_eq!(service.price().get(), 5);
        let covers = |subsidy| service.is_covered_by(Cents::parse(subsidy).unwrap());
        assert!(!covers(4) && covers(5));
    }
}
