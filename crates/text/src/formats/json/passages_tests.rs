use proptest::prelude::*;

use super::*;
use crate::formats::json::pointer::locate;

fn split(text: &str, max_chars: usize) -> Vec<(String, &str)> {
    passages(text, max_chars).into_iter().map(|(pointer, range)| (pointer, &text[range])).collect()
}

fn passage<'a>(pointer: &str, text: &'a str) -> (String, &'a str) {
    (pointer.to_owned(), text)
}

#[test]
fn a_text_is_split_into_the_largest_values_that_fit() {
    let text = "{\"list\": [{\"a\": 1}, {\"b\": [2, 3]}],\n \"x/y\": \"long text\", \"z\": {}}";
    assert_eq!(split(text, 1000), [passage("", text)]);
    assert_eq!(
        split(text, 30),
        [
            passage("/list", "{\"list\": [{\"a\": 1}, {\"b\": [2, 3]}]"),
            passage("/x~1y", "\"x/y\": \"long text\""),
            passage("/z", "\"z\": {}")
        ]
    );
    assert_eq!(
        split(text, 13),
        [
            passage("/list/0", "{\"list\": [{\"a\": 1}"),
            passage("/list/1", "{\"b\": [2, 3]}"),
            passage("/x~1y", "\"x/y\": \"long text\""),
            passage("/z", "\"z\": {}")
        ]
    );
    // A string that is too long stays one passage; characters count, not bytes.
    assert_eq!(split("[\"ああああ\"]", 8), [passage("", "[\"ああああ\"]")]);
    assert_eq!(split("[\"ああああ\"]", 3), [passage("/0", "[\"ああああ\"")]);
    assert_eq!(split("\"abc\"", 1), [passage("", "\"abc\"")]);
    assert_eq!(split("\u{feff}[1,  2]", 3), [passage("/0", "[1"), passage("/1", "2")]);
}

#[test]
fn what_is_not_json_is_one_passage() {
    for text in ["", "{", "[1,]", "a: b", "[1] 2"] {
        assert_eq!(split(text, 2), [passage("", text)]);
    }
}

#[test]
fn only_the_first_of_several_equal_names_has_a_pointer() {
    assert_eq!(
        split("{\"a\": 1, \"a\": [2, 3], \"b\": 4}", 5),
        [passage("/a", "{\"a\": 1"), passage("", "\"a\": [2, 3]"), passage("/b", "\"b\": 4")]
    );
}

#[test]
fn a_container_of_white_space_is_one_passage() {
    let text = "{\"a\": [        ], \"b\": 1}";
    assert_eq!(split(text, 5), [passage("/a", "{\"a\": [        ]"), passage("/b", "\"b\": 1")]);
}

#[test]
fn deep_nesting_needs_neither_stack_nor_time() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let found = passages(&deep, 4000);
    assert_eq!((found.len(), found[0].0.len()), (1, 2 * MAX_DEPTH));
    let objects = format!("{}1{}", "{\"a\":[".repeat(300_000), "]}".repeat(300_000));
    assert_eq!(passages(&objects, 4000).len(), 1);
    let open = "[".repeat(1_000_000);
    assert_eq!(passages(&open, 4000), [(String::new(), 0..1_000_000)]);
}

#[test]
fn the_number_and_the_pointers_of_passages_are_bounded() {
    let many = format!("[{}1]", "1,".repeat(200_000));
    let found = passages(&many, 10);
    assert_eq!(found.len(), MAX_PASSAGES + 1);
    let (pointer, rest) = &found[MAX_PASSAGES];
    assert_eq!((pointer.as_str(), rest.end), ("", many.len()));
    let exact = format!("[{}1]", "1,".repeat(MAX_PASSAGES - 1));
    assert_eq!(passages(&exact, 10).len(), MAX_PASSAGES);
    let long = format!("{{\"{}\": [1, 2], \"b\": [1, 2]}}", "x".repeat(5000));
    let pointers: Vec<_> = passages(&long, 4).into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(pointers, ["", "/b/0", "/b/1"]);
}

proptest! {
    #[test]
    fn passages_follow_each_other_and_lead_to_their_values(
        text in "(\\[|\\]|\\{|\\}|\"[ab\u{3042}]\":|\"x\"|,|1| |\n){0,40}",
        max_chars in 1_usize..20,
    ) {
        check_passages(&text, max_chars)?;
    }

    #[test]
    fn passages_of_real_values_follow_each_other(
        items in proptest::collection::vec(("[ab]{1,2}", "[\u{3042}c,\\]]{0,9}", 0_usize..5), 0..9),
        pretty in any::<bool>(),
        max_chars in 1_usize..60,
    ) {
        let items: Vec<_> = items.iter().map(|(name, text, count)| serde_json::json!({ name: text, "n": vec![1; *count] })).collect();
        let value = serde_json::Value::from(items);
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        check_passages(&text, max_chars)?;
    }
}

fn check_passages(text: &str, max_chars: usize) -> Result<(), TestCaseError> {
    let found = passages(text, max_chars);
    prop_assert!(!found.is_empty());
    let mut end = 0;
    for (pointer, range) in &found {
        // Between two passages is nothing but punctuation.
        prop_assert!(text[end..range.start].chars().all(|ch| " \n,]}".contains(ch)), "{:?}", found);
        end = range.end;
        if let Ok(value) = locate(text, pointer) {
            let is_own = value.end == range.end && range.start <= value.start;
            prop_assert!(is_own || (value.start <= range.start && range.end <= value.end), "{:?}", found);
        } else {
            prop_assert!(found.len() == 1 && pointer.is_empty());
        }
    }
    prop_assert!(text[end..].chars().all(|ch| " \n,]}".contains(ch)), "{:?}", found);
    Ok(())
}
