//! Configuration: command line over environment over YAML over defaults. Every crate declares its own
//! keys as a type; the layers are merged as values, checked once against all of those types, and only
//! then read into them. Nothing else in the program reads the environment.

mod document;
mod file;
mod layers;
mod secret;
pub mod yaml;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use file::{ConfigFile, find};
pub use layers::Origin;
pub use secret::{MASK, Secret};

use crate::{JsonObject, schema};
use layers::Layers;

/// A crate's part of the configuration: its fields are top-level keys of the file.
pub trait Settings: DeserializeOwned + Serialize + JsonSchema + Default {
    /// The environment variables that set its keys.
    const ENV: &'static [Env];
    /// Keys of the past, by their dotted path: they warn and do nothing.
    const RETIRED: &'static [&'static str] = &[];
    /// Keys that start from another key instead of their defaults, once the file sets that other key.
    const INHERITS: &'static [Inherits] = &[];
}

/// A key that starts from another one; both by their dotted paths.
#[derive(Debug, Clone, Copy)]
pub struct Inherits {
    /// The key that is completed.
    pub key: &'static str,
    /// Where its values come from.
    pub from: &'static str,
}

/// An environment variable and the key that it sets.
#[derive(Debug, Clone, Copy)]
pub struct Env {
    /// The variable.
    pub name: &'static str,
    /// The dotted path of the key.
    pub key: &'static str,
    /// How its text becomes values.
    pub reads: Reads,
}

/// How an environment variable's text becomes values.
#[derive(Debug, Clone, Copy)]
pub enum Reads {
    /// By the type of the key: a number, true/false, a list with commas, or the text itself.
    ByType,
    /// In its own way, setting one or more keys.
    As(fn(&str) -> Vec<(&'static str, Value)>),
}

impl Env {
    /// A variable that sets one key.
    #[must_use]
    pub const fn new(name: &'static str, key: &'static str) -> Self {
        Self { name, key, reads: Reads::ByType }
    }
}

/// A value from the command line.
#[derive(Debug, Clone)]
pub struct Given {
    /// The option, as typed.
    pub option: &'static str,
    /// The dotted path of the key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

/// What is wrong with the configuration, a line for each problem.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

/// The keys of all crates.
#[derive(Default)]
pub struct Keys {
    schema: JsonObject,
    defaults: Layers,
    env: Vec<Env>,
    retired: Vec<&'static str>,
    inherits: Vec<Inherits>,
}

impl Keys {
    /// Adds a crate's keys.
    #[must_use]
    pub fn with<S: Settings>(mut self) -> Self {
        merge_schema(&mut self.schema, schema::of_input::<S>());
        if let Ok(Value::Object(defaults)) = serde_json::to_value(S::default()) {
            self.defaults.merge(defaults, &|_| Origin::Default);
        }
        self.env.extend_from_slice(S::ENV);
        self.retired.extend_from_slice(S::RETIRED);
        self.inherits.extend_from_slice(S::INHERITS);
        self
    }

    /// Every key as a Markdown table.
    #[must_use]
    pub fn document(&self) -> String {
        document::table(&self.schema, &self.defaults.values, &self.env)
    }

    /// Merges and checks the layers.
    pub fn load(
        self,
        file: Option<ConfigFile>,
        env: &dyn Fn(&str) -> Option<String>,
        given: Vec<Given>,
    ) -> Result<Config, ConfigError> {
        let mut config = Config {
            schema: self.schema,
            layers: self.defaults,
            inherits: self.inherits,
            ..Config::default()
        };
        if let Some(file) = file {
            config.add_file(&file, &self.retired)?;
        }
        config.add_env(&self.env, env)?;
        for Given { option, key, value } in given {
            config.cli.push(option);
            config.layers.set(key, value, &|_| Origin::Cli(option));
        }
        config.check()?;
        Ok(config)
    }
}

/// The configuration in force.
#[derive(Default)]
pub struct Config {
    schema: JsonObject,
    layers: Layers,
    file: Option<String>,
    env: Vec<&'static str>,
    cli: Vec<&'static str>,
    warnings: Vec<String>,
    inherits: Vec<Inherits>,
}

impl Config {
    /// A crate's part of it.
    pub fn get<S: Settings>(&self) -> Result<S, ConfigError> {
        let schema = schema::of_input::<S>();
        let mine = schema.get("properties").and_then(Value::as_object);
        let values =
            self.layers.values.iter().filter(|(key, _)| mine.is_some_and(|mine| mine.contains_key(*key)));
        let values: JsonObject = values.map(|(key, value)| (key.clone(), value.clone())).collect();
        serde_path_to_error::deserialize(Value::Object(values)).map_err(|error| {
            let path = error.path().to_string();
            ConfigError(vec![self.place(&path, &format!("{path}: {}", error.inner()))])
        })
    }

    /// What deserves a word but does not stop the start.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where a key's value came from.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.layers.origin(key)
    }

    /// An error about a key that only its crate can judge, with the place where it was set.
    #[must_use]
    pub fn refuse(&self, key: &str, problem: &str) -> String {
        self.place(key, &format!("{key}: {problem}"))
    }

    /// All of it for people, secrets masked, with the origin of every value.
    #[must_use]
    pub fn show(&self, version: &str) -> Value {
        let mut effective = Value::Object(self.layers.values.clone());
        mask(&self.schema, &mut effective);
        let origins: JsonObject = self
            .layers
            .origins()
            .iter()
            // Of objects only what is in them matters.
            .filter(|(key, _)| {
                !effective.pointer(&format!("/{}", key.replace('.', "/"))).is_some_and(Value::is_object)
            })
            .map(|(key, origin)| (key.clone(), origin.to_string().into()))
            .collect();
        json!({
            "version": version,
            "sources": { "defaults": true, "yaml": self.file, "env": self.env, "cli": self.cli },
            "effective": effective,
            "origins": origins,
        })
    }

    fn add_file(&mut self, file: &ConfigFile, retired: &[&str]) -> Result<(), ConfigError> {
        let name = file.path.display().to_string();
        let mut document =
            yaml::read(&file.text).map_err(|problem| ConfigError(vec![format!("{name}:{problem}")]))?;
        // A section whose keys are all commented out is there and empty.
        let known = self.schema.get("properties").and_then(Value::as_object);
        document
            .values
            .retain(|key, value| !value.is_null() || !known.is_some_and(|known| known.contains_key(key)));
        for key in retired {
            if remove(&mut document.values, key) {
                let line = document.lines.get(*key).copied().unwrap_or_default();
                self.warnings.push(format!("{name}:{line}: {key} is no longer used and has no effect"));
            }
        }
        let lines = document.lines;
        let origin = |path: &str| Origin::Yaml {
            file: name.clone(),
            line: lines.get(path).copied().unwrap_or_default(),
        };
        for Inherits { key, from } in &self.inherits {
            let set = layers::get(&document.values, from).filter(|set| set.is_object());
            if let Some(set) = set {
                self.layers.set(from, set.clone(), &origin);
                self.layers.copy(from, key);
            }
        }
        self.layers.merge(document.values, &origin);
        self.file = Some(name);
        Ok(())
    }

    fn add_env(&mut self, known: &[Env], env: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        let mut problems = Vec::new();
        for variable in known {
            let Some(text) = env(variable.name).filter(|text| !text.is_empty()) else { continue };
            let values = match variable.reads {
                Reads::As(read) => Ok(read(&text)),
                Reads::ByType => self.by_type(variable.key, &text).map(|value| vec![(variable.key, value)]),
            };
            match values {
                Ok(values) => {
                    self.env.push(variable.name);
                    for (key, value) in values {
                        self.layers.set(key, value, &|_| Origin::Env(variable.name));
                    }
                }
                Err(expected) => problems.push(format!("{}: expected {expected}", variable.name)),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError(problems)) }
    }

    /// Reads text as the type of a key; the error says what was expected.
    fn by_type(&self, key: &str, text: &str) -> Result<Value, String> {
        let empty = JsonObject::new();
        let schema = schema::at(&self.schema, key).unwrap_or(&empty);
        let text = text.trim();
        let fits = |value: &Value| schema::check(schema, value).is_empty();
        let items = || text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let list = || items().map(Value::from).collect::<Vec<Value>>();
        let as_word = match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
            _ => None,
        };
        let readings = [
            Some(Value::from(text)),
            text.parse::<i64>().ok().map(Value::from),
            text.parse::<f64>().ok().map(Value::from),
            as_word.map(Value::from),
            Some(Value::from(list())),
        ];
        readings.into_iter().flatten().find(fits).ok_or_else(|| schema::describe(schema))
    }

    fn check(&self) -> Result<(), ConfigError> {
        let problems = schema::check(&self.schema, &Value::Object(self.layers.values.clone()));
        if problems.is_empty() {
            return Ok(());
        }
        // What was copied from another key is named there.
        let is_copy = |path: &str| {
            let original =
                |inherits: &Inherits| Some(format!("{}{}", inherits.from, path.strip_prefix(inherits.key)?));
            let mut originals = self.inherits.iter().filter_map(original);
            originals.any(|original| problems.iter().any(|problem| problem.path == original))
        };
        let lines = problems.iter().filter(|problem| !is_copy(&problem.path));
        Err(ConfigError(lines.map(|problem| self.place(&problem.path, &problem.to_string())).collect()))
    }

    fn place(&self, path: &str, problem: &str) -> String {
        format!("{}: {problem}", self.origin(path))
    }
}

/// The dotted path of a key under `path`.
fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Adds the keys of one crate's schema to those of the others; a section may be shared.
fn merge_schema(below: &mut JsonObject, above: JsonObject) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge_schema(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn remove(values: &mut JsonObject, path: &str) -> bool {
    match path.split_once('.') {
        None => values.shift_remove(path).is_some(),
        Some((key, rest)) => {
            values.get_mut(key).and_then(Value::as_object_mut).is_some_and(|inner| remove(inner, rest))
        }
    }
}

fn mask(schema: &JsonObject, value: &mut Value) {
    let empty = value.is_null() || value.as_object().is_some_and(JsonObject::is_empty);
    if schema.get("writeOnly") == Some(&Value::Bool(true)) && !empty {
        *value = MASK.into();
        return;
    }
    match value {
        Value::Object(object) => {
            let additional = schema.get("additionalProperties").and_then(Value::as_object);
            for (key, value) in object {
                let of = schema.get("properties").and_then(|keys| keys.get(key)).and_then(Value::as_object);
                if let Some(of) = of.or(additional) {
                    mask(of, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = schema.get("items").and_then(Value::as_object) {
                items.iter_mut().for_each(|item| mask(of, item));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
