//! What people type.

use serde_json::Value;

use crate::{Home, annai, stderr, stdout};

#[test]
fn no_arguments_print_help() {
    let home = Home::new();
    for arguments in [&[][..], &["--help"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let text = stdout(&output);
        for word in ["--stdio", "--toolset", "--config", "--show-config", "--debug", "demo", "tools"] {
            assert!(text.contains(word), "{word} is not in the help: {text}");
        }
    }
}

#[test]
fn the_version_is_the_workspaces() {
    let output = annai(&Home::new()).arg("--version").output().unwrap();
    assert_eq!(stdout(&output), format!("annai {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn unknown_words_are_usage_errors() {
    let home = Home::new();
    for arguments in [&["--no-such-option"][..], &["no-such-command"], &["--toolset", "none", "--stdio"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stdout(&output).is_empty());
        assert!(stderr(&output).contains("error:"), "{}", stderr(&output));
    }
    let output = annai(&home).args(["--toolset", "none"]).output().unwrap();
    assert!(stderr(&output).contains("answers, search, library, services"), "{}", stderr(&output));
}

#[test]
fn the_tools_are_listed_for_people_and_for_programs() {
    let home = Home::new();
    let output = annai(&home).arg("tools").output().unwrap();
    assert!(stdout(&output).ends_with(" tools\n"));
    let output = annai(&home).args(["tools", "--json"]).output().unwrap();
    assert!(serde_json::from_str::<Vec<Value>>(&stdout(&output)).is_ok());
}

#[test]
fn the_demo_shows_both_framings_working() {
    let output = annai(&Home::new()).arg("demo").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.matches("initialize → annai").count(), 2, "{text}");
    assert_eq!(text.matches("exit status 0").count(), 2, "{text}");
}
