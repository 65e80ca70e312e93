//! Rate limits: average requests per second with bursts (GCRA, crate `governor`).
//!
//! Requests beyond the limit get status 429 with `Retry-After` (RFC 6585). Clients behind one address share its limit; IPv6
//! addresses are counted by /64, the size of one customer network. Requests from the local machine are exempt: they come from
//! the operator, or from a proxy that is not in `web.behind_proxy` yet.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;
use pharos_core::config::WebConfig;

use crate::api::api_keys::{KeyId, ValidKey};
use crate::server::client_address::RequestSource;
use crate::state::AppState;

/// Number of tracked keys beyond which idle ones are dropped.
const MAX_KEYS: usize = 50_000;

/// Number of requests between two sweeps.
const SWEEP_INTERVAL: u32 = 4_096;

/// Retry time while too many keys are tracked.
const FULL_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A rate limit per key.
pub(crate) struct RateLimit<K: Hash + Eq + Clone> {
    limiter: Option<DefaultKeyedRateLimiter<K>>,
    requests: AtomicU32,
    /// Too many active keys: all requests are rejected until some expire.
    is_full: AtomicBool,
    /// Second of the last sweep while full, counted from `began`.
    swept: AtomicU64,
    began: Instant,
}

impl<K: Hash + Eq + Clone> RateLimit<K> {
    /// Allows `count` requests per `time` on average and `burst` at once; 0 is no limit.
    pub(crate) fn new(count: u32, time: Duration, burst: u32) -> Self {
        let quota = |count| {
            let quota = Quota::with_period(time / NonZeroU32::get(count))?;
            Some(quota.allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN)))
        };
        let limiter = NonZeroU32::new(count).and_then(quota).map(RateLimiter::keyed);
        let (requests, is_full, swept) = (AtomicU32::new(0), AtomicBool::new(false), AtomicU64::new(0));
        Self { limiter, requests, is_full, swept, began: Instant::now() }
    }

    /// Takes one request from the budget of a key; otherwise returns the time to wait.
    pub(crate) fn acquire(&self, key: &K) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let is_turn = self.requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEEP_INTERVAL);
        if is_turn || self.is_full.load(Ordering::Relaxed) && self.is_next_second() {
            if limiter.len() > MAX_KEYS {
                limiter.retain_recent();
                limiter.shrink_to_fit();
            }
            self.is_full.store(limiter.len() > MAX_KEYS, Ordering::Relaxed);
        }
        if self.is_full.load(Ordering::Relaxed) {
            return Err(FULL_RETRY_AFTER);
        }
        limiter.check_key(key).map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }

    fn is_next_second(&self) -> bool {
        let now = self.began.elapsed().as_secs();
        self.swept.swap(now, Ordering::Relaxed) != now
    }
}

/// Rate limits by address and by API key.
pub(crate) struct RequestLimits {
    addresses: RateLimit<IpAddr>,
    /// Keys without a rate of their own.
    keys: RateLimit<KeyId>,
    /// Keys with their own rate, by id.
    own: Mutex<HashMap<u64, OwnLimit>>,
}

/// The limit of one key.
struct OwnLimit {
    rate: u32,
    limit: RateLimit<()>,
}

/// Returns the limit of a key: twice its rate at once.
fn key_limit<K: Hash + Eq + Clone>(rate: u32) -> RateLimit<K> {
    RateLimit::new(rate, Duration::from_secs(1), rate.saturating_mul(2))
}

impl RequestLimits {
    pub(crate) fn from_config(web: &WebConfig) -> Self {
        Self {
            addresses: RateLimit::new(web.rate, Duration::from_secs(1), web.burst),
            keys: key_limit(web.key_rate),
            own: Mutex::default(),
        }
    }

    /// Takes one request. A request with a key counts against the key only.
    fn acquire(&self, key: Option<ValidKey>, address: Option<IpAddr>) -> Result<(), Duration> {
        if let Some(key) = key {
            return match key.record.and_then(|record| Some((record.id, record.rate?))) {
                Some((id, rate)) => self.acquire_own(id, rate),
                None => self.keys.acquire(&key.id),
            };
        }
        address.map_or(Ok(()), |address| self.addresses.acquire(&client_network(address)))
    }
}

impl RequestLimits {
    /// Takes one request of a key with its own rate. A changed rate starts a new budget.
    fn acquire_own(&self, id: u64, rate: u32) -> Result<(), Duration> {
        let mut own = self.own.lock();
        let new = || OwnLimit { rate, limit: key_limit(rate) };
        let limit = own.entry(id).or_insert_with(new);
        if limit.rate != rate {
            *limit = new();
        }
        limit.limit.acquire(&())
    }
}

/// Middleware that rejects requests beyond the limit.
pub(crate) async fn limit_requests(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let source = request.extensions().get::<RequestSource>();
    let address = source.and_then(RequestSource::limited_address);
    match app.request_limits().acquire(app.api().keys.check(request.headers()).into_valid(), address) {
        Ok(()) => next.run(request).await,
        Err(wait) => too_many(wait),
    }
}

/// Builds a bare 429 response, which the error middleware renders.
pub(crate) fn too_many(wait: Duration) -> Response {
    let seconds = wait.as_secs().saturating_add(1);
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, HeaderValue::from(seconds))]).into_response()
}

/// Returns the network that shares a limit: the address for IPv4, the /64 prefix for IPv6.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::testing::{engine, get_with};

    #[test]
    fn a_budget_is_used_up_and_refilled() {
        let rate = RateLimit::new(1, Duration::from_secs(1000), 3);
        assert!((0..3).all(|_| rate.acquire(&1).is_ok()));
        let wait = rate.acquire(&1).unwrap_err();
        assert!(wait > Duration::from_secs(900) && wait <= Duration::from_secs(1000), "{wait:?}");
        assert!(rate.acquire(&2).is_ok(), "each key has its own budget");
        let none = RateLimit::new(0, Duration::from_secs(1), 0);
        assert!((0..1000).all(|_| none.acquire(&1).is_ok()));
        let quick = RateLimit::new(1000, Duration::from_secs(1), 1);
        for who in 0..100 * SWEEP_INTERVAL {
            let _ = quick.acquire(&who);
        }
        let known = quick.limiter.as_ref().unwrap().len();
        assert!(known <= MAX_KEYS + SWEEP_INTERVAL as usize + 4_000, "{known} keys are tracked");
        let slow = RateLimit::new(1, Duration::from_secs(3600), 1);
        let refused = (0..2 * MAX_KEYS).filter(|who| slow.acquire(who) == Err(FULL_RETRY_AFTER)).count();
        assert!(refused > MAX_KEYS / 2, "only {refused} requests are rejected");
    }

    #[test]
    fn idle_keys_are_dropped_even_at_low_traffic() {
        let brief = RateLimit::new(1, Duration::from_secs(1), 1);
        for who in 0..2 * MAX_KEYS {
            let _ = brief.acquire(&who);
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        while brief.acquire(&usize::MAX).is_err() {
            assert!(Instant::now() < deadline, "requests are still rejected");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    #[test]
    fn ipv6_addresses_are_grouped_by_prefix() {
        let [a, b, c] = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"]
            .map(|text| client_network(text.parse().unwrap()));
        assert!(a == b && a != c);
        assert_eq!(
            client_network("::ffff:192.0.2.1".parse().unwrap()),
            client_network("192.0.2.1".parse().unwrap())
        );
        assert!(client_network("::1".parse().unwrap()).is_loopback());
    }

    #[tokio::test]
    async fn requests_beyond_the_limit_are_rejected_with_retry_after() {
        let mut config = Config::default();
        (config.web.rate, config.web.burst) = (1, 2);
        config.set("web.behind_proxy", "127.0.0.1", "test").unwrap();
        config.web.api_keys = vec!["secret".into()];
        let (_dir, service) = engine(&[], config);
        let router = crate::router(service).unwrap();
        let send = async |path: &str, from: &str, key: &str| {
            get_with(&router, path, &[("x-forwarded-for", from), ("api-key", key)]).await
        };
        for _ in 0..2 {
            assert_eq!(send("/", "evil, 192.0.2.7", "").await.status, StatusCode::OK);
        }
        let refused = send("/", "192.0.2.9, 192.0.2.7", "").await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refused.text().contains("Too many requests"), "{}", refused.text());
        assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
        for path in ["/api/v1/hot", "/search?q=x&format=json", "/search?q=x&format=rss"] {
            let refused = send(path, "192.0.2.7", "wrong").await;
            assert_eq!(refused.header("content-type"), "application/problem+json", "{path}");
            assert!(refused.header("retry-after").parse::<u64>().is_ok());
        }
        assert_eq!(send("/", "192.0.2.8", "").await.status, StatusCode::OK, "other clients are served");
        assert_eq!(send("/", "127.0.0.1", "").await.status, StatusCode::OK);
        let malformed = ["unknown", "_hidden", "", "192.0.2", "127.0.0.1:x"];
        let mut statuses = Vec::new();
        for from in malformed {
            statuses.push(send("/", from, "").await.status);
        }
        assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS), "they share one limit: {statuses:?}");
        assert_eq!(
            send("/", "192.0.2.7:5001", "").await.status,
            StatusCode::TOO_MANY_REQUESTS,
            "with a port"
        );
        for _ in 0..20 {
            assert_eq!(
                send("/", "192.0.2.7", "secret").await.status,
                StatusCode::OK,
                "a key has its own limit"
            );
        }
    }
}
