//! `/admin/page`: explains why a page is not found. Shows everything known about a URL in the order of the processing
//! stages, with a button to fetch it now.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, PageUrl, SystemClock};
use pharos_engine::Order;
use pharos_engine::status::crawl_policy::{RuleVerdict, rule_verdicts};
use pharos_engine::status::page_report::{PageReport, VersionContent, WaitReason, recent_page_report};
use pharos_query::{CuratedBy, IndexedPage, SearchRequest};
use pharos_store::PageState;
use pharos_store::catalog::{PageProblem, Removal};
use pharos_store::interpret::status::is_success;

use super::charts::format_bytes;
use super::commands::{execute, record_and_redirect};
use super::messages::PageMessages;
use super::params;
use super::sites::{format_time, report_link, site_link};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::{Link, respond};
use crate::server::visitor::{Visitor, link};
use crate::state::page_status::{self, MAX_VERSIONS};
use crate::state::{AppState, ServiceError};

/// Maximum length of a URL.
const MAX_URL_LENGTH: usize = 4_096;

#[derive(Template)]
#[template(path = "admin/page_report.html")]
struct ReportPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    typed: String,
    /// `None` if no URL was given.
    answer: Option<ReportView>,
    wrong: bool,
}

struct ReportView {
    url: String,
    /// The page can be found; otherwise `verdict` says why not.
    is_found: bool,
    verdict: String,
    steps: Vec<ReportStep>,
    links: Vec<Link>,
}

/// The findings of one processing stage.
struct ReportStep {
    title: &'static str,
    /// `good`, `bad` or `open`.
    css_class: &'static str,
    lines: Vec<String>,
    links: Vec<Link>,
}

/// Everything known about a page.
struct PageRecord {
    url: PageUrl,
    report: Option<PageReport>,
    indexed: Option<IndexedPage>,
    rules: Vec<RuleVerdict>,
    is_noindex: bool,
    is_hidden: bool,
    /// Operator who hid it from the results of all queries.
    hidden_by: Option<CuratedBy>,
}

/// `GET /admin/page?url=…`.
pub(crate) async fn page_report(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let typed = params::text(&visitor, "url", MAX_URL_LENGTH);
    // A URL typed without its scheme has two candidates.
    let candidates = crate::pages::bot::candidate_urls(&typed);
    let mut record = None;
    for url in &candidates {
        let found = look_up(&app, url.clone()).await?;
        let is_known = found.report.is_some() || found.indexed.is_some();
        if is_known || record.is_none() {
            record = Some(found);
        }
        if is_known {
            break;
        }
    }
    let m = PageMessages::for_lang(visitor.lang);
    let page = ReportPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        wrong: !typed.is_empty() && candidates.is_empty(),
        answer: record.map(|record| build_report(&record, m, visitor.lang)),
        typed,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

async fn look_up(app: &AppState, url: PageUrl) -> Result<PageRecord, ServiceError> {
    app.render_for_desk(move |service, rendering| {
        let config =
            service.settings.load().map(|loaded| loaded.config).unwrap_or_else(|_| (*service.config).clone());
        let mut report =
            recent_page_report(&service.stores, &url, MAX_VERSIONS, || rendering.may_continue())?;
        if let Some(report) = &mut report {
            report.add_crawl_window(&config.crawl, SystemClock.now());
        }
        let indexed = service.search.processor().page(url.id())?;
        let is_noindex = match &report {
            Some(report) if indexed.is_none() => page_status::is_noindex(service, rendering, report)?,
            _ => false,
        };
        let hidden_by = service.search.processor().hidden_by(url.id());
        let may_be_hidden = hidden_by.is_some() || !config.rank.block.is_empty();
        // The search itself decides reliably whether `rank.block` hides the page.
        let is_hidden = indexed.is_some() && may_be_hidden && {
            let request = SearchRequest::new(format!("url:\"{url}\""));
            service.search.processor().run(&request)?.total == 0
        };
        Ok(PageRecord {
            rules: rule_verdicts(&service.stores, &config, url.as_str())?,
            is_hidden,
            hidden_by,
            url,
            report,
            indexed,
            is_noindex,
        })
    })
    .await
}

fn build_report(record: &PageRecord, m: &'static PageMessages, lang: Lang) -> ReportView {
    let is_found = record.indexed.is_some() && !record.is_hidden;
    let steps = vec![
        discovery(record, m, lang),
        rules(record, m),
        fetches(record, m, lang),
        copies(record, m),
        index(record, m, lang),
    ];
    let url = record.url.to_string();
    let mut links = vec![
        Link { href: site_link(record.url.site().as_str()), text: record.url.site().to_string() },
        Link { href: url.clone(), text: m.live_page.into() },
    ];
    if record.indexed.is_some() {
        links.push(Link { href: link("/clean", [("url", url.as_str())]), text: m.cleaned.into() });
        links.push(Link { href: format!("/snapshot/{}", record.url.id()), text: m.snapshot.into() });
        links.push(Link { href: link("/admin/curation", [("url", url.as_str())]), text: m.curate.into() });
    }
    ReportView { is_found, verdict: verdict(record, m, lang), steps, links, url }
}

/// Explains in one sentence whether and why the page can be found.
fn verdict(record: &PageRecord, m: &'static PageMessages, lang: Lang) -> String {
    if record.is_hidden {
        return why_hidden(record, m);
    }
    if record.indexed.is_some() {
        return m.why_found.into();
    }
    let refusal = record.rules.iter().find(|rule| rule.admits == Some(false)).map(|rule| &rule.reason);
    let Some(report) = &record.report else {
        return match refusal {
            Some(reason) => fill(m.why_unknown_refused, &[reason]),
            None => m.why_unknown.into(),
        };
    };
    let page = &report.page;
    let reason = page.reason.clone().unwrap_or_default();
    match page.state {
        PageState::Removed => m.why_removed.into(),
        PageState::Deleted => m.why_deleted.into(),
        PageState::Refused => fill(m.why_refused, &[&reason]),
        PageState::Failed => fill(m.why_failed, &[&reason]),
        PageState::Quarantined => fill(m.why_quarantined, &[&reason]),
        PageState::Waiting if report.waits_for.is_some() => wait_verdict(report, m, lang),
        PageState::Waiting if !reason.is_empty() => fill(m.why_waits_for, &[&reason]),
        PageState::Waiting => match refusal {
            Some(reason) => fill(m.why_waits_for, &[reason]),
            None => m.why_waiting.into(),
        },
        // A stored page that a rule now forbids is no longer shown.
        PageState::Stored if page.problem == Some(PageProblem::Refused) => fill(m.why_refused, &[&reason]),
        PageState::Stored if record.is_noindex => m.why_noindex.into(),
        PageState::Stored => match page.status {
            Some(status) if !is_success(status) => fill(m.why_status, &[&status.to_string()]),
            _ if !report.same.is_empty() => fill(m.why_copy, &[report.same[0].as_str()]),
            _ if !page.indexable => m.why_nothing_to_find.into(),
            _ => fill(m.why_soon, &[&format_time(page.visited_at, m, lang)]),
        },
    }
}

fn why_hidden(record: &PageRecord, m: &'static PageMessages) -> String {
    record.hidden_by.as_ref().map_or_else(|| m.why_hidden.into(), |hidden| fill(m.why_curated, &[&hidden.by]))
}

/// Says what a waiting page waits for, and until when.
fn wait_verdict(report: &PageReport, m: &'static PageMessages, lang: Lang) -> String {
    match &report.waits_for {
        Some(WaitReason::Window(until)) => fill(m.why_window, &[&lang.date_time(*until)]),
        Some(WaitReason::RobotsTxt { at, reason, next_try }) => {
            let at = lang.date_time(*at);
            match next_try {
                Some(next) => fill(m.why_robots, &[&at, reason, &lang.date_time(*next)]),
                None => fill(m.why_robots_later, &[&at, reason]),
            }
        }
        Some(WaitReason::Original(of)) if of.site() == report.page.url.site() => {
            fill(m.why_other_scheme, &[of.as_str()])
        }
        Some(other) => fill(m.why_waits_for, &[&other.to_string()]),
        None => m.why_waiting.into(),
    }
}

fn discovery(record: &PageRecord, m: &'static PageMessages, lang: Lang) -> ReportStep {
    let Some(report) = &record.report else {
        return ReportStep {
            title: m.step_found,
            css_class: "open",
            lines: vec![m.never_discovered.into()],
            links: Vec::new(),
        };
    };
    let page = &report.page;
    let mut lines = vec![fill(m.discovered, &[&lang.date_time(page.found_at), &page.depth.to_string()])];
    if !page.anchor.is_empty() {
        lines.push(fill(m.called, &[&page.anchor]));
    }
    if let Some(origin) = &page.origin {
        lines.push(fill(m.redirected_from, &[origin]));
    }
    if page.linked_by > 0 {
        lines.push(fill(m.linked_by, &[&grouped(page.linked_by.into())]));
    }
    ReportStep { title: m.step_found, css_class: "good", lines, links: Vec::new() }
}

/// Lists the rulings of the crawl rules, including robots.txt.
fn rules(record: &PageRecord, m: &'static PageMessages) -> ReportStep {
    let lines = record.rules.iter().map(|verdict| {
        let ruling = match verdict.admits {
            Some(true) => m.admits,
            Some(false) => m.refuses,
            None => m.undecided,
        };
        format!("{}: {ruling} – {}", verdict.rule, verdict.reason)
    });
    let is_refused = record.rules.iter().any(|verdict| verdict.admits == Some(false));
    let css_class = if is_refused { "bad" } else { "good" };
    ReportStep { title: m.step_rules, css_class, lines: lines.collect(), links: Vec::new() }
}

fn fetches(record: &PageRecord, m: &'static PageMessages, lang: Lang) -> ReportStep {
    let Some(report) = &record.report else {
        return ReportStep {
            title: m.step_fetched,
            css_class: "open",
            lines: vec![m.never_fetched.into()],
            links: Vec::new(),
        };
    };
    let page = &report.page;
    let mut lines = vec![fill(m.page_state, &[m.state(page.state)])];
    if let Some(reason) = &page.reason {
        lines.push(reason.clone());
    }
    if let Some(visited) = page.visited_at {
        lines.push(fill(
            m.visited,
            &[&lang.date_time(visited), &page.visits.to_string(), &page.changes.to_string()],
        ));
    }
    if page.attempts > 0 {
        lines.push(fill(m.attempts, &[&page.attempts.to_string()]));
    }
    if let Some(due) = page.due {
        lines.push(fill(m.due, &[&lang.date_time(due)]));
    }
    if let Some(reason) = &report.next_visit {
        let days = format!("{:.1}", 1.0 / reason.change_rate);
        let (weight, interest) = (format!("{:.2}", reason.weight), format!("{:.2}", reason.interest));
        lines.push(fill(m.refresh_reason, &[&reason.policy.to_string(), &days, &weight, &interest]));
        if reason.is_announced {
            lines.push(m.change_announced.into());
        }
    }
    for stored in &report.versions {
        let kept = match stored.kept {
            VersionContent::Whole(size) => format_bytes(size as f64),
            VersionContent::Unchanged => m.unchanged.into(),
            VersionContent::Dropped => m.dropped.into(),
            VersionContent::Damaged => m.damaged.into(),
        };
        lines.push(format!("{} · {} · {kept}", lang.date_time(stored.version.at), stored.version.status));
    }
    let css_class = match page.state {
        PageState::Stored if page.status.is_some_and(is_success) => "good",
        PageState::Waiting => "open",
        _ => "bad",
    };
    ReportStep { title: m.step_fetched, css_class, lines, links: Vec::new() }
}

fn copies(record: &PageRecord, m: &'static PageMessages) -> ReportStep {
    let same = record.report.as_ref().map(|report| report.same.as_slice()).unwrap_or_default();
    let lines =
        vec![if same.is_empty() { m.no_copies.into() } else { fill(m.copies, &[&same.len().to_string()]) }];
    let links = same.iter().map(|url| Link { href: report_link(url.as_str()), text: url.to_string() });
    ReportStep {
        title: m.step_copies,
        css_class: if same.is_empty() { "good" } else { "open" },
        lines,
        links: links.collect(),
    }
}

fn index(record: &PageRecord, m: &'static PageMessages, lang: Lang) -> ReportStep {
    let Some(indexed) = &record.indexed else {
        let lines = vec![if record.is_noindex { m.asks_noindex.into() } else { m.not_indexed.into() }];
        return ReportStep { title: m.step_index, css_class: "bad", lines, links: Vec::new() };
    };
    let mut lines =
        vec![fill(m.indexed_as, &[&indexed.title]), fill(m.indexed_at, &[&lang.date_time(indexed.fetched)])];
    if !indexed.lang.is_empty() {
        lines.push(fill(m.in_language, &[&indexed.lang]));
    }
    if !indexed.archive {
        lines.push(m.no_archive.into());
    }
    if record.is_hidden {
        lines.push(why_hidden(record, m));
    }
    let css_class = if record.is_hidden { "bad" } else { "good" };
    ReportStep { title: m.step_index, css_class, lines, links: Vec::new() }
}

/// `POST /admin/page/{fetch,remove}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let Ok(url) = PageUrl::parse(action.form.text("url").trim()) else {
        return action.fail("/admin/page", m.no_address);
    };
    let back = report_link(url.as_str());
    let (name, good, order) = match what.as_str() {
        "fetch" => ("page.fetch", m.did_fetch, Order::Recrawl(vec![url.clone()])),
        "remove" if action.form.text("sure") != "yes" => return action.fail(&back, m.not_sure),
        "remove" => ("page.remove", m.did_remove, Order::Remove(vec![Removal::Page(url.clone())])),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let done = execute(&action.app, order).await;
    record_and_redirect(&action, name, url.as_str(), "", done, &back, good).await
}
