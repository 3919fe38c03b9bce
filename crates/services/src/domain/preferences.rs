//! What kinds of task a user likes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::UserId;
use super::text::{FieldError, List, Name, Problem};

/// How much a user likes a kind of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceLevel {
    /// Shown first.
    Preferred,
    /// As if nothing were said.
    Neutral,
    /// Not shown.
    Avoided,
}

impl PreferenceLevel {
    /// Its name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preferred => "preferred",
            Self::Neutral => "neutral",
            Self::Avoided => "avoided",
        }
    }

    /// The level with this name in the database.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        [Self::Preferred, Self::Neutral, Self::Avoided].into_iter().find(|level| level.as_str() == name)
    }

    /// Its share of the relevance score.
    #[must_use]
    pub const fn score(self) -> f64 {
        match self {
            Self::Preferred => 1.0,
            Self::Neutral => 0.5,
            Self::Avoided => 0.0,
        }
    }
}

/// A user's opinion about one kind of task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPreference {
    /// The kind of task, such as `survey`.
    pub task_type: Name,
    /// How much the user likes it.
    pub level: PreferenceLevel,
}

/// New preferences of a user, which replace the old ones. No kind of task is in them twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPreferences(List<TaskPreference>);

impl NewPreferences {
    /// The preferences, if no kind of task is named twice.
    ///
    /// # Errors
    ///
    /// A kind of task is named twice, whatever its case.
    pub fn parse(preferences: List<TaskPreference>) -> Result<Self, FieldError> {
        for (index, preference) in preferences.iter().enumerate() {
            let is_same = |other: &TaskPreference| {
                other.task_type.to_lowercase() == preference.task_type.to_lowercase()
            };
            if preferences.iter().take(index).any(is_same) {
                let problem = format!("`{}` is named twice; name each task type once", preference.task_type);
                return Err(Problem::new(problem).of(format!("preferences[{index}].task_type")));
            }
        }
        Ok(Self(preferences))
    }

    /// The preferences.
    #[must_use]
    pub fn entries(&self) -> &[TaskPreference] {
        &self.0
    }
}

/// The preferences of a user for looking up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreferenceLevels(BTreeMap<String, PreferenceLevel>);

impl PreferenceLevels {
    /// The level of a kind of task, whatever its case; neutral where the user said nothing.
    #[must_use]
    pub fn of(&self, task_type: &str) -> PreferenceLevel {
        self.0.get(&task_type.to_lowercase()).copied().unwrap_or(PreferenceLevel::Neutral)
    }

    /// Whether the user has said nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, PreferenceLevel)> for PreferenceLevels {
    fn from_iter<I: IntoIterator<Item = (String, PreferenceLevel)>>(levels: I) -> Self {
        Self(levels.into_iter().map(|(task_type, level)| (task_type.to_lowercase(), level)).collect())
    }
}

/// The reply of `GET /gpt/preferences`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreferencesReport {
    /// Whose preferences they are.
    pub user_id: UserId,
    /// The preferences.
    pub preferences: Vec<TaskPreference>,
    /// When they were last set; absent when they never were.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub updated_at: Option<Timestamp>,
    /// A sentence about them.
    pub message: String,
}

impl PreferencesReport {
    /// The report with its sentence.
    #[must_use]
    pub fn new(user_id: UserId, preferences: Vec<TaskPreference>, updated_at: Option<Timestamp>) -> Self {
        let message = match preferences.len() {
            0 => "No task preferences are set. Set some to see the services you like first.".to_owned(),
            1 => "1 task preference is set.".to_owned(),
            count => format!("{count} task preferences are set."),
        };
        Self { user_id, preferences, updated_at, message }
    }
}

/// The reply of `POST /gpt/preferences`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreferencesSaved {
    /// Whose preferences they are.
    pub user_id: UserId,
    /// How many there are now.
    pub preferences_count: usize,
    /// When they were set.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub updated_at: Timestamp,
    /// A sentence about them.
    pub message: String,
}

impl PreferencesSaved {
    /// The reply with its sentence.
    #[must_use]
    pub fn new(user_id: UserId, preferences_count: usize, updated_at: Timestamp) -> Self {
        let message = match preferences_count {
            0 => "All task preferences were removed.".to_owned(),
            1 => "1 task preference was saved; it replaces the earlier ones.".to_owned(),
            count => format!("{count} task preferences were saved; they replace the earlier ones."),
        };
        Self { user_id, preferences_count, updated_at, message }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_type_is_named_once_whatever_its_case() {
        let parse = |types: &[&str]| {
            let entries: Vec<_> =
                types.iter().map(|task| json!({ "task_type": task, "level": "avoided" })).collect();
            NewPreferences::parse(serde_json::from_value(json!(entries)).unwrap())
        };
        assert_eq!(parse(&["survey", "signup"]).unwrap().entries().len(), 2);
        assert_eq!(parse(&["survey", "a", "Survey"]).unwrap_err().field, "preferences[2].task_type");
    }

    #[test]
    fn unknown_types_are_neutral_and_case_does_not_matter() {
        let levels = PreferenceLevels::from_iter([("Survey".to_owned(), PreferenceLevel::Avoided)]);
        assert_eq!(levels.of("survey"), PreferenceLevel::Avoided);
        assert_eq!(levels.of("signup"), PreferenceLevel::Neutral);
    }
}
