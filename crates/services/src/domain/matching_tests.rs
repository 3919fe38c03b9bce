use proptest::prelude::*;
use serde_json::json;

use super::super::sponsored_api::SponsoredApi;
use super::super::sponsored_api::tests::{api, tools};
use super::*;

fn cents(cents: i64) -> Cents {
    Cents::parse(cents).unwrap()
}

/// A campaign that pays up to 50 cents, with these changes.
pub fn targeting(change: impl FnOnce(&mut TargetingCampaign), has_completed_task: bool) -> TargetingCampaign {
    let mut campaign = TargetingCampaign {
        id: CampaignId::random(),
        name: "Survey".into(),
        sponsor: "Acme".into(),
        required_task: "survey".into(),
        subsidy: cents(50),
        budget_remaining: cents(1000),
        active: true,
        means_user: true,
        has_completed_task,
    };
    change(&mut campaign);
    campaign
}

fn plan_for(api: &SponsoredApi, campaigns: &[TargetingCampaign]) -> PaymentPlan {
    let service = Service::resolve("scrape", Some(api), true, &tools()).unwrap();
    plan(&service, campaigns.iter())
}

/// The API `scrape` for 10 cents, with a budget of its own.
fn scrape(own_budget: i64) -> SponsoredApi {
    SponsoredApi { budget_remaining_cents: cents(own_budget), ..api(&json!({})).unwrap() }
}

fn campaign_offer(candidate: &TargetingCampaign) -> Offer {
    Offer { payer: Payer::Campaign(candidate.id), sponsor: "Acme".into(), price: cents(10) }
}

#[test]
fn the_newest_campaign_whose_task_is_completed_pays_and_the_others_follow() {
    let lacking = targeting(|_| {}, false);
    let (first, second) = (targeting(|_| {}, true), targeting(|_| {}, true));
    let plan = plan_for(&scrape(20), &[lacking.clone(), first.clone(), second.clone()]);
    assert_eq!(plan.offers, [campaign_offer(&first), campaign_offer(&second)]);
    // After the last of them ran dry, the campaign that lacks only the task is the answer.
    let NoPayer::TaskRequired { campaign_id, .. } = plan.otherwise else { panic!("{plan:?}") };
    assert_eq!(campaign_id, lacking.id);
}

#[test]
fn a_campaign_that_does_not_match_neither_pays_nor_asks_for_its_task() {
    let misfits: [fn(&mut TargetingCampaign); 4] = [
        |campaign| campaign.active = false,
        |campaign| campaign.means_user = false,
        |campaign| campaign.subsidy = cents(9),
        |campaign| campaign.budget_remaining = cents(9),
    ];
    for misfit in misfits {
        for has_completed_task in [true, false] {
            let misfit = targeting(misfit, has_completed_task);
            let plan = plan_for(&scrape(9), std::slice::from_ref(&misfit));
            let otherwise = NoPayer::PaymentRequired { price: cents(10) };
            assert_eq!(plan, PaymentPlan { offers: vec![], otherwise }, "{misfit:?}");
        }
    }
}

#[test]
fn the_apis_own_budget_pays_only_where_no_campaign_matches() {
    let api = scrape(10);
    let own = Offer { payer: Payer::SponsoredApi(api.id), sponsor: "Acme".into(), price: cents(10) };
    assert_eq!(plan_for(&api, &[]).offers, [own]);
    assert_eq!(plan_for(&api, &[targeting(|_| {}, false)]).offers, []);
    assert_eq!(plan_for(&scrape(9), &[]).offers, []);
}

#[test]
fn a_tool_that_only_campaigns_name_costs_what_each_of_them_pays() {
    let tools = tools();
    let service = Service::resolve("answer", None, true, &tools).unwrap();
    let cheap = targeting(|campaign| campaign.subsidy = cents(7), true);
    let stingy = targeting(|campaign| campaign.subsidy = cents(4), true);
    let plan = plan(&service, [stingy, cheap.clone()].iter());
    assert_eq!(plan.offers, [Offer { price: cents(7), ..campaign_offer(&cheap) }]);
    // The cheapest subsidy is below the operator's price, which is the least.
    assert_eq!(plan.otherwise, NoPayer::PaymentRequired { price: cents(5) });
}

proptest! {
    #[test]
    fn every_offer_is_affordable_and_allowed(
        price in 0_i64..100,
        own in 0_i64..100,
        campaigns in proptest::collection::vec((any::<bool>(), 0_i64..100, 0_i64..100, any::<bool>(), any::<bool>()), 0..6),
    ) {
        let api = SponsoredApi { price_cents: cents(price), ..scrape(own) };
        let campaigns: Vec<_> = campaigns.into_iter().map(|(active, subsidy, remaining, excluded, done)| {
            targeting(|campaign| {
                campaign.active = active;
                campaign.subsidy = cents(subsidy);
                campaign.budget_remaining = cents(remaining);
                campaign.means_user = !excluded;
            }, done)
        }).collect();
        let plan = plan_for(&api, &campaigns);
        for offer in &plan.offers {
            prop_assert_eq!(offer.price.get(), price);
            match offer.payer {
                Payer::SponsoredApi(_) => prop_assert!(own >= price),
                Payer::Campaign(id) => {
                    let payer = campaigns.iter().find(|each| each.id == id).unwrap();
                    prop_assert!(payer.active && payer.has_completed_task && payer.means_user);
                    prop_assert!(payer.subsidy.get() >= price);
                    prop_assert!(payer.budget_remaining.get() >= price);
                }
            }
        }
        let own_offers = plan.offers.iter().filter(|offer| matches!(offer.payer, Payer::SponsoredApi(_)));
        let may_use_own_budget = matches!(plan.otherwise, NoPayer::PaymentRequired { .. });
        prop_assert!(own_offers.count() <= usize::from(may_use_own_budget));
    }
}
