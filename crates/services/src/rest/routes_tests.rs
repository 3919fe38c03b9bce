//! The declarations of all routes, and the document that is generated from them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::openapi::{FAILURES, document, operation_value};
use super::*;

#[test]
fn names_and_paths_are_unique_and_every_component_is_one_schema() {
    let routes: Vec<_> = all();
    let ids: BTreeSet<_> = routes.iter().map(|route| route.operation.id).collect();
    let paths: BTreeSet<_> = routes.iter().map(|route| (route.method, route.path)).collect();
    assert_eq!((ids.len(), paths.len()), (routes.len(), routes.len()));
    // GPT actions import at most 30 operations.
    assert!(routes.len() <= 30, "{}", routes.len());
    let mut schemas = BTreeMap::new();
    for route in routes {
        let statuses = FAILURES.map(|(status, ..)| status);
        assert!(route.operation.failures.iter().all(|status| statuses.contains(status)), "{}", route.path);
        for (name, schema) in operation_value(route.operation).1 {
            let first = schemas.entry(name.clone()).or_insert_with(|| schema.clone());
            assert_eq!(*first, schema, "two types have the name {name}");
        }
    }
}

#[test]
fn parameters_of_paths_are_declared_as_the_paths_name_them() {
    for route in all() {
        let parameters: Vec<_> =
            route.operation.parameters.iter().flat_map(|parameters| parameters.values()).collect();
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
        let declared: Vec<_> = in_path.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        let named: Vec<_> = route.path.split(['{', '}']).skip(1).step_by(2).collect();
        assert_eq!(declared, named, "{}", route.path);
    }
}

/// Looks at every value with its path.
fn visit(path: &str, value: &Value, look: &mut dyn FnMut(&str, &Value)) {
    look(path, value);
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| visit(&format!("{path}/{key}"), value, look));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(&format!("{path}/{index}"), item, look));
        }
        _ => {}
    }
}

#[test]
fn descriptions_are_short_and_references_lead_somewhere_without_cycles() {
    let document = document(all(), Some("https://a.example/ "));
    assert_eq!(document["servers"], json!([{ "url": "https://a.example" }]));
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    visit("", &document, &mut |path, value| {
        // GPT actions accept at most 300 characters.
        if let Some(text) = value.as_str().filter(|_| path.ends_with("/description")) {
            assert!(!text.is_empty() && text.chars().count() <= 300, "{path}: {text}");
        }
        if let Some(target) = value.as_str().filter(|_| path.ends_with("/$ref")) {
            let target = target.strip_prefix('#').unwrap();
            assert!(document.pointer(target).is_some(), "{path} refers to {target}");
            let from = path.split('/').take(4).collect::<Vec<_>>().join("/");
            edges.entry(from).or_default().insert(target.to_owned());
        }
    });
    // Each round removes the components that refer to nothing; those of a cycle would stay.
    while !edges.is_empty() {
        let before = edges.len();
        let left: BTreeSet<_> = edges.keys().cloned().collect();
        edges.retain(|_, targets| targets.iter().any(|target| left.contains(target)));
        assert!(edges.len() < before, "there is a cycle in {edges:?}");
    }
}

#[test]
fn every_member_is_described() {
    visit("", &document(all(), None), &mut |path, value| {
        let Some(properties) = value.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            let is_described = property.get("description").is_some() || property.get("$ref").is_some();
            assert!(is_described, "{path}/{name}");
        }
    });
}
