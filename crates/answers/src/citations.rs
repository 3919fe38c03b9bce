//! From the links of a response to citations that can be trusted: real pages, each once, with a date only where one
//! is known.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use annai_core::Date;
use reqwest::Url;

use crate::dates::{date_at, date_in, date_next_to_link};
use crate::domains::is_within;
use crate::plain_text::{one_line, to_plain_text, truncate, urls_in};
use crate::responses::{Link, ParsedResponse};
use crate::visible_text::visible_text;

/// The longest URL that is cited, in bytes: browsers and proxies commonly accept no more. Longer links are dropped.
const MAX_URL_BYTES: usize = 2048;
/// The maximum length of a service's name, in characters; real names such as `oai-weather` are far shorter. Longer
/// names are cut and end with an ellipsis.
const MAX_SERVICE_NAME_CHARS: usize = 100;
/// The maximum length of a page title, in characters; search engines show less than 100. Longer titles are cut and
/// end with an ellipsis.
const MAX_TITLE_CHARS: usize = 300;
/// Query parameters that only tell where a visitor came from. All that start with `utm_` count too.
const TRACKING_PARAMETERS: &[&str] = &[
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

/// A page that can be cited.
#[derive(Debug, Clone, PartialEq)]
pub struct CitedPage {
    /// The URL without tracking parameters; for a service of the API, its name.
    pub url: String,
    /// The page's title.
    pub title: Option<String>,
    /// The publication date, if it is known.
    pub published: Option<Date>,
    /// The relevance score, if the API gives one.
    pub score: Option<f64>,
    /// The range of the citation in the text, in bytes; empty for a page that was only a source of the search.
    pub range: Range<usize>,
    /// Whether it is a service of the API, which has no URL.
    pub is_service: bool,
    identity: String,
}

impl CitedPage {
    /// Whether a URL leads to this page.
    pub fn is_at(&self, url: &str) -> bool {
        page_identity(url).is_some_and(|identity| identity == self.identity)
    }

    /// Adds what another link to the same page knows.
    fn complete(&mut self, title: Option<String>, published: Option<Date>, score: Option<f64>) {
        self.title = self.title.take().or(title);
        self.published = self.published.or(published);
        self.score = self.score.or(score);
    }
}

/// The pages among some links, and the links that were dropped.
#[derive(Debug, Default, PartialEq)]
pub struct PageSelection {
    /// The pages that may be cited, each once, in order.
    pub pages: Vec<CitedPage>,
    /// The links that were dropped: other schemes than http and https, and pages outside the allowed domains.
    pub dropped: BTreeSet<String>,
}

/// The pages among these links: URLs cleaned, each page once, only those within `domains` unless that is empty. What
/// several links know about one page is merged.
pub fn select_pages<'a>(links: impl IntoIterator<Item = &'a Link>, domains: &[String]) -> PageSelection {
    let (mut selection, mut seen) = (PageSelection::default(), HashMap::<String, Option<usize>>::new());
    for link in links {
        let Some(NormalizedLink { url, identity, host }) = normalize(link) else {
            selection.dropped.insert(link_identity(&link.url));
            continue;
        };
        let published = link.published.as_deref().and_then(|text| Some(date_at(text.trim())?.0));
        let title = link.title.as_deref().map(plain_title).filter(|title| !title.is_empty());
        if let Some(known) = seen.get(&identity) {
            if let Some(page) = known.and_then(|index| selection.pages.get_mut(index)) {
                page.complete(title, published, link.score);
            }
            continue;
        }
        let is_allowed = domains.is_empty() || host.is_some_and(|host| is_within(&host, domains));
        seen.insert(identity.clone(), is_allowed.then_some(selection.pages.len()));
        if !is_allowed {
            selection.dropped.insert(identity);
            continue;
        }
        let (score, range, is_service) = (link.score, link.range.clone(), link.is_service);
        selection.pages.push(CitedPage { url, title, published, score, range, is_service, identity });
    }
    selection
}

/// The pages that an answer cites, at most `max_pages`: the links in its text, or, if none of them is left, the sources
/// of its searches. `entries` are the lines of the list of sources that the model wrote.
pub fn cited_pages(
    response: &ParsedResponse,
    entries: &[&str],
    domains: &[String],
    max_pages: usize,
    today: Date,
) -> PageSelection {
    let mut cited = select_pages(&response.citations, domains);
    let mut sources = select_pages(&response.sources, domains);
    if cited.pages.is_empty() {
        sources.dropped.append(&mut cited.dropped);
        cited = sources;
    } else {
        for page in &mut cited.pages {
            if let Some(source) = sources.pages.iter().find(|source| source.identity == page.identity) {
                page.complete(source.title.clone(), source.published, None);
            }
        }
    }
    cited.pages.truncate(max_pages);
    fill_dates(&mut cited.pages, &response.text, entries, today);
    cited
}

/// Adds the publication dates that stand next to the links in the text or in the entries of a list of sources, and removes
/// dates in the future. It may be a day later where the page was written than where the person is.
pub fn fill_dates(pages: &mut [CitedPage], text: &str, entries: &[&str], today: Date) {
    for page in pages.iter_mut().filter(|page| !page.is_service) {
        let entry = || entries.iter().find(|entry| urls_in(entry).iter().any(|url| page.is_at(url)));
        let date = page.published.or_else(|| date_next_to_link(text, &page.range, &page.url));
        let date = date.or_else(|| date_in(entry()?));
        page.published = date.filter(|date| date.days() <= today.days() + 1);
    }
}

/// What identifies any link, also one that is not a web page.
pub fn link_identity(url: &str) -> String {
    page_identity(url).unwrap_or_else(|| url.trim().to_owned())
}

/// What identifies the page of a URL, whatever its fragment and tracking parameters; `None` if it is not a web page.
pub fn page_identity(url: &str) -> Option<String> {
    normalize(&Link { url: url.to_owned(), ..Link::default() }).map(|link| link.identity)
}

struct NormalizedLink {
    url: String,
    identity: String,
    /// `None` for a service.
    host: Option<String>,
}

fn normalize(link: &Link) -> Option<NormalizedLink> {
    let text = link.url.trim();
    if link.is_service {
        let name = truncate(&one_line(&visible_text(text)), MAX_SERVICE_NAME_CHARS);
        return (!name.is_empty()).then(|| NormalizedLink { url: name.clone(), identity: name, host: None });
    }
    if text.len() > MAX_URL_BYTES {
        return None;
    }
    let mut url = Url::parse(text).ok()?;
    // URL parsers disagree about the host behind a backslash or a user name, so such URLs could mislead.
    let is_ambiguous = text.contains('\\') || !url.username().is_empty() || url.password().is_some();
    if is_ambiguous || !matches!(url.scheme(), "http" | "https") || !text.contains("://") {
        return None;
    }
    let host = Some(url.host_str()?.to_owned());
    remove_tracking_parameters(&mut url);
    let shown = escape_markdown(url.as_str());
    url.set_fragment(None);
    let identity = url.as_str().trim_end_matches('/').to_owned();
    Some(NormalizedLink { url: shown, identity, host })
}

fn remove_tracking_parameters(url: &mut Url) {
    let is_tracking = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        name.starts_with("utm_") || TRACKING_PARAMETERS.contains(&name.as_str())
    };
    let Some(query) = url.query().filter(|query| query.split('&').any(is_tracking)) else { return };
    let remaining: Vec<_> = query.split('&').filter(|pair| !is_tracking(pair)).collect();
    let query = (!remaining.is_empty()).then(|| remaining.join("&"));
    url.set_query(query.as_deref());
}

/// Percent-encodes the characters of a URL that have a meaning in Markdown.
fn escape_markdown(url: &str) -> String {
    let mut escaped = String::with_capacity(url.len());
    for letter in url.chars() {
        match letter {
            '[' => escaped.push_str("%5B"),
            ']' => escaped.push_str("%5D"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            '`' => escaped.push_str("%60"),
            '|' => escaped.push_str("%7C"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Removes the tracking parameter `utm_source=openai`, which the API appends to its links, from the URLs in a text.
pub fn without_api_tracking(text: &str) -> String {
    const PARAMETER: &str = "utm_source=openai";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(PARAMETER) {
        let (before, after) =
            (rest.get(..start).unwrap_or_default(), rest.get(start + PARAMETER.len()..).unwrap_or_default());
        match before.strip_suffix(['?', '&']) {
            Some(url) if !continues_value(after) => {
                out.push_str(url);
                // The parameter that follows becomes the first one.
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
                out.push_str(PARAMETER);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a parameter's value continues with this text, as in `utm_source=openai.com`.
fn continues_value(after: &str) -> bool {
    let is_alphanumeric = |letter: char| letter.is_ascii_alphanumeric();
    after.starts_with(|letter: char| is_alphanumeric(letter) || "_-%+=".contains(letter))
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_alphanumeric))
}

/// A title as plain text, without URLs.
fn plain_title(title: &str) -> String {
    truncate(&to_plain_text(title), MAX_TITLE_CHARS)
}

#[cfg(test)]
#[path = "citations_tests.rs"]
mod tests;
