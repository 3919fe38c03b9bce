//! Loopback trust: which requests count as coming from the owner of the machine. Every condition must hold, because whoever
//! is trusted may use all tools. A proxy that adds no header and speaks HTTP/1.1 cannot be recognized.

use std::net::SocketAddr;

use annai_core::PeerAddress;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Version};

use super::web_origin::{BadUrl, WebOrigin, is_loopback, origin_of_setting, split_host};
use crate::ServerSection;

/// The beginnings of the names of headers that proxies add: the standard ones, and those of Amazon, Azure, Cloudflare,
/// Envoy, Fastly, Fly, ngrok, Tailscale and others. A request that has one did not come straight from this machine.
const FORWARDING_PREFIXES: [&str; 17] = [
    "forwarded",
    "via",
    "x-forwarded",
    "x-original-",
    "x-real",
    "x-client",
    "x-remote",
    "x-azure",
    "x-amz",
    "x-envoy-",
    "cdn-loop",
    "cf-",
    "fastly-",
    "fly-",
    "ngrok-",
    "tailscale-",
    "true-client",
];
/// The end of the names in which many further proxies pass the address of the client on, such as `Cluster-Client-IP`.
const FORWARDING_SUFFIX: &str = "client-ip";

/// The rule that decides whether a request is the owner's.
#[derive(Debug, Clone)]
pub struct LoopbackTrust {
    /// Why no request is trusted; `None` when those that fulfil the conditions are.
    never: Option<&'static str>,
    port: u16,
    trusted_origins: Vec<WebOrigin>,
}

impl LoopbackTrust {
    /// The rule for a server that listens on `address`.
    ///
    /// # Errors
    ///
    /// A setting is not a URL.
    pub fn new(server: &ServerSection, address: SocketAddr) -> Result<Self, BadUrl> {
        let never = if !server.trust_loopback {
            Some("server.trust_loopback is false")
        } else if server.public_url.is_some() {
            Some("PUBLIC_URL is set")
        } else if !address.ip().is_loopback() {
            Some("the server listens beyond loopback")
        } else {
            None
        };
        let origins = server.trusted_origins.iter();
        let origins = origins.map(|url| origin_of_setting("server.trusted_origins", url));
        let trusted_origins = origins.collect::<Result<_, _>>()?;
        Ok(Self { never, port: address.port(), trusted_origins })
    }

    /// Why no request at all is trusted; `None` when those that fulfil the conditions are.
    #[must_use]
    pub const fn never(&self) -> Option<&'static str> {
        self.never
    }

    /// Whether a request that passed the door is the owner's.
    pub fn trusts(&self, parts: &Parts) -> bool {
        let peer = parts.extensions.get::<PeerAddress>();
        self.never.is_none()
            && peer.is_some_and(|peer| peer.0.ip().is_loopback())
            // The plain `proxy_pass` of nginx speaks HTTP/1.0, and adds no header by default.
            && parts.version >= Version::HTTP_11
            && names_loopback(parts)
            && !is_forwarded(&parts.headers)
            && self.trusts_page(&parts.headers)
    }

    /// Whether the request comes from no web page, or from one that is trusted. A page that CORS lets in is not thereby
    /// trusted: it could read the owner's documents.
    fn trusts_page(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else {
            // Browsers send no Origin with some requests, but say here whether another site made them.
            let mut sites = headers.get_all("sec-fetch-site").iter();
            return sites.all(|site| matches!(site.as_bytes(), b"none" | b"same-origin"));
        };
        let origin = origin.to_str().ok().and_then(WebOrigin::parse_header);
        origin.is_some_and(|origin| {
            origin.is_loopback_port(self.port) || self.trusted_origins.contains(&origin)
        })
    }
}

fn names_loopback(parts: &Parts) -> bool {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(Authority::as_str));
    host.and_then(split_host).is_some_and(|(name, _)| is_loopback(name))
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        name.ends_with(FORWARDING_SUFFIX) || FORWARDING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        parts.extensions.insert(PeerAddress("127.0.0.1:5".parse().unwrap()));
        parts
    }

    fn trust(server: &ServerSection, address: &str) -> LoopbackTrust {
        LoopbackTrust::new(server, address.parse().unwrap()).unwrap()
    }

    #[test]
    fn every_condition_of_the_server_must_hold() {
        let plain = request(&[("host", "localhost:3001")]);
        let server = ServerSection::default();
        assert!(trust(&server, "127.0.0.1:3001").trusts(&plain));
        assert!(trust(&server, "[::1]:3001").trusts(&plain));
        assert!(!trust(&server, "0.0.0.0:3001").trusts(&plain));
        let public =
            ServerSection { public_url: Some("https://a.example".into()), ..ServerSection::default() };
        assert!(!trust(&public, "127.0.0.1:3001").trusts(&plain));
        let off = ServerSection { trust_loopback: false, ..ServerSection::default() };
        assert_eq!(trust(&off, "127.0.0.1:1").never(), Some("server.trust_loopback is false"));
        assert!(!trust(&off, "127.0.0.1:3001").trusts(&plain));
    }

    #[test]
    fn every_condition_of_the_request_must_hold() {
        let trust = trust(&ServerSection::default(), "127.0.0.1:3001");
        let with = |name: &str, value: &str| trust.trusts(&request(&[("host", "localhost"), (name, value)]));
        assert!(with("accept", "*/*"));
        for header in [
            "forwarded",
            "via",
            "x-real-ip",
            "x-client-ip",
            "client-ip",
            "fastly-client-ip",
            "cdn-loop",
            "x-original-forwarded-for",
            "true-client-ip",
            "x-forwarded",
            "x-forwarded-for",
            "x-forwarded-proto",
            "cf-ray",
            "cf-connecting-ip",
            "fly-client-ip",
            "x-envoy-external-address",
            "tailscale-user-login",
            "x-real-port",
            "x-client-port",
            "x-client-verify",
            "x-remote-addr",
            "x-remote-user",
            "x-azure-clientip",
            "x-azure-ref",
            "x-amzn-trace-id",
            "x-amz-cf-id",
            "fastly-ff",
            "fastly-ssl",
            "ngrok-skip-browser-warning",
            "ngrok-trace-id",
            "true-client-port",
            "forwarded-for",
            "via-proxy",
        ] {
            assert!(!with(header, "1.2.3.4"), "{header}");
        }
        assert!(!trust.trusts(&request(&[("host", "annai.example.com")])));
        let mut old = request(&[("host", "localhost")]);
        old.version = Version::HTTP_10;
        assert!(!trust.trusts(&old));
        let mut far = request(&[("host", "localhost")]);
        far.extensions.insert(PeerAddress("10.1.2.3:5".parse().unwrap()));
        assert!(!trust.trusts(&far));
        far.extensions.remove::<PeerAddress>();
        assert!(!trust.trusts(&far));
    }

    #[test]
    fn only_its_own_pages_and_the_trusted_origins_are_trusted() {
        let trust = trust(&ServerSection::default(), "127.0.0.1:3001");
        let from = |origin: &str| trust.trusts(&request(&[("host", "localhost"), ("origin", origin)]));
        for origin in [
            "http://localhost:3001",
            "http://127.0.0.1:3001",
            "http://[::1]:3001",
            "http://localhost:6274",
            "http://127.0.0.1:6274",
        ] {
            assert!(from(origin), "{origin}");
        }
        for origin in [
            "null",
            "https://chatgpt.com",
            "http://localhost:5173",
            "https://localhost:3001",
            "http://localhost",
            "http://evil.example:3001",
            "https://localhost:6274",
        ] {
            assert!(!from(origin), "{origin}");
        }
        let site = |site: &str| trust.trusts(&request(&[("host", "localhost"), ("sec-fetch-site", site)]));
        assert!(site("none") && site("same-origin"));
        assert!(!site("cross-site") && !site("same-site") && !site(""));
    }
}
