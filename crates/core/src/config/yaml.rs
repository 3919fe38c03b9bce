//! Reads YAML as JSON values and remembers the line of every key, so that errors can name it.

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use saphyr_parser::{Event, Parser};
use serde_json::Value;

use crate::JsonObject;

/// The maximum nesting depth. Settings are a few levels deep; without a limit, a document of a million levels overflows
/// the stack when it is converted or dropped. A deeper document is an error.
const MAX_DEPTH: u32 = 64;

/// A parsed configuration file.
#[derive(Debug, Default, PartialEq)]
pub struct Document {
    /// The values.
    pub values: JsonObject,
    /// The line of every key, by dotted path.
    pub lines: BTreeMap<String, usize>,
}

/// Parses one YAML document that is a mapping or empty.
///
/// # Errors
///
/// A message that begins with the line number.
pub fn read(text: &str) -> Result<Document, String> {
    check_depth(text)?;
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| format!("{}: {}", error.marker().line(), error.info()))?;
    let mut document = Document::default();
    match documents.as_slice() {
        [] => Ok(document),
        [top] => match convert(top, "", &mut document.lines)? {
            Value::Object(values) => {
                document.values = values;
                Ok(document)
            }
            Value::Null => Ok(document),
            _ => Err(format!("{}: expected a mapping (`key: value`) at the top level", line_of(top))),
        },
        [_, second, ..] => {
            Err(format!("{}: expected a single YAML document, but a second one starts here", line_of(second)))
        }
    }
}

/// Rejects documents that are nested too deeply, before a tree is built from them.
fn check_depth(text: &str) -> Result<(), String> {
    let mut depth = 0_u32;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| format!("{}: {}", error.marker().line(), error.info()))?;
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(format!("{}: nested more than {MAX_DEPTH} levels deep", span.start.line()));
        }
    }
    Ok(())
}

fn line_of(node: &MarkedYaml<'_>) -> usize {
    node.span.start.line()
}

/// Converts a node and everything below it, and records the lines of its keys.
fn convert(node: &MarkedYaml<'_>, path: &str, lines: &mut BTreeMap<String, usize>) -> Result<Value, String> {
    let fail = |problem: &str| Err(format!("{}: {problem}", line_of(node)));
    match &node.data {
        YamlData::Value(scalar) => Ok(match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::Bool(*value),
            Scalar::Integer(value) => Value::from(*value),
            Scalar::FloatingPoint(value) => match serde_json::Number::from_f64(value.0) {
                Some(number) => Value::Number(number),
                None => return fail("expected a finite number, got infinity or NaN"),
            },
            Scalar::String(text) => Value::String(text.to_string()),
        }),
        YamlData::Sequence(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| convert(item, &format!("{path}[{index}]"), lines)).collect()
        }
        YamlData::Mapping(entries) => {
            let mut object = JsonObject::new();
            for (key, value) in entries {
                let YamlData::Value(Scalar::String(name)) = &key.data else {
                    return Err(format!("{}: expected a string as the key", line_of(key)));
                };
                let path = super::join(path, name);
                let value = convert(value, &path, lines)?;
                lines.insert(path, line_of(key));
                object.insert(name.to_string(), value);
            }
            Ok(Value::Object(object))
        }
        YamlData::Tagged(_, inner) => convert(inner, path, lines),
        YamlData::Alias(_) => fail("this alias refers to no anchor"),
        YamlData::Representation(..) | YamlData::BadValue => fail("this value is not valid YAML"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_has_its_value_and_its_line() {
        let document = read("server:\n  debug: true\n  n: 3\nlist: [1, two]\n# end\n").unwrap();
        assert_eq!(
            Value::Object(document.values),
            json!({ "server": { "debug": true, "n": 3 }, "list": [1, "two"] })
        );
        let lines: Vec<_> = document.lines.iter().map(|(key, line)| (key.as_str(), *line)).collect();
        assert_eq!(lines, [("list", 4), ("server", 1), ("server.debug", 2), ("server.n", 3)]);
    }

    #[test]
    fn errors_begin_with_the_line_number() {
        for (text, line) in [("a: 1\nb: [", "3"), ("- 1\n", "1"), ("a: 1\na: 2\n", "2"), ("1: 2", "1")] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("{line}: ")), "{text:?} gave {error}");
        }
    }

    #[test]
    fn documents_that_are_nested_too_deeply_are_rejected() {
        for text in [
            format!("a:\n  {}x", "- ".repeat(3000)),
            format!("{}x", "? ".repeat(100_000)),
            "[".repeat(100_000),
        ] {
            let error = read(&text).unwrap_err();
            assert!(["levels deep", "recursion limit"].iter().any(|why| error.contains(why)), "{error}");
        }
    }

    #[test]
    fn numbers_that_json_cannot_represent_are_rejected() {
        assert_eq!(read("a: .inf").unwrap_err(), "1: expected a finite number, got infinity or NaN");
    }

    #[test]
    fn a_file_without_keys_sets_nothing() {
        assert_eq!(read("").unwrap(), Document::default());
        assert_eq!(read("# nothing\n").unwrap(), Document::default());
    }
}
