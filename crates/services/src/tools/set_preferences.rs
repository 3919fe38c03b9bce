//! `set_preferences`: replaces the kinds of task that the user likes or avoids.

use annai_core::{
    Access, Call, Effect, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::preferences::{NewPreferences, PreferencesSaved, TaskPreference};
use crate::domain::text::List;
use crate::error::ServicesError;
use crate::scopes::USER_WRITE;
use crate::toolset::ServicesToolset;

/// The new preferences, which replace all earlier ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferencesInput {
    /// A level for each kind of task; kinds that are not named are neutral.
    preferences: List<TaskPreference>,
}

pub struct SetPreferences;

impl Tool for SetPreferences {
    const FACTS: Facts = Facts {
        name: "set_preferences",
        title: "設定変更",
        description: "ユーザーのタスク設定（好み）を更新する。preferred/neutral/avoided のレベルで設定。 Replace the kinds of task that the user prefers or avoids; services with an avoided task are no longer shown.",
        effect: Effect::Write,
        world: World::Closed,
        access: Access::SignedIn(USER_WRITE),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "設定を更新中...", invoked: "設定を更新しました"
        }),
        widget: Widget::Called,
        guide: Guide {
            when: "The user says which kinds of task they like or do not want to see.",
            safe_defaults: "{\"preferences\": []}",
            common_errors: &[("validation_error", "name each task type once")],
        },
    };
    type Set = ServicesToolset;
    type Input = PreferencesInput;
    type Output = PreferencesSaved;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        input: PreferencesInput,
    ) -> Result<Reply<PreferencesSaved>, ToolError> {
        let preferences = NewPreferences::parse(input.preferences).map_err(ServicesError::from)?;
        let save = |session| set.backend.set_preferences(session, preferences.clone());
        let saved = set.people.in_session(&set.backend, call, save).await?;
        Ok(Reply::prose(saved, "message"))
    }
}
