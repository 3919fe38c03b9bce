use proptest::prelude::*;

use super::*;

fn page(
    keys: &[&str],
    list: &[&str],
    cursor: Option<&str>,
    limit: Option<usize>,
    max_chars: usize,
) -> Page<String> {
    let mut pager = Pager::<String, String>::new(list, cursor, limit, max_chars).unwrap();
    keys.iter().for_each(|key| pager.add((*key).to_owned(), || (*key).to_owned()));
    pager.finish(false)
}

#[test]
fn a_cursor_continues_after_the_last_item_although_the_list_changed() {
    let first = page(&["a", "b", "c"], &["x"], None, Some(2), 100);
    assert_eq!((first.items.as_slice(), first.total), (["a".to_owned(), "b".to_owned()].as_slice(), 3));
    let cursor = first.next_cursor.unwrap();
    let second = page(&["a", "aa", "c", "d"], &["x"], Some(&cursor), Some(2), 100);
    assert_eq!((second.items, second.total, second.next_cursor), (vec!["c".into(), "d".into()], 4, None));
    let all = page(&["a", "b", "c"], &["x"], None, None, 100);
    assert_eq!((all.items.len(), all.next_cursor), (3, None));
}

#[test]
fn a_cursor_that_was_changed_or_belongs_elsewhere_is_refused() {
    let cursor = page(&["a", "b"], &["x", "y"], None, Some(1), 100).next_cursor.unwrap();
    let open = |list: &[&str], cursor: &str| Pager::<String, String>::new(list, Some(cursor), None, 100);
    assert!(open(&["x", "y"], &cursor).is_ok());
    for (list, cursor) in [
        (&["x", "z"][..], cursor.as_str()),
        (&["xy", ""], &cursor),
        (&["x", "y"], &cursor.replace(":a", ":b")),
        (&["x", "y"], ""),
        (&["x", "y"], "a"),
        (&["x", "y"], "00000000:a"),
    ] {
        let error = open(list, cursor).map(drop).unwrap_err();
        assert!(error.message().starts_with("cursor: expected the next_cursor"), "{cursor}");
    }
}

proptest! {
    #[test]
    fn pages_contain_every_item_once_and_keep_their_limits(
        keys in proptest::collection::btree_set("[a-d/#]{1,6}", 0..30),
        limit in proptest::option::of(1_usize..9),
        max_chars in 1_usize..60,
    ) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = page(&keys, &["x"], cursor.as_deref(), limit, max_chars);
            prop_assert_eq!(page.total, keys.len());
            let chars: usize = page.items.iter().map(json_chars).sum();
            prop_assert!(page.items.len() <= limit.unwrap_or(99) && (chars <= max_chars || page.items.len() == 1));
            seen.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() { break; }
        }
        prop_assert_eq!(seen, keys);
    }
}
