//! Sponsored APIs: services that can be run, with their price and a budget of their own.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::campaign::{PositiveCents, top_up};
use super::ids::SponsoredApiId;
use super::limits::{MAX_LIST_ENTRIES, MAX_URL_CHARS};
use super::money::Cents;
use super::text::{FieldError, LongText, Name, Problem};
use super::tool_offers::ToolOffers;

/// The prefix of an upstream that is a tool of this server.
pub const TOOL_PREFIX: &str = "tool:";

/// The HTTP method of an upstream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum UpstreamMethod {
    /// The usual one.
    #[default]
    Post,
    /// For upstreams that replace a resource.
    Put,
    /// For upstreams that change a resource.
    Patch,
}

impl UpstreamMethod {
    /// The name of the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
        }
    }
}

/// A sponsored API. Serialized, it is what the public may read: the upstream is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SponsoredApi {
    /// Its id.
    pub id: SponsoredApiId,
    /// Its name.
    pub name: String,
    /// Who offers it, and pays from its own budget.
    pub sponsor: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it is run: a URL, or `tool:` and the name of a tool.
    #[serde(skip)]
    pub upstream_url: String,
    /// The HTTP method.
    #[serde(skip)]
    pub upstream_method: UpstreamMethod,
    /// The HTTP headers, which may contain keys.
    #[serde(skip)]
    pub upstream_headers: BTreeMap<String, String>,
    /// The price of one run.
    pub price_cents: Cents,
    /// All that the sponsor has put into its own budget.
    pub budget_total_cents: Cents,
    /// What of it is neither spent nor reserved.
    pub budget_remaining_cents: Cents,
    /// The sponsor's switch.
    pub active: bool,
    /// The key that runs name.
    pub service_key: String,
    /// When it was created.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
}

impl SponsoredApi {
    /// The name of the tool, if its upstream is one.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.upstream_url.strip_prefix(TOOL_PREFIX)
    }
}

/// HTTP headers for an upstream, without those that the request itself determines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
#[schemars(!try_from, !into)]
pub struct UpstreamHeaders(BTreeMap<String, String>);

impl UpstreamHeaders {
    /// The names and values.
    #[must_use]
    pub fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }
}

impl TryFrom<BTreeMap<String, String>> for UpstreamHeaders {
    type Error = Problem;

    fn try_from(headers: BTreeMap<String, String>) -> Result<Self, Problem> {
        const RESERVED: [&str; 8] = [
            "connection",
            "content-length",
            "content-type",
            "host",
            "idempotency-key",
            "te",
            "transfer-encoding",
            "upgrade",
        ];
        if headers.len() > MAX_LIST_ENTRIES {
            return Err(Problem::new(format!("must have at most {MAX_LIST_ENTRIES} entries")));
        }
        for (name, value) in &headers {
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || name.len() > 200 || !name.bytes().all(is_token) {
                return Err(Problem::new("the names must be names of HTTP headers"));
            }
            if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(Problem::new(format!("must not set {name}, which the request determines")));
            }
            if value.len() > MAX_URL_CHARS || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                return Err(Problem::new(format!(
                    "the value of {name} must have at most {MAX_URL_CHARS} printable ASCII characters"
                )));
            }
        }
        Ok(Self(headers))
    }
}

impl From<UpstreamHeaders> for BTreeMap<String, String> {
    fn from(headers: UpstreamHeaders) -> Self {
        headers.0
    }
}

/// What `POST /sponsored-apis` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SponsoredApiDraft {
    /// The name of the API.
    pub name: Name,
    /// Who offers it.
    pub sponsor: Name,
    /// Where it is run: an `https://` URL, or `tool:` and the name of a tool of this server.
    #[schemars(length(min = 1, max = MAX_URL_CHARS))]
    pub upstream_url: String,
    /// The price of one run.
    pub price_cents: Cents,
    /// The API's own budget, which pays where no campaign does.
    pub budget_cents: Cents,
    /// The key that runs name; made from the name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_key: Option<Name>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<LongText>,
    /// The HTTP method of the upstream.
    #[serde(default)]
    pub upstream_method: UpstreamMethod,
    /// Headers for the upstream, such as its key. They are never returned.
    #[serde(default)]
    pub upstream_headers: UpstreamHeaders,
}

impl SponsoredApiDraft {
    /// The sponsored API that the draft describes.
    ///
    /// # Errors
    ///
    /// The upstream is no URL and no tool that may be bought, the price is below the tool's least one, or the service key
    /// is unusable or would hide a tool of this server.
    pub fn into_api(
        self,
        tools: &ToolOffers,
        id: SponsoredApiId,
        now: Timestamp,
    ) -> Result<SponsoredApi, FieldError> {
        let service_key = match &self.service_key {
            Some(key) => key.to_string(),
            None => slug(&self.name),
        };
        check_key(&service_key)?;
        check_upstream(&self.upstream_url, self.price_cents, &service_key, tools)?;
        Ok(SponsoredApi {
            id,
            name: self.name.into_string(),
            sponsor: self.sponsor.into_string(),
            description: self.description.map(LongText::into_string),
            upstream_url: self.upstream_url,
            upstream_method: self.upstream_method,
            upstream_headers: self.upstream_headers.into_map(),
            price_cents: self.price_cents,
            budget_total_cents: self.budget_cents,
            budget_remaining_cents: self.budget_cents,
            active: true,
            service_key,
            created_at: now,
        })
    }
}

/// Letters and digits in lower case, with single hyphens between them.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// A key is part of a path, so it has no separators of one.
fn check_key(key: &str) -> Result<(), FieldError> {
    let is_separator =
        |letter: char| letter.is_whitespace() || letter.is_control() || "/?#%\\".contains(letter);
    if key.is_empty() || key.contains(is_separator) || key.trim_matches('.').is_empty() {
        let problem = "must have letters, digits, hyphens, underscores and dots only, such as web-answers";
        return Err(Problem::new(problem).of("service_key"));
    }
    Ok(())
}

fn check_upstream(url: &str, price: Cents, key: &str, tools: &ToolOffers) -> Result<(), FieldError> {
    let wrong = |problem: String| Err(Problem::new(problem).of("upstream_url"));
    if let Some(name) = url.strip_prefix(TOOL_PREFIX) {
        let Some(offer) = tools.get(name) else {
            return wrong("names no tool of this server that a sponsor may buy".to_owned());
        };
        if price < offer.min_price {
            let problem =
                format!("must be at least {}, the operator's price of {name}", offer.min_price.get());
            return Err(Problem::new(problem).of("price_cents"));
        }
    } else if !url.starts_with("https://") && !url.starts_with("http://") {
        return wrong("must be an https:// URL, or tool: and the name of a tool".to_owned());
    } else if url.len() > MAX_URL_CHARS || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return wrong(format!("must be a URL of at most {MAX_URL_CHARS} characters without white space"));
    }
    let is_tool = tools.get(key).is_some() || tools.is_left_out(key);
    if is_tool && url.strip_prefix(TOOL_PREFIX) != Some(key) {
        let problem =
            format!("is the name of a tool of this program, so upstream_url must be {TOOL_PREFIX}{key}");
        return Err(Problem::new(problem).of("service_key"));
    }
    Ok(())
}

/// What `PATCH /sponsored-apis/{id}` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SponsoredApiPatch {
    /// Changes the price of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_cents: Option<Cents>,
    /// Changes the description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<LongText>,
    /// Switches the API on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Replaces the headers for the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_headers: Option<UpstreamHeaders>,
    /// Adds to the API's own budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_budget_cents: Option<PositiveCents>,
}

impl SponsoredApiPatch {
    /// Applies the changes.
    ///
    /// # Errors
    ///
    /// The budget would leave its range, or the price of a tool would fall below its least one; then nothing is changed.
    pub fn apply(self, api: &mut SponsoredApi, tools: &ToolOffers) -> Result<(), FieldError> {
        if let (Some(price), Some(name)) = (self.price_cents, api.tool()) {
            let least = tools.get(name).map_or(Cents::ZERO, |offer| offer.min_price);
            if price < least {
                let problem = format!("must be at least {}, the operator's price of {name}", least.get());
                return Err(Problem::new(problem).of("price_cents"));
            }
        }
        top_up(&mut api.budget_total_cents, &mut api.budget_remaining_cents, self.add_budget_cents)?;
        if let Some(price) = self.price_cents {
            api.price_cents = price;
        }
        if let Some(description) = self.description {
            api.description = Some(description.into_string());
        }
        if let Some(active) = self.active {
            api.active = active;
        }
        if let Some(headers) = self.upstream_headers {
            api.upstream_headers = headers.into_map();
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "sponsored_api_tests.rs"]
pub(super) mod tests;
