//! Campaigns: what a sponsor pays, for which services, to whom, and for which task.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::CampaignId;
use super::money::Cents;
use super::task_schema::{DEFAULT_TASK_TYPE, TaskSchema};
use super::text::{FieldError, List, LongText, Name, Problem, WebAddress};

/// A sponsor's campaign. Serialized, it is what the public may read: the wallet is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Campaign {
    /// Its id.
    pub id: CampaignId,
    /// Its name.
    pub name: String,
    /// Who pays.
    pub sponsor: String,
    /// The roles that users need one of; everybody when empty.
    pub target_roles: Vec<String>,
    /// The services that it pays for, by their keys.
    pub target_tools: Vec<String>,
    /// The task that a user completes first.
    pub required_task: String,
    /// The most that it pays for one run.
    pub subsidy_per_call_cents: Cents,
    /// All that the sponsor has put in.
    pub budget_total_cents: Cents,
    /// What is neither spent nor reserved.
    pub budget_remaining_cents: Cents,
    /// Pages about the campaign.
    pub query_urls: Vec<String>,
    /// The sponsor's switch.
    pub active: bool,
    /// When it was created.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
    /// Where the sponsor's money comes from.
    #[serde(skip)]
    pub sponsor_wallet_address: Option<String>,
    /// The form of its task, if it has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_schema: Option<TaskSchema>,
    /// Words to find it by.
    pub tags: Vec<String>,
}

impl Campaign {
    /// The kind of its task.
    #[must_use]
    pub fn task_type(&self) -> &str {
        self.task_schema.as_ref().map_or(DEFAULT_TASK_TYPE, |schema| &schema.task_type)
    }

    /// The size of its texts in bytes, by which pages of campaigns are limited.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let lists = [&self.target_roles, &self.target_tools, &self.query_urls, &self.tags];
        let listed: usize = lists.into_iter().flatten().map(String::len).sum();
        let schema = self.task_schema.as_ref().map_or(0, TaskSchema::text_bytes);
        listed + schema + self.name.len() + self.sponsor.len() + self.required_task.len()
    }
}

/// An amount of at least one cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(!try_from, !into)]
pub struct PositiveCents(#[schemars(range(min = 1, max = 1_000_000_000_000_i64))] i64);

impl PositiveCents {
    /// The amount.
    #[must_use]
    pub fn cents(self) -> Cents {
        Cents::parse(self.0).unwrap_or(Cents::MAX)
    }
}

impl TryFrom<i64> for PositiveCents {
    type Error = Problem;

    fn try_from(cents: i64) -> Result<Self, Problem> {
        match Cents::parse(cents) {
            Ok(cents) if cents > Cents::ZERO => Ok(Self(cents.get())),
            _ => Err(Problem::new(format!("must be an integer from 1 to {} (US cents)", Cents::MAX.get()))),
        }
    }
}

impl From<PositiveCents> for i64 {
    fn from(cents: PositiveCents) -> Self {
        cents.0
    }
}

/// What `POST /campaigns` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampaignDraft {
    /// The name of the campaign.
    pub name: Name,
    /// Who pays.
    pub sponsor: Name,
    /// The task that a user completes before the campaign pays.
    pub required_task: Name,
    /// The most that the campaign pays for one run.
    pub subsidy_per_call_cents: PositiveCents,
    /// The budget to begin with.
    pub budget_cents: Cents,
    /// The roles that users need one of; everybody when empty.
    #[serde(default)]
    pub target_roles: List<Name>,
    /// The services that it pays for, by their keys.
    #[serde(default)]
    pub target_tools: List<Name>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: List<Name>,
    /// The form of its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_schema: Option<TaskSchema>,
    /// Pages about the campaign.
    #[serde(default)]
    pub query_urls: List<WebAddress>,
    /// Where the sponsor's money comes from; never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sponsor_wallet_address: Option<LongText>,
}

impl CampaignDraft {
    /// The campaign that the draft describes.
    #[must_use]
    pub fn into_campaign(self, id: CampaignId, now: Timestamp) -> Campaign {
        Campaign {
            id,
            target_roles: self.target_roles.texts(),
            target_tools: self.target_tools.texts(),
            tags: self.tags.texts(),
            name: self.name.into_string(),
            sponsor: self.sponsor.into_string(),
            required_task: self.required_task.into_string(),
            subsidy_per_call_cents: self.subsidy_per_call_cents.cents(),
            budget_total_cents: self.budget_cents,
            budget_remaining_cents: self.budget_cents,
            query_urls: self.query_urls.into_vec().into_iter().map(WebAddress::into_string).collect(),
            active: true,
            created_at: now,
            sponsor_wallet_address: self.sponsor_wallet_address.map(LongText::into_string),
            task_schema: self.task_schema,
        }
    }
}

/// What `PATCH /campaigns/{id}` takes. The required task is fixed: users have completed it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CampaignPatch {
    /// Switches the campaign on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Adds to the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_budget_cents: Option<PositiveCents>,
    /// Changes the most that it pays for one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsidy_per_call_cents: Option<PositiveCents>,
    /// Changes the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Replaces the tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<List<Name>>,
    /// Replaces the form of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_schema: Option<TaskSchema>,
    /// Replaces the roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_roles: Option<List<Name>>,
    /// Replaces the services.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_tools: Option<List<Name>>,
    /// Replaces the pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_urls: Option<List<WebAddress>>,
}

/// Adds to a budget: total and remaining rise together.
pub(super) fn top_up(
    total: &mut Cents,
    remaining: &mut Cents,
    add: Option<PositiveCents>,
) -> Result<(), FieldError> {
    let Some(add) = add else { return Ok(()) };
    // What remains is at most the total, so its sum is within the range whenever the total's is. Where an adjustment
    // made it larger, the same error is right.
    match (total.checked_add(add.cents()), remaining.checked_add(add.cents())) {
        (Some(new_total), Some(new_remaining)) => {
            (*total, *remaining) = (new_total, new_remaining);
            Ok(())
        }
        _ => {
            let problem = format!("the budget would exceed {} (US cents)", Cents::MAX.get());
            Err(Problem::new(problem).of("add_budget_cents"))
        }
    }
}

impl CampaignPatch {
    /// Applies the changes.
    ///
    /// # Errors
    ///
    /// The budget would leave its range; then nothing is changed.
    pub fn apply(self, campaign: &mut Campaign) -> Result<(), FieldError> {
        let (total, remaining) = (&mut campaign.budget_total_cents, &mut campaign.budget_remaining_cents);
        top_up(total, remaining, self.add_budget_cents)?;
        if let Some(active) = self.active {
            campaign.active = active;
        }
        if let Some(subsidy) = self.subsidy_per_call_cents {
            campaign.subsidy_per_call_cents = subsidy.cents();
        }
        if let Some(name) = self.name {
            campaign.name = name.into_string();
        }
        if let Some(tags) = self.tags {
            campaign.tags = tags.texts();
        }
        if self.task_schema.is_some() {
            campaign.task_schema = self.task_schema;
        }
        if let Some(roles) = self.target_roles {
            campaign.target_roles = roles.texts();
        }
        if let Some(tools) = self.target_tools {
            campaign.target_tools = tools.texts();
        }
        if let Some(urls) = self.query_urls {
            campaign.query_urls = urls.into_vec().into_iter().map(WebAddress::into_string).collect();
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A campaign for the service `scrape` with a subsidy of 50 cents and a budget of 100.
    pub fn campaign() -> Campaign {
        let draft = json!({
            "name": "Survey for scraping", "sponsor": "Acme", "required_task": "survey",
            "subsidy_per_call_cents": 50, "budget_cents": 100, "target_tools": ["scrape"],
        });
        let draft: CampaignDraft = serde_json::from_value(draft).unwrap();
        draft.into_campaign(CampaignId::random(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_top_up_raises_total_and_remaining_and_never_leaves_the_range() {
        let mut changed = campaign();
        changed.budget_remaining_cents = Cents::parse(30).unwrap();
        let patch = |json| serde_json::from_value::<CampaignPatch>(json).unwrap();
        patch(json!({ "add_budget_cents": 5, "name": "New" })).apply(&mut changed).unwrap();
        assert_eq!((changed.budget_total_cents.get(), changed.budget_remaining_cents.get()), (105, 35));
        assert_eq!(changed.name, "New");
        let before = changed.clone();
        let too_much = patch(json!({ "add_budget_cents": 1_000_000_000_000_i64, "name": "Other" }));
        assert_eq!(too_much.apply(&mut changed).unwrap_err().field, "add_budget_cents");
        assert_eq!(changed, before);
    }

    #[test]
    fn the_required_task_and_amounts_below_one_cent_cannot_be_patched_in() {
        for wrong in [
            json!({ "required_task": "x" }),
            json!({ "add_budget_cents": 0 }),
            json!({ "subsidy_per_call_cents": 0 }),
        ] {
            assert!(serde_json::from_value::<CampaignPatch>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_wallet_is_never_serialized() {
        let secret = Campaign { sponsor_wallet_address: Some("0xwallet".into()), ..campaign() };
        assert!(!serde_json::to_string(&secret).unwrap().contains("wallet"));
    }
}
