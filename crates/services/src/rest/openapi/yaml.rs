//! Writes JSON values as YAML in block style.

use std::fmt::Write as _;

use serde_json::Value;

/// A value as a YAML document.
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.trim_start_matches('\n').to_owned()
}

/// Writes what follows a key or a dash: a scalar on the same line, or the members on lines of their own.
fn write(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (key, value) in object {
                let _ = write!(text, "\n{:indent$}{}:", "", scalar(key));
                write(text, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "\n{:indent$}-", "");
                let mut lines = String::new();
                write(&mut lines, item, indent + 2);
                // The first member of an item stands on the line of its dash.
                text.push(' ');
                text.push_str(lines.trim_start());
            }
        }
        Value::String(string) => {
            let _ = write!(text, " {}", scalar(string));
        }
        other => {
            let _ = write!(text, " {other}");
        }
    }
    if indent == 0 {
        text.push('\n');
    }
}

/// A text without quotes where it can only be read as that text, else with quotes: a JSON string is also a YAML one.
fn scalar(text: &str) -> String {
    let is_plain_char = |char: char| char.is_ascii_alphanumeric() || " _-./(),;'`{}$".contains(char);
    let is_word = !matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let begins_plain = text.starts_with(|char: char| char.is_ascii_alphabetic() || "/$".contains(char));
    if is_word && begins_plain && !text.ends_with(' ') && text.chars().all(is_plain_char) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
    use serde_json::{Map, json};

    use super::*;

    /// A YAML node as JSON, read by another program than ours.
    fn to_json(node: &Yaml<'_>) -> Value {
        match node {
            Yaml::Value(Scalar::Null) => Value::Null,
            Yaml::Value(Scalar::Boolean(boolean)) => json!(boolean),
            Yaml::Value(Scalar::Integer(integer)) => json!(integer),
            Yaml::Value(Scalar::FloatingPoint(float)) => json!(float.into_inner()),
            Yaml::Value(Scalar::String(string)) => json!(string),
            Yaml::Sequence(items) => items.iter().map(to_json).collect(),
            Yaml::Mapping(members) => {
                let member = |(key, value): (&Yaml<'_>, &Yaml<'_>)| match to_json(key) {
                    Value::String(key) => (key, to_json(value)),
                    other => panic!("{other} is not a text"),
                };
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn assert_same(value: &Value) {
        let text = to_yaml(value);
        let documents = Yaml::load_from_str(&text).unwrap();
        assert_eq!(to_json(&documents[0]), *value, "{text}");
    }

    #[test]
    fn blocks_are_indented() {
        let value = json!({
            "a": { "b": [1, "two words"], "c": [], "d": {} },
            "list": [{ "x": true, "z": [null] }, ["z"]],
            "200": "200",
            "/p/{id}": "it: is",
        });
        let text = "a:\n  b:\n    - 1\n    - two words\n  c: []\n  d: {}\n\
                    list:\n  - x: true\n    z:\n      - null\n  - - z\n\
                    \"200\": \"200\"\n/p/{id}: \"it: is\"\n";
        assert_eq!(to_yaml(&value), text);
        assert_same(&value);
    }

    #[test]
    fn every_text_is_read_as_that_text() {
        for text in [
            "",
            " ",
            "a ",
            "yes",
            "Null",
            "~",
            "1",
            "1.5",
            "0x1",
            ".inf",
            "-",
            "- a",
            "a: b",
            "a #b",
            "#",
            "'a'",
            "a'",
            "\"",
            "\\",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "%",
            "@",
            "`",
            "[",
            "{",
            "a\nb",
            "\t",
            "案内",
            "\u{7f}",
            "\u{2028}",
            "---",
            "...",
            "=",
            "<<",
            "2026-01-01",
            "n",
            "a, b (c)",
            "/a",
            "$ref",
            "a; b",
            "a `b`",
            "{a}",
            "a{b}",
            "a}",
            "a {",
        ] {
            assert_same(&json!({ text: [text] }));
        }
    }
}
