//! Hosts and origins: parsing and comparing them. The parsers are strict, because what they accept decides who is let in.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use http::Uri;

/// A setting that should be a URL but is not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{key}: expected {expected}, got \"{value}\"")]
pub struct BadUrl {
    /// The setting.
    pub key: &'static str,
    /// What it should be.
    pub expected: &'static str,
    /// Its value.
    pub value: String,
}

impl BadUrl {
    /// A setting that should be something else. A password in it is left out of the message.
    pub fn expecting(key: &'static str, expected: &'static str, value: &str) -> Self {
        let value = match value.rsplit_once('@') {
            Some((_, host)) => format!("…@{host}"),
            None => value.to_owned(),
        };
        Self { key, expected, value }
    }

    fn new(key: &'static str, value: &str) -> Self {
        Self::expecting(key, "a URL such as https://annai.example.com", value)
    }
}

/// A scheme, a host and a port, normalized so that equal origins compare equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin {
    scheme: String,
    name: String,
    /// `None` for the default port of the scheme.
    port: Option<u16>,
}

impl WebOrigin {
    /// The origin that a scheme, a host and a port name.
    pub fn new(scheme: &str, name: &str, port: Option<u16>) -> Self {
        let default_port = match scheme {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        let port = port.filter(|port| Some(*port) != default_port);
        Self { scheme: scheme.to_owned(), name: name.to_ascii_lowercase(), port }
    }

    /// Whether a `Host` header with this name and port names this origin.
    pub fn matches_host(&self, name: &str, port: Option<u16>) -> bool {
        *self == Self::new(&self.scheme, name, port)
    }

    /// Whether it is on this machine, whatever the port.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.name)
    }

    /// Whether it is `http://`, this machine and this port.
    pub fn is_loopback_port(&self, port: u16) -> bool {
        self.scheme == "http" && self.is_loopback() && self.port.unwrap_or(80) == port
    }

    /// Whether its traffic is encrypted.
    pub fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    /// Parses the value of an `Origin` header: a scheme, a host and a port, without path or user name.
    pub fn parse_header(origin: &str) -> Option<Self> {
        let (scheme, host) = origin.split_once("://")?;
        let (name, port) = split_host(host)?;
        Some(Self::new(scheme, name, port))
    }
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Parses a setting that must be an http or https URL without user name.
fn parse_url(key: &'static str, value: &str) -> Result<Uri, BadUrl> {
    let bad = || BadUrl::new(key, value);
    let uri: Uri = value.trim().parse().map_err(|_| bad())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.authority().is_some_and(|authority| !authority.as_str().contains('@')) {
        Ok(uri)
    } else {
        Err(bad())
    }
}

/// The origin of the URL in a setting.
pub fn origin_of_setting(key: &'static str, value: &str) -> Result<WebOrigin, BadUrl> {
    origin_of(&parse_url(key, value)?).ok_or_else(|| BadUrl::new(key, value))
}

/// The origin of a URL.
fn origin_of(uri: &Uri) -> Option<WebOrigin> {
    let (name, port) = split_host(uri.authority()?.as_str())?;
    Some(WebOrigin::new(uri.scheme_str()?, name, port))
}

/// Splits `host[:port]`. The parser is strict, because a lenient one could accept `localhost:@evil.example`: the host is a
/// name, an IPv4 address or an IPv6 address in brackets, and the port consists of digits.
pub fn split_host(host: &str) -> Option<(&str, Option<u16>)> {
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

/// Whether a host name or address is this machine.
pub fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
