//! The task of a campaign: what a user is told about it, and what completing it achieved.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::campaign::Campaign;
use super::consent::{CompletionState, ConsentAnswers};
use super::ids::{CampaignId, CompletionId, UserId};
use super::money::Cents;
use super::task_schema::TaskInputFormat;
use super::text::{FieldError, LongText, Name, Problem, in_sentence};

/// The reply of `GET /gpt/tasks/{campaign_id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskDetails {
    /// The campaign.
    pub campaign_id: CampaignId,
    /// Its name.
    pub campaign_name: String,
    /// Who pays.
    pub sponsor: String,
    /// The name of the task.
    pub required_task: String,
    /// What the task is.
    pub task_description: String,
    /// The form to fill in.
    pub task_input_format: TaskInputFormat,
    /// Whether this user has completed it in a way that counts.
    pub already_completed: bool,
    /// The most that the campaign pays for one run.
    pub subsidy_amount_cents: Cents,
    /// What to do next.
    pub message: String,
}

impl TaskDetails {
    /// What a user is told about the task of a campaign.
    #[must_use]
    pub fn new(campaign: &Campaign, completion_state: &CompletionState) -> Self {
        let Campaign { id, subsidy_per_call_cents, .. } = campaign;
        let [name, sponsor, required_task] =
            [&campaign.name, &campaign.sponsor, &campaign.required_task].map(|text| in_sentence(text));
        let description = campaign.task_schema.as_ref().and_then(|schema| schema.description.as_ref());
        let task_description = description.map_or_else(
            || format!("Complete the task “{required_task}” for “{sponsor}”."),
            ToString::to_string,
        );
        let missing = completion_state.missing_consents();
        let message = if !campaign.active {
            format!("The campaign “{name}” is switched off at present, so it pays for nothing.")
        } else if completion_state.counts() {
            format!("You have completed this task; “{sponsor}” pays up to {subsidy_per_call_cents} a run.")
        } else if completion_state.completion.is_some() {
            format!(
                "You have completed this task, but it does not count: {} must be true. Complete it again with your consent.",
                missing.join(" and ")
            )
        } else {
            format!("Complete this task, and “{sponsor}” pays up to {subsidy_per_call_cents} a run.")
        };
        Self {
            campaign_id: *id,
            campaign_name: campaign.name.clone(),
            sponsor: campaign.sponsor.clone(),
            required_task: campaign.required_task.clone(),
            task_description,
            task_input_format: TaskInputFormat::of(campaign.task_schema.as_ref()),
            already_completed: completion_state.counts(),
            subsidy_amount_cents: *subsidy_per_call_cents,
            message,
        }
    }
}

/// What a user sends to complete a task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSubmission {
    /// The name of the task, which must be the campaign's.
    pub task_name: Name,
    /// The fields of the form as a JSON object in text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<LongText>,
    /// The user's consent.
    pub consent: ConsentAnswers,
}

impl TaskSubmission {
    /// Checks that it is the campaign's task that was completed.
    ///
    /// # Errors
    ///
    /// It is another one.
    pub fn check(&self, campaign: &Campaign) -> Result<(), FieldError> {
        if *self.task_name == *campaign.required_task {
            return Ok(());
        }
        let task = in_sentence(&campaign.required_task);
        Err(Problem::new(format!("must be `{task}`, the task of this campaign")).of("task_name"))
    }
}

/// The reply of `POST /gpt/tasks/{campaign_id}/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionReport {
    /// The completion; the first one, when the task was completed before.
    pub task_completion_id: CompletionId,
    /// The campaign.
    pub campaign_id: CampaignId,
    /// Whether the consents were recorded, which they are whatever they say.
    pub consent_recorded: bool,
    /// Whether the campaign pays now.
    pub can_use_service: bool,
    /// What that means, and what is missing.
    pub message: String,
}

impl CompletionReport {
    /// What completing the task achieved.
    #[must_use]
    pub fn new(campaign: &Campaign, id: CompletionId, completion_state: &CompletionState) -> Self {
        let can_use_service = completion_state.counts() && campaign.active;
        let message = if can_use_service {
            format!(
                "The task is completed. “{}” pays for the services of “{}” now.",
                in_sentence(&campaign.sponsor),
                in_sentence(&campaign.name)
            )
        } else if completion_state.counts() {
            let name = in_sentence(&campaign.name);
            format!("The task is completed, but the campaign “{name}” is switched off at present.")
        } else {
            format!(
                "The task was recorded, but it does not count and nothing goes to the sponsor: {} must be true. Complete it again with your consent to use the service.",
                completion_state.missing_consents().join(" and ")
            )
        };
        Self {
            task_completion_id: id,
            campaign_id: campaign.id,
            consent_recorded: true,
            can_use_service,
            message,
        }
    }
}

/// A completion as it is stored; the reply of `POST /tasks/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskCompletion {
    /// Its id.
    pub id: CompletionId,
    /// The campaign.
    pub campaign_id: CampaignId,
    /// Who completed it.
    pub user_id: UserId,
    /// The name of the task.
    pub task_name: String,
    /// The fields of the form as a JSON object in text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// When it was completed.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
}

impl TaskCompletion {
    /// The completion that a submission records.
    #[must_use]
    pub fn new(
        campaign_id: CampaignId,
        user_id: UserId,
        submission: &TaskSubmission,
        now: Timestamp,
    ) -> Self {
        Self {
            id: CompletionId::random(),
            campaign_id,
            user_id,
            task_name: submission.task_name.to_string(),
            details: submission.details.as_ref().map(ToString::to_string),
            created_at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::campaign::tests::campaign;
    use super::super::consent::CompletionOrigin;
    use super::*;

    #[test]
    fn the_message_says_what_is_missing() {
        let completion_state = |data_sharing, retention| CompletionState {
            completion: Some(CompletionOrigin::Recorded),
            data_sharing: Some(data_sharing),
            retention: Some(retention),
        };
        let report =
            |completion_state| CompletionReport::new(&campaign(), CompletionId::random(), &completion_state);
        assert!(report(completion_state(true, true)).can_use_service);
        let refused = report(completion_state(false, false));
        assert!(!refused.can_use_service && refused.consent_recorded);
        assert!(refused.message.contains("data_sharing_agreed and purpose_acknowledged must be true"));
        let off = Campaign { active: false, ..campaign() };
        let report = CompletionReport::new(&off, CompletionId::random(), &completion_state(true, true));
        assert!(!report.can_use_service && report.message.contains("switched off"));
    }

    #[test]
    fn only_the_campaigns_task_completes_it() {
        let submission = |task_name| TaskSubmission {
            task_name: Name::parse(task_name).unwrap(),
            details: None,
            consent: ConsentAnswers {
                data_sharing_agreed: true,
                purpose_acknowledged: true,
                contact_permission: false,
            },
        };
        assert!(submission("survey").check(&campaign()).is_ok());
        assert_eq!(submission("Survey").check(&campaign()).unwrap_err().field, "task_name");
    }
}
