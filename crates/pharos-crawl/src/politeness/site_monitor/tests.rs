//! Tests of the site monitor with a simulated clock.

use super::*;
use pharos_core::config::PolitenessProfile;
use proptest::prelude::*;

fn site(name: &str) -> SiteName {
    SiteName::from_stored(name.into())
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Noon in the operator's time zone.
const NOON: i64 = 12 * 3_600_000;

fn monitor(change: impl FnOnce(&mut CrawlConfig)) -> SiteMonitor {
    let mut config = CrawlConfig::default();
    change(&mut config);
    SiteMonitor::new(Arc::new(config), UtcOffset::default()).unwrap()
}

fn complete_request(
    monitor: &mut SiteMonitor,
    name: &str,
    millis: i64,
    request: CompletedRequest,
) -> Timestamp {
    assert_eq!(monitor.check(&site(name), at(millis)), RequestPermission::Now, "{name} at {millis}");
    monitor.request_started(&site(name), at(millis));
    monitor.request_ended(&site(name), at(millis), request)
}

#[test]
fn a_site_waits_from_the_end_of_its_last_request() {
    let mut monitor = monitor(|_| {});
    let a = site("a.example");
    assert_eq!(monitor.check(&a, at(NOON)), RequestPermission::Now);
    monitor.request_started(&a, at(NOON));
    assert_eq!(monitor.check(&a, at(NOON + 9000)), RequestPermission::Busy, "one request at a time");
    let took = Duration::from_millis(200);
    monitor.request_ended(&a, at(NOON + 9000), CompletedRequest { took, ..CompletedRequest::default() });
    assert_eq!(monitor.check(&a, at(NOON + 9001)), RequestPermission::NotBefore(at(NOON + 11_000)));
    assert_eq!(monitor.check(&a, at(NOON + 11_000)), RequestPermission::Now, "ten times what it took");
    assert_eq!(monitor.check(&site("b.example"), at(NOON)), RequestPermission::Now, "others do not wait");
}

#[test]
fn other_settings_hold_for_sites_that_are_known_too() {
    let mut monitor = monitor(|_| {});
    assert_eq!(
        complete_request(&mut monitor, "a.example", NOON, CompletedRequest::default()),
        at(NOON + 1000)
    );
    let mut config =
        CrawlConfig { site_settings: vec!["a.example delay=5s".into()], ..CrawlConfig::default() };
    monitor.reconfigure(Arc::new(config.clone())).unwrap();
    let a = site("a.example");
    assert_eq!(
        monitor.check(&a, at(NOON + 999)),
        RequestPermission::NotBefore(at(NOON + 1000)),
        "a wait has begun"
    );
    assert_eq!(
        complete_request(&mut monitor, "a.example", NOON + 1000, CompletedRequest::default()),
        at(NOON + 6000)
    );
    config.site_settings = vec!["a.example delay=soon".into()];
    assert!(monitor.reconfigure(Arc::new(config)).is_err());
    assert_eq!(
        complete_request(&mut monitor, "a.example", NOON + 6000, CompletedRequest::default()),
        at(NOON + 11_000),
        "nothing changed"
    );
}

#[test]
fn politeness_zone_and_connections_can_be_set_per_site() {
    let mut monitor = monitor(|config| {
        config.politeness = PolitenessProfile::Gentle;
        config.site_settings = ["night.example zone=+12:00", "fast.example delay=100ms connections=2"]
            .map(String::from)
            .to_vec();
    });
    let wait = |monitor: &mut SiteMonitor, name: &str| {
        complete_request(monitor, name, NOON, CompletedRequest::default()).millis() - NOON
    };
    assert_eq!(wait(&mut monitor, "day.example"), 10_000);
    assert_eq!(wait(&mut monitor, "night.example"), 1000);
    assert_eq!(wait(&mut monitor, "www.example.co.jp"), 10_000, "nine in the evening");
    assert_eq!(wait(&mut monitor, "www.example.co.nz"), 1000, "midnight");
    assert_eq!(wait(&mut monitor, "fast.example"), 100);
    let fast = site("fast.example");
    monitor.request_started(&fast, at(NOON + 1000));
    assert_eq!(monitor.check(&fast, at(NOON + 1000)), RequestPermission::NotBefore(at(NOON + 1100)));
    assert_eq!(monitor.check(&fast, at(NOON + 1100)), RequestPermission::Now, "concurrently with the first");
}

#[test]
fn a_failing_server_gets_growing_back_offs() {
    let mut monitor = monitor(|config| config.retry_delay = Duration::from_secs(60));
    let overloaded =
        |wait| CompletedRequest { health: ServerHealth::Overloaded(wait), ..CompletedRequest::default() };
    let mut now = NOON;
    let mut waits = Vec::new();
    for _ in 0..3 {
        let ready = complete_request(&mut monitor, "a.example", now, overloaded(None)).millis();
        waits.push((ready - now) / 1000);
        now = ready;
        monitor.prune(at(now));
    }
    assert_eq!(waits, [60, 120, 240]);
    assert_eq!(monitor.back_off_end(site("a.example").id()), Some(at(now)));
    let wait = Some(Duration::from_secs(7200));
    assert_eq!(complete_request(&mut monitor, "a.example", now, overloaded(wait)).millis() - now, 7_200_000);
    now += 7_200_000;
    assert_eq!(
        complete_request(&mut monitor, "a.example", now, CompletedRequest::default()).millis() - now,
        1000,
        "forgotten"
    );
    assert_eq!(monitor.back_off_end(site("a.example").id()), None);
    let silent = CompletedRequest {
        health: ServerHealth::Unresponsive,
        took: Duration::from_secs(30),
        ..CompletedRequest::default()
    };
    assert_eq!(complete_request(&mut monitor, "b.example", now, silent).millis() - now, 2000);
    let far = CompletedRequest {
        health: ServerHealth::Overloaded(Some(Duration::MAX)),
        ..CompletedRequest::default()
    };
    assert_eq!(complete_request(&mut monitor, "c.example", now, far).since(at(now)), MAX_REQUESTED_WAIT);
}

#[test]
fn back_off_outlasts_the_process() {
    let mut monitor = monitor(|config| config.politeness = PolitenessProfile::Gentle);
    let (a, now) = (site("a.example"), at(NOON));
    monitor.restore(&a, Some(at(NOON + 5000)), 19_999, now);
    assert_eq!(monitor.check(&a, now), RequestPermission::NotBefore(at(NOON + 5000)));
    complete_request(&mut monitor, "a.example", NOON + 5000, CompletedRequest::default());
    let tomorrow = RequestPermission::NotBefore(at(24 * 3_600_000));
    assert_eq!(monitor.check(&a, at(NOON + 60_000)), tomorrow, "20,000 in a day");
    assert_eq!(monitor.check(&a, at(24 * 3_600_000)), RequestPermission::Now);
}

#[test]
fn only_public_addresses_are_shared() {
    for (address, limited) in [("192.168.1.1", false), ("8.8.8.8", true)] {
        let mut monitor = monitor(|config| config.normal.sites_per_address = 2);
        let request =
            CompletedRequest { address: Some(address.parse().unwrap()), ..CompletedRequest::default() };
        let now = at(NOON + 5000);
        for n in 0..3 {
            complete_request(&mut monitor, &format!("www.s{n}.example"), NOON, request);
        }
        for n in 0..2 {
            let name = site(&format!("www.s{n}.example"));
            assert_eq!(monitor.check(&name, now), RequestPermission::Now);
            monitor.request_started(&name, now);
        }
        let third = monitor.check(&site("www.s2.example"), now);
        assert_eq!(third != RequestPermission::Now, limited, "{address}: {third:?}");
    }
}

#[test]
fn unused_state_is_dropped() {
    let mut monitor = monitor(|_| {});
    for n in 0..1000 {
        complete_request(
            &mut monitor,
            &format!("www.s{n}.example"),
            NOON,
            CompletedRequest { bytes: 10, ..CompletedRequest::default() },
        );
    }
    assert_eq!(monitor.busiest_sites(2)[0], (site("www.s0.example"), SiteTraffic { requests: 1, bytes: 10 }));
    monitor.prune(at(NOON + 500));
    assert_eq!(monitor.len(), 1000);
    monitor.prune(at(NOON + 1000));
    assert!(monitor.is_empty() && monitor.domains.is_empty());
}

proptest! {
    /// Under any sequence of events: no site is requested too soon or too often at once, and shared resources are
    /// requested at most as fast as a few sites.
    #[test]
    fn no_limit_is_exceeded(
        steps in proptest::collection::vec((0..3u8, 0..12usize, 0..400i64, 0..3u8), 0..400),
        connections in 1..3usize,
    ) {
        let mut monitor = monitor(|config| {
            config.connections_per_host = connections;
            config.sites_per_domain = 3;
            config.normal.nice_factor = 2;
            config.normal.sites_per_address = 4;
            config.normal.pages_per_day = 20;
        });
        // Twelve sites in two domains.
        let sites: Vec<SiteName> = (0..12).map(|n| site(&format!("s{n}.d{}.example", n % 2))).collect();
        let mut now = NOON;
        // Site, start, and the time its slots reopen.
        let mut requests: Vec<(usize, i64, Option<i64>)> = Vec::new();
        let mut begun = [0; 12];
        for (what, which, wait, how) in steps {
            now += wait;
            match what {
                0 => {
                    let open: Vec<usize> =
                        (0..requests.len()).filter(|r| requests[*r].2.is_none()).collect();
                    let Some(request) = open.get(which % open.len().max(1)) else { continue };
                    let (number, began, _) = requests[*request];
                    let took = Duration::from_millis(u64::try_from(now - began).unwrap());
                    let health = [ServerHealth::Answered, ServerHealth::Unresponsive, ServerHealth::Answered][usize::from(how)];
                    let address = Some("8.8.8.8".parse().unwrap());
                    monitor.request_ended(&sites[number], at(now), CompletedRequest { took, health, address, ..CompletedRequest::default() });
                    let nice = if health == ServerHealth::Unresponsive { 0 } else { 2 * (now - began) };
                    requests[*request].2 = Some(now + nice.clamp(1000, 300_000));
                }
                1 if how == 0 => monitor.prune(at(now)),
                _ => {
                    let taken = |r: &&(usize, i64, Option<i64>)| r.2.is_none_or(|until| until > now);
                    match monitor.check(&sites[which], at(now)) {
                        RequestPermission::Now => {
                            let own = requests.iter().filter(taken).filter(|r| r.0 == which);
                            prop_assert!(own.clone().all(|r| r.2.is_none()), "too soon after an answer");
                            prop_assert!(own.clone().all(|r| r.1 + 1000 <= now), "too soon after a request");
                            prop_assert!(own.count() < connections, "too many at once");
                            let domain = requests.iter().filter(taken).filter(|r| r.0 % 2 == which % 2);
                            prop_assert!(domain.count() < 3, "too much for the domain");
                            prop_assert!(begun[which] < 20, "too many in a day");
                            monitor.request_started(&sites[which], at(now));
                            begun[which] += 1;
                            requests.push((which, now, None));
                        }
                        RequestPermission::NotBefore(moment) => prop_assert!(moment > at(now)),
                        RequestPermission::Busy => {
                            let in_progress = requests.iter().filter(|r| r.0 == which && r.2.is_none());
                            prop_assert_eq!(in_progress.count(), connections);
                        }
                    }
                }
            }
        }
    }
}
