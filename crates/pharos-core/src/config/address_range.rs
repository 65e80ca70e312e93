//! Address ranges in settings: `crawl.allow_addresses`, `crawl.forbid_addresses`, `desk.allow`.

use std::net::IpAddr;

use ipnet::IpNet;

/// Parses a range such as `162.105.0.0/16`, or a single address as a range of one.
///
/// Host bits are cleared, and an IPv4 address embedded in an IPv6 one (`::ffff:192.0.2.1`) means the IPv4 address.
pub fn parse_address_range(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let single = || text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
    text.parse::<IpNet>().ok().map(|range| range.trunc()).or_else(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_addresses_are_parsed() {
        for (text, range) in [
            ("162.105.0.0/16", "162.105.0.0/16"),
            (" 162.105.1.2/16 ", "162.105.0.0/16"),
            ("8.8.8.8", "8.8.8.8/32"),
            ("::ffff:192.0.2.1", "192.0.2.1/32"),
            ("::1", "::1/128"),
            ("2001:db8::/32", "2001:db8::/32"),
        ] {
            assert_eq!(parse_address_range(text).map(|range| range.to_string()).as_deref(), Some(range));
        }
        for wrong in ["", "localhost", "10.0.0.0/33", "10.0.0", "*", "8.8.8.8/"] {
            assert_eq!(parse_address_range(wrong), None, "{wrong}");
        }
    }
}
