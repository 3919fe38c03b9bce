//! The tools of this server that a sponsor may buy.

use std::collections::BTreeMap;

use super::money::Cents;

/// A tool that its facts allow a sponsor to buy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolOffer {
    /// The argument that receives the input of a run.
    pub argument: &'static str,
    /// The least that a service of this tool costs: the operator's price, which a sponsor cannot lower.
    pub min_price: Cents,
}

/// The tools that a sponsor may buy, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOffers(BTreeMap<String, ToolOffer>);

impl ToolOffers {
    /// The offer of a tool, if it is served and may be bought.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolOffer> {
        self.0.get(name)
    }
}

impl FromIterator<(String, ToolOffer)> for ToolOffers {
    fn from_iter<I: IntoIterator<Item = (String, ToolOffer)>>(offers: I) -> Self {
        Self(offers.into_iter().collect())
    }
}
