//! Which peers have limits of their own: all but this machine and the trusted proxies, behind which everybody would share
//! them.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

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
        if peer.is_loopback() || (self.is_trusted_proxy)(peer) {
            return None;
        }
        Some(match peer {
            IpAddr::V4(_) => peer,
            IpAddr::V6(peer) => IpAddr::V6(Ipv6Addr::from_bits(peer.to_bits() >> 64 << 64)),
        })
    }
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
}
