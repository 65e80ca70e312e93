//! `/admin/refresh`: how known pages are fetched again, of all sites or of one.

mod messages;

use std::sync::Arc;
use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use parking_lot::Mutex;
use pharos_core::{Clock as _, SiteName, SystemClock};
use pharos_engine::status::refresh::{DeadPages, RefreshReport, SignalTrust, TimeClass, refresh_report};
use pharos_mining::behaviour::plot::Plot;

use self::messages::RefreshMessages;
use super::commands::spawn_blocking;
use super::params;
use super::site::parse_host;
use super::sites::{report_link, site_link};
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::{Link, respond};
use crate::server::visitor::Visitor;
use crate::state::{AppState, Service, ServiceError};

/// Time for which a report of many pages is shown again.
const LIFETIME: Duration = Duration::from_secs(300);
/// Pages up to which the report is always current.
const SMALL: u64 = 20_000;
/// Maximum length of a host name.
const MAX_HOST_LENGTH: usize = 253;
/// Number of hot words shown.
const MAX_WORDS: usize = 20;

/// The report made last. Making one reads all pages.
#[derive(Default)]
pub(crate) struct RefreshCache(Mutex<Option<CachedReport>>);

struct CachedReport {
    site: Option<SiteName>,
    made: Instant,
    report: Option<Arc<RefreshReport>>,
}

#[derive(Template)]
#[template(path = "admin/refresh.html")]
struct RefreshPage {
    frame: DeskFrame,
    r: &'static RefreshMessages,
    host: String,
    /// `None` if no page has a next visit.
    view: Option<ReportView>,
    words: Vec<String>,
}

struct ReportView {
    facts: Vec<(&'static str, String)>,
    oldest: Option<(Link, String)>,
    plots: Vec<(&'static str, String)>,
    signals: Vec<[String; 5]>,
    dead: Vec<[String; 4]>,
}

/// `GET /admin/refresh?site=…`.
pub(crate) async fn refresh(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (r, lang) = (RefreshMessages::for_lang(visitor.lang), visitor.lang);
    let host = params::text(&visitor, "site", MAX_HOST_LENGTH);
    let site = parse_host(&host);
    let desk = Arc::clone(app.desk());
    let report = spawn_blocking(&app, move |service| cached_report(&desk.refresh, service, site)).await?;
    let words = app.with_statistics(|statistics| statistics.hot_words(MAX_WORDS)).await?;
    let report = report.filter(|report| report.pages > 0);
    let page = RefreshPage {
        view: report.map(|report| ReportView::new(&report, r, lang)),
        words: words.into_iter().map(|word| word.word).collect(),
        frame: DeskFrame::new(&app, &visitor, &operator),
        r,
        host,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Returns the report of a site, or of all sites. Concurrent requests wait for one reader.
fn cached_report(
    cache: &RefreshCache,
    service: &Service,
    site: Option<SiteName>,
) -> Result<Option<Arc<RefreshReport>>, ServiceError> {
    let mut cached = cache.0.lock();
    if let Some(last) = &*cached
        && last.site == site
        && last.made.elapsed() < LIFETIME
        && last.report.as_ref().is_some_and(|report| report.pages > SMALL)
    {
        return Ok(last.report.clone());
    }
    let config = service.settings.load().map(|loaded| loaded.config).unwrap_or_default();
    let report = refresh_report(&service.stores, &config, SystemClock.now(), site.as_ref())?.map(Arc::new);
    *cached = Some(CachedReport { site, made: Instant::now(), report: report.clone() });
    Ok(report)
}

impl ReportView {
    fn new(report: &RefreshReport, r: &'static RefreshMessages, lang: Lang) -> Self {
        let per_day = |visits: f64| format!("{visits:.1}");
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let facts = vec![
            (r.policy, format!("{}, θ = {:.4}", report.policy, report.threshold)),
            (r.pages, grouped(report.pages)),
            (r.learned, grouped(report.learned)),
            (r.budget, per_day(report.budget)),
            (r.scheduled, per_day(report.scheduled_visits)),
            (r.lag, r.time(report.expected_lag)),
            (r.useless, percent(report.useless_share)),
            (r.raised, grouped(report.raised)),
            (r.due, grouped(report.due)),
        ];
        let oldest = report.longest_unvisited.as_ref().map(|page| {
            let link = Link { href: report_link(page.url.as_str()), text: page.url.to_string() };
            (link, lang.date_time(page.visited_at))
        });
        let signal = |trust: &SignalTrust| {
            let name = trust.site.as_str();
            let visits = format!("{:.0}", trust.visits);
            [site_link(name), name.to_string(), percent(trust.precision), percent(trust.recall), visits]
        };
        let dead = |site: &DeadPages| {
            let name = site.site.as_str();
            [site_link(name), name.to_string(), grouped(site.dead), percent(site.share)]
        };
        Self {
            facts,
            oldest,
            plots: vec![
                (r.intervals, draw("intervals", r.intervals, &report.intervals, r)),
                (r.change_times, draw("change-times", r.change_times, &report.change_times, r)),
            ],
            signals: report.signals.iter().map(signal).collect(),
            dead: report.dead_links.iter().map(dead).collect(),
        }
    }
}

/// Draws the number of pages by time as bars.
fn draw(name: &'static str, title: &str, classes: &[TimeClass], r: &'static RefreshMessages) -> String {
    let plot = Plot::named_bars(name, classes.iter().map(|class| (class.up_to, class.pages as f64)));
    plot.svg(&|key| if key == name { title.to_string() } else { r.class(key) })
}

impl RefreshMessages {
    /// Returns the name of a class of times, such as `6 h`.
    fn class(&self, name: &str) -> String {
        match name.split_once(' ') {
            Some((number, "h")) => fill(self.hours, &[number]),
            Some((number, _)) => fill(self.days, &[number]),
            None => self.more.to_string(),
        }
    }

    /// Formats a time in seconds.
    fn time(&self, seconds: f64) -> String {
        if seconds < 48.0 * 3600.0 {
            fill(self.hours, &[&format!("{:.1}", seconds / 3600.0)])
        } else {
            fill(self.days, &[&format!("{:.1}", seconds / 86_400.0)])
        }
    }
}
