//! `get_preferences`: the kinds of task that the user likes or avoids.

use annai_core::{
    Access, Call, Effect, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};

use super::get_user_status::NoArguments;
use crate::domain::preferences::PreferencesReport;
use crate::scopes::USER_READ;
use crate::toolset::ServicesToolset;

pub struct GetPreferences;

impl Tool for GetPreferences {
    const FACTS: Facts = Facts {
        name: "get_preferences",
        title: "設定取得",
        description: "ユーザーのタスク設定（好み）を取得する。 Get the kinds of task that the user prefers or avoids.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::SignedIn(USER_READ),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "設定を取得中...", invoked: "設定を取得しました"
        }),
        widget: Widget::Called,
        guide: Guide {
            when: "The user asks which tasks they are shown, before changing that.",
            safe_defaults: "{}",
            common_errors: &[],
        },
    };
    type Set = ServicesToolset;
    type Input = NoArguments;
    type Output = PreferencesReport;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        _: NoArguments,
    ) -> Result<Reply<PreferencesReport>, ToolError> {
        let preferences = |session| set.backend.preferences(session);
        let preferences = set.people.in_session(&set.backend, call, preferences).await?;
        Ok(Reply::prose(preferences, "message"))
    }
}
