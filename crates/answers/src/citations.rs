//! From the links of a reply to citations that can be trusted: real pages, each once, with a date only
//! where one is known.

use std::collections::HashMap;

use annai_core::Date;
use reqwest::Url;

use crate::dates::date_beside;
use crate::responses::{Link, Reading};

/// Longer addresses and names are not for people.
const MOST_URL_BYTES: usize = 2048;
const MOST_NAME_CHARS: usize = 100;
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
    /// Whether it is a service without a page.
    pub service: bool,
    identity: String,
}

/// Pages, and how many were left out because they lie outside the allowed sites.
#[derive(Debug, Default, PartialEq)]
pub struct Pages {
    /// What may be cited, each page once, in order.
    pub pages: Vec<Page>,
    /// What lies outside.
    pub dropped: usize,
}

/// The pages among these links: addresses cleaned, each once, only those of `domains` if there are any. What several
/// links know of one page is put together.
pub fn pages<'a>(links: impl IntoIterator<Item = &'a Link>, domains: &[String]) -> Pages {
    let (mut found, mut seen) = (Pages::default(), HashMap::<String, Option<usize>>::new());
    for link in links {
        let Some(Address { url, identity, host }) = address(link) else { continue };
        let published = link.published.as_deref().and_then(|date| Date::parse(date.get(..10)?));
        let title = link.title.as_deref().map(plain_title).filter(|title| !title.is_empty());
        if let Some(known) = seen.get(&identity) {
            if let Some(page) = known.and_then(|index| found.pages.get_mut(index)) {
                page.title = page.title.take().or(title);
                page.published = page.published.or(published);
                page.score = page.score.or(link.score);
            }
            continue;
        }
        let allowed = domains.is_empty() || host.is_some_and(|host| is_within(&host, domains));
        seen.insert(identity.clone(), allowed.then_some(found.pages.len()));
        if !allowed {
            found.dropped += 1;
            continue;
        }
        let (score, place, service) = (link.score, link.place.clone(), link.service);
        found.pages.push(Page { url, title, published, score, place, service, identity });
    }
    found
}

/// What an answer cites: the links of its text; where none is left, what its searches used. At most so many.
pub fn cited(reading: &Reading, domains: &[String], most: usize, today: Date) -> Pages {
    let mut cited = pages(&reading.citations, domains);
    let sources = pages(&reading.sources, domains);
    if cited.pages.is_empty() {
        cited = Pages { dropped: cited.dropped + sources.dropped, ..sources };
    } else {
        for page in &mut cited.pages {
            if let Some(source) = sources.pages.iter().find(|source| source.identity == page.identity) {
                page.title = page.title.take().or_else(|| source.title.clone());
                page.published = page.published.or(source.published);
            }
        }
    }
    cited.pages.truncate(most);
    find_dates(&mut cited.pages, &reading.text, today);
    cited
}

/// Fills in the dates that stand beside the links in the text.
pub fn find_dates(pages: &mut [Page], text: &str, today: Date) {
    for page in pages.iter_mut().filter(|page| !page.service) {
        let known = page.published.or_else(|| date_beside(text, &page.place, &page.url));
        // What has not come yet was not published.
        page.published = known.filter(|date| *date <= today);
    }
}

/// What makes two addresses the same page; `None` for what is no page.
pub fn identity(url: &str) -> Option<String> {
    address(&Link { url: url.to_owned(), ..Link::default() }).map(|address| address.identity)
}

impl Page {
    /// Whether an address is that of this page.
    pub fn is_at(&self, url: &str) -> bool {
        identity(url).is_some_and(|identity| identity == self.identity)
    }
}

/// A site as the API wants it: no scheme, no path, in lower case and ASCII.
pub fn domain(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("*.").unwrap_or(text);
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("https://{text}")) };
    let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.username().is_empty())?;
    let host = url.domain()?.trim_matches('.').to_owned();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    (host.contains('.') && host.chars().all(plain)).then_some(host)
}

/// Whether a host is one of these sites or below one.
pub fn is_within(host: &str, domains: &[String]) -> bool {
    domains.iter().any(|domain| {
        host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

struct Address {
    url: String,
    identity: String,
    /// A service has none.
    host: Option<String>,
}

fn address(link: &Link) -> Option<Address> {
    let text = link.url.trim();
    if link.service {
        let name: String = one_line(text).chars().take(MOST_NAME_CHARS).collect();
        return (!name.is_empty()).then(|| Address { url: name.clone(), identity: name, host: None });
    }
    if text.len() > MOST_URL_BYTES {
        return None;
    }
    let mut url = Url::parse(text).ok()?;
    // Other readers of addresses see another host behind a backslash or a user.
    let odd = text.contains('\\') || !url.username().is_empty() || url.password().is_some();
    if odd || !matches!(url.scheme(), "http" | "https") || !text.contains("://") {
        return None;
    }
    let host = Some(url.host_str()?.to_owned());
    let tracks = |name: &str| name.starts_with("utm_") || TRACKING.contains(&name);
    if url.query().is_some_and(|query| query.split('&').any(|pair| tracks(&name_of(pair)))) {
        let kept: Vec<_> =
            url.query()?.split('&').filter(|pair| !tracks(&name_of(pair))).map(str::to_owned).collect();
        url.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
    }
    let shown = url.as_str().to_owned();
    url.set_fragment(None);
    let identity = url.as_str().trim_end_matches('/').to_owned();
    Some(Address { url: without_markdown(&shown), identity, host })
}

fn name_of(pair: &str) -> String {
    pair.split('=').next().unwrap_or_default().to_ascii_lowercase()
}

/// An address whose letters mean nothing to Markdown.
fn without_markdown(url: &str) -> String {
    let mut clean = String::with_capacity(url.len());
    for letter in url.chars() {
        match letter {
            '[' => clean.push_str("%5B"),
            ']' => clean.push_str("%5D"),
            '<' => clean.push_str("%3C"),
            '>' => clean.push_str("%3E"),
            '`' => clean.push_str("%60"),
            '|' => clean.push_str("%7C"),
            other => clean.push(other),
        }
    }
    clean
}

/// The text without the mark that the API puts on its links.
pub fn without_marks(text: &str) -> String {
    const MARK: &str = "utm_source=openai";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(MARK) {
        let (before, after) =
            (rest.get(..start).unwrap_or_default(), rest.get(start + MARK.len()..).unwrap_or_default());
        let goes_on = after
            .starts_with(|letter: char| letter.is_ascii_alphanumeric() || "_-%+=".contains(letter))
            || after
                .strip_prefix('.')
                .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()));
        match before.strip_suffix(['?', '&']) {
            Some(kept) if !goes_on => {
                out.push_str(kept);
                // What follows the mark takes its place.
                match (before.ends_with('?'), after.strip_prefix('&')) {
                    (true, Some(after)) => {
                        out.push('?');
                        rest = after;
                    }
                    _ => rest = after,
                }
            }
            _ => {
                out.push_str(before);
                out.push_str(MARK);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Text on one line, without control characters.
pub fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A title as plain text, without addresses.
fn plain_title(title: &str) -> String {
    let title: String = crate::snippet::plain(title).chars().take(300).collect();
    one_line(&title)
}

/// The addresses in a line, in order.
pub fn urls_in(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        let url = rest.get(start..).unwrap_or_default();
        let stops =
            |letter: char| letter.is_whitespace() || "<>\"'`|（）「」『』【】、。，；]".contains(letter);
        let mut end = url.find(stops).unwrap_or(url.len());
        // A bracket belongs to the address only where it was opened there.
        let mut depth = 0_i32;
        for (at, letter) in url.get(..end).unwrap_or_default().char_indices() {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            if depth < 0 {
                end = at;
                break;
            }
        }
        let url =
            url.get(..end).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
        found.push(url);
        rest = rest.get(start + url.len().max(1)..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
#[path = "citations_tests.rs"]
mod tests;
