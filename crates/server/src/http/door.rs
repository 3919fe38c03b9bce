//! The door: the check that every HTTP request except `/health` must pass. It compares the `Host` and `Origin` headers with
//! allow lists (against DNS rebinding and cross-site requests) and decides whether the caller is trusted as the owner.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use annai_core::Identity;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Uri};

use crate::ServerSection;

/// Origins that are always allowed: ChatGPT's web app and the sandbox of its widgets call from the user's browser.
const ORIGIN_ALLOW_LIST: [&str; 3] =
    ["https://chatgpt.com", "https://cdn.oaistatic.com", "https://web-sandbox.oaiusercontent.com"];

/// Why a request is refused with 403.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoorRefusal {
    /// The `Host` header does not name this server.
    Host,
    /// The `Origin` header names a website that is not on the allow list.
    Origin,
}

impl DoorRefusal {
    /// The message of the error response.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Host => {
                "the Host header does not name this server; to serve another host name, set PUBLIC_URL"
            }
            Self::Origin => {
                "requests from this Origin are not allowed; to allow them, add it to CORS_ALLOW_ORIGINS"
            }
        }
    }
}

/// A setting that should be a URL but is not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{key}: expected a URL such as https://annai.example.com, got \"{value}\"")]
pub struct BadUrl {
    key: &'static str,
    value: String,
}

/// The hosts and origins that are allowed, and whether the server is reachable only from this machine.
#[derive(Debug, Clone)]
pub struct Door {
    /// The host of `server.public_url`, where that is set.
    public_host: Option<Place>,
    allowed_origins: Vec<String>,
    bound_to_loopback: bool,
}

/// The address of the client, stored in the extensions of each request.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub SocketAddr);

impl Door {
    /// Builds the door of a server that listens on `address`.
    pub fn new(server: &ServerSection, address: SocketAddr) -> Result<Self, BadUrl> {
        let mut allowed_origins: Vec<String> =
            ORIGIN_ALLOW_LIST.iter().map(|origin| (*origin).to_owned()).collect();
        let mut public_host = None;
        if let Some(url) = &server.public_url {
            let uri = parse_url("server.public_url", url)?;
            public_host = place_of(&uri);
            allowed_origins.extend(place_of(&uri).map(|place| place.origin()));
        }
        if let Some(url) = &server.mcp_server_url {
            allowed_origins
                .extend(place_of(&parse_url("server.mcp_server_url", url)?).map(|place| place.origin()));
        }
        for origin in &server.cors_allow_origins {
            allowed_origins.extend(
                place_of(&parse_url("server.cors_allow_origins", origin)?).map(|place| place.origin()),
            );
        }
        Ok(Self { public_host, allowed_origins, bound_to_loopback: address.ip().is_loopback() })
    }

    /// Checks the `Host` and `Origin` headers of a request. Returns the origin, which the CORS headers need.
    pub fn check<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<Option<&'a str>, DoorRefusal> {
        // The request target may be a full URL; then its host must be allowed as well as the Host header.
        let target_host = uri.authority().map(Authority::as_str);
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().map(|host| host.to_str().unwrap_or_default());
        if hosts.next().is_some() || host.or(target_host).is_none() {
            return Err(DoorRefusal::Host);
        }
        if !host.into_iter().chain(target_host).all(|host| self.is_allowed_host(host)) {
            return Err(DoorRefusal::Host);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let origin = origin.to_str().map_err(|_| DoorRefusal::Origin)?;
        if origins.next().is_some() || !self.is_allowed_origin(origin) {
            return Err(DoorRefusal::Origin);
        }
        Ok(Some(origin))
    }

    /// The identity of a caller whose request passed [`Self::check`]. A caller is the owner only when every condition of
    /// loopback trust holds: the server and the client are on loopback, no proxy is in between, and no public URL is set.
    pub fn identity(&self, parts: &Parts) -> Identity {
        let peer_is_loopback =
            parts.extensions.get::<PeerAddress>().is_some_and(|peer| peer.0.ip().is_loopback());
        let forwarded = parts.headers.keys().any(|name| {
            let name = name.as_str();
            // The standard forwarding headers, and those that common proxies add.
            name.starts_with("x-forwarded")
                || ["forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"].contains(&name)
        });
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.authority().map(Authority::as_str));
        let trusted = self.bound_to_loopback
            && peer_is_loopback
            && !forwarded
            && self.public_host.is_none()
            && host.and_then(split_host).is_some_and(|(name, _)| is_loopback(name));
        if trusted { Identity::Owner } else { Identity::Anonymous }
    }

    fn is_allowed_host(&self, host: &str) -> bool {
        let Some((name, port)) = split_host(host) else { return false };
        is_loopback(name) || self.public_host.as_ref().is_some_and(|public| public.matches_host(name, port))
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        // An origin consists of a scheme, a host and a port. `split_host` refuses paths and user names.
        let Some((scheme, host)) = origin.split_once("://") else { return false };
        let Some((name, port)) = split_host(host) else { return false };
        let place = Place::new(scheme, name, port);
        let local = matches!(scheme, "http" | "https") && is_loopback(name);
        local || self.allowed_origins.contains(&place.origin())
    }
}

/// A scheme, a host and a port, normalized so that equal origins compare equal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    scheme: String,
    name: String,
    /// `None` for the default port of the scheme.
    port: Option<u16>,
}

impl Place {
    fn new(scheme: &str, name: &str, port: Option<u16>) -> Self {
        let default_port = match scheme {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        let port = port.filter(|port| Some(*port) != default_port);
        Self { scheme: scheme.to_owned(), name: name.to_ascii_lowercase(), port }
    }

    /// Whether a `Host` header with this name and port names this place.
    fn matches_host(&self, name: &str, port: Option<u16>) -> bool {
        *self == Self::new(&self.scheme, name, port)
    }

    fn origin(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.scheme, self.name)
    }
}

fn parse_url(key: &'static str, value: &str) -> Result<Uri, BadUrl> {
    let bad = || BadUrl { key, value: value.to_owned() };
    let uri: Uri = value.trim().parse().map_err(|_| bad())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.authority().is_some_and(|authority| !authority.as_str().contains('@')) {
        Ok(uri)
    } else {
        Err(bad())
    }
}

fn place_of(uri: &Uri) -> Option<Place> {
    let (name, port) = split_host(uri.authority()?.as_str())?;
    Some(Place::new(uri.scheme_str()?, name, port))
}

/// Splits `host[:port]`. The parser is strict, because a lenient one could accept `localhost:@evil.example`: the host is a
/// name, an IPv4 address or an IPv6 address in brackets, and the port consists of digits.
fn split_host(host: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (host.get(..address.len() + 2)?, port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        None => host.split_once(':').map_or((host, Some("")), |(name, port)| (name, Some(port))),
    };
    let valid_name = name.starts_with('[')
        || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let port = match port? {
        "" if !host.ends_with(':') => None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        _ => return None,
    };
    (valid_name && !name.is_empty()).then_some((name, port))
}

fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(server: &ServerSection) -> Door {
        Door::new(server, "127.0.0.1:3001".parse().unwrap()).unwrap()
    }

    fn request(target: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        parts.extensions.insert(PeerAddress("127.0.0.1:5".parse().unwrap()));
        parts
    }

    fn check(door: &Door, target: &str, headers: &[(&str, &str)]) -> Result<(), DoorRefusal> {
        let parts = request(target, headers);
        door.check(&parts.uri, &parts.headers).map(drop)
    }

    #[test]
    fn only_loopback_and_public_hosts_are_allowed() {
        let door = door(&ServerSection {
            public_url: Some("https://annai.example.com".into()),
            ..ServerSection::default()
        });
        for host in [
            "localhost",
            "localhost:3001",
            "127.0.0.1:3001",
            "[::1]:3001",
            "LOCALHOST",
            "annai.example.com",
            "ANNAI.example.COM",
        ] {
            assert_eq!(check(&door, "/mcp", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "annai.example.com:8443",
            "127.0.0.1.evil.example",
            "",
            "localhost@evil",
            "[::1].evil.com",
            "[::1]evil:80",
            "127.0.0.1:evil.com",
            "localhost:@evil.com",
            "[127.0.0.1]",
            "[[::1]]",
            "127.0.0.1]",
            "localhost:",
            "localhost:99999",
            "[::2]:1",
            "10.0.0.1",
        ] {
            assert_eq!(check(&door, "/mcp", &[("host", host)]), Err(DoorRefusal::Host), "{host}");
        }
    }

    #[test]
    fn missing_repeated_and_contradicting_hosts_are_refused() {
        let door = door(&ServerSection::default());
        assert_eq!(check(&door, "/mcp", &[]), Err(DoorRefusal::Host));
        assert_eq!(
            check(&door, "/mcp", &[("host", "localhost"), ("host", "evil.example")]),
            Err(DoorRefusal::Host)
        );
        assert_eq!(check(&door, "http://evil.example/mcp", &[("host", "localhost")]), Err(DoorRefusal::Host));
        assert_eq!(check(&door, "http://localhost/mcp", &[("host", "evil.example")]), Err(DoorRefusal::Host));
        assert_eq!(check(&door, "http://localhost/mcp", &[("host", "localhost")]), Ok(()));
        let headers = [("host", "evil.example"), ("x-forwarded-host", "localhost")];
        assert_eq!(check(&door, "/mcp", &headers), Err(DoorRefusal::Host));
    }

    #[test]
    fn origins_outside_the_allow_list_are_refused() {
        let door = door(&ServerSection {
            public_url: Some("https://annai.example.com/".into()),
            mcp_server_url: Some("https://mcp.example.com/mcp".into()),
            cors_allow_origins: vec!["https://app.example.com:8443".into()],
            ..ServerSection::default()
        });
        let from = |origin: &str| check(&door, "/mcp", &[("host", "localhost"), ("origin", origin)]);
        for origin in [
            "http://localhost",
            "http://localhost:5173",
            "https://127.0.0.1:1",
            "http://[::1]:8080",
            "https://chatgpt.com",
            "https://cdn.oaistatic.com",
            "https://web-sandbox.oaiusercontent.com",
            "https://annai.example.com",
            "https://mcp.example.com",
            "https://app.example.com:8443",
        ] {
            assert_eq!(from(origin), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://chatgpt.com",
            "https://chatgpt.com.evil.example",
            "https://app.example.com",
            "http://localhost.evil.example",
            "http://localhost/path",
            "http://u@localhost",
            "http://[::1].evil.com",
            "http://127.0.0.1:evil",
            "file://",
            "",
        ] {
            assert_eq!(from(origin), Err(DoorRefusal::Origin), "{origin}");
        }
        let twice =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.example")];
        assert_eq!(check(&door, "/mcp", &twice), Err(DoorRefusal::Origin));
    }

    #[test]
    fn a_caller_is_the_owner_only_when_every_condition_of_loopback_trust_holds() {
        let near = door(&ServerSection::default());
        let who = |door: &Door, headers: &[(&str, &str)]| door.identity(&request("/mcp", headers));
        assert_eq!(who(&near, &[("host", "localhost:3001")]), Identity::Owner);
        for header in ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via", "x-real-ip"] {
            assert_eq!(who(&near, &[("host", "localhost"), (header, "1.2.3.4")]), Identity::Anonymous);
        }
        let public =
            door(&ServerSection { public_url: Some("https://a.example".into()), ..ServerSection::default() });
        assert_eq!(who(&public, &[("host", "localhost")]), Identity::Anonymous);
        let open = Door::new(&ServerSection::default(), "0.0.0.0:3001".parse().unwrap()).unwrap();
        assert_eq!(who(&open, &[("host", "localhost")]), Identity::Anonymous);
        let mut far = request("/mcp", &[("host", "localhost")]);
        far.extensions.insert(PeerAddress("10.1.2.3:5".parse().unwrap()));
        assert_eq!(near.identity(&far), Identity::Anonymous);
    }

    #[test]
    fn the_default_port_of_the_scheme_may_be_left_out() {
        for url in ["https://x.example", "https://x.example:443"] {
            let door = door(&ServerSection { public_url: Some(url.into()), ..ServerSection::default() });
            for host in ["x.example", "x.example:443", "X.example"] {
                assert_eq!(
                    check(&door, "/mcp", &[("host", host), ("origin", "https://x.example")]),
                    Ok(()),
                    "{url} {host}"
                );
            }
            assert_eq!(check(&door, "/mcp", &[("host", "x.example:80")]), Err(DoorRefusal::Host));
        }
    }

    #[test]
    fn an_invalid_public_url_is_refused() {
        for url in ["annai.example.com", "ftp://x", "https://u:p@x", ""] {
            let server = ServerSection { public_url: Some(url.into()), ..ServerSection::default() };
            assert!(Door::new(&server, "127.0.0.1:1".parse().unwrap()).is_err(), "{url}");
        }
    }
}
