//! All services together: what each campaign can pay for, what a search shows of it, and what a user can run.

use std::collections::{BTreeMap, HashMap};

use super::matching::{NoPayer, TargetingCampaign, plan};
use super::money::Cents;
use super::search::{SearchEntry, ServiceItem, ServiceType};
use super::service::Service;
use super::sponsored_api::SponsoredApi;
use super::task_schema::DEFAULT_TASK_TYPE;
use super::tool_offers::ToolOffers;
use super::user::AvailableService;

/// The sponsored APIs that are switched on, and the tools that may be bought.
pub struct Catalog<'a> {
    apis: &'a [SponsoredApi],
    by_key: HashMap<&'a str, &'a SponsoredApi>,
    tools: &'a ToolOffers,
}

/// What a search needs to know of a campaign that is switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCampaign {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who pays.
    pub sponsor: String,
    /// Its task.
    pub required_task: String,
    /// The most that it pays for one run.
    pub subsidy: Cents,
    /// The services that it names.
    pub target_tools: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The kind of its task, if it declares one.
    pub task_type: Option<String>,
}

impl<'a> Catalog<'a> {
    /// The services of these APIs and tools.
    #[must_use]
    pub fn new(apis: &'a [SponsoredApi], tools: &'a ToolOffers) -> Self {
        Self { apis, by_key: apis.iter().map(|api| (api.service_key.as_str(), api)).collect(), tools }
    }

    fn service<'b>(&'b self, key: &'b str) -> Option<Service<'b>> {
        Service::resolve(key, self.by_key.get(key).copied(), true, self.tools).ok()
    }

    /// Whether a key stands for a service that can be run, if a campaign names it.
    #[must_use]
    pub fn is_service(&self, key: &str) -> bool {
        self.service(key).is_some()
    }

    /// What a search shows of a campaign, and the least that must be left of its budget: the price of its cheapest service.
    /// Where none of its services exists, its subsidy stands for that.
    #[must_use]
    pub fn listing(&self, campaign: ListedCampaign) -> (SearchEntry, Cents) {
        let mut cheapest: Option<Cents> = None;
        let mut service_keys = Vec::with_capacity(campaign.target_tools.len());
        for key in &campaign.target_tools {
            let Some(service) = self.service(key) else { continue };
            let price = service.price_at(campaign.subsidy);
            if price <= campaign.subsidy {
                cheapest = Some(cheapest.map_or(price, |cheapest| cheapest.min(price)));
                service_keys.push(key.clone());
            }
        }
        let ListedCampaign { id, name, sponsor, required_task, subsidy, target_tools, mut tags, task_type } =
            campaign;
        if tags.is_empty() {
            tags = target_tools.iter().chain([&required_task]).cloned().collect();
        }
        let item = ServiceItem {
            service_type: ServiceType::Campaign,
            service_id: id,
            name,
            sponsor,
            required_task: Some(required_task),
            subsidy_amount_cents: subsidy,
            category: target_tools,
            service_keys,
            active: true,
            tags,
            relevance_score: None,
        };
        let task_type = Some(task_type.unwrap_or_else(|| DEFAULT_TASK_TYPE.to_owned()));
        (SearchEntry { item, task_type }, cheapest.unwrap_or(subsidy))
    }

    /// What a search shows of the sponsored APIs.
    pub fn api_entries(&self) -> impl Iterator<Item = SearchEntry> {
        self.apis.iter().map(|api| {
            let key = vec![api.service_key.clone()];
            let item = ServiceItem {
                service_type: ServiceType::SponsoredApi,
                service_id: api.id.to_string(),
                name: api.name.clone(),
                sponsor: api.sponsor.clone(),
                required_task: None,
                subsidy_amount_cents: api.price_cents,
                category: key.clone(),
                service_keys: key.clone(),
                active: true,
                tags: key,
                relevance_score: None,
            };
            SearchEntry { item, task_type: None }
        })
    }

    /// The services that sponsors pay for, by key. `campaigns` are those that are switched on, newest first, each with the
    /// services that it names.
    #[must_use]
    pub fn available_services(
        &self,
        campaigns: &[(TargetingCampaign, Vec<String>)],
    ) -> Vec<AvailableService> {
        let mut by_service: BTreeMap<&str, Vec<&TargetingCampaign>> =
            self.apis.iter().map(|api| (api.service_key.as_str(), Vec::new())).collect();
        for (campaign, services) in campaigns {
            for service in services {
                by_service.entry(service).or_default().push(campaign);
            }
        }
        let available =
            by_service.iter().filter_map(|(service, campaigns)| self.availability(service, campaigns));
        available.collect()
    }

    /// Whether a user can run a service, and who would pay; nothing when nobody would. `campaigns` are those that name the
    /// service, newest first.
    #[must_use]
    pub fn availability(&self, key: &str, campaigns: &[&TargetingCampaign]) -> Option<AvailableService> {
        let service = self.service(key)?;
        let plan = plan(&service, campaigns.iter().copied());
        let (sponsor, ready) = match (plan.offers.into_iter().next(), plan.otherwise) {
            (Some(offer), _) => (offer.sponsor, true),
            (None, NoPayer::TaskRequired { campaign_id, .. }) => {
                let needed = campaigns.iter().find(|campaign| campaign.id == campaign_id)?;
                (needed.sponsor.clone(), false)
            }
            (None, NoPayer::PaymentRequired { .. }) => return None,
        };
        Some(AvailableService { service: key.to_owned(), sponsor, ready })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::matching::tests::targeting;
    use super::super::sponsored_api::tests::{api, tools};
    use super::*;

    fn cents(cents: i64) -> Cents {
        Cents::parse(cents).unwrap()
    }

    fn listed(target_tools: &[&str]) -> ListedCampaign {
        ListedCampaign {
            id: "1".into(),
            name: "C".into(),
            sponsor: "Acme".into(),
            required_task: "survey".into(),
            subsidy: cents(50),
            target_tools: target_tools.iter().map(|tool| (*tool).to_owned()).collect(),
            tags: vec![],
            task_type: None,
        }
    }

    #[test]
    fn a_campaign_is_exhausted_when_it_cannot_pay_for_its_cheapest_service() {
        // `scrape` costs 10, `dear` 60, which the subsidy of 50 does not cover; `answer` costs the subsidy.
        let dear = api(&json!({ "name": "dear", "price_cents": 60 })).unwrap();
        let (apis, tools) = ([api(&json!({})).unwrap(), dear], tools());
        let catalog = Catalog::new(&apis, &tools);
        for (target_tools, service_keys, cheapest) in [
            (&["scrape", "dear"][..], &["scrape"][..], 10),
            (&["answer"], &["answer"], 50),
            (&["answer", "scrape"], &["answer", "scrape"], 10),
            // Without a service that it could pay for, its subsidy must be left.
            (&["dear"], &[], 50),
            (&["nothing"], &[], 50),
        ] {
            let (entry, least) = catalog.listing(listed(target_tools));
            assert_eq!(
                (entry.item.service_keys, least),
                (service_keys.iter().map(ToString::to_string).collect(), cents(cheapest))
            );
        }
        let (entry, _) = catalog.listing(listed(&["scrape"]));
        assert_eq!(entry.item.tags, ["scrape", "survey"]);
        assert_eq!(entry.task_type.as_deref(), Some("survey"));
    }

    #[test]
    fn a_free_service_is_never_exhausted() {
        let (apis, tools) = ([api(&json!({ "price_cents": 0 })).unwrap()], tools());
        assert_eq!(Catalog::new(&apis, &tools).listing(listed(&["scrape"])).1, Cents::ZERO);
    }

    #[test]
    fn availability_is_what_a_run_would_find() {
        let (apis, tools) = ([api(&json!({ "budget_cents": 0 })).unwrap()], tools());
        let catalog = Catalog::new(&apis, &tools);
        let targeting = |has_completed_task| targeting(|_| {}, has_completed_task);
        let ready = |campaigns: &[TargetingCampaign]| {
            let campaigns: Vec<_> = campaigns.iter().collect();
            catalog.availability("scrape", &campaigns).map(|service| service.ready)
        };
        assert_eq!(ready(&[targeting(false), targeting(true)]), Some(true));
        assert_eq!(ready(&[targeting(false)]), Some(false));
        assert_eq!(ready(&[]), None);
        assert_eq!(catalog.availability("none", &[&targeting(true)]), None);
    }
}
