//! The site monitor (站点抓取监控程序): records per-site traffic and prevents overload (《走进搜索引擎》ch. 2).
//!
//! The caller passes in the time. Every [`SiteMonitor::request_started`] is followed by one
//! [`SiteMonitor::request_ended`].

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::{CrawlConfig, Manners};
use pharos_core::{SiteId, SiteName, Timestamp};

use crate::address::is_public;
use crate::lanes::Lanes;
use crate::politeness::{MAX_ASKED_WAIT, MAX_BACKOFF, back_off, wait_after};
use crate::setting_error::SettingError;
use crate::site_settings::{SiteSettings, SiteTable};
use crate::tallies::{Tallies, Traffic};
use crate::zones::Zone;

const DAY: Duration = Duration::from_secs(86_400);

/// Permission to send a request to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Permitted. The caller confirms with [`SiteMonitor::request_started`].
    Now,
    /// Not before this time. The time is reserved: another site does not get this site's turn.
    NotBefore(Timestamp),
    /// The maximum number of concurrent requests is in progress; try again when one has ended.
    Busy,
}

/// A completed request, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    /// Time from the first byte sent to the last byte received.
    pub took: Duration,
    pub reply: Reply,
    /// The `Crawl-delay` of robots.txt, already bounded.
    pub crawl_delay: Duration,
    /// IP address of the server, if a connection was made.
    pub address: Option<IpAddr>,
    pub bytes: u64,
}

/// How a server handled a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// A response with any status other than 429 and 503.
    #[default]
    Answered,
    /// Status 429 or 503, with the requested wait, if any.
    Overloaded(Option<Duration>),
    /// No response within the time limit.
    Silent,
}

/// Politeness state of one site.
struct Site {
    name: SiteName,
    domain: u64,
    zone: Zone,
    manners: Manners,
    connections: usize,
    /// Earliest time of the next request.
    ready: Timestamp,
    /// End of the back-off after failures. It outlives the process.
    left_alone_until: Option<Timestamp>,
    failures: u32,
    under_way: usize,
    crawl_delay: Duration,
    /// Public IP address of the last response.
    address: Option<IpAddr>,
    /// Requests in progress that occupy a slot of `address`.
    held: usize,
    /// Retry times assigned by the slots of the domain and of the address.
    domain_turn: Option<Timestamp>,
    address_turn: Option<Timestamp>,
}

/// Decides when which site may be requested.
pub struct Monitor {
    rules: Rules,
    sites: HashMap<SiteId, Site>,
    domains: HashMap<u64, Lanes>,
    addresses: HashMap<IpAddr, Lanes>,
    tallies: Tallies,
}

/// Configured politeness.
struct Rules {
    config: Arc<CrawlConfig>,
    table: SiteTable,
    operators_zone: Zone,
}

impl Monitor {
    /// Creates a monitor. Sites without a known country are in the operator's time zone.
    pub fn new(config: Arc<CrawlConfig>, operators_zone: Zone) -> Result<Self, SettingError> {
        let table = SiteTable::parse(&config.site_settings)?;
        Ok(Self {
            rules: Rules { config, table, operators_zone },
            sites: HashMap::new(),
            domains: HashMap::new(),
            addresses: HashMap::new(),
            tallies: Tallies::default(),
        })
    }

    /// Checks whether a request to this site may start now.
    pub fn may_begin(&mut self, name: &SiteName, now: Timestamp) -> Permission {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        if site.under_way >= site.connections {
            return Permission::Busy;
        }
        if site.ready > now {
            return Permission::NotBefore(site.ready);
        }
        let lanes = self.rules.config.sites_per_domain.max(1);
        let per_day = site.manners.pages_per_day;
        let asked = |id: u64| self.tallies.requests(id, site.zone.day(now));
        if per_day > 0 && (asked(id.0) >= per_day || asked(site.domain) / lanes as u64 >= per_day) {
            return Permission::NotBefore(site.zone.next_day(now));
        }
        if site.manners.is_unlimited() {
            return Permission::Now;
        }
        let domain = self.domains.entry(site.domain).or_default();
        if let Err(moment) = domain.turn(lanes, &mut site.domain_turn, now) {
            return Permission::NotBefore(moment);
        }
        if let Some(address) = site.limited_address() {
            let lanes = self.addresses.entry(address).or_default();
            if let Err(moment) = lanes.turn(site.manners.requests_per_address, &mut site.address_turn, now) {
                return Permission::NotBefore(moment);
            }
        }
        Permission::Now
    }

    /// Records the start of a request that [`check`](Self::check) permitted.
    pub fn begun(&mut self, name: &SiteName, now: Timestamp) {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        site.under_way += 1;
        // Concurrent requests keep the same distance.
        let apart = wait_after(&site.manners, site.zone.is_night(now), Duration::ZERO, site.crawl_delay);
        site.ready = site.ready.max(now.plus(apart));
        (site.domain_turn, site.address_turn) = (None, None);
        self.domains.entry(site.domain).or_default().begun();
        if let Some(address) = site.limited_address() {
            self.addresses.entry(address).or_default().begun();
            site.held += 1;
        }
        let today = site.zone.day(now);
        self.tallies.asked(id.0, Some(&site.name), today);
        self.tallies.asked(site.domain, None, today);
    }

    /// Records the end of a request. Returns the earliest time of the site's next request, shared limits aside.
    pub fn ended(&mut self, name: &SiteName, now: Timestamp, ending: Ending) -> Timestamp {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        site.under_way = site.under_way.saturating_sub(1);
        site.crawl_delay = ending.crawl_delay;
        // The time spent waiting in vain says nothing about the server's work for a page.
        let worked = if ending.reply == Reply::Silent { Duration::ZERO } else { ending.took };
        let wait = wait_after(&site.manners, site.zone.is_night(now), worked, site.crawl_delay);
        let rests_until = now.plus(wait);
        let domain = self.domains.entry(site.domain).or_default();
        domain.released();
        domain.rests(now, ending.took, rests_until);

        if let Some(lanes) =
            site.address.filter(|_| site.held > 0).and_then(|address| self.addresses.get_mut(&address))
        {
            lanes.released();
            site.held -= 1;
        }
        let address = ending.address.filter(|address| is_public(*address));
        if let Some(address) = address.filter(|_| site.manners.requests_per_address > 0) {
            self.addresses.entry(address).or_default().rests(now, ending.took, rests_until);
        }
        if site.held == 0 {
            site.address = address.or(site.address);
        }

        site.failures = if ending.reply == Reply::Answered { 0 } else { site.failures.saturating_add(1) };
        let away = site.away_for(ending.reply, wait, self.rules.config.retry_delay);
        let away_until = (away > wait).then(|| now.plus(away));
        site.left_alone_until = site.left_alone_until.filter(|until| *until > now).max(away_until);
        site.ready = site.ready.max(now.plus(wait.max(away)));
        self.tallies.received(id.0, site.zone.day(now), ending.bytes);
        site.ready
    }

    /// Applies a new configuration. Site state is kept, and waits in progress run to their end.
    pub(crate) fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        self.rules.table = SiteTable::parse(&config.site_settings)?;
        self.rules.config = config;
        for site in self.sites.values_mut() {
            let Site { zone, manners, connections, .. } = self.rules.new_site(&site.name);
            (site.zone, site.manners, site.connections) = (zone, manners, connections);
        }
        Ok(())
    }

    /// Returns the operator's settings for a site.
    pub(crate) fn settings(&self, name: &SiteName) -> &SiteSettings {
        self.rules.table.of(name)
    }

    /// Returns the largest number of concurrent requests permitted to any site.
    pub(crate) fn most_connections(&self) -> usize {
        self.rules.config.connections_per_host.max(self.rules.table.most_connections())
    }

    /// Returns the start of the current day in the site's time zone.
    pub fn day_began(&mut self, name: &SiteName, now: Timestamp) -> Timestamp {
        let site = self.sites.entry(name.id()).or_insert_with(|| self.rules.new_site(name));
        site.zone.next_day(now).minus(DAY)
    }

    /// Returns the end of a site's back-off after failures. It is stored and outlives the process.
    pub fn not_before(&self, site: SiteId) -> Option<Timestamp> {
        self.sites.get(&site).and_then(|site| site.left_alone_until)
    }

    /// Restores state of an earlier process: the end of the back-off, and the number of requests today.
    pub fn restore(
        &mut self,
        name: &SiteName,
        not_before: Option<Timestamp>,
        asked_today: u64,
        now: Timestamp,
    ) {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        if let Some(moment) = not_before.filter(|moment| *moment > now) {
            let moment = moment.min(now.plus(MAX_ASKED_WAIT));
            site.ready = site.ready.max(moment);
            site.left_alone_until = site.left_alone_until.max(Some(moment));
            site.failures = site.failures.max(1);
        }
        self.tallies.restore(id.0, &site.name, site.domain, site.zone.day(now), asked_today);
    }

    /// Returns up to `most` sites with their traffic, the busiest first.
    pub fn traffic(&self, most: usize) -> Vec<(SiteName, Traffic)> {
        self.tallies.busiest(most)
    }

    /// Returns the number of requests to a site today.
    pub fn asked_today(&self, name: &SiteName, now: Timestamp) -> u64 {
        self.sites.get(&name.id()).map_or(0, |site| self.tallies.requests(name.id().0, site.zone.day(now)))
    }

    /// Drops state that is no longer needed.
    pub fn prune(&mut self, now: Timestamp) {
        self.sites.retain(|_, site| {
            let promised = site.domain_turn.max(site.address_turn).is_some_and(|moment| moment > now);
            // The number of consecutive failures is kept for a while after the site may be requested again.
            let failing = site.failures > 0 && site.ready.plus(MAX_BACKOFF) > now;
            site.under_way > 0 || site.ready > now || promised || failing
        });
        self.domains.retain(|_, lanes| !lanes.is_empty(now));
        self.addresses.retain(|_, lanes| !lanes.is_empty(now));
        // The westernmost zone is the last to end its day.
        self.tallies.prune(Zone::from_minutes(-12 * 60).unwrap_or_default().day(now));
    }

    /// Returns the number of sites in memory.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns `true` if no site is in memory.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }
}

impl Rules {
    fn new_site(&self, name: &SiteName) -> Site {
        let settings = self.table.of(name);
        let mut manners = *self.config.manners_of(settings.politeness.unwrap_or(self.config.politeness));
        if let Some(delay) = settings.delay {
            (manners.day_delay, manners.night_delay) = (delay, delay);
        }
        Site {
            name: name.clone(),
            // Never the hash of a site.
            domain: SiteName::from_stored(format!("*.{}", name.domain())).id().0,
            zone: settings.zone.or_else(|| Zone::of_country(name)).unwrap_or(self.operators_zone),
            manners,
            connections: settings.connections.unwrap_or(self.config.connections_per_host).max(1),
            ready: Timestamp::EPOCH,
            left_alone_until: None,
            failures: 0,
            under_way: 0,
            crawl_delay: Duration::ZERO,
            address: None,
            held: 0,
            domain_turn: None,
            address_turn: None,
        }
    }
}

impl Site {
    fn limited_address(&self) -> Option<IpAddr> {
        self.address.filter(|_| self.manners.requests_per_address > 0)
    }

    /// Returns the back-off of a failing server: longer after each failure, and at least the wait the server
    /// requested.
    fn away_for(&self, reply: Reply, wait: Duration, retry_delay: Duration) -> Duration {
        match reply {
            Reply::Answered => Duration::ZERO,
            Reply::Silent => back_off(wait.saturating_mul(2), self.failures),
            Reply::Overloaded(asked) => {
                let own = if self.manners.is_unlimited() { Duration::ZERO } else { retry_delay };
                asked.unwrap_or_default().min(MAX_ASKED_WAIT).max(back_off(own, self.failures))
            }
        }
    }
}

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
