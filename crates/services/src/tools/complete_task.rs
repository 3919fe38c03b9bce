//! `complete_task`: records a completed task together with the user's consents.

use annai_core::{
    Access, Call, Effect, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::consent::ConsentAnswers;
use crate::domain::ids::CampaignId;
use crate::domain::task::{CompletionReport, TaskSubmission};
use crate::domain::text::{LongText, Name};
use crate::scopes::TASKS_WRITE;
use crate::toolset::ServicesToolset;

/// What was done, and what the user agreed to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteInput {
    /// The id of the campaign.
    campaign_id: CampaignId,
    /// The name of the task: `required_task` of get_task_details.
    task_name: Name,
    /// The fields of the form, as a JSON object in text.
    details: Option<LongText>,
    /// What the user agreed to. Ask the user for each answer; never answer for them.
    consent: ConsentAnswers,
}

pub struct CompleteTask;

impl Tool for CompleteTask {
    const FACTS: Facts = Facts {
        name: "complete_task",
        title: "タスク完了",
        description: "タスクを完了し同意を記録する。ユーザーがタスクに必要な情報を提供した後に呼び出す。 Record a completed task and the consents that the user gave; returns whether the service can be used now.",
        effect: Effect::Write,
        world: World::Closed,
        access: Access::SignedIn(TASKS_WRITE),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "タスクを記録中...", invoked: "タスクが完了しました"
        }),
        widget: Widget::Called,
        guide: Guide {
            when: "The user has filled in the fields of a task and answered the three questions about consent.",
            safe_defaults: "{\"campaign_id\": \"00000000-0000-4000-8000-000000000000\", \"task_name\": \"survey\", \"consent\": {\"data_sharing_agreed\": false, \"purpose_acknowledged\": false, \"contact_permission\": false}}",
            common_errors: &[("validation_error", "task_name is the required_task of get_task_details")],
        },
    };
    type Set = ServicesToolset;
    type Input = CompleteInput;
    type Output = CompletionReport;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        input: CompleteInput,
    ) -> Result<Reply<CompletionReport>, ToolError> {
        let CompleteInput { campaign_id, task_name, details, consent } = input;
        let submission = TaskSubmission { task_name, details, consent };
        let complete = |session| set.backend.complete_task(session, campaign_id, submission.clone());
        let report = set.people.in_session(&set.backend, call, complete).await?;
        Ok(Reply::prose(report, "message"))
    }
}
