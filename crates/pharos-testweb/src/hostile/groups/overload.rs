//! Overloaded hosts, and one that fails every second time.

use std::time::{Duration, SystemTime};

use crate::hostile::ExpectedOutcome::{AtMost, Settled, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, ScriptStep};

/// `Retry-After` of overloaded hosts, in seconds.
const WAIT: u64 = 3600;
/// Seeds of the host that fails every second time.
const FLAPPING: [(usize, &str); 6] = [(0, "/"), (0, "/1"), (0, "/2"), (0, "/3"), (0, "/4"), (0, "/5")];

pub(super) fn hosts() -> Vec<HostileHost> {
    let host = |label: &str, status, answer: fn(&HostileRequest) -> CannedResponse| {
        HostileHost::new(label, HostBehaviour::Http(answer))
            .expect("/", Stored { status }, "overloaded: Retry-After of an hour")
            .expect("/", AtMost(2), "a Retry-After of an hour permits no second request")
    };
    let mut flapping = HostileHost::new("flapping", HostBehaviour::Immediate(flapping)).seeds(&FLAPPING);
    for (_, path) in FLAPPING {
        flapping = flapping.expect(path, Settled, "every second connection is closed at once");
    }
    vec![
        host("busy-429-seconds", 429, |request| busy(request, 429, WAIT.to_string())),
        host("busy-429-date", 429, |request| busy(request, 429, in_an_hour())),
        host("busy-503-seconds", 503, |request| busy(request, 503, WAIT.to_string())),
        host("busy-503-date", 503, |request| busy(request, 503, in_an_hour())),
        host("busy-429-nonsense", 429, |request| busy(request, 429, "when I am ready".to_string())),
        HostileHost::new("failing-500", HostBehaviour::Http(failing))
            .expect("/", Stored { status: 500 }, "a server error")
            .expect("/", AtMost(3), "no storm of retries"),
        flapping.expect("/", AtMost(4 * FLAPPING.len()), "no storm of retries"),
    ]
}

fn in_an_hour() -> String {
    httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(WAIT))
}

fn busy(request: &HostileRequest, status: u16, retry_after: String) -> CannedResponse {
    if request.is_robots_txt() {
        return CannedResponse::not_found();
    }
    CannedResponse::text(status, "too many visitors\n").field("retry-after", retry_after)
}

fn failing(request: &HostileRequest) -> CannedResponse {
    if request.is_robots_txt() {
        CannedResponse::not_found()
    } else {
        CannedResponse::text(500, "an error\n")
    }
}

fn flapping(connection: u64) -> Vec<ScriptStep> {
    if connection % 2 == 1 {
        return vec![ScriptStep::Close];
    }
    let answer = |request: &HostileRequest| {
        let reply = if request.is_robots_txt() {
            CannedResponse::not_found()
        } else {
            CannedResponse::page("up at this moment", &[])
        };
        reply.field("connection", "close")
    };
    vec![ScriptStep::Respond(answer), ScriptStep::Close]
}
