//! `get_user_status`: what the user has completed, and what they can run.

use annai_core::{
    Access, Call, Effect, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sponsors_text::before_sponsors_text;
use crate::domain::user::UserStatus;
use crate::scopes::USER_READ;
use crate::toolset::ServicesToolset;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

pub struct GetUserStatus;

impl Tool for GetUserStatus {
    const FACTS: Facts = Facts {
        name: "get_user_status",
        title: "ユーザー状態確認",
        description: "ユーザーの登録状態、完了済みタスク、利用可能サービスを一括で確認する。 Show who the user is, the tasks that they have completed, and the services that are ready to run.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::SignedIn(USER_READ),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "ステータスを確認中...", invoked: "ステータスを取得しました"
        }),
        widget: Widget::Page("ui://widget/user-dashboard.html"),
        guide: Guide {
            when: "The user asks what they have done or what they can run now.",
            safe_defaults: "{}",
            common_errors: &[],
        },
    };
    type Set = ServicesToolset;
    type Input = NoArguments;
    type Output = UserStatus;

    async fn run(set: &ServicesToolset, call: &Call, _: NoArguments) -> Result<Reply<UserStatus>, ToolError> {
        let status = |session| set.backend.user_status(call, session);
        let mut status = set.people.in_session(&set.backend, call, status).await?;
        if !status.completed_tasks.is_empty() || !status.available_services.is_empty() {
            let members = "the names in completed_tasks and available_services";
            status.message = before_sponsors_text(&status.message, members);
        }
        Ok(Reply::prose(status, "message"))
    }
}
