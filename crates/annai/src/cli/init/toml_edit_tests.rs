//! Tests of editing the TOML settings of Codex.

use super::EditError;
use super::server::Server;
use super::toml_edit::{add, found, remove};
use super::toml_scan::scan;

fn server(arguments: &[&str], key_variable: Option<&str>) -> Server {
    let words =
        |first: &str| std::iter::once(first).chain(arguments.iter().copied()).map(str::to_owned).collect();
    Server {
        program: "/usr/bin/annai".to_owned(),
        arguments: words("--stdio"),
        http_arguments: words("--http"),
        key_variable: key_variable.map(str::to_owned),
        usual_variable: "OPENAI_API_KEY".to_owned(),
        needs_person: false,
    }
}

/// Settings with everything that could be mistaken for the end of something else.
const SETTINGS: &str = "\
# My settings
model = \"gpt-5\" # [mcp_servers.annai] in a comment
text = \"\"\"
[mcp_servers.annai]
a \\\"\"\" b\"\"\"\"
raw = '''[x]'''
when = 1979-05-27 07:32:00Z
list = [
  1, # one
  [\"]\", '['],
]
inline = { a = 1, \"b.c\" = [true, -inf] }
\"quoted key\".x = +1_000.5e-3

[mcp_servers.other]
command = \"x\"

[[profiles]]
name = 'a'
";

#[test]
fn every_byte_is_kept_and_removing_restores_the_text() {
    let library = server(&["--toolset", "library"], None);
    let table = "[mcp_servers.annai]\ncommand = \"/usr/bin/annai\"\nargs = [\"--stdio\", \"--toolset\", \"library\"]\n";
    for text in [SETTINGS, "", "# only a comment\n", "a = 1\n\n\n", "\u{feff}a = 1\n"] {
        let added = add(text, &library).unwrap();
        let gap = if text.is_empty() { "" } else { "\n" };
        assert_eq!(added, format!("{text}{gap}{table}"));
        assert_eq!(add(&added, &library).unwrap(), added, "adding again changes nothing");
        assert_eq!(remove(&added).unwrap(), text);
    }
    // With other line breaks, and without one at the end.
    let windows = SETTINGS.replace('\n', "\r\n");
    let added = add(&windows, &library).unwrap();
    assert_eq!(added, format!("{windows}\r\n{}", table.replace('\n', "\r\n")));
    assert_eq!(remove(&added).unwrap(), windows);
    assert_eq!(add("a = 1", &library).unwrap(), format!("a = 1\n\n{table}"));
}

#[test]
fn an_update_changes_only_what_the_server_needs() {
    let text = "[mcp_servers.annai]\n# mine\nstartup_timeout_sec = 20\ncommand = '/old/annai'\nargs = [\n  \"--stdio\", # x\n]\n\n[mcp_servers.annai.env]\nA = \"b\"\n\n# the next table\n[other]\nx = 1\n";
    let updated = add(text, &server(&["--read-only"], Some("OPENAI_API_KEY"))).unwrap();
    let expected = text
        .replace("'/old/annai'", "\"/usr/bin/annai\"")
        .replace("[\n  \"--stdio\", # x\n]", "[\"--stdio\", \"--read-only\"]")
        .replace("# mine\n", "env_vars = [\"OPENAI_API_KEY\"]\n# mine\n");
    assert_eq!(updated, expected);
    assert_eq!(add(&updated, &server(&["--read-only"], Some("OPENAI_API_KEY"))).unwrap(), updated);
    let without_key = add(&updated, &server(&["--read-only"], None)).unwrap();
    assert_eq!(without_key, expected.replace("env_vars = [\"OPENAI_API_KEY\"]\n", ""));
    // A key in the file is used instead of the environment.
    let own_key = text.replace("A = \"b\"", "OPENAI_API_KEY = \"sk-mine\"");
    assert!(!add(&own_key, &server(&[], Some("OPENAI_API_KEY"))).unwrap().contains("env_vars"));
    assert_eq!(remove(&updated).unwrap(), "\n# the next table\n[other]\nx = 1\n");
    let more = "[mcp_servers.annai]\ncommand = \"annai\"\nargs = [\"--stdio\"]\nenv_vars = ['A']\n";
    let both = add(more, &server(&[], Some("OPENAI_API_KEY"))).unwrap();
    assert!(both.contains("env_vars = [\"A\", \"OPENAI_API_KEY\"]\n"), "{both}");
}

#[test]
fn the_program_and_its_arguments_are_found() {
    let text = "[mcp_servers.annai]\ncommand = 'C:\\annai'\nargs = [\n 'a', \"b\\\"c\", # x\n]\n";
    let expected = ("C:\\annai".to_owned(), vec!["a".to_owned(), "b\"c".to_owned()]);
    assert_eq!(found(text).unwrap(), Some(expected));
    assert_eq!(found(SETTINGS).unwrap(), None);
}

#[test]
fn errors_name_the_line() {
    for (text, line, problem) in [
        ("a = 1\nb 2\n", 2, "expected `=` after a key"),
        ("a = \n", 1, "expected a value"),
        ("a = 1 2\n", 1, "expected the end of the line"),
        ("\n[a\nb = 1\n", 2, "expected `]` after the name of a table"),
        ("a = \"x\nb = 1\n", 1, "a string has no closing \""),
        ("a = [1\n2]\n", 2, "expected `,` or `]`"),
        ("= 1\n", 1, "expected a key"),
        ("a = yes\n", 1, "expected a value"),
        (
            "\nmcp_servers = {}\n",
            2,
            "mcp_servers is an inline table, which is not edited; write it as [mcp_servers.NAME] tables",
        ),
        (
            "[mcp_servers]\nannai = { command = \"annai\" }\n",
            2,
            "the server is not written as a table [mcp_servers.annai]; change or remove it by hand",
        ),
        (
            "mcp_servers.annai.command = \"annai\"\n",
            1,
            "the server is not written as a table [mcp_servers.annai]; change or remove it by hand",
        ),
    ] {
        let error = add(text, &server(&[], None)).unwrap_err();
        assert_eq!(error, EditError { line, problem: problem.to_owned() }, "{text}");
    }
    assert_eq!(
        scan(&format!("a = {}", "[".repeat(100_000))).unwrap_err().problem,
        "the values are nested too deeply"
    );
}
