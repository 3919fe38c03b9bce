use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn a_pointer_names_the_source_text_of_a_value() {
    let text =
        "\u{feff} {\n \"a/b\": [1, {\"m~n\": \"x,]}\\\"\"} , -2.5e3],\r\n \"\": null, \"\\u3042\": {} }\n";
    for (pointer, expected) in [
        ("/a~1b/0", "1"),
        ("/a~1b/1/m~0n", "\"x,]}\\\"\""),
        ("/a~1b/2", "-2.5e3"),
        ("/", "null"),
        ("/あ", "{}"),
        ("/a~1b", "[1, {\"m~n\": \"x,]}\\\"\"} , -2.5e3]"),
    ] {
        assert_eq!(&text[locate(text, pointer).unwrap()], expected, "{pointer}");
    }
    let whole = locate(text, "").unwrap();
    assert!(text[whole.clone()].starts_with('{') && text[whole].ends_with('}'));
    assert_eq!(locate("7", ""), Ok(0..1));
}

#[test]
fn a_pointer_without_a_value_names_what_exists() {
    let text = r#"{"a": [{"b": 1}], "c": "x"}"#;
    for (pointer, existing) in [
        ("/a/1", "/a"),
        ("/a/0/x/y", "/a/0"),
        ("/a/00", "/a"),
        ("/a/-", "/a"),
        ("/a/+0", "/a"),
        ("/a/99999999999999999999999", "/a"),
        ("/zzz", ""),
        ("/c/0", "/c"),
        ("/a/0/b/", "/a/0/b"),
        ("//a", ""),
    ] {
        assert_eq!(locate(text, pointer), Err(PointerError::NotFound(existing.to_owned())), "{pointer}");
    }
    for pointer in ["a", "#/a", "$.a", "/a~", "/~2"] {
        assert_eq!(locate(text, pointer), Err(PointerError::NotAPointer), "{pointer}");
    }
    for text in ["", "{", "{\"a\": 1,}", "[1] x", "{\"a\" 1}", "nul"] {
        assert!(matches!(locate(text, "/a"), Err(PointerError::Invalid(_))), "{text}");
    }
}

#[test]
fn hostile_texts_need_no_stack_and_duplicates_are_decided() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(locate(&deep, &"/0".repeat(1_000_000)), Ok(1_000_000..1_000_001));
    assert_eq!(locate(&deep, ""), Ok(0..deep.len()));
    assert!(matches!(locate(&"[".repeat(1_000_000), ""), Err(PointerError::Invalid(_))));
    let twice = r#"{"a": 1, "a": 2}"#;
    assert_eq!(&twice[locate(twice, "/a").unwrap()], "1");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[a\u{3042}\"\\\\/~{}\\[\\],: \n]{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec(("[a-c~/\"\u{3042}]{0,2}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every value below a value, with its pointer.
fn all_values(value: &Value, pointer: String, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all_values(item, format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                all_values(member, format!("{pointer}/{}", escaped(name)), found);
            }
        }
        _ => {}
    }
    found.push((pointer, value.clone()));
}

proptest! {
    #[test]
    fn every_value_is_found_by_its_pointer(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let mut all = Vec::new();
        all_values(&value, String::new(), &mut all);
        for (pointer, expected) in all {
            let range = locate(&text, &pointer).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&text[range]).unwrap(), expected, "{}", pointer);
        }
    }

    #[test]
    fn any_text_has_an_answer(text in "[\\[\\]{}\",:1a\\\\ \u{feff}]{0,30}", pointer in "[/~01a\"]{0,8}") {
        if let Ok(range) = locate(&text, &pointer) {
            prop_assert!(serde_json::from_str::<Value>(&text[range]).is_ok());
        }
    }
}
