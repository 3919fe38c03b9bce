//! Ranges of IP addresses, as the setting `services.trusted_proxies` names them.

use std::fmt;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::text::Problem;

/// An IP address, or a range of them in CIDR notation such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(!try_from, !into, with = "String")]
pub struct AddressRange {
    network: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// The range that a text names.
    ///
    /// # Errors
    ///
    /// It is neither an address nor a range.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new("must be an IP address or a CIDR range such as 10.0.0.0/8");
        let (address, prefix) =
            text.trim().split_once('/').map_or((text.trim(), None), |(a, p)| (a, Some(p)));
        let network: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = width(network);
        let prefix = prefix.map_or(Ok(width), str::parse).map_err(|_| wrong())?;
        if prefix > width {
            return Err(wrong());
        }
        Ok(Self { network, prefix })
    }

    /// Whether an address is in the range.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let shift = u32::from(width(self.network) - self.prefix);
        let has_same_family = self.network.is_ipv4() == address.is_ipv4();
        // A shift by the whole width, for the prefix 0, leaves nothing to compare.
        let start = |address| bits(address).checked_shr(shift).unwrap_or(0);
        has_same_family && start(self.network) == start(address)
    }
}

const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

impl TryFrom<String> for AddressRange {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        Self::parse(&text)
    }
}

impl From<AddressRange> for String {
    fn from(range: AddressRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_contains_the_addresses_that_begin_like_it() {
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.128/25", "192.0.2.200", "192.0.2.127"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            ("::/0", "2001:db8::1", "10.0.0.1"),
            ("::1", "::1", "::2"),
        ] {
            let range = AddressRange::parse(range).unwrap();
            assert!(range.contains(inside.parse().unwrap()), "{range} {inside}");
            assert!(!range.contains(outside.parse().unwrap()), "{range} {outside}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in
            ["", "proxy", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0/8", "::/129", "10.0.0.0/8/8"]
        {
            assert!(AddressRange::parse(wrong).is_err(), "{wrong}");
        }
    }
}
