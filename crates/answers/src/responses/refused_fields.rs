//! The optional fields that models have refused. They are remembered for the life of the process, so that each refusal
//! costs one request only.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use annai_core::JsonObject;
use serde_json::Value;

use super::optional_fields::{OptionalField, UnsupportedField};

/// The refused fields of all models.
#[derive(Debug, Default)]
pub struct RefusedFields {
    refused: Mutex<HashSet<RefusedField>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RefusedField {
    model: String,
    field: OptionalField,
    /// The refused value; `None` if every value is refused.
    value: Option<Value>,
}

impl RefusedFields {
    /// The fields of a request body that its model is known to refuse.
    pub fn in_body(&self, model: &str, body: &JsonObject) -> Vec<OptionalField> {
        let refused = self.lock();
        let of_model = refused.iter().filter(|refused| refused.model == model);
        let in_body = of_model.filter(|refused| match (refused.field.get(body), &refused.value) {
            (Some(value), Some(refused)) => value == refused,
            (value, _) => value.is_some(),
        });
        in_body.map(|refused| refused.field).collect()
    }

    /// Remembers that a model refused a field of this request body.
    pub fn remember(&self, model: &str, unsupported: UnsupportedField, body: &JsonObject) {
        let UnsupportedField { field, refuses_any_value } = unsupported;
        tracing::debug!("model={model} does not take {}; asking without it", field.name());
        let value = if refuses_any_value { None } else { field.get(body).cloned() };
        self.lock().insert(RefusedField { model: model.to_owned(), field, value });
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RefusedField>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_applies_to_its_model_and_value() {
        let body = |effort: &str| {
            json!({ "reasoning": { "effort": effort }, "include": [] }).as_object().cloned().unwrap()
        };
        let refused = RefusedFields::default();
        let unsupported = |field, refuses_any_value| UnsupportedField { field, refuses_any_value };
        refused.remember("m", unsupported(OptionalField::Reasoning, false), &body("max"));
        assert_eq!(refused.in_body("m", &body("max")), [OptionalField::Reasoning]);
        assert_eq!(refused.in_body("m", &body("low")), []);
        assert_eq!(refused.in_body("other", &body("max")), []);
        refused.remember("m", unsupported(OptionalField::Include, true), &body("low"));
        assert_eq!(refused.in_body("m", &body("low")), [OptionalField::Include]);
        assert_eq!(refused.in_body("m", &JsonObject::new()), []);
    }
}
