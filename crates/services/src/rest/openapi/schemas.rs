//! The schemas of bodies and replies, generated from their types.

use annai_core::{JsonObject, schema};
use schemars::JsonSchema;
use serde_json::{Value, json};

/// A schema with a name.
pub type Component = (String, JsonObject);

/// The schema of a request body.
pub fn request<T: JsonSchema>() -> Component {
    named::<T>(schema::of_input::<T>())
}

/// The schema of a reply. Members that are not required are absent, never null.
pub fn reply<T: JsonSchema>() -> Component {
    named::<T>(schema::of_output::<T>())
}

fn named<T: JsonSchema>(schema: JsonObject) -> Component {
    let mut schema = Value::Object(schema);
    simplify(&mut schema);
    (T::schema_name().into_owned(), schema.as_object().cloned().unwrap_or_default())
}

/// The reference to a component.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Replaces the schemas inside `schema` that are components of their own by references to them.
pub fn share(schema: &mut Value, components: &[Component]) {
    let is_component = |object: &JsonObject, component: &JsonObject| {
        let members = object.iter().filter(|(key, _)| *key != "description");
        object.contains_key("properties") && members.eq(component.iter())
    };
    match schema {
        Value::Object(object) => {
            match components.iter().find(|(_, component)| is_component(object, component)) {
                Some((name, _)) => *schema = reference(name),
                None => object.values_mut().for_each(|value| share(value, components)),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| share(item, components)),
        _ => {}
    }
}

/// Removes `null` from members that are not required, unions of one alternative, and what the type of a scalar in a list
/// says about itself: the list has a description for its readers.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            let properties = object.get_mut("properties").and_then(Value::as_object_mut);
            for (name, property) in properties.into_iter().flatten() {
                if !required.iter().any(|each| each == name) {
                    remove_null(property);
                }
            }
            object.values_mut().for_each(simplify);
            merge_only_alternative(object, "oneOf");
            let items = object.get_mut("items").and_then(Value::as_object_mut);
            if let Some(items) = items.filter(|items| !items.contains_key("properties")) {
                items.shift_remove("description");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Removes `null` from what a schema accepts.
fn remove_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|type_name| type_name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type") != Some(&json!("null")));
    }
    merge_only_alternative(object, "anyOf");
}

/// Replaces a union of one alternative by that one. What the schema says itself stays.
fn merge_only_alternative(schema: &mut JsonObject, union: &str) {
    let Some([Value::Object(only)]) = schema.get(union).and_then(Value::as_array).map(Vec::as_slice) else {
        return;
    };
    let only = only.clone();
    schema.shift_remove(union);
    for (key, value) in only {
        schema.entry(key).or_insert(value);
    }
}
