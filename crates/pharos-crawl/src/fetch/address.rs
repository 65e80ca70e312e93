//! Classifies IP addresses: public, private, and the ranges an operator allows or forbids.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use pharos_core::PageUrl;
use pharos_core::config::{CrawlConfig, parse_address_range};
use url::Host;

use crate::fetch::FetchError;
use crate::setting_error::SettingError;

/// The ranges an operator allows and forbids, as in Tianwang's `field.conf` (《搜索引擎——原理、技术与系统》§6.1).
#[derive(Debug, Default)]
pub(crate) struct AddressRanges {
    /// If not empty, only these ranges are allowed.
    allowed: Vec<IpNet>,
    forbidden: Vec<IpNet>,
}

/// Reason why the settings refuse an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeRefusal {
    /// In this range of `crawl.forbid_addresses`.
    Forbidden(IpNet),
    /// In no range of `crawl.allow_addresses`.
    NotAllowed,
}

impl AddressRanges {
    pub(crate) fn parse(config: &CrawlConfig) -> Result<Self, SettingError> {
        Ok(Self {
            allowed: parse_ranges("crawl.allow_addresses", &config.allow_addresses)?,
            forbidden: parse_ranges("crawl.forbid_addresses", &config.forbid_addresses)?,
        })
    }

    /// Returns why an address is refused. A forbidden range applies to every spelling, an allowed range to the address
    /// connected to.
    pub(crate) fn refusal(&self, address: IpAddr) -> Option<RangeRefusal> {
        let plain = address.to_canonical();
        let spellings = [Some(address), Some(plain), embedded_ipv4(address).map(IpAddr::V4)];
        let find =
            |ranges: &[IpNet], address: &IpAddr| ranges.iter().find(|range| range.contains(address)).copied();
        if let Some(range) = spellings.iter().flatten().find_map(|spelling| find(&self.forbidden, spelling)) {
            return Some(RangeRefusal::Forbidden(range));
        }
        let is_allowed = self.allowed.is_empty()
            || [address, plain].iter().any(|address| find(&self.allowed, address).is_some());
        (!is_allowed).then_some(RangeRefusal::NotAllowed)
    }

    /// Checks an address before a connection is opened to it.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), FetchError> {
        match self.refusal(address) {
            Some(RangeRefusal::Forbidden(_)) => {
                Err(FetchError::ForbiddenAddress(address, "in a range of crawl.forbid_addresses"))
            }
            Some(RangeRefusal::NotAllowed) => {
                Err(FetchError::ForbiddenAddress(address, "outside crawl.allow_addresses"))
            }
            None => Ok(()),
        }
    }
}

fn parse_ranges(key: &'static str, list: &[String]) -> Result<Vec<IpNet>, SettingError> {
    let wrong = |text: &String| SettingError::AddressRange { key, text: text.clone() };
    list.iter().map(|text| parse_address_range(text).ok_or_else(|| wrong(text))).collect()
}

/// Returns the IPv4 address embedded in a NAT64 or 6to4 address, to which a gateway would connect.
fn embedded_ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0x64, 0xff9b, 0, 0, 0, 0] => Some(v4(g, h)),
        [0x2002, ..] => Some(v4(b, c)),
        _ => None,
    }
}

/// Returns `true` for an address of the public internet.
///
/// An address with an embedded IPv4 address is classified by the latter. Otherwise a page could link to `127.0.0.1`
/// in an unchecked spelling.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns `true` if a URL alone shows that its host is not public.
///
/// Host names other than `localhost` say nothing before they are resolved.
pub fn names_private_host(url: &PageUrl) -> bool {
    match url.as_url().host() {
        Some(Host::Ipv4(address)) => !is_public_v4(address),
        Some(Host::Ipv6(address)) => !is_public_v6(address),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => true,
    }
}

/// IANA's special-purpose registry, and the metadata services of cloud providers.
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // carrier-grade NAT
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // Azure's host agent: a public number, but inside every machine
    ([169, 254, 0, 0], 16),   // link-local, and most clouds' metadata
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // 6to4 relays, withdrawn
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, and broadcast
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let inside = |(network, bits): &([u8; 4], u32)| {
        (address.to_bits() ^ Ipv4Addr::from(*network).to_bits()) >> (32 - bits) == 0
    };
    !SPECIAL_V4.iter().any(inside)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        // IPv4-compatible (with :: and ::1 among them), IPv4-mapped, IPv4-translated.
        [0, 0, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] => is_public_v4(v4(g, h)),
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0] => is_public_v4(v4(g, h)),
        // Teredo: its server, and the client with all bits inverted.
        [0x2001, 0, ..] => is_public_v4(v4(c, d)) && is_public_v4(v4(!g, !h)),
        // Protocol assignments 2001::/23, and both documentation ranges.
        [0x2001, 0x0000..=0x01ff | 0x0db8, ..] | [0x3fff, 0x0000..=0x0fff, ..] => false,
        // 6to4.
        [0x2002, ..] => is_public_v4(v4(b, c)),
        // ISATAP.
        [0x2000..=0x3fff, .., 0x0000 | 0x0200, 0x5efe] => is_public_v4(v4(g, h)),
        // All other allocated addresses begin with 001; private, link-local and multicast addresses do not.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: &[&str], forbidden: &[&str], address: &str) -> Result<(), String> {
        let own = |list: &[&str]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        let (allow_addresses, forbid_addresses) = (own(allowed), own(forbidden));
        let config = CrawlConfig { allow_addresses, forbid_addresses, ..Default::default() };
        let ranges = AddressRanges::parse(&config).map_err(|e| e.to_string())?;
        ranges.check(address.parse().unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn ranges_hold_in_every_spelling() {
        assert_eq!(check(&[], &[], "8.8.8.8"), Ok(()));
        assert_eq!(check(&["162.105.0.0/16"], &[], "162.105.129.12"), Ok(()));
        assert_eq!(check(&["162.105.0.0/16"], &[], "::ffff:162.105.129.12"), Ok(()));
        let reason = "address 8.8.8.8 is outside crawl.allow_addresses";
        assert_eq!(check(&["162.105.0.0/16"], &[], "8.8.8.8"), Err(reason.into()));
        for spelling in ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"] {
            let reason = check(&[], &["8.8.8.0/24"], spelling).unwrap_err();
            assert!(reason.ends_with("is in a range of crawl.forbid_addresses"), "{spelling}: {reason}");
        }
        assert!(check(&["0.0.0.0/0"], &["8.8.8.8"], "8.8.8.8").is_err(), "forbidden ranges take precedence");
        assert!(
            check(&["2400::/12"], &[], "2400::1").is_ok() && check(&["2400::/12"], &[], "2600::1").is_err()
        );
        for bad in ["", "8.8.8.0/33", "8.8.8", "example.org"] {
            let error = check(&[bad], &[], "8.8.8.8").unwrap_err();
            assert!(error.contains("crawl.allow_addresses") && error.contains("162.105.0.0/16"), "{error}");
        }
    }

    #[test]
    fn an_address_may_say_where_it_leads() {
        let names_private = |url: &str| names_private_host(&PageUrl::parse(url).unwrap());
        for private in [
            "http://127.1/",
            "http://0x7f000001/",
            "http://[::1]:80/",
            "http://LOCALHOST./",
            "http://a.localhost/",
        ] {
            assert!(names_private(private), "{private}");
        }
        for public in
            ["http://8.8.8.8/", "http://localhost.example/", "http://intranet/", "http://[2400::1]/"]
        {
            assert!(!names_private(public), "{public}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for public in [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2400::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn all_other_addresses_are_not_public() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.0.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:7f00:1::1",
            "2002:a00:1::",
            "2001:0:7f00:1::1",
            // Teredo with the client 192.168.0.1, inverted.
            "2001:0:808:808::3f57:fffe",
            "2001:db8::1",
            "2001:2::1",
            "2001:10::1",
            "3fff::1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "5f00::1",
            "4000::1",
            "2400::5efe:10.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
