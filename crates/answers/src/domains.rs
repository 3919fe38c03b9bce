//! Sites as callers and the API name them: bare host names such as `jma.go.jp`.

use reqwest::Url;

/// Parses a site into the form that the API expects: no scheme, no path, lower case, ASCII (Punycode). Returns `None`
/// for anything that is not a domain name with a dot, such as an IP address.
pub fn parse_domain(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("*.").unwrap_or(text);
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("https://{text}")) };
    let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.username().is_empty())?;
    let host = url.domain()?.trim_matches('.').to_owned();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    (host.contains('.') && host.chars().all(is_plain)).then_some(host)
}

/// Whether a host is one of these domains or a subdomain of one.
pub fn is_within(host: &str, domains: &[String]) -> bool {
    domains.iter().any(|domain| {
        host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("user@example.com", None),
            ("", None),
            ("a b", None),
            ("123", None),
            ("localhost", None),
            ("10.0.0.1", None),
            ("[::1]", None),
        ] {
            assert_eq!(parse_domain(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn subdomains_are_within_their_domain() {
        let domains = ["jma.go.jp".to_owned()];
        for (host, expected) in [
            ("jma.go.jp", true),
            ("www.jma.go.jp", true),
            ("notjma.go.jp", false),
            ("jma.go.jp.evil.example", false),
        ] {
            assert_eq!(is_within(host, &domains), expected, "{host}");
        }
        assert!(!is_within("jma.go.jp", &[]));
    }
}
