//! Daily traffic by site and domain, within bounds: the entries with the fewest requests are evicted first.

use std::collections::HashMap;

use pharos_core::SiteName;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 262_144;

/// Traffic of a site on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteTraffic {
    /// Number of requests started.
    pub requests: u64,
    /// Number of bytes received.
    pub bytes: u64,
}

/// Traffic of a site or a domain on its current day.
#[derive(Debug, Default)]
struct DailyTraffic {
    /// `None` for a domain, which is counted but not listed.
    name: Option<SiteName>,
    day: i64,
    traffic: SiteTraffic,
}

/// Traffic by the hash of a site or a domain.
#[derive(Debug, Default)]
pub(crate) struct TrafficMetrics(HashMap<u64, DailyTraffic>);

impl TrafficMetrics {
    pub(crate) fn requests(&self, id: u64, day: i64) -> u64 {
        self.0.get(&id).filter(|entry| entry.day == day).map_or(0, |entry| entry.traffic.requests)
    }

    pub(crate) fn count_request(&mut self, id: u64, name: Option<&SiteName>, day: i64) {
        self.entry_for_day(id, name, day).requests += 1;
    }

    pub(crate) fn count_bytes(&mut self, id: u64, day: i64, bytes: u64) {
        let traffic = self.entry_for_day(id, None, day);
        traffic.bytes = traffic.bytes.saturating_add(bytes);
    }

    /// Restores the number of requests by an earlier process, and adds it to the domain.
    pub(crate) fn restore(&mut self, id: u64, name: &SiteName, domain: u64, day: i64, requests: u64) {
        let traffic = self.entry_for_day(id, Some(name), day);
        let missing = requests.saturating_sub(traffic.requests);
        traffic.requests += missing;
        self.entry_for_day(domain, None, day).requests += missing;
    }

    fn entry_for_day(&mut self, id: u64, name: Option<&SiteName>, day: i64) -> &mut SiteTraffic {
        let entry = self.0.entry(id).or_default();
        if entry.day != day {
            (entry.day, entry.traffic) = (day, SiteTraffic::default());
        }
        if entry.name.is_none() {
            entry.name = name.cloned();
        }
        &mut entry.traffic
    }

    pub(crate) fn busiest_sites(&self, most: usize) -> Vec<(SiteName, SiteTraffic)> {
        let named = self.0.values().filter_map(|entry| Some((entry.name.clone()?, entry.traffic)));
        let mut list: Vec<_> = named.collect();
        list.sort_by(|a, b| b.1.requests.cmp(&a.1.requests).then_with(|| a.0.cmp(&b.0)));
        list.truncate(most);
        list
    }

    /// Drops entries older than `day`, and then the smallest ones until the limit is met.
    pub(crate) fn prune(&mut self, day: i64) {
        self.0.retain(|_, entry| entry.day >= day);
        let mut least = 2;
        while self.0.len() > MAX_ENTRIES {
            self.0.retain(|_, entry| entry.traffic.requests >= least);
            least *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_reset_every_day() {
        let mut metrics = TrafficMetrics::default();
        let name = SiteName::from_stored("a.example".into());
        metrics.count_request(1, Some(&name), 7);
        metrics.count_bytes(1, 7, 100);
        metrics.count_request(2, None, 7);
        assert_eq!((metrics.requests(1, 7), metrics.requests(1, 8)), (1, 0));
        assert_eq!(metrics.busiest_sites(9), [(name.clone(), SiteTraffic { requests: 1, bytes: 100 })]);
        metrics.count_request(1, Some(&name), 8);
        assert_eq!(metrics.busiest_sites(9), [(name, SiteTraffic { requests: 1, bytes: 0 })]);
        metrics.prune(8);
        assert_eq!(metrics.0.len(), 1);
    }

    #[test]
    fn a_domain_counts_the_requests_of_its_sites() {
        let mut metrics = TrafficMetrics::default();
        let (a, b) = (SiteName::from_stored("a.example".into()), SiteName::from_stored("b.example".into()));
        metrics.restore(1, &a, 9, 7, 10);
        metrics.restore(2, &b, 9, 7, 5);
        metrics.restore(1, &a, 9, 7, 10);
        assert_eq!((metrics.requests(1, 7), metrics.requests(9, 7)), (10, 15));
    }

    #[test]
    fn the_busiest_are_kept() {
        let mut metrics = TrafficMetrics::default();
        for id in 0..MAX_ENTRIES as u64 + 10 {
            metrics.count_request(id, None, 1);
        }
        for _ in 0..9 {
            metrics.count_request(5, None, 1);
        }
        metrics.prune(1);
        assert!(metrics.0.len() <= MAX_ENTRIES);
        assert_eq!(metrics.requests(5, 1), 10);
    }
}
