//! Host name resolution: operator overrides, literal addresses, `/etc/hosts`, DNS, in that order.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, ResolverBuilder, TokioResolver};
use tracing::warn;

use crate::fetch::FetchError;
use crate::fetch::overrides::HostOverrides;

/// Maximum number of cached DNS responses.
const MAX_CACHED_NAMES: u64 = 32_768;

/// Bounds on the cache lifetime of a DNS response: no query for every page, and no address outdated for long.
const POSITIVE_TTL: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(86_400));
/// Bounds on the cache lifetime of a negative response: the name may be registered later.
const NEGATIVE_TTL: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(3600));

/// Resolves host names.
pub(crate) struct HostResolver {
    overrides: HostOverrides,
    hosts: Hosts,
    /// Created for the first name that needs it: a crawl of literal addresses works without DNS.
    resolver: OnceLock<Result<TokioResolver, String>>,
}

impl HostResolver {
    pub(crate) fn new(overrides: HostOverrides) -> Self {
        Self { overrides, hosts: Hosts::from_system().unwrap_or_default(), resolver: OnceLock::new() }
    }

    /// Creates a resolver that queries only this name server.
    #[cfg(test)]
    pub(crate) fn with_name_server(server: std::net::SocketAddr) -> Self {
        use hickory_resolver::config::{ConnectionConfig, NameServerConfig};
        let mut connection = ConnectionConfig::udp();
        connection.port = server.port();
        let server = NameServerConfig::new(server.ip(), true, vec![connection]);
        let config = ResolverConfig::from_name_servers(vec![server]);
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let overrides = HostOverrides::parse(&[], &[]).unwrap();
        Self { overrides, hosts: Hosts::default(), resolver: OnceLock::from(build_resolver(builder)) }
    }

    /// Returns the addresses and the port to connect to for the host and port of a URL.
    pub(crate) async fn resolve(&self, host: &str, port: u16) -> Result<(Vec<IpAddr>, u16), FetchError> {
        let (host, port) = self.overrides.target(host, port);
        if let Some(addresses) = self.overrides.addresses(&host, port) {
            return Ok((addresses.to_vec(), port));
        }
        if let Ok(address) = host.trim_start_matches('[').trim_end_matches(']').parse() {
            return Ok((vec![address], port));
        }
        let mut name = Name::from_utf8(&host).map_err(|_| FetchError::NameNotFound)?;
        let mut addresses = self.lookup_hosts_file(&name);
        if addresses.is_empty() {
            // A name with dots is complete; only `intranet` is tried in the search domains of resolv.conf.
            if name.num_labels() > 1 {
                name.set_fqdn(true);
            }
            addresses = self.query_dns(name).await?;
        }
        Ok((addresses, port))
    }

    /// Looks up `/etc/hosts` before DNS, so that local names do not wait for an unreachable DNS server.
    fn lookup_hosts_file(&self, name: &Name) -> Vec<IpAddr> {
        [RecordType::A, RecordType::AAAA]
            .into_iter()
            .filter_map(|kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind)))
            .flat_map(|found| {
                found.answers().iter().filter_map(|record| record.data.ip_addr()).collect::<Vec<_>>()
            })
            .collect()
    }

    async fn query_dns(&self, name: Name) -> Result<Vec<IpAddr>, FetchError> {
        let resolver = self.resolver.get_or_init(system_resolver).as_ref();
        let resolver = resolver.map_err(|reason| FetchError::NameServer(reason.clone()))?;
        match resolver.lookup_ip(name).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if error.is_no_records_found() => Err(FetchError::NameNotFound),
            Err(NetError::NoConnections) => Err(FetchError::NameServer("no server responds".into())),
            Err(error) => Err(FetchError::NameServer(error.to_string())),
        }
    }
}

fn system_resolver() -> Result<TokioResolver, String> {
    let builder = TokioResolver::builder_tokio().unwrap_or_else(|error| {
        warn!(%error, "cannot read the system's DNS settings: only IP addresses and /etc/hosts are resolved");
        TokioResolver::builder_with_config(ResolverConfig::default(), TokioRuntimeProvider::default())
    });
    build_resolver(builder)
}

/// Builds a resolver with a bounded cache.
fn build_resolver(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<TokioResolver, String> {
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.use_hosts_file = ResolveHosts::Always;
    options.cache_size = MAX_CACHED_NAMES;
    (options.positive_min_ttl, options.positive_max_ttl) = (Some(POSITIVE_TTL.0), Some(POSITIVE_TTL.1));
    (options.negative_min_ttl, options.negative_max_ttl) = (Some(NEGATIVE_TTL.0), Some(NEGATIVE_TTL.1));
    builder.build().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(resolve: &[&str], connect_to: &[&str]) -> HostResolver {
        let own = |list: &[&str]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        HostResolver::new(HostOverrides::parse(&own(resolve), &own(connect_to)).unwrap())
    }

    #[tokio::test]
    async fn literal_addresses_and_given_ones_need_no_dns() {
        let names = names(
            &["a.example:80:192.0.2.1,192.0.2.2"],
            &["b.example::a.example:80", "c.example::127.0.0.9:"],
        );
        let found = async |host: &str, port| names.resolve(host, port).await.unwrap();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(found("127.0.0.1", 8080).await, (vec![ip("127.0.0.1")], 8080));
        assert_eq!(found("[::1]", 80).await, (vec![ip("::1")], 80));
        assert_eq!(found("a.example", 80).await, (vec![ip("192.0.2.1"), ip("192.0.2.2")], 80));
        assert_eq!(found("b.example", 443).await, (vec![ip("192.0.2.1"), ip("192.0.2.2")], 80));
        assert_eq!(found("c.example", 81).await, (vec![ip("127.0.0.9")], 81));
        assert!(names.resolver.get().is_none());
    }

    #[tokio::test]
    async fn localhost_resolves_to_loopback() {
        let (addresses, _) = names(&[], &[]).resolve("localhost", 80).await.unwrap();
        assert!(!addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback), "{addresses:?}");
    }

    #[tokio::test]
    async fn dns_cache_lifetimes_are_bounded() {
        let resolver = system_resolver().unwrap();
        let options = resolver.options();
        let seconds = |ttl: Option<Duration>| ttl.map(|ttl| ttl.as_secs());
        assert_eq!(
            (seconds(options.positive_min_ttl), seconds(options.positive_max_ttl)),
            (Some(60), Some(86_400))
        );
        assert_eq!(
            (seconds(options.negative_min_ttl), seconds(options.negative_max_ttl)),
            (Some(10), Some(3600))
        );
    }

    #[tokio::test]
    async fn invalid_names_are_not_found() {
        let long = "x".repeat(300);
        for bad in [long.as_str(), "a..b"] {
            assert_eq!(names(&[], &[]).resolve(bad, 80).await, Err(FetchError::NameNotFound), "{bad}");
        }
    }
}
