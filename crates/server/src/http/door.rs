//! The door: who may knock (Host), from where (Origin), and how much a visitor is trusted.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use annai_core::Identity;
use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Uri};

use crate::Server;

/// Hosts of ChatGPT's that call from a browser.
const CHATGPT: [&str; 3] =
    ["https://chatgpt.com", "https://cdn.oaistatic.com", "https://web-sandbox.oaiusercontent.com"];

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The request is not for one of our names.
    Host,
    /// The page that sends it is not on the list.
    Origin,
}

impl Refused {
    /// A sentence for the visitor.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Host => {
                "the Host header names none of this server's hosts; for another name set PUBLIC_URL"
            }
            Self::Origin => "this Origin is not allowed; to allow it add it to CORS_ALLOW_ORIGINS",
        }
    }
}

/// A settings value that is no URL.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{key}: expected a URL such as https://annai.example.com, got \"{value}\"")]
pub struct BadUrl {
    key: &'static str,
    value: String,
}

/// What is let in.
#[derive(Debug, Clone)]
pub struct Door {
    /// The public name, if there is one.
    public_host: Option<Place>,
    origins: Vec<String>,
    bound_to_loopback: bool,
}

/// The address at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub SocketAddr);

impl Door {
    /// The door of a server that listens on `address`.
    pub fn new(server: &Server, address: SocketAddr) -> Result<Self, BadUrl> {
        let mut origins: Vec<String> = CHATGPT.iter().map(|origin| (*origin).to_owned()).collect();
        let mut public_host = None;
        if let Some(url) = &server.public_url {
            let uri = parse_url("server.public_url", url)?;
            public_host = place_of(&uri);
            origins.extend(place_of(&uri).map(|place| place.origin()));
        }
        if let Some(url) = &server.mcp_server_url {
            origins.extend(place_of(&parse_url("server.mcp_server_url", url)?).map(|place| place.origin()));
        }
        for origin in &server.cors_allow_origins {
            origins.extend(
                place_of(&parse_url("server.cors_allow_origins", origin)?).map(|place| place.origin()),
            );
        }
        Ok(Self { public_host, origins, bound_to_loopback: address.ip().is_loopback() })
    }

    /// Looks at the Host and the Origin of a request. Gives the origin, for CORS.
    pub fn check<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<Option<&'a str>, Refused> {
        // An absolute-form target must not say one thing and the Host header another.
        let named = uri.authority().map(Authority::as_str);
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().map(|host| host.to_str().unwrap_or_default());
        if hosts.next().is_some() || host.or(named).is_none() {
            return Err(Refused::Host);
        }
        if !host.into_iter().chain(named).all(|host| self.is_ours(host)) {
            return Err(Refused::Host);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let origin = origin.to_str().map_err(|_| Refused::Origin)?;
        if origins.next().is_some() || !self.is_friend(origin) {
            return Err(Refused::Origin);
        }
        Ok(Some(origin))
    }

    /// Who sends a request that came through the door. Trust in loopback needs every sign of it.
    pub fn identity(&self, parts: &Parts) -> Identity {
        let near = parts.extensions.get::<PeerAddress>().is_some_and(|peer| peer.0.ip().is_loopback());
        let forwarded = parts.headers.keys().any(|name| {
            let name = name.as_str();
            // The standard ones, and what common proxies send besides.
            name.starts_with("x-forwarded")
                || ["forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"].contains(&name)
        });
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.authority().map(Authority::as_str));
        let trusted = self.bound_to_loopback
            && near
            && !forwarded
            && self.public_host.is_none()
            && host.and_then(split_host).is_some_and(|(name, _)| is_loopback(name));
        if trusted { Identity::Owner } else { Identity::Anonymous }
    }

    fn is_ours(&self, host: &str) -> bool {
        let Some((name, port)) = split_host(host) else { return false };
        is_loopback(name) || self.public_host.as_ref().is_some_and(|ours| ours.is_at(name, port))
    }

    fn is_friend(&self, origin: &str) -> bool {
        // An origin is a scheme and a host: no path, no user, nothing else.
        let Some((scheme, host)) = origin.split_once("://") else { return false };
        let Some((name, port)) = split_host(host) else { return false };
        let place = Place::new(scheme, name, port);
        let local = matches!(scheme, "http" | "https") && is_loopback(name);
        local || self.origins.contains(&place.origin())
    }
}

/// A scheme and a host with its port, as URLs and origins name them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    scheme: String,
    name: String,
    /// Absent where it is the scheme's own.
    port: Option<u16>,
}

impl Place {
    fn new(scheme: &str, name: &str, port: Option<u16>) -> Self {
        let usual = match scheme {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        let port = port.filter(|port| Some(*port) != usual);
        Self { scheme: scheme.to_owned(), name: name.to_ascii_lowercase(), port }
    }

    /// Whether a Host header means it.
    fn is_at(&self, name: &str, port: Option<u16>) -> bool {
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
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    if web && uri.authority().is_some_and(|authority| !authority.as_str().contains('@')) {
        Ok(uri)
    } else {
        Err(bad())
    }
}

fn place_of(uri: &Uri) -> Option<Place> {
    let (name, port) = split_host(uri.authority()?.as_str())?;
    Some(Place::new(uri.scheme_str()?, name, port))
}

/// A host and its port, strictly: a name, an IPv4 address or an IPv6 address in brackets, then digits or nothing.
fn split_host(host: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (host.get(..address.len() + 2)?, port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        None => host.split_once(':').map_or((host, Some("")), |(name, port)| (name, Some(port))),
    };
    let named = name.starts_with('[')
        || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let port = match port? {
        "" if !host.ends_with(':') => None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        _ => return None,
    };
    (named && !name.is_empty()).then_some((name, port))
}

fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(server: &Server) -> Door {
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

    fn check(door: &Door, target: &str, headers: &[(&str, &str)]) -> Result<(), Refused> {
        let parts = request(target, headers);
        door.check(&parts.uri, &parts.headers).map(drop)
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let door =
            door(&Server { public_url: Some("https://annai.example.com".into()), ..Server::default() });
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
            assert_eq!(check(&door, "/mcp", &[("host", host)]), Err(Refused::Host), "{host}");
        }
    }

    #[test]
    fn tricks_with_the_host_do_not_help() {
        let door = door(&Server::default());
        assert_eq!(check(&door, "/mcp", &[]), Err(Refused::Host));
        assert_eq!(
            check(&door, "/mcp", &[("host", "localhost"), ("host", "evil.example")]),
            Err(Refused::Host)
        );
        assert_eq!(check(&door, "http://evil.example/mcp", &[("host", "localhost")]), Err(Refused::Host));
        assert_eq!(check(&door, "http://localhost/mcp", &[("host", "evil.example")]), Err(Refused::Host));
        assert_eq!(check(&door, "http://localhost/mcp", &[("host", "localhost")]), Ok(()));
        let headers = [("host", "evil.example"), ("x-forwarded-host", "localhost")];
        assert_eq!(check(&door, "/mcp", &headers), Err(Refused::Host));
    }

    #[test]
    fn origins_are_on_the_list_or_refused() {
        let door = door(&Server {
            public_url: Some("https://annai.example.com/".into()),
            mcp_server_url: Some("https://mcp.example.com/mcp".into()),
            cors_allow_origins: vec!["https://app.example.com:8443".into()],
            ..Server::default()
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
            assert_eq!(from(origin), Err(Refused::Origin), "{origin}");
        }
        let twice =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.example")];
        assert_eq!(check(&door, "/mcp", &twice), Err(Refused::Origin));
    }

    #[test]
    fn loopback_is_trusted_only_with_every_sign_of_it() {
        let near = door(&Server::default());
        let who = |door: &Door, headers: &[(&str, &str)]| door.identity(&request("/mcp", headers));
        assert_eq!(who(&near, &[("host", "localhost:3001")]), Identity::Owner);
        for header in ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via", "x-real-ip"] {
            assert_eq!(who(&near, &[("host", "localhost"), (header, "1.2.3.4")]), Identity::Anonymous);
        }
        let public = door(&Server { public_url: Some("https://a.example".into()), ..Server::default() });
        assert_eq!(who(&public, &[("host", "localhost")]), Identity::Anonymous);
        let open = Door::new(&Server::default(), "0.0.0.0:3001".parse().unwrap()).unwrap();
        assert_eq!(who(&open, &[("host", "localhost")]), Identity::Anonymous);
        let mut far = request("/mcp", &[("host", "localhost")]);
        far.extensions.insert(PeerAddress("10.1.2.3:5".parse().unwrap()));
        assert_eq!(near.identity(&far), Identity::Anonymous);
    }

    #[test]
    fn the_usual_port_may_be_named_or_not() {
        for url in ["https://x.example", "https://x.example:443"] {
            let door = door(&Server { public_url: Some(url.into()), ..Server::default() });
            for host in ["x.example", "x.example:443", "X.example"] {
                assert_eq!(
                    check(&door, "/mcp", &[("host", host), ("origin", "https://x.example")]),
                    Ok(()),
                    "{url} {host}"
                );
            }
            assert_eq!(check(&door, "/mcp", &[("host", "x.example:80")]), Err(Refused::Host));
        }
    }

    #[test]
    fn a_public_url_that_is_none_is_refused() {
        for url in ["annai.example.com", "ftp://x", "https://u:p@x", ""] {
            let server = Server { public_url: Some(url.into()), ..Server::default() };
            assert!(Door::new(&server, "127.0.0.1:1".parse().unwrap()).is_err(), "{url}");
        }
    }
}
