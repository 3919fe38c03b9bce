//! Links in the text of an answer that no search returned, and answers that are only a list of sources.

use annai_testkit::openai::{self, FakeOpenai, Step};
use serde_json::{Value, json};

use crate::{Asking, Home, annai, stdout};

/// A reply whose search returned a.example and b.example, and that cites the first.
fn searched(text: &str) -> Step {
    let sources = vec![json!({ "type": "url", "url": "https://b.example/page?utm_source=x" })];
    let cited = vec![openai::citation(text, "A", "https://a.example/x?utm_source=openai", "T")];
    let message = openai::message(text, cited);
    Step::Response(openai::response("m", vec![openai::search_call(&["q"], sources), message]))
}

/// The result in the three channels: the four members of the first text item, the second text item and the structure.
fn channels(asking: &mut Asking, step: Step, arguments: Value) -> (Value, Value, Value) {
    asking.api.then(step);
    let reply = asking.server.call("answer", arguments);
    let result = &reply["result"];
    let [first, second] = result["content"].as_array().unwrap().as_slice() else { panic!("{reply}") };
    let parse = |item: &Value| serde_json::from_str::<Value>(item["text"].as_str().unwrap()).unwrap();
    (parse(first), parse(second), result["structuredContent"].clone())
}

/// The text in front of the list of sources, and the number of links, which both kinds of clients see.
fn body(asking: &mut Asking, step: Step, arguments: Value) -> (String, u64) {
    let (first, second, structured) = channels(asking, step, arguments);
    let members: Vec<_> = first.as_object().unwrap().keys().collect();
    assert_eq!(members, ["answer", "used_search", "citations", "model"]);
    assert_eq!(
        (&first["answer"], &second["unverified_links"]),
        (&structured["answer"], &structured["unverified_links"])
    );
    let text = first["answer"].as_str().unwrap().split("\n\nSources:").next().unwrap().to_owned();
    (text, second["unverified_links"].as_u64().unwrap())
}

#[test]
fn links_that_no_search_returned_are_marked_once_and_counted() {
    let mut asking = Asking::new();
    for (text, expected, count) in [
        (
            "A is on https://a.example/x#part, [b](https://b.example/page) and https://made-up.example/.",
            "A is on https://a.example/x#part, [b](https://b.example/page) and https://made-up.example/ (unverified link).",
            1,
        ),
        (
            "A: [one](https://made-up.example/1), <https://made-up.example/2>, [three][3], www.made-up.example.\n\n[3]: https://made-up.example/3",
            "A: [one](https://made-up.example/1) (unverified link), <https://made-up.example/2> (unverified link), [three][3] (unverified link), www.made-up.example (unverified link).\n\n[3]: https://made-up.example/3",
            4,
        ),
        (
            "A: run `curl https://made-up.example/` or\n\n```sh\nwget https://made-up.example/f\n```",
            "A: run `curl https://made-up.example/` or\n\n```sh\nwget https://made-up.example/f\n```",
            2,
        ),
        (
            "Aは[こちら](https://made-up.example/1)とhttps://made-up.example/2をご覧ください。出典はhttps://a.example/xです。",
            "Aは[こちら](https://made-up.example/1)（未確認のリンク）とhttps://made-up.example/2をご覧ください （未確認のリンク）。出典はhttps://a.example/xです。",
            2,
        ),
        (
            "A: you named https://asked.example/, and it is right.",
            "A: you named https://asked.example/, and it is right.",
            0,
        ),
    ] {
        let arguments = json!({ "query": "Is https://asked.example/ right?" });
        assert_eq!(body(&mut asking, searched(text), arguments), (expected.to_owned(), count), "{text}");
    }
}

#[test]
fn without_a_search_every_link_is_marked() {
    let mut asking = Asking::new();
    let message = openai::message("See https://a.example/x.", vec![]);
    let step = Step::Response(openai::response("m", vec![message]));
    let expected = ("See https://a.example/x (unverified link).".to_owned(), 1);
    assert_eq!(body(&mut asking, step, json!({ "query": "q" })), expected);
}

#[test]
fn shared_cached_and_streamed_answers_are_marked_once() {
    let mut asking = Asking::with("cache: { ttl_s: 60 }", &[]);
    let text = "A is on https://made-up.example/ too.";
    let marked = "A is on https://made-up.example/ (unverified link) too.";
    asking.api.then(searched(text));
    let first = asking.call("answer", json!({ "query": "q" }));
    let reply = asking.server.call("answer", json!({ "query": "q" }));
    assert_eq!(reply["result"]["_meta"]["annai/cached"], true);
    let cached = &reply["result"]["structuredContent"];
    for output in [&first, cached] {
        assert!(output["answer"].as_str().unwrap().starts_with(&format!("{marked}\n\nSources:")), "{output}");
        assert_eq!(output["unverified_links"], 1);
    }

    let mut asking = Asking::with("responses: { stream: true }", &[]);
    assert_eq!(body(&mut asking, searched(text), json!({ "query": "q" })), (marked.to_owned(), 1));

    let (api, home) = (FakeOpenai::start(), Home::new());
    api.then(searched(text));
    let mut command = annai(&home);
    command.env("OPENAI_BASE_URL", api.base_url()).env("OPENAI_API_KEY", openai::KEY);
    let printed = stdout(&command.args(["ask", "q"]).output().unwrap());
    assert!(printed.starts_with(&format!("{marked}\n\nSources\n   1  T (accessed ")), "{printed}");
}

#[test]
fn citations_only_returns_the_list_alone() {
    let mut asking = Asking::new();
    let arguments = || json!({ "query": "q", "style": "citations-only" });
    let (first, second, _) =
        channels(&mut asking, searched("A is prose with https://made-up.example/ in it."), arguments());
    let answer = first["answer"].as_str().unwrap();
    assert!(
        answer.starts_with("Sources:\n- https://a.example/x (accessed ") && answer.lines().count() == 2,
        "{answer}"
    );
    assert_eq!(
        (&first["citations"][0]["url"], &second["unverified_links"]),
        (&json!("https://a.example/x"), &json!(0))
    );
    let nothing = Step::Response(openai::response("m", vec![openai::message("Only prose.", vec![])]));
    let (first, ..) = channels(&mut asking, nothing, arguments());
    assert_eq!(
        first["answer"],
        "No source can be named: the API names none that was searched and is allowed."
    );
}
