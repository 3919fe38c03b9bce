//! The search for services: what is asked, and what is answered. `SearchIndex` finds the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::limits::{DEFAULT_PAGE, MAX_PAGE};
use super::money::Cents;
use super::text::{Name, Problem};

/// Whether a result is a campaign or a sponsored API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceType {
    /// A campaign, which pays for services after a task.
    Campaign,
    /// A sponsored API, which is a service.
    SponsoredApi,
}

/// One result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceItem {
    /// Whether it is a campaign or a sponsored API.
    pub service_type: ServiceType,
    /// Its id.
    pub service_id: String,
    /// Its name.
    pub name: String,
    /// Who pays.
    pub sponsor: String,
    /// The task of a campaign. A sponsored API has none of its own, but a campaign that pays for it may ask for one: then
    /// a run says which.
    pub required_task: Option<String>,
    /// The most that a campaign pays for one run, or the price of the API.
    pub subsidy_amount_cents: Cents,
    /// What it is for: the target tools of a campaign, or the service key.
    pub category: Vec<String>,
    /// What `run_service` takes.
    pub service_keys: Vec<String>,
    /// Whether it is switched on.
    pub active: bool,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How well it fits, from 0 to 1, where budget, intent or a user was given.
    pub relevance_score: Option<f64>,
}

impl ServiceItem {
    /// The size of its texts in bytes, by which the results of a search are limited.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let lists = [&self.category, &self.service_keys, &self.tags].into_iter().flatten();
        let task = self.required_task.as_ref().map_or(0, String::len);
        lists.map(String::len).sum::<usize>() + task + self.name.len() + self.sponsor.len()
    }
}

/// A service that can be found: what is shown of it, and the kind of its task.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchEntry {
    /// What is shown.
    pub item: ServiceItem,
    /// The kind of its task; `None` where there is no task.
    pub task_type: Option<String>,
}

/// The page size of a search or a list: 1 to 200, 50 when absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u64")]
#[schemars(!try_from)]
pub struct PageLimit(#[schemars(range(min = 1, max = MAX_PAGE))] usize);

impl PageLimit {
    /// The largest page.
    pub const MAX: Self = Self(MAX_PAGE);

    /// The number of entries.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(DEFAULT_PAGE)
    }
}

impl TryFrom<u64> for PageLimit {
    type Error = Problem;

    fn try_from(limit: u64) -> Result<Self, Problem> {
        match usize::try_from(limit) {
            Ok(limit) if (1..=MAX_PAGE).contains(&limit) => Ok(Self(limit)),
            _ => Err(Problem::new(format!("must be an integer from 1 to {MAX_PAGE}"))),
        }
    }
}

/// What is searched for. All filters that are given must fit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchQuery {
    /// A part of the name or of the sponsor.
    #[serde(deserialize_with = "blank_as_absent")]
    pub q: Option<Name>,
    /// A category, as a whole.
    #[serde(deserialize_with = "blank_as_absent")]
    pub category: Option<Name>,
    /// The most that a service may cost.
    pub max_budget_cents: Option<Cents>,
    /// What the user wants to do.
    #[serde(deserialize_with = "blank_as_absent")]
    pub intent: Option<Name>,
    /// The maximum number of results.
    pub limit: PageLimit,
}

/// Models and forms send empty texts for filters that they do not use.
fn blank_as_absent<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Name>, D::Error> {
    let text = Option::<String>::deserialize(text)?.filter(|text| !text.trim().is_empty());
    text.map(Name::parse).transpose().map_err(serde::de::Error::custom)
}

/// The filters of a search that produced scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedFilters {
    /// The given budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Cents>,
    /// The given intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<Name>,
    /// The given category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Name>,
    /// The given keyword.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<Name>,
    /// Whether preferences of the user took part.
    pub preferences_applied: bool,
}

/// The reply of `GET /gpt/services`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchReport {
    /// The best results, as many as the limit and the size of a reply allow.
    pub services: Vec<ServiceItem>,
    /// How many there are in all.
    pub total_count: usize,
    /// What was found, or which filter to relax.
    pub message: String,
    /// The filters, where budget, intent or a user was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_filters: Option<AppliedFilters>,
    /// What there is instead, where an intent found nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_categories: Option<Vec<String>>,
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
