//! Where a request comes from: its address, the key that it presents, and the caller that the server recognised.

use std::net::{IpAddr, Ipv4Addr};

use annai_core::{Identity, PeerAddress};
use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap};

use crate::address_range::AddressRange;

/// The header in which proxies name the addresses that a request came through.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Where a request comes from.
#[derive(Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    /// The address of the client.
    pub address: IpAddr,
    /// The key in `Authorization: Bearer`.
    pub key: Option<String>,
    /// The caller that the server recognised.
    pub identity: Identity,
}

impl RequestOrigin {
    /// The origin of a request, behind proxies that are trusted.
    pub fn of(headers: &HeaderMap, extensions: &Extensions, trusted: &[AddressRange]) -> Self {
        let peer = extensions.get::<PeerAddress>().map(|peer| peer.0.ip().to_canonical());
        Self {
            // The server always names the peer. Without one, all clients share a limit.
            address: client_address(peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), headers, trusted),
            key: bearer(headers),
            identity: extensions.get().cloned().unwrap_or(Identity::Anonymous),
        }
    }
}

/// The key of the only `Authorization` header, if its scheme is `Bearer`.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let is_key = scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() && values.next().is_none();
    is_key.then(|| key.trim().to_owned())
}

/// The address of the client: that of the peer, or, where the peer is a trusted proxy, the last hop that is not one.
/// Everything before that hop could be made up by the client.
fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|range| range.contains(address));
    let mut client = peer;
    let headers: Vec<_> =
        headers.get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or_default()).collect();
    for hop in headers.iter().rev().flat_map(|value| value.rsplit(',')) {
        if !is_trusted(client) {
            break;
        }
        // What a proxy wrote in place of an address ends what is known.
        let Some(address) = parse_hop(hop.trim()) else { break };
        client = address;
    }
    client
}

/// The address of a hop, which some proxies write with its port.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.split_once(']')).map_or(hop, |(address, _)| address);
    let address: Option<IpAddr> = bare.parse().ok();
    let with_port = || hop.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip());
    address.or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted = ["10.0.0.0/8", "fd00::/8"].map(|range| AddressRange::parse(range).unwrap());
        for (peer, forwarded, client) in [
            ("203.0.113.1", &["198.51.100.1"][..], "203.0.113.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.1, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.1, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.1", "198.51.100.1,10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["198.51.100.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("fd00::1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("fd00::1", &["::ffff:198.51.100.1"], "198.51.100.1"),
        ] {
            let address = client_address(peer.parse().unwrap(), &headers(FORWARDED_FOR, forwarded), &trusted);
            assert_eq!(address, client.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn a_key_is_what_one_bearer_header_has() {
        for (values, key) in [
            (&["Bearer abc"][..], Some("abc")),
            (&["bearer  abc "], Some("abc")),
            (&["Basic abc"], None),
            (&["Bearer"], None),
            (&["Bearer "], None),
            (&["Bearer a", "Bearer b"], None),
            (&[], None),
        ] {
            assert_eq!(bearer(&headers("authorization", values)).as_deref(), key, "{values:?}");
        }
    }
}
