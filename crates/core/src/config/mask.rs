//! Replaces secrets by a mask before the configuration is shown.

use serde_json::Value;

use super::MASK;
use crate::JsonObject;

/// Masks every value that its schema marks as `writeOnly`, the keyword that [`super::Secret`] declares.
pub(super) fn mask_secrets(schema: &JsonObject, value: &mut Value) {
    let is_empty = value.is_null() || value.as_object().is_some_and(JsonObject::is_empty);
    if schema.get("writeOnly") == Some(&Value::Bool(true)) && !is_empty {
        *value = MASK.into();
        return;
    }
    match value {
        Value::Object(object) => {
            let additional = schema.get("additionalProperties").and_then(Value::as_object);
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, value) in object {
                let declared = properties.and_then(|properties| properties.get(key)?.as_object());
                if let Some(schema) = declared.or(additional) {
                    mask_secrets(schema, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items").and_then(Value::as_object) {
                items.iter_mut().for_each(|item| mask_secrets(schema, item));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_masked_in_properties_maps_and_arrays_but_unset_ones_stay_visible() {
        let secret = json!({ "type": ["string", "null"], "writeOnly": true });
        let schema = json!({
            "properties": {
                "key": secret,
                "unset": secret,
                "list": { "items": secret },
                "name": { "type": "string" },
            },
            "additionalProperties": secret,
        });
        let mut value = json!({ "key": "k", "unset": null, "list": ["l"], "name": "n", "other": "o" });
        mask_secrets(schema.as_object().unwrap(), &mut value);
        assert_eq!(
            value,
            json!({ "key": "***", "unset": null, "list": ["***"], "name": "n", "other": "***" })
        );
    }
}
