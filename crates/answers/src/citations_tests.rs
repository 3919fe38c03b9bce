use proptest::prelude::*;

use super::*;

fn link(url: &str) -> Link {
    Link { url: url.to_owned(), ..Link::default() }
}

fn urls(links: &[&str], domains: &[&str]) -> (Vec<String>, usize) {
    let links: Vec<_> = links.iter().map(|url| link(url)).collect();
    let domains: Vec<_> = domains.iter().map(|domain| (*domain).to_owned()).collect();
    let found = select_pages(&links, &domains);
    (found.pages.into_iter().map(|page| page.url).collect(), found.dropped.len())
}

#[test]
fn pages_are_cited_once_without_tracking() {
    let links = [
        "https://a.example/x?utm_source=openai",
        "https://a.example/x#part",
        "https://A.example/x/?utm_medium=b&fbclid=1",
        "https://a.example/x?id=2&utm_source=openai#p",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://a.example/",
        "file:///etc/passwd",
        "",
        "oai-weather",
        "www.a.example",
        "http://b.example",
        "//c.example/path",
        "https:d.example/y",
        "https://e.example\\@evil.example/x",
        "https://user:pw@f.example/",
    ];
    let expected = ["https://a.example/x", "https://a.example/x?id=2#p", "http://b.example/"];
    // What is not a page of the web is dropped and counted.
    assert_eq!(urls(&links, &[]), (expected.map(str::to_owned).into(), 11));
    let service = Link { is_service: true, ..link("oai/finance:v1\n") };
    assert_eq!(select_pages(&[service.clone(), service], &[]).pages[0].url, "oai/finance:v1");
}

#[test]
fn what_several_links_know_about_a_page_is_merged() {
    let date = Date::parse("2026-01-02");
    let links = [
        link("https://a.example/x"),
        Link { title: Some("A".into()), ..link("https://a.example/x/") },
        Link {
            published: Some("2026-01-02T10:00:00Z".into()),
            score: Some(0.5),
            ..link("https://a.example/x#y")
        },
    ];
    let found = select_pages(&links, &[]).pages;
    assert_eq!(
        (found.len(), found[0].title.as_deref(), found[0].published, found[0].score),
        (1, Some("A"), date, Some(0.5))
    );
}

#[test]
fn links_cannot_smuggle_markdown_or_other_links() {
    let (found, _) =
        urls(&["https://a.example/x)[Click](javascript:alert(1))", "https://a.example/\u{202e}z"], &[]);
    assert!(found.iter().all(|url| !url.contains('[') && url.is_ascii()), "{found:?}");
    let titled = Link {
        title: Some("see **https:**//evil.example/ and `www.evil.example`".into()),
        ..link("https://a.example/")
    };
    assert_eq!(select_pages(&[titled], &[]).pages[0].title.as_deref(), Some("see and"));
}

#[test]
fn other_sites_are_dropped_and_counted() {
    let links = [
        "https://www.jma.go.jp/a",
        "https://jma.go.jp/",
        "https://notjma.go.jp/",
        "https://jma.go.jp.evil.example/",
    ];
    let (kept, dropped) = urls(&links, &["jma.go.jp"]);
    assert_eq!((kept.len(), dropped), (2, 2));
}

#[test]
fn the_tracking_parameter_of_the_api_is_removed() {
    let text = "a (https://x/?utm_source=openai) b https://y/?a=1&utm_source=openai, https://z/?utm_source=openai&b=2 \
                https://w/?utm_source=openai.com utm_source=openai.";
    let clean =
        "a (https://x/) b https://y/?a=1, https://z/?b=2 https://w/?utm_source=openai.com utm_source=openai.";
    assert_eq!(without_api_tracking(text), clean);
}

proptest! {
    #[test]
    fn only_urls_with_a_host_become_pages(url in "\\PC{0,60}") {
        for page in select_pages(&[link(&url)], &[]).pages {
            prop_assert!(Url::parse(&page.url).is_ok_and(|url| url.has_host()), "{}", page.url);
        }
    }

    #[test]
    fn any_text_can_be_cleaned(text in "[a?&=/ .]{0,9}(utm_source=openai){0,2}[a?&=. ]{0,9}") {
        prop_assert!(without_api_tracking(&text).len() <= text.len());
    }
}
