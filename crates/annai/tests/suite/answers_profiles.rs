//! Model profiles: which model, effort and verbosity each tool uses.

use serde_json::{Value, json};

use crate::{Asking, Home, annai, stderr};

/// Model, effort and verbosity that each tool sends.
fn sent(asking: &mut Asking) -> Vec<[Value; 3]> {
    let tools = ["answer", "answer_detailed", "answer_quick"];
    for tool in tools {
        asking.call(tool, json!({ "query": "x" }));
    }
    let requests = asking.api.requests();
    let of = |body: &Value| {
        [body["model"].clone(), body["reasoning"]["effort"].clone(), body["text"]["verbosity"].clone()]
    };
    requests.iter().map(|request| of(&request.body)).collect()
}

/// Model, effort and verbosity of each profile in the effective configuration.
fn configured(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> Vec<[Value; 3]> {
    let shown = shown(home, arguments, env);
    ["answer", "answer_detailed", "answer_quick"]
        .map(|profile| {
            let profile = &shown["effective"]["model_profiles"][profile];
            ["model", "reasoning_effort", "verbosity"].map(|key| profile[key].clone())
        })
        .to_vec()
}

fn shown(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> Value {
    let mut command = annai(home);
    command.arg("--show-config").args(arguments).envs(env.iter().copied());
    let text = stderr(&command.output().unwrap());
    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
}

#[test]
fn every_tool_has_its_profile_at_openai() {
    let home = Home::new();
    let built_in = json!([
        ["gpt-6.1-terra", "medium", "medium"],
        ["gpt-6.1-sol", "high", "high"],
        ["gpt-6-luna", "low", "low"]
    ]);
    assert_eq!(json!(configured(&home, &[], &[])), built_in);
    let europe = [("OPENAI_BASE_URL", "https://eu.api.openai.com/v1/")];
    assert_eq!(json!(configured(&home, &[], &europe)), built_in);
    // A variable or an option for `answer` alone does not touch the other two.
    let other = json!([["gpt-5", "medium", "medium"], built_in[1], built_in[2]]);
    assert_eq!(json!(configured(&home, &["--model", "gpt-5"], &[])), other);
    assert_eq!(json!(configured(&home, &[], &[("MODEL_ANSWER", "gpt-5")])), other);
}

#[test]
fn at_another_api_the_profile_of_answer_is_that_of_every_tool() {
    let all_of = |model: &str| {
        json!([[model, "medium", "medium"], [model, "medium", "medium"], [model, "medium", "medium"]])
    };
    assert_eq!(json!(sent(&mut Asking::new())), all_of("gpt-6.1-terra"));
    assert_eq!(json!(sent(&mut Asking::with("", &[("MODEL_ANSWER", "gpt-5")]))), all_of("gpt-5"));
    // What a layer sets for another profile stays.
    let yaml = "model_profiles:\n  answer_detailed: { model: gpt-5 }\n";
    assert_eq!(
        json!(sent(&mut Asking::with(yaml, &[("MODEL_QUICK", "gpt-5-nano")]))),
        json!([
            ["gpt-6.1-terra", "medium", "medium"],
            ["gpt-5", "medium", "medium"],
            ["gpt-5-nano", "medium", "medium"]
        ])
    );
}

#[test]
fn other_profiles_inherit_from_the_effective_answer_profile_unless_set() {
    let yaml = "model_profiles:\n  answer: { model: gpt-5-mini, verbosity: high }\n  answer_quick: { reasoning_effort: minimal }\n";
    assert_eq!(
        json!(sent(&mut Asking::with(yaml, &[]))),
        json!([
            ["gpt-5-mini", "medium", "high"],
            ["gpt-5-mini", "medium", "high"],
            ["gpt-5-mini", "low", "high"]
        ])
    );
    let home = Home::new();
    let file = home.write("c.yaml", yaml);
    let arguments = ["--config", file.to_str().unwrap(), "--model", "gpt-5"];
    let expected = json!([["gpt-5", "low", "high"], ["gpt-5", "low", "high"], ["gpt-5", "minimal", "high"]]);
    let env = [("MODEL_ANSWER", "o3"), ("ANSWER_EFFORT", "low")];
    assert_eq!(json!(configured(&home, &arguments, &env)), expected);
    let yaml = "model_profiles:\n  answer: { model: gpt-5 }\n  answer_detailed: null\n";
    assert_eq!(json!(sent(&mut Asking::with(yaml, &[]))[1]), json!(["gpt-5", "medium", "medium"]));
}

#[test]
fn environment_variables_change_only_the_models() {
    let env = [
        ("MODEL_ANSWER", "gpt-5"),
        ("MODEL_DETAILED", "o3"),
        ("MODEL_QUICK", "gpt-4.1"),
        ("ANSWER_EFFORT", "high"),
        ("ANSWER_VERBOSITY", "low"),
    ];
    assert_eq!(
        json!(sent(&mut Asking::with("", &env))),
        json!([["gpt-5", "high", "low"], ["o3", "high", null], ["gpt-4.1", null, null]])
    );
}

#[test]
fn the_command_line_wins_and_origins_are_shown() {
    let home = Home::new();
    let file = home.write("c.yaml", "model_profiles:\n  answer:\n    model: gpt-5\n    verbosity: low\n");
    let arguments = ["--model", "gpt-6-luna", "--config", file.to_str().unwrap()];
    let shown = shown(&home, &arguments, &[("MODEL_ANSWER", "gpt-5-mini")]);
    let profiles = &shown["effective"]["model_profiles"];
    assert_eq!(profiles["answer"]["model"], "gpt-6-luna");
    assert_eq!(shown["origins"]["model_profiles.answer.model"], "--model");
    // An inherited value has the origin of the value that it inherits.
    assert_eq!(profiles["answer_detailed"]["model"], "gpt-6-luna");
    assert_eq!(shown["origins"]["model_profiles.answer_detailed.model"], "--model");
    assert_eq!(shown["origins"]["model_profiles.answer_detailed.verbosity"], format!("{}:4", file.display()));
    assert_eq!(shown["origins"]["model_profiles.answer_quick.reasoning_effort"], "default");
}

#[test]
fn a_missing_profile_stops_the_start() {
    let home = Home::new();
    let file = home.write("c.yaml", "model_profiles:\n  answer: null\n");
    for arguments in [&["--stdio"][..], &["ask", "x"], &["--show-config"]] {
        let output = annai(&home).args(arguments).arg("--config").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let expected = "c.yaml:2: model_profiles.answer: is null, but model_profiles.answer is required";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let output = annai(&home).args(["doctor", "--config"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::stdout(&output).contains("model_profiles.answer is required"));
}

#[test]
fn existing_files_load_and_retired_keys_warn() {
    let home = Home::new();
    let file = home.write(
        ".config/openai-responses-mcp/config.yaml",
        "openai:\n  api_key_env: MY_KEY\n  base_url: https://api.openai.com/v1\n  model: { default: gpt-5 }\n\
         request: { timeout_ms: 120000, max_retries: 3 }\nresponses: { stream: false, json_mode: true }\n\
         model_profiles:\n  answer: { model: gpt-5-mini, reasoning_effort: medium, verbosity: medium }\n\
         policy:\n  search_triggers: [today, now]\n  prefer_search_when_unsure: true\n  max_citations: 3\n  requery_attempts: 1\n  require_dates_iso: true\n\
         search:\n  defaults: { recency_days: 60, max_results: 5, domains: [] }\n\
         server: { transport: stdio, debug: false, debug_file: null, show_config_on_start: false }\n",
    );
    let output = annai(&home).args(["ask", "x"]).output().unwrap();
    let text = stderr(&output);
    assert!(text.contains(&format!("{}:4: openai.model is no longer used", file.display())), "{text}");
    assert!(text.contains("responses.json_mode is ignored"), "{text}");
    assert!(text.contains("MY_KEY is not set"), "{text}");
}

#[test]
fn values_out_of_range_stop_the_start() {
    let home = Home::new();
    for (yaml, problem) in [
        ("request: { timeout_ms: 0 }", "request.timeout_ms: expected an integer from 1"),
        ("request: { max_retries: 11 }", "request.max_retries: expected an integer from 0 to 10, got 11"),
        ("policy: { max_citations: 0 }", "policy.max_citations: expected an integer from 1 to 10, got 0"),
        (
            "policy: { requery_attempts: 4 }",
            "policy.requery_attempts: expected an integer from 0 to 3, got 4",
        ),
        (
            "search: { defaults: { max_results: 11 } }",
            "search.defaults.max_results: expected an integer from 1 to 10",
        ),
        (
            "search: { defaults: { recency_days: -1 } }",
            "search.defaults.recency_days: expected an integer of at least 0",
        ),
        (
            "model_profiles: { answer: { reasoning_effort: hard } }",
            "expected one of none, minimal, low, medium, high, xhigh, max, got \"hard\"",
        ),
        ("model_profiles: { answer: { verbosity: max } }", "expected one of low, medium, high, got \"max\""),
        (
            "model_profiles: { answer: { model: \"\" } }",
            "model_profiles.answer.model: expected a string that is not empty",
        ),
        (
            "model_profiles: { answers: {} }",
            "model_profiles.answers: unknown key; allowed: answer, answer_detailed, answer_quick",
        ),
        ("openai: { api_key: sk-1 }", "openai.api_key: unknown key; allowed: api_key_env"),
    ] {
        let file = home.write("bad.yaml", yaml);
        let output = annai(&home).arg("--stdio").arg("--config").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{yaml}");
        assert!(
            stderr(&output).contains("bad.yaml:1: ") && stderr(&output).contains(problem),
            "{}",
            stderr(&output)
        );
        assert!(!stderr(&output).contains("sk-1"));
    }
    let output = annai(&home).arg("--stdio").env("OPENAI_API_TIMEOUT", "soon").output().unwrap();
    assert!(
        stderr(&output).contains("OPENAI_API_TIMEOUT: expected an integer from 1"),
        "{}",
        stderr(&output)
    );
}
