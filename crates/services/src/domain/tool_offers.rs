//! The tools of this server that a sponsor may buy.

use std::collections::{BTreeMap, BTreeSet};

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
pub struct ToolOffers {
    served: BTreeMap<String, ToolOffer>,
    left_out: BTreeSet<String>,
}

impl ToolOffers {
    /// With the names of tools that a sponsor could buy if they were served.
    #[must_use]
    pub fn with_left_out(self, names: impl IntoIterator<Item = String>) -> Self {
        Self { left_out: names.into_iter().collect(), ..self }
    }

    /// With these tools left out.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.served.remove(*name);
            self.left_out.insert((*name).to_owned());
        }
        self
    }

    /// The offer of a tool, if it is served and may be bought.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolOffer> {
        self.served.get(name)
    }

    /// Whether a sponsor could buy the tool if it were served.
    #[must_use]
    pub fn is_left_out(&self, name: &str) -> bool {
        self.left_out.contains(name)
    }
}

impl FromIterator<(String, ToolOffer)> for ToolOffers {
    fn from_iter<I: IntoIterator<Item = (String, ToolOffer)>>(offers: I) -> Self {
        Self { served: offers.into_iter().collect(), left_out: BTreeSet::new() }
    }
}
