//! A YAML file as JSON values, with the line that every key stands on.

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use saphyr_parser::{Event, Parser};
use serde_json::Value;

use crate::JsonObject;

const MOST_LEVELS: u32 = 64;

/// A configuration file, read.
#[derive(Debug, Default, PartialEq)]
pub struct Document {
    /// Its values.
    pub values: JsonObject,
    /// The line of every key, by its dotted path.
    pub lines: BTreeMap<String, usize>,
}

/// Reads one YAML document whose top is a mapping. The error names the line.
pub fn read(text: &str) -> Result<Document, String> {
    check_depth(text)?;
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| format!("{}: {}", error.marker().line(), error.info()))?;
    let mut found = Document::default();
    match documents.as_slice() {
        [] => Ok(found),
        [top] => match convert(top, "", &mut found.lines)? {
            Value::Object(values) => {
                found.values = values;
                Ok(found)
            }
            Value::Null => Ok(found),
            _ => Err(format!("{}: expected keys and values at the top", line_of(top))),
        },
        [_, second, ..] => Err(format!("{}: expected one document, got another", line_of(second))),
    }
}

/// Settings are a few levels deep. Without a limit, a tree of a million levels ends the process when it is dropped.
fn check_depth(text: &str) -> Result<(), String> {
    let mut depth = 0_u32;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| format!("{}: {}", error.marker().line(), error.info()))?;
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_LEVELS {
            return Err(format!("{}: nested more than {MOST_LEVELS} levels deep", span.start.line()));
        }
    }
    Ok(())
}

fn line_of(node: &MarkedYaml<'_>) -> usize {
    node.span.start.line()
}

fn convert(node: &MarkedYaml<'_>, path: &str, lines: &mut BTreeMap<String, usize>) -> Result<Value, String> {
    let fail = |what: &str| Err(format!("{}: {what}", line_of(node)));
    match &node.data {
        YamlData::Value(scalar) => Ok(match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::Bool(*value),
            Scalar::Integer(value) => Value::from(*value),
            Scalar::FloatingPoint(value) => match serde_json::Number::from_f64(value.0) {
                Some(number) => Value::Number(number),
                None => return fail("a number that is none"),
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
                    return Err(format!("{}: expected a word as the key", line_of(key)));
                };
                let path = super::join(path, name);
                let value = convert(value, &path, lines)?;
                lines.insert(path, line_of(key));
                object.insert(name.to_string(), value);
            }
            Ok(Value::Object(object))
        }
        YamlData::Tagged(_, inner) => convert(inner, path, lines),
        YamlData::Alias(_) => fail("an alias to nothing"),
        YamlData::Representation(..) | YamlData::BadValue => fail("a value that is not YAML"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_keep_their_lines() {
        let document = read("server:\n  debug: true\n  n: 3\nlist: [1, two]\n# end\n").unwrap();
        assert_eq!(
            Value::Object(document.values),
            json!({ "server": { "debug": true, "n": 3 }, "list": [1, "two"] })
        );
        let lines: Vec<_> = document.lines.iter().map(|(key, line)| (key.as_str(), *line)).collect();
        assert_eq!(lines, [("list", 4), ("server", 1), ("server.debug", 2), ("server.n", 3)]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in [("a: 1\nb: [", "3"), ("- 1\n", "1"), ("a: 1\na: 2\n", "2"), ("1: 2", "1")] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("{line}: ")), "{text:?} gave {error}");
        }
    }

    #[test]
    fn depth_is_limited() {
        for text in [
            format!("a:\n  {}x", "- ".repeat(3000)),
            format!("{}x", "? ".repeat(100_000)),
            "[".repeat(100_000),
        ] {
            let error = read(&text).unwrap_err();
            assert!(["levels deep", "recursion limit"].iter().any(|why| error.contains(why)), "{error}");
        }
        assert!(read("a: .inf").unwrap_err().starts_with("1: "));
    }

    #[test]
    fn an_empty_file_is_empty() {
        assert_eq!(read("").unwrap(), Document::default());
        assert_eq!(read("# nothing\n").unwrap(), Document::default());
    }
}
