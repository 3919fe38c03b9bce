//! The configuration. Values come from four layers: command line over environment over YAML file over defaults. Every
//! crate declares its own keys as a type; the layers are merged as JSON values, validated once against the schemas of
//! all those types, and only then deserialized. Nothing else in the program reads the environment.

mod document;
mod environment;
mod file;
mod layers;
mod mask;
mod secret;
pub mod yaml;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use environment::{EnvironmentVariable, VariableParser};
pub use file::{ConfigFile, expand_home, find};
pub use layers::Origin;
pub use secret::{MASK, Secret};

use crate::{JsonObject, schema};
use layers::Layers;

/// A crate's part of the configuration: its fields are top-level keys of the file.
pub trait Settings: DeserializeOwned + Serialize + JsonSchema + Default {
    /// The environment variables that set keys of this crate.
    const ENV: &'static [EnvironmentVariable];
    /// Dotted paths of keys that earlier versions had. A file that still sets one loads with a warning, and the key has
    /// no effect.
    const RETIRED: &'static [&'static str] = &[];
    /// Keys that take their unset values from another key instead of from their defaults.
    const INHERITS: &'static [Inherits] = &[];
}

/// A key that takes what no layer sets from the effective value of another key, once the file sets that other key, or
/// when the settings make the built-in values pointless. Both keys are dotted paths.
#[derive(Debug, Clone, Copy)]
pub struct Inherits {
    /// The key that inherits.
    pub key: &'static str,
    /// The key that it inherits from.
    pub from: &'static str,
    /// Whether the effective settings make the key inherit, although the file does not set the other key.
    pub also_when: fn(&JsonObject) -> bool,
}

/// A value that a command-line option sets.
#[derive(Debug, Clone)]
pub struct CommandLineValue {
    /// The option, as typed.
    pub option: &'static str,
    /// The dotted path of the key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

/// Everything that is wrong with the configuration, one line per problem.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

/// The configuration keys of all crates: their types, defaults and environment variables.
#[derive(Default)]
pub struct ConfigSchema {
    schema: JsonObject,
    defaults: Layers,
    env: Vec<EnvironmentVariable>,
    retired: Vec<&'static str>,
    inherits: Vec<Inherits>,
}

impl ConfigSchema {
    /// Adds the keys of one crate.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "settings are our own types; a bad one fails every start and every test"
    )]
    pub fn with_settings<S: Settings>(mut self) -> Self {
        merge_schema(&mut self.schema, schema::of_settings::<S>());
        let defaults = serde_json::to_value(S::default()).and_then(serde_json::from_value);
        self.defaults.merge(defaults.expect("settings serialize to a JSON object"), &|_| Origin::Default);
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

    /// Merges the layers and validates the result.
    ///
    /// # Errors
    ///
    /// Every value that does not fit its key, with the place that set it.
    pub fn load(
        self,
        file: Option<ConfigFile>,
        env: &dyn Fn(&str) -> Option<String>,
        command_line: Vec<CommandLineValue>,
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
        for CommandLineValue { option, key, value } in command_line {
            config.cli.push(option);
            config.layers.set(key, value, &|_| Origin::Cli(option));
        }
        config.inherit();
        config.validate()?;
        Ok(config)
    }
}

/// The effective configuration: the merged layers, and where each value came from.
#[derive(Default)]
pub struct Config {
    schema: JsonObject,
    layers: Layers,
    /// The YAML file that was read.
    file: Option<String>,
    /// The environment variables that were set.
    env: Vec<&'static str>,
    /// The command-line options that were given.
    cli: Vec<&'static str>,
    warnings: Vec<String>,
    inherits: Vec<Inherits>,
    /// The keys among those that others inherit from which the file sets.
    set_by_file: Vec<&'static str>,
}

impl Config {
    /// The settings of one crate.
    ///
    /// # Errors
    ///
    /// A value that fits the schema but that the crate's type still rejects.
    pub fn get<S: Settings>(&self) -> Result<S, ConfigError> {
        let schema = schema::of_settings::<S>();
        let is_own_key = |key: &str| schema.get("properties").is_some_and(|keys| keys.get(key).is_some());
        let values = self.layers.values.iter().filter(|(key, _)| is_own_key(key));
        let values: JsonObject = values.map(|(key, value)| (key.clone(), value.clone())).collect();
        serde_path_to_error::deserialize(Value::Object(values)).map_err(|error| {
            let path = error.path().to_string();
            ConfigError(vec![self.key_error(&path, &error.inner().to_string())])
        })
    }

    /// Problems that do not prevent the start, such as retired keys.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where the value of a key came from.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.layers.origin(key)
    }

    /// Whether anything but the defaults sets a key of one crate.
    #[must_use]
    pub fn sets_any<S: Settings>(&self) -> bool {
        let schema = schema::of_settings::<S>();
        let is_own_key = |key: &str| schema.get("properties").is_some_and(|keys| keys.get(key).is_some());
        self.layers.origins().iter().any(|(path, origin)| {
            is_own_key(path.split(['.', '[']).next().unwrap_or(path)) && *origin != Origin::Default
        })
    }

    /// The line of a [`ConfigError`] for a problem that the schema cannot express: the place that set the key, the key
    /// and the problem.
    #[must_use]
    pub fn key_error(&self, key: &str, problem: &str) -> String {
        self.with_origin(key, &format!("{key}: {problem}"))
    }

    /// The effective configuration for people to read, with secrets masked and the origin of every value.
    #[must_use]
    pub fn show(&self, version: &str) -> Value {
        let mut effective = Value::Object(self.layers.values.clone());
        mask::mask_secrets(&self.schema, &mut effective);
        let origins: JsonObject = self
            .layers
            .origins()
            .iter()
            // The members of an object have origins of their own, so that of the object would be noise.
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
        // YAML reads a section whose keys are all commented out as null; here that means that nothing is set.
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
        self.set_by_file = self.inherits.iter().map(|inherits| inherits.from).collect();
        self.set_by_file.retain(|key| layers::get(&document.values, key).is_some_and(Value::is_object));
        self.layers.merge(document.values, &origin);
        self.file = Some(name);
        Ok(())
    }

    fn add_env(
        &mut self,
        variables: &[EnvironmentVariable],
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        let mut problems = Vec::new();
        for variable in variables {
            // An empty variable counts as unset, as in most shells and service managers.
            let Some(text) = env(variable.name).filter(|text| !text.is_empty()) else { continue };
            match variable.parse(&text, &self.schema) {
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

    /// Fills in the keys that inherit, when every layer is merged: what a variable or an option changes in the other key
    /// is inherited too.
    fn inherit(&mut self) {
        for Inherits { key, from, also_when } in self.inherits.clone() {
            if self.set_by_file.contains(&from) || also_when(&self.layers.values) {
                self.layers.inherit(from, key);
            }
        }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let errors = schema::validate(&self.schema, &Value::Object(self.layers.values.clone()));
        if errors.is_empty() {
            return Ok(());
        }
        // An inherited value is wrong at the key that was set; reporting its copies too would only repeat that.
        let is_inherited_copy = |path: &str| {
            let original =
                |inherits: &Inherits| Some(format!("{}{}", inherits.from, path.strip_prefix(inherits.key)?));
            let mut originals = self.inherits.iter().filter_map(original);
            originals.any(|original| errors.iter().any(|error| error.path == original))
        };
        let reported = errors.iter().filter(|error| !is_inherited_copy(&error.path));
        Err(ConfigError(reported.map(|error| self.with_origin(&error.path, &error.to_string())).collect()))
    }

    fn with_origin(&self, path: &str, problem: &str) -> String {
        format!("{}: {problem}", self.origin(path))
    }
}

/// The dotted path of a key under `path`.
fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Adds the keys of one crate's schema to those of the others. Several crates may have keys in the same section.
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

/// Removes the key with this dotted path; whether it was there.
fn remove(values: &mut JsonObject, path: &str) -> bool {
    match path.split_once('.') {
        None => values.shift_remove(path).is_some(),
        Some((key, rest)) => {
            values.get_mut(key).and_then(Value::as_object_mut).is_some_and(|inner| remove(inner, rest))
        }
    }
}

#[cfg(test)]
mod tests;
