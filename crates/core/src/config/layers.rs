//! Layers of values, merged so that the origin of every key is known.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::JsonObject;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A line of the YAML file.
    Yaml {
        /// The file.
        file: String,
        /// The line, from 1.
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

/// Values on top of values. Objects merge key by key; everything else replaces.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub values: JsonObject,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// Lays `above` on top.
    pub fn merge(&mut self, above: JsonObject, origin: &dyn Fn(&str) -> Origin) {
        merge_into(&mut self.values, above, "", &mut self.origins, origin);
    }

    /// Sets one key, given by its dotted path.
    pub fn set(&mut self, key: &str, value: Value, origin: &dyn Fn(&str) -> Origin) {
        let layer = key
            .rsplit('.')
            .fold(value, |value, name| Value::Object(JsonObject::from_iter([(name.to_owned(), value)])));
        if let Value::Object(layer) = layer {
            self.merge(layer, origin);
        }
    }

    /// Sets a key to what another one holds; the copies come from where the originals came from.
    pub fn copy(&mut self, from: &str, to: &str) {
        let Some(value) = get(&self.values, from).cloned() else { return };
        let known = self.origins.clone();
        self.set(to, value, &|path| {
            let original = path.strip_prefix(to).map(|rest| format!("{from}{rest}"));
            original.and_then(|original| known.get(&original).cloned()).unwrap_or(Origin::Default)
        });
    }

    /// Where a key, or the nearest key around it, came from.
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

/// The value of a key, given by its dotted path.
pub(super) fn get<'a>(values: &'a JsonObject, key: &str) -> Option<&'a Value> {
    let mut names = key.split('.');
    let first = values.get(names.next()?);
    names.fold(first, |value, name| value?.get(name))
}

fn merge_into(
    below: &mut JsonObject,
    above: JsonObject,
    path: &str,
    origins: &mut BTreeMap<String, Origin>,
    origin: &dyn Fn(&str) -> Origin,
) {
    for (key, value) in above {
        let path = super::join(path, &key);
        match (below.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => {
                merge_into(below, above, &path, origins, origin);
            }
            (replaced, value) => {
                // What stood under the replaced value is gone, and so is where it came from.
                if replaced.is_some_and(|replaced| replaced.is_object()) {
                    let inner = format!("{path}.");
                    origins.retain(|known, _| !known.starts_with(&inner));
                }
                note_origins(&value, &path, origins, origin);
                below.insert(key, value);
            }
        }
    }
}

/// Notes the origin of a value and of everything inside it.
fn note_origins(
    value: &Value,
    path: &str,
    origins: &mut BTreeMap<String, Origin>,
    origin: &dyn Fn(&str) -> Origin,
) {
    origins.insert(path.to_owned(), origin(path));
    for (key, value) in value.as_object().into_iter().flatten() {
        note_origins(value, &super::join(path, key), origins, origin);
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
    fn objects_merge_arrays_replace_and_origins_follow() {
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
