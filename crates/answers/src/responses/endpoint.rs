//! The base URL of the API: which URLs are allowed, and how it appears in messages.

use reqwest::Url;

use crate::config::OpenaiSettings;

/// The base URL of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: Url,
}

impl Endpoint {
    /// Parses `openai.base_url`. The error names the key.
    pub fn parse(openai: &OpenaiSettings) -> Result<Self, String> {
        let base = Url::parse(openai.base_url.trim())
            .ok()
            .filter(|base| matches!(base.scheme(), "http" | "https") && base.has_host())
            .ok_or("openai.base_url: expected a URL such as https://api.openai.com/v1")?;
        let endpoint = Self { base };
        if !endpoint.is_encrypted() && !endpoint.is_loopback() && !openai.allow_insecure {
            return Err("openai.base_url: http:// would send the key in the clear; use https://, or set \
                        openai.allow_insecure: true"
                .to_owned());
        }
        Ok(endpoint)
    }

    /// The URL of a resource, such as `responses`.
    pub fn url(&self, resource: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(resource);
        }
        url
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// The host and the path, for messages.
    pub fn display_name(&self) -> String {
        let path = self.base.path().trim_end_matches('/');
        format!("{}{path}", self.host())
    }

    /// The host that a `location` header leads to.
    pub fn redirect_host(&self, location: &str) -> Option<String> {
        self.base.join(location).ok()?.host_str().map(str::to_owned)
    }

    /// Whether the connection uses TLS.
    pub fn is_encrypted(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// Whether the API runs on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str, allow_insecure: bool) -> Result<Endpoint, String> {
        let base_url = base_url.to_owned();
        Endpoint::parse(&OpenaiSettings { base_url, allow_insecure, ..OpenaiSettings::default() })
    }

    #[test]
    fn http_is_allowed_only_on_this_machine_or_explicitly() {
        for url in ["https://api.example", "http://127.0.0.1:1/v1", "http://[::1]/", "http://localhost:8080"]
        {
            assert!(endpoint(url, false).is_ok(), "{url}");
        }
        assert!(endpoint("http://gateway.example", true).is_ok());
        for (url, problem) in [
            ("http://gateway.example", "http:// would send the key in the clear"),
            ("http://localhost.example", "http:// would send the key in the clear"),
            ("ftp://gateway.example", "expected a URL such as"),
            ("nonsense", "expected a URL such as"),
        ] {
            let error = endpoint(url, false).unwrap_err();
            assert!(error.starts_with(&format!("openai.base_url: {problem}")), "{url}: {error}");
        }
    }

    #[test]
    fn resources_are_appended_to_the_path() {
        for base in ["https://api.example/v1", "https://api.example/v1/", " https://api.example/v1 "] {
            let endpoint = endpoint(base, false).unwrap();
            assert_eq!(endpoint.url("responses").as_str(), "https://api.example/v1/responses", "{base}");
            assert_eq!(endpoint.display_name(), "api.example/v1");
        }
        let endpoint = endpoint("https://api.example/v1?api-version=2", false).unwrap();
        assert_eq!(endpoint.url("models").as_str(), "https://api.example/v1/models?api-version=2");
    }

    #[test]
    fn a_redirect_is_named_by_its_host() {
        let endpoint = endpoint("https://api.example/v1", false).unwrap();
        for (location, host) in
            [("https://b.example/x", Some("b.example")), ("/login", Some("api.example")), ("https://", None)]
        {
            assert_eq!(endpoint.redirect_host(location).as_deref(), host, "{location}");
        }
    }
}
