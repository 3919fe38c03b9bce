//! From the links of a reply to citations that can be trusted: real pages, each once, with a date only
//! where one is known.

use std::collections::HashSet;

use annai_core::Date;
use reqwest::Url;

use crate::responses::{Link, Reading};

/// Longer addresses are not for people.
const MOST_URL_BYTES: usize = 4096;
/// Query parameters that tell where a reader came from. Those of `utm_…` are others.
const TRACKING: &[&str] = &[
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "vero_id",
    "srsltid",
    "oly_anon_id",
    "oly_enc_id",
];

/// A page, ready to be cited.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its address without tracking parameters; of a service, its name.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// When it was published, if that is known.
    pub published: Option<Date>,
    /// How well it fits, if the API says so.
    pub score: Option<f64>,
    /// Where it is cited, in bytes of the text; empty for a source.
    pub place: std::ops::Range<usize>,
}

/// Pages, and how many were left out because they lie outside the allowed sites.
#[derive(Debug, Default, PartialEq)]
pub struct Pages {
    /// What may be cited, each page once, in order.
    pub pages: Vec<Page>,
    /// What lies outside.
    pub dropped: usize,
}

/// The pages among these links: addresses cleaned, each once, only those of `domains` if there are any.
pub fn pages<'a>(links: impl IntoIterator<Item = &'a Link>, text: &str, domains: &[String]) -> Pages {
    let (mut found, mut seen) = (Pages::default(), HashSet::new());
    for link in links {
        let Some(Address { url, identity, host }) = address(&link.url) else { continue };
        if !seen.insert(identity) {
            continue;
        }
        if !domains.is_empty() && !domains.iter().any(|domain| is_within(&host, domain)) {
            found.dropped += 1;
            continue;
        }
        let published = link.published.as_deref().and_then(|date| Date::parse(date.get(..10)?));
        let published = published.or_else(|| date_beside(text, link, &url));
        let title = link.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        found.pages.push(Page { url, title, published, score: link.score, place: link.place.clone() });
    }
    found
}

/// What an answer cites: the links of its text; where there are none, what its searches used.
pub fn cited(reading: &Reading, domains: &[String]) -> Pages {
    let links = if reading.citations.is_empty() { &reading.sources } else { &reading.citations };
    pages(links, &reading.text, domains)
}

/// A site as the API wants it: no scheme, no path, in lower case and ASCII.
pub fn domain(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("*.").unwrap_or(text);
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("https://{text}")) };
    let host = url.ok().filter(|url| matches!(url.scheme(), "http" | "https"))?.host_str()?.to_owned();
    let host = host.trim_matches('.');
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    (!host.is_empty() && host.chars().all(plain)).then(|| host.to_owned())
}

fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

struct Address {
    url: String,
    /// What makes two addresses the same page.
    identity: String,
    host: String,
}

/// An address that may be shown: of a page, or the bare name of a service.
fn address(text: &str) -> Option<Address> {
    let text = text.trim();
    if text.is_empty() || text.len() > MOST_URL_BYTES {
        return None;
    }
    let Ok(parsed) = Url::parse(text) else {
        // `oai-weather`: a service of the API's own, not a page.
        let named =
            text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' '));
        return named.then(|| Address {
            url: text.to_owned(),
            identity: text.to_owned(),
            host: text.to_owned(),
        });
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return None;
    }
    let host = parsed.host_str()?.to_owned();
    let odd = |letter: char| letter.is_whitespace() || letter.is_control() || "<>\"`".contains(letter);
    let text = if text.contains(odd) { parsed.as_str() } else { text };
    let url = without_tracking(text);
    let mut bare = Url::parse(&url).ok()?;
    bare.set_fragment(None);
    Some(Address { identity: bare.as_str().trim_end_matches('/').to_owned(), url, host })
}

fn without_tracking(url: &str) -> String {
    let (rest, fragment) = url.split_once('#').map_or((url, None), |(rest, fragment)| (rest, Some(fragment)));
    let Some((path, query)) = rest.split_once('?') else { return url.to_owned() };
    let tracks = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        name.starts_with("utm_") || TRACKING.contains(&name.as_str())
    };
    if !query.split('&').any(|pair| tracks(&pair)) {
        return url.to_owned();
    }
    let kept: Vec<_> = query.split('&').filter(|pair| !tracks(pair)).collect();
    let mut clean = path.to_owned();
    if !kept.is_empty() {
        clean = format!("{clean}?{}", kept.join("&"));
    }
    match fragment {
        Some(fragment) => format!("{clean}#{fragment}"),
        None => clean,
    }
}

/// The text without the mark that the API puts on its links.
pub fn without_marks(text: &str) -> String {
    const MARK: &str = "utm_source=openai";
    if !text.contains(MARK) {
        return text.to_owned();
    }
    let text = text.replace(&format!("?{MARK}&"), "?");
    text.replace(&format!("?{MARK}"), "").replace(&format!("&{MARK}"), "")
}

/// Text on one line, without control characters.
pub fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The date that stands directly behind a link in the text.
fn date_beside(text: &str, link: &Link, url: &str) -> Option<Date> {
    let behind_mark = (!link.place.is_empty()).then(|| text.get(link.place.end..)).flatten();
    let behind_url = [link.url.as_str(), url].into_iter().flat_map(|url| {
        let places = text.match_indices(url).filter_map(move |(start, _)| text.get(start + url.len()..));
        places.filter(|rest| !rest.starts_with(goes_on))
    });
    behind_mark.into_iter().chain(behind_url).find_map(leading_date)
}

/// Whether an address goes on with this letter.
fn goes_on(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/?&=#%_~+-".contains(letter)
}

/// The date that a text begins with, behind brackets and words such as "published". The day of access is
/// not the day of publication.
fn leading_date(text: &str) -> Option<Date> {
    const WORDS: &[&str] = &[
        "last updated",
        "published on",
        "published",
        "updated",
        "dated",
        "date",
        "公開日",
        "更新日",
        "発表日",
        "公開",
        "更新",
        "日付",
    ];
    let mut text = text.split('\n').next().unwrap_or_default();
    loop {
        text = text.trim_start_matches(|letter: char| {
            letter.is_whitespace() || "()[]{}<>（）［］【】「」,、;:：.。·・-–—|*_`\"'".contains(letter)
        });
        if let Some(date) = text.get(..10).and_then(Date::parse) {
            let digit =
                text.get(10..).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
            return (!digit).then_some(date);
        }
        let lower = text.chars().take(16).collect::<String>().to_ascii_lowercase();
        let word = WORDS.iter().find(|word| lower.starts_with(*word))?;
        text = text.get(word.len()..)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(url: &str) -> Link {
        Link { url: url.to_owned(), ..Link::default() }
    }

    fn urls(links: &[&str], domains: &[&str]) -> (Vec<String>, usize) {
        let links: Vec<_> = links.iter().map(|url| link(url)).collect();
        let domains: Vec<_> = domains.iter().map(|domain| (*domain).to_owned()).collect();
        let found = pages(&links, "", &domains);
        (found.pages.into_iter().map(|page| page.url).collect(), found.dropped)
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
            "oai-weather",
            "http://b.example",
            "//c.example/path",
        ];
        let expected =
            ["https://a.example/x", "https://a.example/x?id=2#p", "oai-weather", "http://b.example"];
        assert_eq!(urls(&links, &[]), (expected.map(str::to_owned).into(), 0));
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
    fn domains_are_bare_hosts() {
        for (text, expected) in [
            ("jma.go.jp", Some("jma.go.jp")),
            (" https://www.JMA.go.jp/bosai?x=1 ", Some("www.jma.go.jp")),
            ("*.example.com", Some("example.com")),
            ("example.com:8080/path", Some("example.com")),
            ("日本.jp", Some("xn--wgv71a.jp")),
            ("example.com.", Some("example.com")),
            ("ftp://example.com", None),
            ("", None),
            ("a b", None),
            ("[::1]", None),
        ] {
            assert_eq!(domain(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_date_counts_only_beside_its_link_and_not_as_day_of_access() {
        let date = |text: &str| {
            let links = [link("https://a.example/x")];
            pages(&links, text, &[]).pages[0].published.map(|date| date.to_string())
        };
        for text in [
            "- https://a.example/x (2026-01-02)",
            "- [T](https://a.example/x) — 2026-01-02",
            "https://a.example/x（公開日：2026-01-02）",
            "https://a.example/x?, (Last updated: 2026-01-02)",
        ] {
            let text = text.replace("x?,", "x ,");
            assert_eq!(date(&text).as_deref(), Some("2026-01-02"), "{text}");
        }
        for text in [
            "https://a.example/x (accessed 2026-01-02)",
            "https://a.example/x（アクセス日 2026-01-02）",
            "https://a.example/x/y (2026-01-02)",
            "https://a.example/x\n(2026-01-02)",
            "https://a.example/x and since 2026-01-02",
            "https://a.example/x (2026-02-30)",
            "https://a.example/x (2026-01-023)",
            "2026-01-02 https://a.example/x",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn marks_of_the_api_are_taken_off() {
        assert_eq!(
            without_marks(
                "a (https://x/?utm_source=openai) b https://y/?a=1&utm_source=openai, https://z/?utm_source=openai&b=2"
            ),
            "a (https://x/) b https://y/?a=1, https://z/?b=2"
        );
    }

    proptest! {
        #[test]
        fn nothing_but_pages_and_names_gets_through(url in "\\PC{0,60}") {
            for page in pages(&[link(&url)], "", &[]).pages {
                let parsed = Url::parse(&page.url);
                let is_page = page.url.contains(':');
                let is_good = parsed.map_or(!is_page, |url| is_page && url.has_host());
                prop_assert!(is_good, "{}", page.url);
            }
        }
    }
}
