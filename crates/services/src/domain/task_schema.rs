//! What a campaign asks its users for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{List, LongText, Name};

/// The kind of a campaign's task and the form that a user fills in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSchema {
    /// The kind of task, which users state preferences about, such as `survey`.
    pub task_type: Name,
    /// The fields of the form.
    pub required_fields: List<Name>,
    /// How to complete the task.
    pub instructions: LongText,
    /// What the task is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<LongText>,
}

impl TaskSchema {
    /// The size of its texts in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let fields: usize = self.required_fields.iter().map(|field| field.len()).sum();
        let description = self.description.as_ref().map_or(0, |description| description.len());
        fields + description + self.task_type.len() + self.instructions.len()
    }
}

/// The kind of task of a campaign that declares none.
pub const DEFAULT_TASK_TYPE: &str = "survey";

/// What a campaign without a schema asks for: a survey with e-mail address and region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskInputFormat {
    /// The kind of task.
    pub task_type: String,
    /// The fields of the form.
    pub required_fields: Vec<String>,
    /// How to complete the task.
    pub instructions: String,
}

impl TaskInputFormat {
    /// The form of a campaign, which may have no schema of its own.
    #[must_use]
    pub fn of(schema: Option<&TaskSchema>) -> Self {
        match schema {
            Some(schema) => Self {
                task_type: schema.task_type.to_string(),
                required_fields: schema.required_fields.texts(),
                instructions: schema.instructions.to_string(),
            },
            None => Self {
                task_type: DEFAULT_TASK_TYPE.to_owned(),
                required_fields: vec!["email".to_owned(), "region".to_owned()],
                instructions: "Fill in every field and state your consent to complete the task.".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_campaign_without_a_schema_asks_for_a_survey() {
        let format = TaskInputFormat::of(None);
        assert_eq!((format.task_type.as_str(), format.required_fields.len()), ("survey", 2));
    }

    #[test]
    fn a_schema_keeps_its_form() {
        let json =
            json!({ "task_type": "registration", "required_fields": ["email"], "instructions": "Sign up." });
        let schema: TaskSchema = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&schema).unwrap(), json);
        assert_eq!(serde_json::to_value(TaskInputFormat::of(Some(&schema))).unwrap(), json);
        let unknown = json!({ "task_type": "a", "required_fields": [], "instructions": "", "x": 1 });
        assert!(serde_json::from_value::<TaskSchema>(unknown).is_err());
    }
}
