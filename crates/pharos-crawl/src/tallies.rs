//! Daily traffic by site and domain, within bounds: the entries with the fewest requests are evicted first.

use std::collections::HashMap;

use pharos_core::SiteName;

/// Maximum number of entries.
const MAX_TALLIES: usize = 262_144;

/// Traffic of a site on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of requests started.
    pub requests: u64,
    /// Number of bytes received.
    pub bytes: u64,
}

/// Traffic of a site or a domain on its current day.
#[derive(Debug, Default)]
struct Tally {
    /// `None` for a domain, which is counted but not listed.
    name: Option<SiteName>,
    day: i64,
    traffic: Traffic,
}

/// Traffic by the hash of a site or a domain.
#[derive(Debug, Default)]
pub(crate) struct Tallies(HashMap<u64, Tally>);

impl Tallies {
    pub(crate) fn requests(&self, id: u64, day: i64) -> u64 {
        self.0.get(&id).filter(|tally| tally.day == day).map_or(0, |tally| tally.traffic.requests)
    }

    pub(crate) fn asked(&mut self, id: u64, name: Option<&SiteName>, day: i64) {
        self.on(id, name, day).requests += 1;
    }

    pub(crate) fn received(&mut self, id: u64, day: i64, bytes: u64) {
        let traffic = self.on(id, None, day);
        traffic.bytes = traffic.bytes.saturating_add(bytes);
    }

    /// Restores the number of requests by an earlier process, and adds it to the domain.
    pub(crate) fn restore(&mut self, id: u64, name: &SiteName, domain: u64, day: i64, requests: u64) {
        let traffic = self.on(id, Some(name), day);
        let unheard = requests.saturating_sub(traffic.requests);
        traffic.requests += unheard;
        self.on(domain, None, day).requests += unheard;
    }

    fn on(&mut self, id: u64, name: Option<&SiteName>, day: i64) -> &mut Traffic {
        let tally = self.0.entry(id).or_default();
        if tally.day != day {
            (tally.day, tally.traffic) = (day, Traffic::default());
        }
        if tally.name.is_none() {
            tally.name = name.cloned();
        }
        &mut tally.traffic
    }

    pub(crate) fn busiest(&self, most: usize) -> Vec<(SiteName, Traffic)> {
        let named = self.0.values().filter_map(|tally| Some((tally.name.clone()?, tally.traffic)));
        let mut list: Vec<_> = named.collect();
        list.sort_by(|a, b| b.1.requests.cmp(&a.1.requests).then_with(|| a.0.cmp(&b.0)));
        list.truncate(most);
        list
    }

    /// Drops entries older than `day`, and then the smallest ones until the limit is met.
    pub(crate) fn prune(&mut self, day: i64) {
        self.0.retain(|_, tally| tally.day >= day);
        let mut least = 2;
        while self.0.len() > MAX_TALLIES {
            self.0.retain(|_, tally| tally.traffic.requests >= least);
            least *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_nothing() {
        let mut tallies = Tallies::default();
        let name = SiteName::from_stored("a.example".into());
        tallies.asked(1, Some(&name), 7);
        tallies.received(1, 7, 100);
        tallies.asked(2, None, 7);
        assert_eq!((tallies.requests(1, 7), tallies.requests(1, 8)), (1, 0));
        assert_eq!(tallies.busiest(9), [(name.clone(), Traffic { requests: 1, bytes: 100 })]);
        tallies.asked(1, Some(&name), 8);
        assert_eq!(tallies.busiest(9), [(name, Traffic { requests: 1, bytes: 0 })]);
        tallies.prune(8);
        assert_eq!(tallies.0.len(), 1);
    }

    #[test]
    fn a_domain_remembers_what_its_sites_do() {
        let mut tallies = Tallies::default();
        let (a, b) = (SiteName::from_stored("a.example".into()), SiteName::from_stored("b.example".into()));
        tallies.restore(1, &a, 9, 7, 10);
        tallies.restore(2, &b, 9, 7, 5);
        tallies.restore(1, &a, 9, 7, 10);
        assert_eq!((tallies.requests(1, 7), tallies.requests(9, 7)), (10, 15));
    }

    #[test]
    fn the_busiest_are_kept() {
        let mut tallies = Tallies::default();
        for id in 0..MAX_TALLIES as u64 + 10 {
            tallies.asked(id, None, 1);
        }
        for _ in 0..9 {
            tallies.asked(5, None, 1);
        }
        tallies.prune(1);
        assert!(tallies.0.len() <= MAX_TALLIES);
        assert_eq!(tallies.requests(5, 1), 10);
    }
}
