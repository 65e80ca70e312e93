//! Addresses that visitors submit: who may, how often, and what becomes of them.
//!
//! Nothing is fetched here. What is taken waits in the engine's inbox for whoever owns the data directory.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use pharos_core::config::Submit;
use pharos_core::{Config, PageUrl};
use pharos_engine::{Left, Order, is_robots_txt, leave, left_orders, names_private_host};
use pharos_store::{Catalog, SqliteCatalog, StoreError};

use crate::service::{Rooms, Service, ServiceError};
use crate::visitor::Visitor;

/// Visitors whose submissions are counted at once.
const MAX_VISITORS: usize = 10_000;

/// What becomes of a submitted address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// An operator decides on it.
    Proposed,
    /// It is fetched when its turn comes.
    Queued,
    /// It was proposed before, and nobody has decided yet.
    ProposedBefore,
    /// It is known.
    Known,
    /// An operator does not want it.
    Declined,
    /// Nobody may submit anything.
    Off,
    /// It leads where the crawler does not go.
    OutOfReach,
    /// This visitor has submitted much; after so many seconds there is room for one more.
    TooOften(u64),
    /// So many submissions wait that no more are taken.
    Full,
}

/// How often each visitor may submit.
pub(crate) struct Patience(Option<DefaultKeyedRateLimiter<IpAddr>>);

impl Patience {
    pub(crate) fn new(config: &Config) -> Self {
        let an_hour = NonZeroU32::new(config.web.submit_rate);
        Self(an_hour.map(|an_hour| RateLimiter::dashmap(Quota::per_hour(an_hour))))
    }

    /// Counts a submission, or says what becomes of it instead.
    fn count(&self, address: IpAddr) -> Result<(), Submitted> {
        let Some(limiter) = &self.0 else { return Err(Submitted::Off) };
        if limiter.len() >= MAX_VISITORS {
            limiter.retain_recent();
            if limiter.len() >= MAX_VISITORS {
                return Err(Submitted::Full);
            }
        }
        limiter.check_key(&counted_as(address)).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            Submitted::TooOften(wait.as_secs() + 1)
        })
    }
}

/// Whoever has one IPv6 address has all that begin like it.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

impl Rooms {
    /// Takes an address from a visitor.
    pub(crate) async fn submit(&self, visitor: &Visitor, url: PageUrl) -> Result<Submitted, ServiceError> {
        let config = self.config();
        if config.web.submit == Submit::Off {
            return Ok(Submitted::Off);
        }
        if is_robots_txt(&url) || (names_private_host(&url) && !config.crawl.allow_private) {
            return Ok(Submitted::OutOfReach);
        }
        let client = &visitor.client;
        let forwarded = client.forwarded.as_ref().filter(|_| config.web.behind_proxy);
        let address = forwarded.unwrap_or(&client.address);
        let address = address.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        if let Err(refused) = self.api().patience.count(address) {
            return Ok(refused);
        }
        self.blocking(move |service| take(service, url)).await
    }
}

fn take(service: &Service, url: PageUrl) -> Result<Submitted, ServiceError> {
    let web = &service.config.web;
    let catalog = SqliteCatalog::open_reader(&service.data.catalog())?;
    let mut undecided = 0;
    if let Some(catalog) = &catalog {
        if catalog.is_removed(&url)? {
            return Ok(Submitted::Declined);
        }
        if is_known(catalog, &url)? {
            return Ok(Submitted::Known);
        }
        let submissions = catalog.submissions()?;
        match submissions.iter().find(|submission| submission.url == url).map(|s| s.accepted) {
            Some(None) => return Ok(Submitted::ProposedBefore),
            Some(Some(true)) => return Ok(Submitted::Known),
            Some(Some(false)) => return Ok(Submitted::Declined),
            None => {}
        }
        undecided = submissions.iter().filter(|submission| submission.accepted.is_none()).count();
    }
    if undecided + left_orders(&service.data) >= web.submissions {
        return Ok(Submitted::Full);
    }
    let (order, submitted) = match web.submit {
        Submit::Off => return Ok(Submitted::Off),
        Submit::Propose => (Order::Propose(vec![url]), Submitted::Proposed),
        Submit::Add => (Order::Add(vec![url]), Submitted::Queued),
    };
    Ok(match leave(&service.data, &order, web.submissions)? {
        Left::Waits => submitted,
        Left::Full => Submitted::Full,
    })
}

fn is_known(catalog: &dyn Catalog, url: &PageUrl) -> Result<bool, StoreError> {
    Ok(catalog.page(url.id())?.is_some() || catalog.page(url.with_sorted_query().id())?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience(an_hour: u32) -> Patience {
        let mut config = Config::default();
        config.web.submit_rate = an_hour;
        Patience::new(&config)
    }

    #[test]
    fn each_visitor_is_counted_by_itself() {
        let patience = patience(2);
        let from = |address: &str| patience.count(address.parse().unwrap());
        assert_eq!([from("192.0.2.1"), from("192.0.2.1")], [Ok(()); 2]);
        assert!(matches!(from("192.0.2.1"), Err(Submitted::TooOften(1..=1801))));
        assert!(matches!(from("::ffff:192.0.2.1"), Err(Submitted::TooOften(_))));
        assert_eq!([from("2001:db8::1"), from("2001:db8::2")], [Ok(()); 2]);
        assert!(matches!(from("2001:db8::3:4"), Err(Submitted::TooOften(_))), "the same network");
        assert_eq!(from("2001:db8:0:1::1"), Ok(()));
        assert_eq!(super::tests::patience(0).count("192.0.2.1".parse().unwrap()), Err(Submitted::Off));
    }

    #[test]
    fn visitors_are_not_counted_without_end() {
        let patience = patience(1);
        let from = |n: u32| patience.count(IpAddr::V4(Ipv4Addr::from_bits(0x0800_0000 + n)));
        for n in 0..u32::try_from(MAX_VISITORS).unwrap() {
            assert_eq!(from(n), Ok(()));
        }
        assert_eq!(from(1 << 20), Err(Submitted::Full));
    }
}
