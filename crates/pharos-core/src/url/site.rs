//! Site names and site ids.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The name of a site: a host without scheme, with its port unless it is the default port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteName(String);

impl SiteName {
    /// Wraps a stored name that came from [`PageUrl::site`](crate::PageUrl::site). It is not validated.
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// Returns the name: `www.example.org` or `localhost:8080`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host, without port.
    pub fn host(&self) -> &str {
        match self.0.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => &self.0,
        }
    }

    /// Returns the registrable domain (`example.org`), or the host if there is none (IP address, `localhost`).
    pub fn domain(&self) -> &str {
        self.registrable_domain().unwrap_or(self.host())
    }

    /// Returns the same host with `www.` added or removed, if both belong to one registrable domain. The two sites
    /// usually, but not always, have the same content.
    pub fn www_variant(&self) -> Option<SiteName> {
        let host = self.host();
        let port = &self.0[host.len()..];
        let variant = match host.strip_prefix("www.") {
            Some(bare) => SiteName(format!("{bare}{port}")),
            None => SiteName(format!("www.{host}{port}")),
        };
        let domain = self.registrable_domain()?;
        (variant.registrable_domain() == Some(domain)).then_some(variant)
    }

    fn registrable_domain(&self) -> Option<&str> {
        let host = self.host();
        let is_address = host.parse::<std::net::Ipv4Addr>().is_ok() || host.starts_with('[');
        if is_address { None } else { psl::domain_str(host) }
    }

    /// Returns the id of the site.
    pub fn id(&self) -> SiteId {
        SiteId(xxh3_64(self.0.as_bytes()))
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a site: the 64-bit hash of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u64);
