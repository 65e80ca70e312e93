//! The site monitor (站点抓取监控程序): records per-site traffic and prevents overload (《走进搜索引擎》§2.4.7).
//!
//! The caller passes in the time. Every [`SiteMonitor::request_started`] is followed by one
//! [`SiteMonitor::request_ended`].

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::{CrawlConfig, PolitenessLimits};
use pharos_core::{BackOff, SiteId, SiteName, Timestamp};
use pharos_store::interpret::schedule::MAX_REQUESTED_WAIT;

use crate::fetch::address::is_public;
use crate::politeness::delay::wait_after;
use crate::politeness::request_slots::RequestSlots;
use crate::politeness::site_settings::{SiteSettings, SiteSettingsTable};
use crate::politeness::traffic_metrics::{SiteTraffic, TrafficMetrics};
use crate::politeness::utc_offset::UtcOffset;
use crate::setting_error::SettingError;

const DAY: Duration = Duration::from_secs(86_400);

/// Permission to send a request to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPermission {
    /// Permitted. The caller confirms with [`SiteMonitor::request_started`].
    Now,
    /// Not before this time. The time is reserved: another site does not get this site's turn.
    NotBefore(Timestamp),
    /// The maximum number of concurrent requests is in progress; try again when one has ended.
    Busy,
}

/// A completed request, as far as politeness is concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompletedRequest {
    /// Time from the first byte sent to the last byte received.
    pub took: Duration,
    pub health: ServerHealth,
    /// The `Crawl-delay` of robots.txt, already bounded.
    pub crawl_delay: Duration,
    /// IP address of the server, if a connection was made.
    pub address: Option<IpAddr>,
    pub bytes: u64,
}

/// State of a server as shown by its response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerHealth {
    /// A response with any status other than 429 and 503.
    #[default]
    Answered,
    /// Status 429 or 503, with the requested wait, if any.
    Overloaded(Option<Duration>),
    /// No response within the time limit.
    Unresponsive,
}

/// Politeness state of one site.
struct SitePoliteness {
    name: SiteName,
    domain: u64,
    zone: UtcOffset,
    limits: PolitenessLimits,
    connections: usize,
    /// Earliest time of the next request.
    ready: Timestamp,
    /// End of the back-off after failures. It outlives the process.
    back_off_until: Option<Timestamp>,
    failures: u32,
    in_progress: usize,
    crawl_delay: Duration,
    /// Public IP address of the last response.
    address: Option<IpAddr>,
    /// Requests in progress that occupy a slot of `address`.
    held_slots: usize,
    /// Retry times assigned by the slots of the domain and of the address.
    domain_retry_at: Option<Timestamp>,
    address_retry_at: Option<Timestamp>,
}

/// Decides when which site may be requested.
pub struct SiteMonitor {
    rules: PolitenessRules,
    sites: HashMap<SiteId, SitePoliteness>,
    domains: HashMap<u64, RequestSlots>,
    addresses: HashMap<IpAddr, RequestSlots>,
    traffic: TrafficMetrics,
}

/// Configured politeness.
struct PolitenessRules {
    config: Arc<CrawlConfig>,
    table: SiteSettingsTable,
    default_offset: UtcOffset,
    /// Time at which named zones are converted to offsets: an hour does not matter for politeness.
    offsets_at: Timestamp,
}

impl SiteMonitor {
    /// Creates a monitor. Sites without a known country are in the operator's time zone.
    pub fn new(config: Arc<CrawlConfig>, default_offset: UtcOffset) -> Result<Self, SettingError> {
        let table = SiteSettingsTable::parse(&config.site_settings)?;
        Ok(Self {
            rules: PolitenessRules { config, table, default_offset, offsets_at: Timestamp::EPOCH },
            sites: HashMap::new(),
            domains: HashMap::new(),
            addresses: HashMap::new(),
            traffic: TrafficMetrics::default(),
        })
    }

    /// Sets the time whose offsets represent named time zones.
    pub(crate) fn with_offsets_at(mut self, now: Timestamp) -> Self {
        self.rules.offsets_at = now;
        self
    }

    /// Returns the time at which the next crawl window of a site opens, or `None` if it may be requested now.
    pub fn closed_until(&self, name: &SiteName, now: Timestamp) -> Option<Timestamp> {
        self.settings(name).closed_until(&self.rules.config.time_zone, now)
    }

    /// Checks whether a request to this site may start now, apart from its crawl windows.
    pub fn check(&mut self, name: &SiteName, now: Timestamp) -> RequestPermission {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        if site.in_progress >= site.connections {
            return RequestPermission::Busy;
        }
        if site.ready > now {
            return RequestPermission::NotBefore(site.ready);
        }
        let slots = self.rules.config.sites_per_domain.max(1);
        let per_day = site.limits.pages_per_day;
        let requests = |id: u64| self.traffic.requests(id, site.zone.day(now));
        if per_day > 0 && (requests(id.0) >= per_day || requests(site.domain) / slots as u64 >= per_day) {
            return RequestPermission::NotBefore(site.zone.next_day(now));
        }
        if site.limits.is_unlimited() {
            return RequestPermission::Now;
        }
        let domain = self.domains.entry(site.domain).or_default();
        if let Err(moment) = domain.try_reserve(slots, &mut site.domain_retry_at, now) {
            return RequestPermission::NotBefore(moment);
        }
        if let Some(address) = site.limited_address() {
            let slots = self.addresses.entry(address).or_default();
            if let Err(moment) =
                slots.try_reserve(site.limits.sites_per_address, &mut site.address_retry_at, now)
            {
                return RequestPermission::NotBefore(moment);
            }
        }
        RequestPermission::Now
    }

    /// Records the start of a request that [`check`](Self::check) permitted.
    pub fn request_started(&mut self, name: &SiteName, now: Timestamp) {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        site.in_progress += 1;
        // Concurrent requests keep the same distance.
        let distance = wait_after(&site.limits, site.zone.is_night(now), Duration::ZERO, site.crawl_delay);
        site.ready = site.ready.max(now.plus(distance));
        (site.domain_retry_at, site.address_retry_at) = (None, None);
        self.domains.entry(site.domain).or_default().request_started();
        if let Some(address) = site.limited_address() {
            self.addresses.entry(address).or_default().request_started();
            site.held_slots += 1;
        }
        let today = site.zone.day(now);
        self.traffic.count_request(id.0, Some(&site.name), today);
        self.traffic.count_request(site.domain, None, today);
    }

    /// Records the end of a request. Returns the earliest time of the site's next request, shared limits aside.
    pub fn request_ended(&mut self, name: &SiteName, now: Timestamp, request: CompletedRequest) -> Timestamp {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        site.in_progress = site.in_progress.saturating_sub(1);
        site.crawl_delay = request.crawl_delay;
        // The time until a timeout does not measure the server's work for a page.
        let worked = if request.health == ServerHealth::Unresponsive { Duration::ZERO } else { request.took };
        let wait = wait_after(&site.limits, site.zone.is_night(now), worked, site.crawl_delay);
        let closed_until = now.plus(wait);
        let domain = self.domains.entry(site.domain).or_default();
        domain.request_ended();
        domain.close_slot(now, request.took, closed_until);

        if let Some(slots) =
            site.address.filter(|_| site.held_slots > 0).and_then(|address| self.addresses.get_mut(&address))
        {
            slots.request_ended();
            site.held_slots -= 1;
        }
        let address = request.address.filter(|address| is_public(*address));
        if let Some(address) = address.filter(|_| site.limits.sites_per_address > 0) {
            self.addresses.entry(address).or_default().close_slot(now, request.took, closed_until);
        }
        if site.held_slots == 0 {
            site.address = address.or(site.address);
        }

        site.failures =
            if request.health == ServerHealth::Answered { 0 } else { site.failures.saturating_add(1) };
        let back_off = site.back_off_after(request.health, wait, self.rules.config.retry_delay);
        let new_back_off = (back_off > wait).then(|| now.plus(back_off));
        site.back_off_until = site.back_off_until.filter(|until| *until > now).max(new_back_off);
        site.ready = site.ready.max(now.plus(wait.max(back_off)));
        self.traffic.count_bytes(id.0, site.zone.day(now), request.bytes);
        site.ready
    }

    /// Applies a new configuration. Site state is kept, and waits in progress run to their end.
    pub(crate) fn reconfigure(&mut self, config: Arc<CrawlConfig>) -> Result<(), SettingError> {
        self.rules.table = SiteSettingsTable::parse(&config.site_settings)?;
        self.rules.config = config;
        for site in self.sites.values_mut() {
            let SitePoliteness { zone, limits, connections, .. } = self.rules.new_site(&site.name);
            (site.zone, site.limits, site.connections) = (zone, limits, connections);
        }
        Ok(())
    }

    /// Returns the operator's settings for a site.
    pub(crate) fn settings(&self, name: &SiteName) -> &SiteSettings {
        self.rules.table.settings_for(name)
    }

    /// Returns the largest number of concurrent requests permitted to any site.
    pub(crate) fn most_connections(&self) -> usize {
        self.rules.config.connections_per_host.max(self.rules.table.most_connections())
    }

    /// Returns the start of the current day in the site's time zone.
    pub fn day_start(&mut self, name: &SiteName, now: Timestamp) -> Timestamp {
        let site = self.sites.entry(name.id()).or_insert_with(|| self.rules.new_site(name));
        site.zone.next_day(now).minus(DAY)
    }

    /// Returns the end of a site's back-off after failures. It is stored and outlives the process.
    pub fn back_off_end(&self, site: SiteId) -> Option<Timestamp> {
        self.sites.get(&site).and_then(|site| site.back_off_until)
    }

    /// Restores state of an earlier process: the end of the back-off, and the number of requests today.
    pub fn restore(
        &mut self,
        name: &SiteName,
        not_before: Option<Timestamp>,
        requests_today: u64,
        now: Timestamp,
    ) {
        let id = name.id();
        let site = self.sites.entry(id).or_insert_with(|| self.rules.new_site(name));
        if let Some(moment) = not_before.filter(|moment| *moment > now) {
            let moment = moment.min(now.plus(MAX_REQUESTED_WAIT));
            site.ready = site.ready.max(moment);
            site.back_off_until = site.back_off_until.max(Some(moment));
            site.failures = site.failures.max(1);
        }
        self.traffic.restore(id.0, &site.name, site.domain, site.zone.day(now), requests_today);
    }

    /// Returns up to `most` sites with their traffic, the busiest first.
    pub fn busiest_sites(&self, most: usize) -> Vec<(SiteName, SiteTraffic)> {
        self.traffic.busiest_sites(most)
    }

    /// Returns the number of requests to a site today.
    pub fn requests_today(&self, name: &SiteName, now: Timestamp) -> u64 {
        self.sites.get(&name.id()).map_or(0, |site| self.traffic.requests(name.id().0, site.zone.day(now)))
    }

    /// Drops state that is no longer needed.
    pub fn prune(&mut self, now: Timestamp) {
        self.sites.retain(|_, site| {
            let promised = site.domain_retry_at.max(site.address_retry_at).is_some_and(|moment| moment > now);
            // The number of consecutive failures is kept for a while after the site may be requested again.
            let failing = site.failures > 0 && site.ready.plus(BackOff::SITE.longest) > now;
            site.in_progress > 0 || site.ready > now || promised || failing
        });
        self.domains.retain(|_, slots| !slots.is_empty(now));
        self.addresses.retain(|_, slots| !slots.is_empty(now));
        // The westernmost zone is the last to end its day.
        self.traffic.prune(UtcOffset::from_minutes(-12 * 60).unwrap_or_default().day(now));
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

impl PolitenessRules {
    fn new_site(&self, name: &SiteName) -> SitePoliteness {
        let settings = self.table.settings_for(name);
        let mut limits =
            *self.config.politeness_limits_of(settings.politeness.unwrap_or(self.config.politeness));
        if let Some(delay) = settings.delay {
            (limits.day_delay, limits.night_delay) = (delay, delay);
        }
        SitePoliteness {
            name: name.clone(),
            // Never the hash of a site.
            domain: SiteName::from_stored(format!("*.{}", name.domain())).id().0,
            zone: settings
                .zone
                .as_ref()
                .map(|zone| UtcOffset::of_zone(zone, self.offsets_at))
                .or_else(|| UtcOffset::of_country_domain(name))
                .unwrap_or(self.default_offset),
            limits,
            connections: settings.connections.unwrap_or(self.config.connections_per_host).max(1),
            ready: Timestamp::EPOCH,
            back_off_until: None,
            failures: 0,
            in_progress: 0,
            crawl_delay: Duration::ZERO,
            address: None,
            held_slots: 0,
            domain_retry_at: None,
            address_retry_at: None,
        }
    }
}

impl SitePoliteness {
    fn limited_address(&self) -> Option<IpAddr> {
        self.address.filter(|_| self.limits.sites_per_address > 0)
    }

    /// Returns the back-off of a failing server: longer after each failure, and at least the wait the server
    /// requested.
    fn back_off_after(&self, health: ServerHealth, wait: Duration, retry_delay: Duration) -> Duration {
        match health {
            ServerHealth::Answered => Duration::ZERO,
            ServerHealth::Unresponsive => BackOff::SITE.wait(wait.saturating_mul(2), self.failures),
            ServerHealth::Overloaded(requested) => {
                let own = if self.limits.is_unlimited() { Duration::ZERO } else { retry_delay };
                requested
                    .unwrap_or_default()
                    .min(MAX_REQUESTED_WAIT)
                    .max(BackOff::SITE.wait(own, self.failures))
            }
        }
    }
}

#[cfg(test)]
mod tests;
