//! Overloaded hosts, and one that fails every second time.

use std::time::{Duration, SystemTime};

use super::Outcome::{AtMost, Settled, Stored};
use super::host::{Ask, Host, Reply, Speech, Step};

/// `Retry-After` of overloaded hosts, in seconds.
const WAIT: u64 = 3600;
/// Seeds of the host that fails every second time.
const FLAPPING: [(usize, &str); 6] = [(0, "/"), (0, "/1"), (0, "/2"), (0, "/3"), (0, "/4"), (0, "/5")];

pub(super) fn hosts() -> Vec<Host> {
    let host = |label: &str, status, answer: fn(&Ask) -> Reply| {
        Host::new(label, Speech::Http(answer))
            .expect("/", Stored { status }, "busy: come back in an hour")
            .expect("/", AtMost(2), "nobody who was told to wait an hour asks twice")
    };
    let mut flapping = Host::new("flapping", Speech::AtOnce(flapping)).seeds(&FLAPPING);
    for (_, path) in FLAPPING {
        flapping = flapping.expect(path, Settled, "every second connection is closed at once");
    }
    vec![
        host("busy-429-seconds", 429, |ask| busy(ask, 429, WAIT.to_string())),
        host("busy-429-date", 429, |ask| busy(ask, 429, in_an_hour())),
        host("busy-503-seconds", 503, |ask| busy(ask, 503, WAIT.to_string())),
        host("busy-503-date", 503, |ask| busy(ask, 503, in_an_hour())),
        host("busy-429-nonsense", 429, |ask| busy(ask, 429, "when I am ready".to_string())),
        Host::new("failing-500", Speech::Http(failing))
            .expect("/", Stored { status: 500 }, "an error of the server")
            .expect("/", AtMost(3), "no storm of retries"),
        flapping.expect("/", AtMost(4 * FLAPPING.len()), "no storm of retries"),
    ]
}

fn in_an_hour() -> String {
    httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(WAIT))
}

fn busy(ask: &Ask, status: u16, retry_after: String) -> Reply {
    if ask.is_robots_txt() {
        return Reply::not_found();
    }
    Reply::text(status, "too many visitors\n").field("retry-after", retry_after)
}

fn failing(ask: &Ask) -> Reply {
    if ask.is_robots_txt() { Reply::not_found() } else { Reply::text(500, "an error\n") }
}

fn flapping(connection: u64) -> Vec<Step> {
    if connection % 2 == 1 {
        return vec![Step::Close];
    }
    let answer = |ask: &Ask| {
        let reply =
            if ask.is_robots_txt() { Reply::not_found() } else { Reply::page("up at this moment", &[]) };
        reply.field("connection", "close")
    };
    vec![Step::Answer(answer), Step::Close]
}
