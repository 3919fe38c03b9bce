//! `get_task_details`: the task that a campaign asks for.

use annai_core::{
    Access, Call, Effect, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sponsors_text::before_sponsors_text;
use crate::domain::ids::CampaignId;
use crate::domain::task::TaskDetails;
use crate::scopes::TASKS_READ;
use crate::toolset::ServicesToolset;

/// Which campaign.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskInput {
    /// The id of the campaign: the `service_id` of a result of search_services whose type is campaign.
    campaign_id: CampaignId,
}

pub struct GetTaskDetails;

impl Tool for GetTaskDetails {
    const FACTS: Facts = Facts {
        name: "get_task_details",
        title: "タスク詳細取得",
        description: "キャンペーンの必要タスク詳細を取得する。ユーザーがサービスを選択した後に呼び出す。 Get the task that a campaign asks for: its description, the fields to fill in, and whether the user has completed it.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::SignedIn(TASKS_READ),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "タスク情報を取得中...", invoked: "タスク情報を取得しました"
        }),
        widget: Widget::Page("ui://widget/task-form.html"),
        guide: Guide {
            when: "The user has chosen a service of a campaign.",
            safe_defaults: "{\"campaign_id\": \"00000000-0000-4000-8000-000000000000\"}",
            common_errors: &[("not_found", "take the service_id of a campaign from search_services")],
        },
    };
    type Set = ServicesToolset;
    type Input = TaskInput;
    type Output = TaskDetails;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        input: TaskInput,
    ) -> Result<Reply<TaskDetails>, ToolError> {
        let details = |session| set.backend.task_details(session, input.campaign_id);
        let mut details = set.people.in_session(&set.backend, call, details).await?;
        let members = "campaign_name, sponsor, required_task, task_description and task_input_format";
        details.message = before_sponsors_text(&details.message, members);
        Ok(Reply::prose(details, "message"))
    }
}
