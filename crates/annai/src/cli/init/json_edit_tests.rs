//! Tests of editing the JSON settings of clients.

use serde_json::{Value, json};

use super::client::Client;
use super::json_entry::{add, found, prune, remove};
use super::json_tree::parse;
use super::server::Server;
use super::{EditError, line_break};

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

fn value(text: &str) -> Value {
    parse(text).unwrap().unwrap().to_value()
}

#[test]
fn comments_order_and_line_breaks_are_kept_and_removing_restores_every_byte() {
    let library = server(&["--toolset", "library"], None);
    for (text, expected) in [
        (
            "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"url\": \"http://x\" } // note\n  },\n  \"z\": 1, /* last */\n}\n",
            "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"url\": \"http://x\" }, // note\n    \"annai\": {\n      \"command\": \"/usr/bin/annai\",\n      \"args\": [\n        \"--stdio\",\n        \"--toolset\",\n        \"library\"\n      ]\n    }\n  },\n  \"z\": 1, /* last */\n}\n",
        ),
        (
            "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {},\r\n\t},\r\n}",
            "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {},\r\n\t\t\"annai\": {\r\n\t\t\t\"command\": \"/usr/bin/annai\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"--stdio\",\r\n\t\t\t\t\"--toolset\",\r\n\t\t\t\t\"library\"\r\n\t\t\t]\r\n\t\t},\r\n\t},\r\n}",
        ),
    ] {
        let added = add(Client::Windsurf, text, &library).unwrap();
        assert_eq!(added, expected);
        assert_eq!(add(Client::Windsurf, &added, &library).unwrap(), added, "adding again changes nothing");
        assert_eq!(remove(Client::Windsurf, &added).unwrap(), text);
    }
}

#[test]
fn any_settings_get_the_server_and_keep_the_rest() {
    let answers = server(&[], Some("OPENAI_API_KEY"));
    for text in [
        "{}",
        "{ }",
        "{\n}\n",
        "{\"a\":[1,2,{\"b\":null}]}",
        "{\"mcpServers\":{}}",
        "{\"servers\": {\n}, \"inputs\": []}",
        "{\"inputs\": [{\"id\": \"x\"}], // c\n \"servers\": {\"x\": {}}}",
        "{\n    \"a\": \"}\\\"// no comment\", // }\n    /* { */ \"b\": -1.5e3\n}",
        "{\"mcpServers\": {\"x\": {\"command\": \"a\"} /* end */ }}\n",
        "{\r\n  \"a\": {},\r\n\r\n}\r\n",
        "{\"a\": 1 // a comment at the end\n}",
    ] {
        for client in [Client::ClaudeCode, Client::Vscode, Client::GeminiCli] {
            let before = value(text);
            let added = add(client, text, &answers).unwrap();
            let after = value(&added);
            let key = client.servers_key();
            assert_eq!(after[key]["annai"], client.entry(&answers), "{client:?}: {added}");
            for (name, kept) in before.as_object().unwrap().iter().filter(|(name, _)| *name != key) {
                let after = &after[name.as_str()];
                let is_kept = match kept {
                    Value::Array(items) => items.iter().all(|item| after.as_array().unwrap().contains(item)),
                    _ => after == kept,
                };
                assert!(is_kept, "{client:?}: {name} in {added}");
            }
            // A file that was JSON without extensions is so afterwards.
            if serde_json::from_str::<Value>(text).is_ok() {
                assert!(serde_json::from_str::<Value>(&added).is_ok(), "{client:?}: {added}");
            }
            let breaks = (added.matches('\n').count(), added.matches("\r\n").count());
            assert!(line_break(text) == "\n" || breaks.0 == breaks.1, "mixed line breaks in {added:?}");
            assert_eq!(add(client, &added, &answers).unwrap(), added);
            let removed = remove(client, &added).unwrap();
            let blank = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(
                blank(&prune(client, &removed).unwrap()),
                blank(&prune(client, text).unwrap()),
                "{client:?}: {added}"
            );
        }
    }
}

#[test]
fn a_file_without_a_value_gets_a_document() {
    let library = server(&[], None);
    for text in ["", "\n", "\u{feff}", "// only a comment\n", "/* a */"] {
        let added = add(Client::Cursor, text, &library).unwrap();
        assert!(added.starts_with(text) && added.ends_with("}\n"), "{added:?}");
        assert_eq!(value(&added)["mcpServers"]["annai"]["command"], "/usr/bin/annai");
    }
}

#[test]
fn an_update_changes_only_what_the_server_needs() {
    let text = "{\n  \"mcpServers\": {\n    \"annai\": {\n      \"timeout\": 5, // mine\n      \"command\": \"/old/annai\",\n      \"args\": [\"--stdio\"],\n      \"env\": { \"OPENAI_API_KEY\": \"sk-mine\", \"A\": \"b\" }\n    }\n  }\n}\n";
    let updated = add(Client::Windsurf, text, &server(&["--read-only"], Some("OPENAI_API_KEY"))).unwrap();
    let expected = text
        .replace("/old/annai", "/usr/bin/annai")
        .replace("[\"--stdio\"]", "[\n        \"--stdio\",\n        \"--read-only\"\n      ]");
    assert_eq!(updated, expected, "a key that somebody put there stays, as do other members and comments");
    // A reference that is no longer needed goes, and with it the question and the empty object.
    let with_key = add(Client::Vscode, "{}", &server(&[], Some("OPENAI_API_KEY"))).unwrap();
    let without_key = add(Client::Vscode, &with_key, &server(&[], None)).unwrap();
    assert_eq!(value(&without_key)["inputs"], json!([]));
    assert_eq!(value(&without_key)["servers"]["annai"], Client::Vscode.entry(&server(&[], None)));
}

#[test]
fn a_server_is_recognized_by_its_program() {
    let text = "{\"mcpServers\": {\"annai\": {\"command\": \"npx\", \"args\": [\"annai\"]}}}";
    let (program, arguments) = found(Client::Cursor, text).unwrap().unwrap();
    assert!(!server(&[], None).is_annai(&program, &arguments));
    let remote = "{\"mcpServers\": {\"annai\": {\"url\": \"https://x\"}}}";
    assert_eq!(found(Client::Cursor, remote).unwrap(), Some((String::new(), Vec::new())));
    assert_eq!(found(Client::Cursor, "{\"mcpServers\": {}}").unwrap(), None);
    let added = add(Client::Cursor, "", &server(&[], None)).unwrap();
    let (program, arguments) = found(Client::Cursor, &added).unwrap().unwrap();
    assert!(server(&[], None).is_annai(&program, &arguments));
}

#[test]
fn errors_name_the_line() {
    let library = server(&[], None);
    for (text, line, problem) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, "expected `,` or `}`"),
        ("{\n  a: 1\n}", 2, "expected a name in double quotes, or `}`"),
        ("{\n\"a\" 1}", 2, "expected `:` after \"a\""),
        ("{\"a\": }", 1, "expected a value, got `}`"),
        ("{\"a\": tru}", 1, "expected a value, got `tru`"),
        ("{}\n}", 2, "expected the end of the file, got `}`"),
        ("{\n/* x", 2, "the comment `/*` has no end"),
        ("{\"a\": \"x", 1, "a string has no closing quote"),
        ("{\"a\": 1", 1, "expected `,` or `}`"),
        ("[]", 1, "expected an object in braces here"),
        ("{\n\"mcpServers\": []}", 2, "expected an object in braces here"),
        ("{\n\"mcpServers\": {\n\"annai\": 3}}", 3, "expected an object in braces here"),
    ] {
        let error = add(Client::ClaudeDesktop, text, &library).unwrap_err();
        assert_eq!(error, EditError { line, problem: problem.to_owned() }, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(add(Client::Cursor, &deep, &library).unwrap_err().problem, "the values are nested too deeply");
}
