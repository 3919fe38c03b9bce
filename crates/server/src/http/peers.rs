//! Which peers have limits of their own: all but this machine and the trusted proxies, behind which everybody would share
//! them. The clients behind a trusted proxy are told apart by what it says about them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use annai_core::PeerAddress;
use http::HeaderMap;
use http::request::Parts;

/// The header in which proxies name the addresses that a request came through.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Whether an address is that of a trusted proxy.
pub type IsTrustedProxy = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// The rule that decides whose connections and bytes are counted together.
#[derive(Clone)]
pub struct PeerRule {
    is_trusted_proxy: IsTrustedProxy,
}

impl PeerRule {
    pub const fn new(is_trusted_proxy: IsTrustedProxy) -> Self {
        Self { is_trusted_proxy }
    }

    /// The address under which a peer is counted; `None` for one without limits. The addresses of an IPv6 network of 64
    /// bits count as one, because a single customer gets that many.
    pub fn limited(&self, peer: IpAddr) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        (!self.is_shared(peer)).then(|| network(peer))
    }

    /// The address under which the client of a request is counted: that of its peer or, where the peer is a trusted proxy,
    /// the last hop that is none. Everything before that hop could be made up by the client.
    pub fn client(&self, parts: &Parts) -> Client {
        let peer = parts.extensions.get::<PeerAddress>().map(|peer| peer.0.ip());
        let mut client = peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into()).to_canonical();
        for hop in hops_backwards(&parts.headers) {
            if !(self.is_trusted_proxy)(client) {
                break;
            }
            // What a proxy wrote in place of an address ends what is known.
            let Some(address) = parse_hop(hop) else { break };
            client = address;
        }
        Client { network: network(client), is_shared: self.is_shared(client) }
    }

    /// Whether many clients may stand behind an address.
    fn is_shared(&self, address: IpAddr) -> bool {
        address.is_loopback() || (self.is_trusted_proxy)(address)
    }
}

/// The client of a request, as far as addresses tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Its address, or its network of IPv6.
    pub network: IpAddr,
    /// Whether others may have the same address.
    pub is_shared: bool,
}

/// The network that counts as one address: 64 bits of IPv6, of which a single customer has all.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

fn hops_backwards(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(',').map(str::trim))
}

/// The address of a hop, which some proxies write with its port.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.split_once(']')).map_or(hop, |(address, _)| address);
    let address: Option<IpAddr> = bare.parse().ok();
    let with_port = || hop.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    address.or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_trusted_proxies_have_no_limits() {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let rule = PeerRule::new(Arc::new(move |peer| peer == proxy));
        let limited = |peer: &str| rule.limited(peer.parse().unwrap()).map(|peer| peer.to_string());
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"] {
            assert_eq!(limited(peer), None, "{peer}");
        }
        assert_eq!(limited("::ffff:10.0.0.2").as_deref(), Some("10.0.0.2"));
        assert_eq!(limited("2001:db8:1:2:3::4").as_deref(), Some("2001:db8:1:2::"));
    }

    #[test]
    fn the_clients_of_trusted_proxies_are_told_apart() {
        let rule = PeerRule::new(Arc::new(|peer| peer.to_string().starts_with("10.") || peer.is_loopback()));
        for (peer, forwarded, network, is_shared) in [
            ("203.0.113.1", &["198.51.100.1"][..], "203.0.113.1", false),
            ("10.0.0.1", &[], "10.0.0.1", true),
            ("127.0.0.1", &["198.51.100.1"], "198.51.100.1", false),
            ("::ffff:10.0.0.1", &["192.0.2.1, 198.51.100.1"], "198.51.100.1", false),
            ("10.0.0.1", &["192.0.2.1", "198.51.100.1:5,10.9.9.9"], "198.51.100.1", false),
            ("10.0.0.1", &["198.51.100.1, unknown"], "10.0.0.1", true),
            ("10.0.0.1", &["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::", false),
            ("10.0.0.1", &["2001:db8:1:2:9::9"], "2001:db8:1:2::", false),
        ] {
            let mut request = http::Request::builder();
            for value in forwarded {
                request = request.header(FORWARDED_FOR, *value);
            }
            let (mut parts, ()) = request.body(()).unwrap().into_parts();
            parts.extensions.insert(PeerAddress(SocketAddr::new(peer.parse().unwrap(), 1)));
            let expected = Client { network: network.parse().unwrap(), is_shared };
            assert_eq!(rule.client(&parts), expected, "{peer} {forwarded:?}");
        }
        let untrusting = PeerRule::new(Arc::new(|_| false));
        let mut parts =
            http::Request::builder().header(FORWARDED_FOR, "192.0.2.1").body(()).unwrap().into_parts().0;
        parts.extensions.insert(PeerAddress("127.0.0.1:1".parse().unwrap()));
        assert!(untrusting.client(&parts).is_shared, "an undeclared proxy is not believed");
    }
}
