//! Merges the layers of the configuration and remembers which layer set each key.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::JsonObject;

/// The layer that set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The built-in default.
    Default,
    /// A line of the YAML file.
    Yaml {
        /// The path of the file.
        file: String,
        /// The line number, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A command-line option.
    Cli(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Yaml { file, line } => write!(f, "{file}:{line}"),
            Self::Env(name) | Self::Cli(name) => f.write_str(name),
        }
    }
}

/// The merged values. A higher layer is merged into objects key by key; any other value replaces the lower one.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub values: JsonObject,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// Merges a higher layer. `origin` gives the origin of each dotted path in it.
    pub fn merge(&mut self, layer: JsonObject, origin: &dyn Fn(&str) -> Origin) {
        merge_into(&mut self.values, layer, "", &mut self.origins, origin);
    }

    /// Sets the key with this dotted path.
    pub fn set(&mut self, key: &str, value: Value, origin: &dyn Fn(&str) -> Origin) {
        let layer = key
            .rsplit('.')
            .fold(value, |value, name| Value::Object(JsonObject::from_iter([(name.to_owned(), value)])));
        if let Value::Object(layer) = layer {
            self.merge(layer, origin);
        }
    }

    /// Replaces what no layer set in the object at `to` by the object at `from`. The copies keep the origins of the
    /// originals, so that an error names the line that was written. A key that is null stays null.
    pub fn inherit(&mut self, from: &str, to: &str) {
        let (Some(Value::Object(inherited)), Some(Value::Object(own))) =
            (get(&self.values, from), get(&self.values, to))
        else {
            return;
        };
        let unset =
            |name: &str| own.get(name).is_none() || self.origin(&super::join(to, name)) == &Origin::Default;
        let copied: JsonObject = inherited
            .iter()
            .filter(|(name, _)| unset(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let origins = self.origins.clone();
        self.set(to, Value::Object(copied), &|path| {
            let original = path.strip_prefix(to).map(|rest| format!("{from}{rest}"));
            original.and_then(|original| origins.get(&original).cloned()).unwrap_or(Origin::Default)
        });
    }

    /// The origin of a key, or of the nearest enclosing key that has one.
    pub fn origin(&self, path: &str) -> &Origin {
        let mut path = path;
        loop {
            if let Some(origin) = self.origins.get(path) {
                return origin;
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = path.get(..end).unwrap_or_default(),
                None => return &Origin::Default,
            }
        }
    }

    pub const fn origins(&self) -> &BTreeMap<String, Origin> {
        &self.origins
    }
}

/// The value of the key with this dotted path.
pub(super) fn get<'a>(values: &'a JsonObject, key: &str) -> Option<&'a Value> {
    let mut names = key.split('.');
    let first = values.get(names.next()?);
    names.fold(first, |value, name| value?.get(name))
}

fn merge_into(
    lower: &mut JsonObject,
    higher: JsonObject,
    path: &str,
    origins: &mut BTreeMap<String, Origin>,
    origin: &dyn Fn(&str) -> Origin,
) {
    for (key, value) in higher {
        let path = super::join(path, &key);
        match (lower.get_mut(&key), value) {
            (Some(Value::Object(lower)), Value::Object(higher)) => {
                merge_into(lower, higher, &path, origins, origin);
            }
            (replaced, value) => {
                // The members of a replaced object are gone, so their origins must go too.
                if replaced.is_some_and(|replaced| replaced.is_object()) {
                    let prefix = format!("{path}.");
                    origins.retain(|key, _| !key.starts_with(&prefix));
                }
                record_origins(&value, &path, origins, origin);
                lower.insert(key, value);
            }
        }
    }
}

/// Records the origin of a value and of everything inside it.
fn record_origins(
    value: &Value,
    path: &str,
    origins: &mut BTreeMap<String, Origin>,
    origin: &dyn Fn(&str) -> Origin,
) {
    origins.insert(path.to_owned(), origin(path));
    for (key, value) in value.as_object().into_iter().flatten() {
        record_origins(value, &super::join(path, key), origins, origin);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> JsonObject {
        match value {
            Value::Object(object) => object,
            _ => panic!("not an object"),
        }
    }

    #[test]
    fn objects_merge_other_values_replace_and_every_key_has_the_origin_of_its_value() {
        let mut layers = Layers::default();
        layers.merge(object(json!({ "a": { "x": 1, "y": [1, 2] }, "b": { "z": 1 } })), &|_| Origin::Default);
        layers.set("a.y", json!([3]), &|_| Origin::Env("Y"));
        layers.set("b", json!(null), &|_| Origin::Cli("--b"));
        assert_eq!(Value::Object(layers.values.clone()), json!({ "a": { "x": 1, "y": [3] }, "b": null }));
        assert_eq!(layers.origin("a.x"), &Origin::Default);
        assert_eq!(layers.origin("a.y[0]"), &Origin::Env("Y"));
        assert_eq!(layers.origin("b"), &Origin::Cli("--b"));
        assert!(!layers.origins().contains_key("b.z"));
    }
}
