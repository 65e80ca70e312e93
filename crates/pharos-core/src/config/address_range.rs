//! Address ranges in settings: `crawl.allow_addresses`, `crawl.forbid_addresses`, `desk.allow`, `web.behind_proxy`.

use std::net::IpAddr;

use ipnet::IpNet;
use toml::de::DeValue;

use super::value::SettingValue;

/// Parses a range such as `162.105.0.0/16`, or a single address as a range of one.
///
/// Host bits are cleared, and an IPv4 address embedded in an IPv6 one (`::ffff:192.0.2.1`) means the IPv4 address.
pub fn parse_address_range(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let single = || text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
    text.parse::<IpNet>().ok().map(|range| range.trunc()).or_else(single)
}

/// A list of addresses and networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRanges(Vec<IpNet>);

impl AddressRanges {
    /// Parses a list; `None` if an entry is neither an address nor a network.
    pub fn parse<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Option<Self> {
        entries.into_iter().map(|entry| parse_address_range(entry.as_ref())).collect::<Option<_>>().map(Self)
    }

    /// Returns the addresses of the local machine.
    pub fn loopback() -> Self {
        Self::parse(["127.0.0.0/8", "::1/128"]).unwrap_or_default()
    }

    /// Returns `true` if a range contains the address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|range| range.contains(&address))
    }
}

impl SettingValue for AddressRanges {
    fn expected() -> String {
        "a list of addresses or networks, [\"192.0.2.1\", \"10.0.0.0/8\"]".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        Self::parse(Vec::<String>::from_text(text)?)
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        Self::parse(Vec::<String>::from_toml(value)?)
    }
    fn to_toml(&self) -> String {
        self.0.iter().map(ToString::to_string).collect::<Vec<_>>().to_toml()
    }
}

/// Addresses of the proxies whose headers about the client are trusted.
///
/// Release 0.1 had a boolean here, and trusted every client if it was `true`. It is accepted for one more release and
/// means proxies in local and private networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    ranges: AddressRanges,
    /// The setting is `true`.
    is_boolean: bool,
}

/// Networks in which the boolean setting trusts proxies: loopback, private (RFC 1918, RFC 4193) and link-local.
const LOCAL_NETWORKS: [&str; 8] = [
    "127.0.0.0/8",
    "::1/128",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "fc00::/7",
    "fe80::/10",
];

impl TrustedProxies {
    /// Trusts the proxies in these ranges.
    pub fn new(ranges: AddressRanges) -> Self {
        Self { ranges, is_boolean: false }
    }

    fn from_boolean(behind_proxy: bool) -> Self {
        if !behind_proxy {
            return Self::default();
        }
        Self { ranges: AddressRanges::parse(LOCAL_NETWORKS).unwrap_or_default(), is_boolean: true }
    }

    /// Returns `true` if the address belongs to a trusted proxy.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.ranges.contains(address)
    }

    /// Returns `true` if the setting has the boolean form of release 0.1, which trusts local and private networks.
    pub fn is_boolean(&self) -> bool {
        self.is_boolean
    }
}

impl SettingValue for TrustedProxies {
    fn expected() -> String {
        AddressRanges::expected()
    }
    fn from_text(text: &str) -> Option<Self> {
        match bool::from_text(text.trim()) {
            Some(behind_proxy) => Some(Self::from_boolean(behind_proxy)),
            None => AddressRanges::from_text(text).map(Self::new),
        }
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match bool::from_toml(value) {
            Some(behind_proxy) => Some(Self::from_boolean(behind_proxy)),
            None => AddressRanges::from_toml(value).map(Self::new),
        }
    }
    fn to_toml(&self) -> String {
        self.ranges.to_toml()
    }
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

    fn contains(proxies: &TrustedProxies, address: &str) -> bool {
        proxies.contains(address.parse().unwrap())
    }

    #[test]
    fn trusted_proxies_are_a_list() {
        let proxies = TrustedProxies::from_text("192.0.2.1, 2001:db8::/32").unwrap();
        assert!(contains(&proxies, "192.0.2.1") && contains(&proxies, "::ffff:192.0.2.1"));
        assert!(contains(&proxies, "2001:db8::7"));
        assert!(!contains(&proxies, "127.0.0.1") && !contains(&proxies, "192.0.2.2"));
        assert_eq!(proxies.to_toml(), "[\"192.0.2.1/32\", \"2001:db8::/32\"]");
        assert_eq!(TrustedProxies::from_text(""), Some(TrustedProxies::default()));
        for wrong in ["yes", "1", "proxy.example.org", "192.0.2.1:80", "192.0.2.1, x"] {
            assert_eq!(TrustedProxies::from_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_boolean_of_release_0_1_trusts_local_networks_only() {
        let proxies = TrustedProxies::from_text("true").unwrap();
        assert!(proxies.is_boolean());
        for trusted in ["127.0.0.1", "::1", "10.1.2.3", "172.18.0.5", "192.168.0.1", "fd00::1"] {
            assert!(contains(&proxies, trusted), "{trusted}");
        }
        for other in ["8.8.8.8", "172.32.0.1", "2001:db8::1", "0.0.0.0"] {
            assert!(!contains(&proxies, other), "{other}");
        }
        assert_eq!(TrustedProxies::from_text("false"), Some(TrustedProxies::default()));
    }
}
