use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct TestSettings {
    request: Request,
    headers: BTreeMap<String, Secret>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Request {
    /// How often.
    #[schemars(range(min = 0, max = 10))]
    retries: u32,
    hosts: Vec<String>,
    quiet: bool,
    key: Option<Secret>,
}

impl Default for Request {
    fn default() -> Self {
        Self { retries: 3, hosts: vec!["a".into()], quiet: false, key: None }
    }
}

impl Settings for TestSettings {
    const ENV: &'static [EnvironmentVariable] = &[
        EnvironmentVariable::new("RETRIES", "request.retries"),
        EnvironmentVariable::new("HOSTS", "request.hosts"),
        EnvironmentVariable::new("QUIET", "request.quiet"),
        EnvironmentVariable {
            name: "BOTH",
            key: "request.retries",
            parser: VariableParser::Custom(|text| {
                vec![("request.retries", text.len().into()), ("request.quiet", true.into())]
            }),
        },
    ];
    const RETIRED: &'static [&'static str] = &["openai.model"];
}

fn load(yaml: &str, env: &[(&str, &str)], cli: Vec<CommandLineValue>) -> Result<Config, ConfigError> {
    let env = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let file = ConfigFile { path: "c.yaml".into(), text: yaml.into() };
    ConfigSchema::default().with_settings::<TestSettings>().load(Some(file), &env, cli)
}

#[test]
fn the_command_line_beats_the_environment_beats_yaml_beats_defaults() {
    let yaml = "request:\n  retries: 1\n  hosts: [b, c]\n  quiet: true\n";
    let cli = vec![CommandLineValue { option: "--retries", key: "request.retries", value: json!(9) }];
    let config = load(yaml, &[("RETRIES", "2"), ("HOSTS", "x, y")], cli).unwrap();
    let settings: TestSettings = config.get().unwrap();
    assert_eq!(
        settings.request,
        Request { retries: 9, hosts: vec!["x".into(), "y".into()], quiet: true, key: None }
    );
    assert_eq!(config.origin("request.retries").to_string(), "--retries");
    assert_eq!(config.origin("request.hosts").to_string(), "HOSTS");
    assert_eq!(config.origin("request.quiet").to_string(), "c.yaml:4");
    assert_eq!(config.origin("request.key"), &Origin::Default);
}

#[test]
fn a_variable_with_a_custom_parser_can_set_several_keys() {
    let settings: TestSettings = load("", &[("BOTH", "four")], vec![]).unwrap().get().unwrap();
    assert_eq!((settings.request.retries, settings.request.quiet), (4, true));
}

#[test]
fn errors_name_the_file_the_line_the_key_and_what_is_allowed() {
    let error = load("request:\n  retries: 11\n  color: red\nserver2: 1\n", &[], vec![]).err().unwrap();
    assert_eq!(
        error.0,
        [
            "c.yaml:2: request.retries: expected an integer from 0 to 10, got 11",
            "c.yaml:3: request.color: unknown key; allowed: retries, hosts, quiet, key",
            "c.yaml:4: server2: unknown key; allowed: request, headers",
        ]
    );
    let error = load("", &[("RETRIES", "many"), ("QUIET", "perhaps")], vec![]).err().unwrap();
    assert_eq!(error.0, ["RETRIES: expected an integer from 0 to 10", "QUIET: expected true or false"]);
    assert_eq!(load("a: [", &[], vec![]).err().unwrap().0.len(), 1);
}

#[test]
fn an_unknown_key_is_reported_with_its_line_whatever_its_value() {
    let long = "x".repeat(60);
    for (yaml, problem) in [
        ("nonsense:\n  a: 1\n", "c.yaml:1: nonsense: unknown key"),
        ("nonsense:\n", "c.yaml:1: nonsense: unknown key"),
        ("request:\n  nope:\n    a: 1\n", "c.yaml:2: request.nope: unknown key"),
        ("request:\n  quiet:\n    x: 1\n", "c.yaml:2: request.quiet: expected true or false, got an object"),
        (&format!("request:\n  {long}: 1\n"), "c.yaml:2: request."),
    ] {
        let error = load(yaml, &[], vec![]).err().unwrap();
        assert!(error.0[0].starts_with(problem), "{yaml} gave {error}");
    }
}

#[test]
fn loading_time_does_not_grow_with_the_square_of_the_number_of_keys() {
    let mut yaml = String::new();
    for number in 0..20_000 {
        yaml.push_str(&format!("k{number}: {{}}\n"));
    }
    // Elapsed time is what is tested: linear work takes milliseconds here, quadratic work minutes.
    let started = std::time::Instant::now();
    assert!(load(&yaml, &[], vec![]).is_err());
    assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn a_retired_key_gives_a_warning_and_an_empty_section_sets_nothing() {
    let config = load("request:\nopenai:\n  model: x\n", &[], vec![]);
    // No settings here declare the section `openai`, so it is an error although its only key is retired.
    assert!(config.err().unwrap().0[0].contains("openai"));
    let mut config_schema = ConfigSchema::default().with_settings::<TestSettings>();
    merge_schema(
        &mut config_schema.schema,
        json!({ "properties": { "openai": { "type": "object", "additionalProperties": false } } })
            .as_object()
            .cloned()
            .unwrap(),
    );
    let file = ConfigFile { path: "c.yaml".into(), text: "request:\nopenai:\n  model: x\n".into() };
    let config = config_schema.load(Some(file), &|_| None, vec![]).unwrap();
    assert_eq!(config.warnings(), ["c.yaml:3: openai.model is no longer used and has no effect"]);
}

#[test]
fn secrets_appear_neither_in_the_shown_configuration_nor_in_debug_output_nor_in_errors() {
    let config = load("headers:\n  x-key: sk-1234\nrequest:\n  key: sk-5678\n", &[], vec![]).unwrap();
    let settings: TestSettings = config.get().unwrap();
    assert_eq!(settings.request.key.as_ref().unwrap().expose(), "sk-5678");
    let shown = config.show("1.2.3");
    assert_eq!(shown["effective"]["headers"], json!({ "x-key": "***" }));
    assert_eq!(shown["sources"], json!({ "defaults": true, "yaml": "c.yaml", "env": [], "cli": [] }));
    let everything = format!("{shown}{settings:?}{}", serde_json::to_string(&settings).unwrap());
    assert!(!everything.contains("sk-"), "{everything}");
    let error = load("request:\n  key: [sk-99]\n", &[], vec![]).err().unwrap();
    assert!(!error.to_string().contains("sk-"), "{error}");
}

#[test]
fn the_table_shows_type_default_variables_and_description_of_a_key() {
    let table = ConfigSchema::default().with_settings::<TestSettings>().document();
    assert!(
        table.contains(
            "| `request.retries` | an integer from 0 to 10 | `3` | `RETRIES`, `BOTH` | How often. |"
        ),
        "{table}"
    );
}

#[test]
fn without_any_layer_the_defaults_apply() {
    let config =
        ConfigSchema::default().with_settings::<TestSettings>().load(None, &|_| None, vec![]).unwrap();
    assert_eq!(config.get::<TestSettings>().unwrap(), TestSettings::default());
    assert_eq!(config.show("1")["sources"]["yaml"], Value::Null);
}
