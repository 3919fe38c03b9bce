//! `annai ask`, `annai call answer`, and the checks of `annai doctor` for these tools.

use annai_testkit::openai::{self, FakeOpenai, Step};
use serde_json::Value;

use crate::{Home, annai, stderr, stdout};

fn with(api: &FakeOpenai, home: &Home) -> std::process::Command {
    let mut command = annai(home);
    command.env("OPENAI_BASE_URL", api.base_url()).env("OPENAI_API_KEY", openai::KEY);
    command
}

#[test]
fn annai_ask_prints_the_answer_with_numbered_sources() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let output = with(&api, &home).args(["ask", "weather", "in", "Tokyo"]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let text = stdout(&output);
    assert!(text.starts_with("I looked up “weather in Tokyo”."), "{text}");
    assert!(text.contains("\nSources\n   1  気象庁 天気予報 (accessed 20"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("gpt-6.1-terra-2026-08-01 · "), "{text}");
    assert!(text.contains(" tokens ("), "{text}");
    let mut command = with(&api, &home);
    command.env("MODEL_QUICK", "gpt-6-luna").args(["ask", "--json", "--quick", "weather"]);
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&answer["used_search"], &answer["model"]),
        (&Value::from(true), &Value::from("gpt-6-luna-2026-08-01"))
    );
    let mut command = with(&api, &home);
    command.env("MODEL_DETAILED", "gpt-6.1-sol").args(["ask", "--detailed", "x", "--model", "gpt-5"]);
    let output = command.output().unwrap();
    assert!(stdout(&output).contains("gpt-6.1-sol"), "{}", stdout(&output));
}

#[test]
fn failures_print_one_line_and_set_the_exit_status() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    api.then(Step::Status(400, vec![], String::new()));
    let output = with(&api, &home).args(["ask", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "error: answer: the API refused the request (400)\n");
    let output = annai(&home).args(["ask", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).starts_with("error: answer: OPENAI_API_KEY is not set; set OPENAI_API_KEY"),
        "{}",
        stderr(&output)
    );
    assert_eq!(annai(&home).args(["ask"]).output().unwrap().status.code(), Some(2));
    let output = annai(&home).args(["ask", " "]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn the_doctor_checks_the_key_the_base_url_and_the_models() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    home.write("manuals/m/a.md", "# A\n");
    let doctor = |command: &mut std::process::Command| {
        let output = command.arg("doctor").env("PORT", "0").output().unwrap();
        (output.status.code(), stdout(&output))
    };
    let (code, text) = doctor(&mut with(&api, &home));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("\nNo problems found.\n"), "{text}");
    assert!(text.contains("✓ answers: the key is good; 127.0.0.1/v1 offers 10 models"), "{text}");
    assert!(text.contains("✓ answers: o3_search.model: gpt-6.1-sol"), "{text}");

    let (code, text) = doctor(with(&api, &home).env("MODEL_ANSWER", "gpt-5").env("MODEL_QUICK", "gpt-moon"));
    assert_eq!(code, Some(1));
    // At another API than OpenAI's, `answer_detailed` has the model of `answer`.
    assert!(text.ends_with("\n3 problems found.\n"), "{text}");
    assert!(
        text.contains("✗ answers: model_profiles.answer.model: gpt-5 is shut down on 2026-12-11"),
        "{text}"
    );
    assert!(text.contains("✗ answers: model_profiles.answer_quick.model: gpt-moon is not among"), "{text}");

    let (code, text) = doctor(with(&api, &home).env("OPENAI_API_KEY", "sk-bad-0123456789"));
    assert!(
        code == Some(1) && text.contains("✗ answers: the key was refused (401)") && !text.contains("sk-bad"),
        "{text}"
    );
    // Nobody has set the answers up, so that is not a problem; who asks for them misses the key.
    let (code, text) = doctor(&mut annai(&home));
    assert!(text.contains("– answers: OPENAI_API_KEY is not set\n  → set OPENAI_API_KEY"), "{text}");
    assert!(
        text.ends_with("\nReady: library.\nNot ready: answers, services.\nNo problems found.\n"),
        "{text}"
    );
    assert_eq!(code, Some(0));
    let (code, text) = doctor(annai(&home).args(["--toolset", "answers"]));
    assert!(text.contains("✗ answers: OPENAI_API_KEY is not set\n  → set OPENAI_API_KEY"), "{text}");
    assert_eq!(code, Some(1));
    let (_, text) = doctor(with(&api, &home).env("OPENAI_BASE_URL", "http://gateway.example"));
    assert!(text.contains("✗ answers: openai.base_url: http:// would send the key in the clear"), "{text}");
    // Without the answers toolset no key is needed.
    let (code, text) = doctor(annai(&home).args(["--toolset", "library"]));
    assert!(code == Some(0) && !text.contains("answers:"), "{text}");
}
