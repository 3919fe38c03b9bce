//! What kind of network an IP address belongs to.
//!
//! The ranges are those of IANA's registries of special-purpose addresses. IPv6 is an allow-list: only `2000::/3` is
//! assigned for public use, so that ranges which get a special purpose later are not public by mistake.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of network that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// The address is reachable from the whole Internet.
    Public,
    /// The address is this machine.
    Loopback,
    /// The address belongs to a private network (RFC 1918, unique local and site-local IPv6).
    Private,
    /// The address is valid on one link only. Clouds offer the credentials of a machine at `169.254.169.254`.
    LinkLocal,
    /// The address belongs to the network of a carrier or cloud (`100.64.0.0/10`).
    Shared,
    /// The address is meant for documentation.
    Documentation,
    /// The address is meant for benchmarks of network devices. Some networks use it as a private one.
    Benchmarking,
    /// The address is a group of hosts.
    Multicast,
    /// The address is all hosts of the local network.
    Broadcast,
    /// The address is "no address", which many systems treat as this machine.
    Unspecified,
    /// The address is reserved, obsolete or used by a protocol; no host on the Internet has it.
    Reserved,
}

impl AddressClass {
    /// Whether the address is reachable from the whole Internet.
    #[must_use]
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "carrier-grade NAT",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Unspecified => "unspecified",
            Self::Reserved => "reserved",
        }
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The class of an address. An IPv6 address that stands for an IPv4 address (IPv4-mapped, NAT64, 6to4, Teredo) has the
/// class of the latter.
#[must_use]
pub const fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

const fn classify_v4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        [0, 0, 0, 0] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [169, 254, ..] => AddressClass::LinkLocal,
        [100, 64..=127, ..] => AddressClass::Shared,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18..=19, ..] => AddressClass::Benchmarking,
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        // "This network", protocol assignments, the former relays of 6to4, and the former class E.
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

const fn classify_v6(address: Ipv6Addr) -> AddressClass {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // IPv4-mapped, the well-known prefix of NAT64, and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => classify_v4(embedded(high, low)),
        // Teredo names its server and, with inverted bits, its client.
        [0x2001, 0, server_high, server_low, _, _, client_high, client_low] => {
            match classify_v4(embedded(server_high, server_low)) {
                AddressClass::Public => classify_v4(embedded(!client_high, !client_low)),
                class => class,
            }
        }
        [0x2001, 2, 0, ..] => AddressClass::Benchmarking,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressClass::Documentation,
        // Protocol assignments, such as ORCHID.
        [0x2001, 1..=0x1ff, ..] => AddressClass::Reserved,
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressClass::Private,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        // Among others IPv4-compatible addresses (`::/96`) and the local-use prefix of NAT64 (`64:ff9b:1::/48`), in
        // which each network decides where the IPv4 address stands.
        _ => AddressClass::Reserved,
    }
}

const fn embedded(high: u16, low: u16) -> Ipv4Addr {
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::AddressClass::*;
    use super::*;

    fn class(address: &str) -> AddressClass {
        classify(address.parse().unwrap())
    }

    /// The first and the last address of every range, and their public neighbours.
    #[test]
    fn every_range_has_its_class() {
        for (addresses, expected) in [
            ("8.8.8.8 1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255", Public),
            ("128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255", Public),
            ("192.0.1.255 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0", Public),
            ("198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255", Public),
            ("127.0.0.0 127.0.0.1 127.255.255.255 ::1", Loopback),
            ("10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255", Private),
            ("169.254.0.0 169.254.169.254 169.254.255.255", LinkLocal),
            ("100.64.0.0 100.100.100.200 100.127.255.255", Shared),
            ("192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255", Documentation),
            ("198.18.0.0 198.19.255.255", Benchmarking),
            ("224.0.0.0 233.252.0.1 239.255.255.255", Multicast),
            ("255.255.255.255", Broadcast),
            ("0.0.0.0 ::", Unspecified),
            ("0.0.0.1 0.255.255.255 192.0.0.0 192.0.0.255 192.88.99.0 240.0.0.0 255.255.255.254", Reserved),
            ("2000:: 2001:200:: 2001:4860:4860::8888 2400:: 2606:4700::1111 3ffe:ffff::", Public),
            ("2001:db7:ffff:: 2001:db9:: 2003:: 3fff:1000:: 3fff:ffff::", Public),
            ("fc00:: fd00:ec2::254 fdff:ffff:: fec0:: feff:ffff::", Private),
            ("fe80:: fe80::1 febf:ffff::", LinkLocal),
            ("2001:db8:: 2001:db8:ffff:: 3fff:: 3fff:fff:ffff::", Documentation),
            ("2001:2:: 2001:2:0:ffff::", Benchmarking),
            ("ff00:: ff02::1 ffff:ffff::", Multicast),
            ("2001:1::1 2001:2:1:: 2001:3:: 2001:10:: 2001:20:: 2001:1ff:ffff::", Reserved),
            ("::2 ::ffff ::127.0.0.1 ::8.8.8.8 ::ffff:0:8.8.8.8 100::1 100:0:0:1::1 5f00::1", Reserved),
            ("64:ff9b:1::8.8.8.8 64:ff9b:1:ffff::1 64:ff9b:0:0:0:1:808:808 4000:: 1fff:ffff::", Reserved),
            ("fe00:: fbff:ffff::", Reserved),
            ("::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808:: 2002:808:808::1", Public),
            ("::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::1", Loopback),
            ("::ffff:10.0.0.1 64:ff9b::192.168.0.1 2002:c0a8:1::", Private),
            ("::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::", LinkLocal),
            ("::ffff:0.0.0.0 64:ff9b:: 2002::", Unspecified),
            // Teredo: the server 65.54.227.120 and the client 192.0.2.45, as in RFC 4380.
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Documentation),
            ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", Public),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", Loopback),
            ("2001:0:a00:1:8000:63bf:f7f7:f7f7", Private),
        ] {
            for address in addresses.split(' ') {
                assert_eq!(class(address), expected, "{address}");
            }
        }
    }

    proptest! {
        #[test]
        fn an_ipv6_form_has_the_class_of_its_ipv4_address(bits: u32, rest: [u16; 5]) {
            let v4 = Ipv4Addr::from_bits(bits);
            let (high, low) = ((bits >> 16) as u16, bits as u16);
            let [a, b, c, d, e] = rest;
            for v6 in [
                v4.to_ipv6_mapped(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, a, b, c, d, e),
            ] {
                prop_assert_eq!(classify(v6.into()), classify(v4.into()), "{}", v6);
            }
        }

        #[test]
        fn a_public_ipv6_address_is_global_unicast_or_translated(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            let is_translated = address.to_ipv4_mapped().is_some() || address.segments()[..2] == [0x64, 0xff9b];
            if classify(address.into()).is_public() {
                prop_assert!(bits >> 125 == 1 || is_translated, "{}", address);
            }
        }

        #[test]
        fn what_the_standard_library_calls_special_is_not_public(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            if address.is_private() || address.is_loopback() || address.is_link_local() || address.is_multicast()
                || address.is_broadcast() || address.is_documentation() || address.is_unspecified()
            {
                prop_assert!(!classify(address.into()).is_public(), "{}", address);
            }
        }
    }
}
