//! The URL that a request goes to.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use crate::access::Access;
use crate::address::classify;
use crate::error::{EgressError, UrlProblem};
use crate::guard::check_address;
use crate::limits::MAX_URL_BYTES;
use crate::reply::ConnectionEnd;

/// A URL that requests may be sent to, as far as the URL itself tells. Which addresses a name has is checked by
/// [`crate::EgressClient::check_target`] and again by each request.
///
/// `Debug` does not show the path and the query, because they may contain a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
}

impl Target {
    /// Parses a URL as browsers do, so that odd spellings of an address are recognized, and drops its fragment. A literal
    /// address that may not be connected to is refused.
    pub fn parse(raw: &str, access: Access) -> Result<Self, EgressError> {
        if raw.len() > MAX_URL_BYTES {
            return Err(EgressError::Url(UrlProblem::TooLong));
        }
        let mut url = Url::parse(raw).map_err(|_| EgressError::Url(UrlProblem::Malformed))?;
        url.set_fragment(None);
        let target = Self { url };
        target.check_url(access)?;
        if let Some(address) = target.literal_address() {
            check_address(address, access, classify).map_err(EgressError::ForbiddenAddress)?;
        } else if !target.host().contains(char::is_alphanumeric) {
            // `https://。/` has the name of the root, which is no host.
            return Err(EgressError::Url(UrlProblem::Malformed));
        }
        Ok(target)
    }

    /// The URL in its normal form, without fragment. It may contain a secret.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The host, in ASCII.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(crate) fn url(&self) -> Url {
        self.url.clone()
    }

    /// Checks everything but the host.
    pub(crate) fn check_url(&self, access: Access) -> Result<(), EgressError> {
        let url = &self.url;
        let is_allowed_scheme =
            self.is_encrypted() || url.scheme() == "http" && access == Access::AllowPrivate;
        if !is_allowed_scheme {
            Err(EgressError::Url(UrlProblem::Scheme))
        } else if !url.username().is_empty() || url.password().is_some() {
            Err(EgressError::Url(UrlProblem::UserInfo))
        } else {
            Ok(())
        }
    }

    /// The address, if the host is one. The HTTP client reads it from the host in the same way.
    pub(crate) fn literal_address(&self) -> Option<IpAddr> {
        self.host().trim_matches(['[', ']']).parse().ok()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn connection_end(&self) -> ConnectionEnd {
        if self.is_encrypted() { ConnectionEnd::Announced } else { ConnectionEnd::Ambiguous }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.url.origin().ascii_serialization()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::address::AddressClass;

    /// The normal form of a URL, or the short name of the reason why it is refused.
    fn parse(raw: &str, access: Access) -> Result<String, String> {
        match Target::parse(raw, access) {
            Ok(target) => Ok(target.as_str().to_owned()),
            Err(EgressError::Url(problem)) => Err(format!("{problem:?}")),
            Err(EgressError::ForbiddenAddress(forbidden)) => Err(forbidden.class.to_string()),
            Err(error) => panic!("{raw}: {error}"),
        }
    }

    #[test]
    fn urls_are_normalized() {
        for (raw, normal) in [
            ("https://api.example", "https://api.example/"),
            ("HTTPS://API.Example:443/v1?key=1#part", "https://api.example/v1?key=1"),
            (" https://api.example:8443/ ", "https://api.example:8443/"),
            ("https://api.example./", "https://api.example./"),
            ("https://案内.example/", "https://xn--v6qt86c.example/"),
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
            ("https://8.8.8.8/", "https://8.8.8.8/"),
            ("https://134744072/", "https://8.8.8.8/"),
            ("https://[2606:4700::1111]:444/", "https://[2606:4700::1111]:444/"),
            ("https://[::ffff:8.8.8.8]/", "https://[::ffff:808:808]/"),
            ("https:api.example", "https://api.example/"),
            ("https://@api.example", "https://api.example/"),
        ] {
            assert_eq!(parse(raw, Access::PublicOnly).as_deref(), Ok(normal), "{raw}");
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for (raw, problem) in [
            ("", "Malformed"),
            ("api.example", "Malformed"),
            ("https://", "Malformed"),
            ("https://a b/", "Malformed"),
            ("https://api.example:99999/", "Malformed"),
            ("https://[fe80::1%25eth0]/", "Malformed"),
            ("https://[fe80::1%eth0]/", "Malformed"),
            ("https://[::1", "Malformed"),
            ("https://1.2.3.4.5/", "Malformed"),
            ("https://256.1.1.1/", "Malformed"),
            ("https://./", "Malformed"),
            ("https://。", "Malformed"),
            ("http://api.example/", "Scheme"),
            ("ftp://api.example/", "Scheme"),
            ("file:///etc/passwd", "Scheme"),
            ("gopher://127.0.0.1:6379/_", "Scheme"),
            ("data:text/plain,x", "Scheme"),
            ("javascript:1", "Scheme"),
            ("unix:/run/docker.sock", "Scheme"),
            ("wss://api.example/", "Scheme"),
            ("https://user@api.example/", "UserInfo"),
            ("https://:word@api.example/", "UserInfo"),
            ("https://api.example@127.0.0.1/", "UserInfo"),
        ] {
            assert_eq!(parse(raw, Access::PublicOnly), Err(problem.to_owned()), "{raw}");
        }
        let long = format!("https://api.example/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(parse(&long, Access::PublicOnly), Err("TooLong".to_owned()));
    }

    #[test]
    fn odd_spellings_of_an_address_are_recognized() {
        for (host, class) in [
            ("127.0.0.1", AddressClass::Loopback),
            ("127.0.0.1.", AddressClass::Loopback),
            ("2130706433", AddressClass::Loopback),
            ("0x7f.1", AddressClass::Loopback),
            ("0X7F000001", AddressClass::Loopback),
            ("0x7f000001.", AddressClass::Loopback),
            ("017700000001", AddressClass::Loopback),
            ("0177.0.0.01", AddressClass::Loopback),
            ("127.1", AddressClass::Loopback),
            ("127.0.1", AddressClass::Loopback),
            ("%31%32%37.0.0.1", AddressClass::Loopback),
            ("１２７.0.0.1", AddressClass::Loopback),
            ("127。0。0。1", AddressClass::Loopback),
            ("①②⑦.0.0.1", AddressClass::Loopback),
            ("127.0.0.1:8443", AddressClass::Loopback),
            ("127.\t0.0.1", AddressClass::Loopback),
            ("127.0.0.1\\@api.example", AddressClass::Loopback),
            ("0", AddressClass::Unspecified),
            ("0x0", AddressClass::Unspecified),
            ("10.1", AddressClass::Private),
            ("0xa9fea9fe", AddressClass::LinkLocal),
            ("0251.0376.0251.0376", AddressClass::LinkLocal),
            ("255.255.255.255", AddressClass::Broadcast),
            ("[::1]", AddressClass::Loopback),
            ("[::1]:8443", AddressClass::Loopback),
            ("[0:0:0:0:0:0:0:1]", AddressClass::Loopback),
            ("[::FFFF:127.0.0.1]", AddressClass::Loopback),
            ("[::ffff:7f00:1]", AddressClass::Loopback),
            ("[64:FF9B::7f00:1]", AddressClass::Loopback),
            ("[::127.0.0.1]", AddressClass::Reserved),
            ("[FD00:EC2::254]", AddressClass::Private),
            ("[fe80::1]", AddressClass::LinkLocal),
            ("[::]", AddressClass::Unspecified),
        ] {
            let raw = format!("https://{host}/");
            assert_eq!(parse(&raw, Access::PublicOnly), Err(class.to_string()), "{raw}");
            let private = parse(&raw.replace("https:", "http:"), Access::AllowPrivate);
            assert_eq!(private.is_ok(), Access::AllowPrivate.permits(class), "{raw}: {private:?}");
        }
    }

    #[test]
    fn secrets_in_the_path_or_query_are_not_shown() {
        let target =
            Target::parse("https://api.example:444/hook/s3cret?key=s3cret", Access::PublicOnly).unwrap();
        assert_eq!(format!("{target:?}"), "Target(\"https://api.example:444\")");
    }

    proptest! {
        #[test]
        fn every_spelling_of_an_address_is_judged_alike(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = address.octets();
            for host in [
                format!("{address}"),
                format!("{address}."),
                format!("{bits}"),
                format!("0x{bits:x}"),
                format!("0{bits:o}"),
                format!("0{a:o}.0x{b:X}.{}", u16::from_be_bytes([c, d])),
                format!("[{}]", address.to_ipv6_mapped()),
            ] {
                let is_accepted = Target::parse(&format!("https://{host}/"), Access::PublicOnly).is_ok();
                prop_assert_eq!(is_accepted, classify(address.into()).is_public(), "{}", host);
            }
        }

        #[test]
        fn an_accepted_url_stays_accepted(raw in "https://[ -~]{0,40}") {
            if let Ok(target) = Target::parse(&raw, Access::PublicOnly) {
                prop_assert_eq!(Target::parse(target.as_str(), Access::PublicOnly).ok(), Some(target.clone()));
                prop_assert!(!target.host().is_empty());
                if let Some(address) = target.literal_address() {
                    prop_assert!(classify(address).is_public(), "{}", raw);
                }
            }
        }
    }
}
