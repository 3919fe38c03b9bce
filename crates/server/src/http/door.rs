//! The door: the check that every HTTP request except `/health` must pass. It compares the `Host` and `Origin` headers with
//! allow lists, against DNS rebinding and cross-site requests. Whom a request is from is decided later.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

use super::web_origin::{BadUrl, WebOrigin, is_loopback, origin_of_setting, split_host};
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

/// The hosts and origins that are allowed.
#[derive(Debug, Clone)]
pub struct Door {
    /// The host of `server.public_url`, where that is set.
    public_host: Option<WebOrigin>,
    allowed_origins: Vec<WebOrigin>,
}

impl Door {
    /// Builds the door of a server with these settings.
    ///
    /// # Errors
    ///
    /// A setting is not a URL.
    pub fn new(server: &ServerSection) -> Result<Self, BadUrl> {
        let public_host = server.public_url.as_deref();
        let public_host = public_host.map(|url| origin_of_setting("server.public_url", url)).transpose()?;
        let mut allowed_origins: Vec<_> =
            ORIGIN_ALLOW_LIST.iter().filter_map(|origin| WebOrigin::parse_header(origin)).collect();
        allowed_origins.extend(public_host.clone());
        if let Some(url) = &server.mcp_server_url {
            allowed_origins.push(origin_of_setting("server.mcp_server_url", url)?);
        }
        for url in &server.cors_allow_origins {
            allowed_origins.push(origin_of_setting("server.cors_allow_origins", url)?);
        }
        for url in &server.trusted_origins {
            allowed_origins.push(origin_of_setting("server.trusted_origins", url)?);
        }
        Ok(Self { public_host, allowed_origins })
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

    fn is_allowed_host(&self, host: &str) -> bool {
        let Some((name, port)) = split_host(host) else { return false };
        is_loopback(name) || self.public_host.as_ref().is_some_and(|public| public.matches_host(name, port))
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        let Some(given) = WebOrigin::parse_header(origin) else { return false };
        let is_web = origin.starts_with("http://") || origin.starts_with("https://");
        (is_web && given.is_loopback()) || self.allowed_origins.contains(&given)
    }
}

#[cfg(test)]
mod tests {
    use http::request::Parts;

    use super::*;

    fn door(server: &ServerSection) -> Door {
        Door::new(server).unwrap()
    }

    fn request(target: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
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
            assert!(Door::new(&server).is_err(), "{url}");
        }
    }
}
