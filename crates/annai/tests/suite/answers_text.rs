//! The text of an answer: its list of sources, its links, and what is removed from it.

use annai_testkit::openai::{self, Step};
use serde_json::{Value, json};

use crate::Asking;

/// A reply with a search and these annotations: the part of the text, and the link that it cites.
fn searched(text: &str, cited: &[(&str, &str)]) -> Step {
    let annotations = cited.iter().map(|(part, url)| openai::citation(text, part, url, "T"));
    let message = openai::message(text, annotations.collect());
    Step::Response(openai::response("m", vec![openai::search_call(&["q"], vec![]), message]))
}

fn answer(asking: &mut Asking, step: Step, arguments: Value) -> (String, Value) {
    asking.api.then(step);
    let output = asking.call("answer", arguments);
    (output["answer"].as_str().unwrap().to_owned(), output)
}

/// The access date is that of the day of the test.
fn without_access_dates(text: &str) -> String {
    let mut parts = text.split("(accessed ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| format!("{text}(accessed){}", part.split_once(')').unwrap().1))
}

#[test]
fn the_list_of_sources_follows_one_rule() {
    let mut asking = Asking::new();
    let a = ("A", "https://a.example/x?utm_source=openai");
    let b = ("B", "https://b.example/");
    for (what, text, cited, expected) in [
        (
            "no list: one is added",
            "A B.",
            &[a, b][..],
            "A B.\n\nSources:\n- https://a.example/x (accessed)\n- https://b.example/ (accessed)",
        ),
        (
            "a list of the model is replaced",
            "A.\n\nSources:\n- https://made-up.example/ (2020-01-01)\n- https://a.example/x (2025/08/09)",
            &[a],
            "A.\n\nSources:\n- https://a.example/x (2025-08-09)",
        ),
        (
            "an English date",
            "A.\n\n## References\n1. Aug 9, 2025: https://a.example/x",
            &[a],
            "A.\n\nSources:\n- https://a.example/x (2025-08-09)",
        ),
        (
            "a Japanese list and date",
            "A。\n\n出典：\n- https://a.example/x（2025年8月9日）",
            &[a],
            "A。\n\nSources:\n- https://a.example/x (2025-08-09)",
        ),
        (
            "text behind the list is kept once",
            "A.\n\nSources:\n- https://a.example/x\n\nNote: prices change.",
            &[a],
            "A.\n\nNote: prices change.\n\nSources:\n- https://a.example/x (accessed)",
        ),
        (
            "the access date of the model is not a publication date",
            "A.\n\nSources:\n- https://a.example/x (accessed 2020-01-01)",
            &[a],
            "A.\n\nSources:\n- https://a.example/x (accessed)",
        ),
        ("searched, but no link named", "Nothing.\n\nSources:\n- https://made-up.example/", &[], "Nothing."),
    ] {
        let (text, output) = answer(&mut asking, searched(text, cited), json!({ "query": "q" }));
        assert_eq!(without_access_dates(&text), expected, "{what}");
        // The list and the citations name the same pages.
        let listed = text.split("Sources:\n").nth(1).map_or(0, |list| list.lines().count());
        assert_eq!(output["citations"].as_array().unwrap().len(), listed, "{what}");
    }
    let from_memory = "It is 4.\n\nSources:\n- https://made-up.example/";
    let step = Step::Response(openai::response("m", vec![openai::message(from_memory, vec![])]));
    let (text, output) = answer(&mut asking, step, json!({ "query": "2 + 2" }));
    assert_eq!((text.as_str(), &output["used_search"]), ("It is 4.", &json!(false)));
}

#[test]
fn max_results_of_the_call_limits_citations_and_list_and_else_max_citations_does() {
    let urls: Vec<_> = (1..=10).map(|number| format!("https://a.example/{number}")).collect();
    let cited: Vec<_> = urls.iter().map(|url| ("A", url.as_str())).collect();
    let mut asking =
        Asking::with("policy: { max_citations: 4 }\nsearch: { defaults: { max_results: 2 } }", &[]);
    for (arguments, expected) in [
        (json!({ "query": "q" }), 4),
        (json!({ "query": "q", "max_results": 1 }), 1),
        (json!({ "query": "q", "max_results": 10 }), 10),
    ] {
        let (text, output) = answer(&mut asking, searched("A.", &cited), arguments.clone());
        assert_eq!(output["citations"].as_array().unwrap().len(), expected, "{arguments}");
        assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), expected, "{arguments}");
    }
    assert!(asking.body(0)["input"].as_str().unwrap().contains("at most 2 sources"));
}

#[test]
fn questions_that_differ_only_in_the_number_of_sources_are_not_mixed_up() {
    let cited = [
        ("A", "https://a.example/1"),
        ("A", "https://a.example/2"),
        ("A", "https://a.example/3"),
        ("A", "https://a.example/4"),
    ];
    let mut asking = Asking::with("cache: { ttl_s: 60 }", &[]);
    for arguments in [json!({ "query": "q" }), json!({ "query": "q", "max_results": 5 })] {
        let (_, output) = answer(&mut asking, searched("A.", &cited), arguments.clone());
        let expected = if arguments.get("max_results").is_some() { 4 } else { 3 };
        assert_eq!(output["citations"].as_array().unwrap().len(), expected, "{arguments}");
    }
    assert_eq!(asking.body(0), asking.body(1), "the model is told the same");
}

#[test]
fn links_that_are_not_allowed_disappear_from_text_and_list_and_are_counted() {
    let mut asking = Asking::new();
    let text = "A is [here](https://b.example/x) or at https://b.example/y, run [it](javascript:alert(1)) or ftp://a.example/f. \
                ([T](https://a.example/x))\n\nSources:\n- https://c.example/\n- https://a.example/x";
    let cited = [("A", "https://a.example/x"), ("here", "https://b.example/x")];
    let arguments = json!({ "query": "q", "domains": ["a.example"] });
    let (answered, output) = answer(&mut asking, searched(text, &cited), arguments);
    assert_eq!(
        without_access_dates(&answered),
        "A is here or at, run it or. ([T](https://a.example/x))\n\nSources:\n- https://a.example/x (accessed)"
    );
    assert_eq!(output["dropped_citations"], 5, "two of b.example, one of c.example, javascript and ftp");
    // Without domains only the other schemes go.
    let (answered, output) = answer(&mut asking, searched(text, &[]), json!({ "query": "q" }));
    assert_eq!(
        answered,
        "A is [here](https://b.example/x) (unverified link) or at https://b.example/y (unverified link), run it or. \
         ([T](https://a.example/x) (unverified link))"
    );
    assert_eq!(output["dropped_citations"], 2);
}

#[test]
fn invisible_characters_and_private_citation_marks_are_removed() {
    let mut asking = Asking::new();
    let text =
        "A\u{202e}B \u{e200}cite\u{e202}turn0search1\u{e201}. \u{1b}[31mred\u{1b}[0m\u{7}\u{200b}\r\nEnd";
    let (answered, output) = answer(&mut asking, searched(text, &[]), json!({ "query": "q" }));
    assert_eq!(answered, "AB. red\nEnd");
    assert_eq!(output["used_search"], true);
    let title = "T\u{202e}itle\u{e200}cite\u{e201} \u{1b}[1mx";
    let annotations = vec![openai::citation("A.", "A", "https://a.example/", title)];
    let message = openai::message("A.", annotations);
    asking.api.then(Step::Response(openai::response("m", vec![message])));
    assert_eq!(asking.call("answer", json!({ "query": "q" }))["citations"][0]["title"], "Title x");
}

#[test]
fn text_that_was_cut_is_marked() {
    let mut asking = Asking::new();
    let step = Step::Response(openai::response("m", vec![openai::message(&"word ".repeat(300_000), vec![])]));
    let (text, output) = answer(&mut asking, step, json!({ "query": "q" }));
    assert_eq!(output["truncated"], true);
    assert!(
        text.ends_with("\n\n[The answer was too long and was cut off here.]"),
        "{}",
        &text[text.len() - 80..]
    );
    let title = "long ".repeat(100);
    let annotations = vec![openai::citation("A.", "A", "https://a.example/", &title)];
    asking.api.then(Step::Response(openai::response("m", vec![openai::message("A.", annotations)])));
    let output = asking.call("answer", json!({ "query": "q" }));
    assert!(output["citations"][0]["title"].as_str().unwrap().ends_with('…'), "{output}");
}
