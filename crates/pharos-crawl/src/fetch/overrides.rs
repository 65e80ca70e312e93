//! Connection overrides: `--resolve` and `--connect-to`, as in curl.

use std::net::IpAddr;

use crate::setting_error::SettingError;

/// All `--resolve` and `--connect-to` options.
#[derive(Debug, Default)]
pub(crate) struct HostOverrides {
    resolve: Vec<ResolveOverride>,
    connect_to: Vec<ConnectOverride>,
}

/// `--resolve HOST:PORT:ADDR[,ADDR]`.
#[derive(Debug)]
struct ResolveOverride {
    /// `None` means any host (`*`).
    host: Option<String>,
    port: u16,
    addresses: Vec<IpAddr>,
}

/// `--connect-to HOST1:PORT1:HOST2:PORT2`. Empty parts match everything on the left and change nothing on the right.
#[derive(Debug)]
struct ConnectOverride {
    from: (Option<String>, Option<u16>),
    to: (Option<String>, Option<u16>),
}

impl HostOverrides {
    pub(crate) fn parse(resolve: &[String], connect_to: &[String]) -> Result<Self, SettingError> {
        let bad_resolve = |text: &String| SettingError::Resolve(text.clone());
        let bad_connect_to = |text: &String| SettingError::ConnectTo(text.clone());
        Ok(Self {
            resolve: resolve
                .iter()
                .map(|t| ResolveOverride::parse(t).ok_or_else(|| bad_resolve(t)))
                .collect::<Result<_, _>>()?,
            connect_to: connect_to
                .iter()
                .map(|t| ConnectOverride::parse(t).ok_or_else(|| bad_connect_to(t)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the host and port to connect to for those of a URL; the first matching `--connect-to` decides.
    pub(crate) fn target(&self, host: &str, port: u16) -> (String, u16) {
        let fits = |c: &&ConnectOverride| {
            c.from.0.as_ref().is_none_or(|h| h == host) && c.from.1.is_none_or(|p| p == port)
        };
        match self.connect_to.iter().find(fits) {
            Some(found) => {
                (found.to.0.clone().unwrap_or_else(|| host.to_string()), found.to.1.unwrap_or(port))
            }
            None => (host.to_string(), port),
        }
    }

    /// Returns the addresses given for a host and port; entries for a name precede those for `*`.
    pub(crate) fn addresses(&self, host: &str, port: u16) -> Option<&[IpAddr]> {
        let named = self.resolve.iter().rfind(|r| r.port == port && r.host.as_deref() == Some(host));
        let any = || self.resolve.iter().rfind(|r| r.port == port && r.host.is_none());
        named.or_else(any).map(|r| r.addresses.as_slice())
    }
}

impl ResolveOverride {
    fn parse(text: &str) -> Option<Self> {
        let (host, rest) = split_host(text.strip_prefix('+').unwrap_or(text))?;
        let (port, addresses) = rest.split_once(':')?;
        let host = if host == "*" { None } else { Some(normal_host(host)?) };
        let address = |a: &str| a.trim().trim_start_matches('[').trim_end_matches(']').parse().ok();
        let addresses = addresses.split(',').map(address).collect::<Option<_>>()?;
        Some(Self { host, port: port.parse().ok()?, addresses })
    }
}

impl ConnectOverride {
    fn parse(text: &str) -> Option<Self> {
        let (from_host, rest) = split_host(text)?;
        let (from_port, rest) = rest.split_once(':')?;
        let (to_host, to_port) = split_host(rest)?;
        let host = |h: &str| if h.is_empty() { Some(None) } else { normal_host(h).map(Some) };
        let port = |p: &str| if p.is_empty() { Some(None) } else { p.parse().ok().map(Some) };
        Some(Self { from: (host(from_host)?, port(from_port)?), to: (host(to_host)?, port(to_port)?) })
    }
}

/// Splits `host:rest`, where the host may be `[::1]`.
fn split_host(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        return Some((&text[..end], text[end..].strip_prefix(':')?));
    }
    text.split_once(':')
}

/// Normalises a host as in a [`PageUrl`](pharos_core::PageUrl): lower case, punycode.
fn normal_host(host: &str) -> Option<String> {
    url::Host::parse(host).ok().map(|h| h.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn overrides(resolve: &[&str], connect_to: &[&str]) -> Result<HostOverrides, SettingError> {
        let own = |list: &[&str]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        HostOverrides::parse(&own(resolve), &own(connect_to))
    }

    #[test]
    fn resolve_is_as_in_curl() {
        let list = [
            "A.example:80:127.0.0.1,[::1]",
            "a.example:81:10.0.0.1",
            "*:80:10.9.9.9",
            "[::1]:80:fe80::1",
            "+b:80:10.0.0.2",
        ];
        let given = overrides(&list, &[]).unwrap();
        let ips = |host: &str, port| {
            given.addresses(host, port).map(|a| a.iter().map(|i| i.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(ips("a.example", 80).unwrap(), ["127.0.0.1", "::1"]);
        assert_eq!(ips("a.example", 81).unwrap(), ["10.0.0.1"]);
        assert_eq!(ips("[::1]", 80).unwrap(), ["fe80::1"]);
        assert_eq!(ips("b", 80).unwrap(), ["10.0.0.2"]);
        assert_eq!(ips("other", 80).unwrap(), ["10.9.9.9"]);
        assert_eq!(ips("other", 443), None);
    }

    #[test]
    fn connect_to_is_as_in_curl() {
        let list = ["a:80:b:8080", "a:443::8443", "c::d:", ":99:127.0.0.1:", "[::1]:80:[::2]:81", "::last:"];
        let given = overrides(&[], &list).unwrap();
        let target = |host: &str, port| {
            let (host, port) = given.target(host, port);
            format!("{host} {port}")
        };
        assert_eq!(target("a", 80), "b 8080");
        assert_eq!(target("a", 443), "a 8443");
        assert_eq!(target("c", 7), "d 7");
        assert_eq!(target("x", 99), "127.0.0.1 99");
        assert_eq!(target("[::1]", 80), "[::2] 81");
        assert_eq!(target("x", 1), "last 1");
        assert_eq!(overrides(&[], &[]).unwrap().target("x", 1), ("x".to_string(), 1));
    }

    #[test]
    fn invalid_overrides_are_reported_with_an_example() {
        for bad in [
            "",
            "a",
            "a:80",
            "a:b:127.0.0.1",
            "a:80:",
            "a:80:host",
            "a:80:1.2.3.4,x",
            "[::1:80:1.2.3.4",
            ":80:1.2.3.4",
        ] {
            let error = overrides(&[bad], &[]).unwrap_err().to_string();
            assert!(error.contains("www.example.org:80:127.0.0.1"), "{bad}: {error}");
        }
        for bad in ["", "a:80", "a:80:b", "a:x:b:80", "a:80:b:99999", "a b:80:c:1"] {
            assert!(overrides(&[], &[bad]).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC:\\[\\]]{0,40}") {
            let _ = overrides(&[&text], &[]);
            let _ = overrides(&[], &[&text]);
        }
    }
}
