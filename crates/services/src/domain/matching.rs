//! Who pays for a run: which campaign, the sponsored API's own budget, or nobody.

use super::ids::{CampaignId, SponsoredApiId};
use super::money::Cents;
use super::service::Service;

/// What a payment depends on in a campaign that names the service. Many campaigns may, so nothing else of them is read: the
/// texts of one can have half a megabyte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetingCampaign {
    /// Its id.
    pub id: CampaignId,
    /// Its name.
    pub name: String,
    /// Who pays.
    pub sponsor: String,
    /// Its task.
    pub required_task: String,
    /// The most that it pays for one run.
    pub subsidy: Cents,
    /// What is left of its budget.
    pub budget_remaining: Cents,
    /// Whether it is switched on.
    pub active: bool,
    /// Whether the user has one of the roles that it targets.
    pub means_user: bool,
    /// Whether the user has completed its task in a way that counts.
    pub has_completed_task: bool,
}

/// Whose budget pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    /// A campaign.
    Campaign(CampaignId),
    /// The sponsored API's own budget.
    SponsoredApi(SponsoredApiId),
}

/// A budget that may pay for the run, and how much that costs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Whose budget it is.
    pub payer: Payer,
    /// The sponsor's name.
    pub sponsor: String,
    /// The charge.
    pub price: Cents,
}

/// Why nobody pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPayer {
    /// A campaign with budget would pay after its task (428).
    TaskRequired {
        /// The newest such campaign.
        campaign_id: CampaignId,
        /// Its name.
        campaign_name: String,
        /// Its task.
        required_task: String,
    },
    /// No campaign matches and the API's own budget does not suffice (402).
    PaymentRequired {
        /// What the run costs.
        price: Cents,
    },
}

/// The budgets to try, in this order, and the answer when another run has taken the last of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentPlan {
    /// The budgets to try. Each sufficed when it was read.
    pub offers: Vec<Offer>,
    /// The answer when none of them pays.
    pub otherwise: NoPayer,
}

/// Plans the payment of a run. `campaigns` are those that name the service, newest first.
#[must_use]
pub fn plan<'a>(
    service: &Service<'_>,
    campaigns: impl Iterator<Item = &'a TargetingCampaign> + Clone,
) -> PaymentPlan {
    let is_match = |campaign: &&TargetingCampaign| {
        campaign.active
            && campaign.means_user
            && service.is_covered_by(campaign.subsidy)
            && campaign.budget_remaining >= service.price_at(campaign.subsidy)
    };
    let (ready, lacking): (Vec<_>, Vec<_>) =
        campaigns.clone().filter(is_match).partition(|campaign| campaign.has_completed_task);
    let ready = ready.into_iter().map(|campaign| Offer {
        payer: Payer::Campaign(campaign.id),
        sponsor: campaign.sponsor.clone(),
        price: service.price_at(campaign.subsidy),
    });
    if let Some(campaign) = lacking.first() {
        let otherwise = NoPayer::TaskRequired {
            campaign_id: campaign.id,
            campaign_name: campaign.name.clone(),
            required_task: campaign.required_task.clone(),
        };
        return PaymentPlan { offers: ready.collect(), otherwise };
    }
    let own_budget = service.api.filter(|api| api.budget_remaining_cents >= service.price()).map(|api| {
        Offer { payer: Payer::SponsoredApi(api.id), sponsor: api.sponsor.clone(), price: service.price() }
    });
    let price = match service.api {
        Some(_) => service.price(),
        // Only campaigns name the tool, so the price is what the cheapest of them would pay.
        None => {
            let prices = campaigns.map(|campaign| service.price_at(campaign.subsidy));
            prices.min().unwrap_or_else(|| service.price())
        }
    };
    PaymentPlan { offers: ready.chain(own_budget).collect(), otherwise: NoPayer::PaymentRequired { price } }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
pub(super) mod tests;
