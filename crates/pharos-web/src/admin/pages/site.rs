//! `/admin/site`: one site and the actions on it.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, Config, PageUrl, SiteName, SystemClock};
use pharos_engine::Order;
use pharos_engine::status::crawl_policy::{crawl_windows, request_delay};
use pharos_store::PageState;
use pharos_store::catalog::{PageDetails, Removal, RobotsFile, RobotsState, SiteRow};

use super::commands::{change_rules, execute, record_and_redirect, replace_settings, with_catalog};
use super::messages::PageMessages;
use super::settings_file::{SettingEdit, edit_setting, format_setting, parse_settings};
use super::sites::{badges, format_time, report_link, site_link};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, Messages, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Maximum number of pages listed.
const MAX_SHOWN: usize = 50;
/// Longer robots.txt files are truncated, in bytes.
const ROBOTS_SHOWN: usize = 16 << 10;
/// Values that can be added to the score of a site's pages.
const BOOSTS: [&str; 5] = ["-0.2", "-0.1", "0", "0.1", "0.2"];

#[derive(Template)]
#[template(path = "admin/site.html")]
struct SitePage {
    frame: DeskFrame,
    m: &'static PageMessages,
    name: String,
    is_known: bool,
    marks: Vec<&'static str>,
    figures: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
    robots: Vec<RobotsView>,
    /// Options of the host in `crawl.site_settings`.
    settings: String,
    is_hidden: bool,
    is_skipped: bool,
    boosts: Vec<(&'static str, bool)>,
    pages: Vec<(String, String, &'static str)>,
    trouble: String,
}

struct RobotsView {
    url: String,
    state: &'static str,
    at: String,
    reason: String,
    body: String,
}

#[derive(Default)]
struct SiteRecord {
    row: Option<SiteRow>,
    robots: Vec<RobotsFile>,
    pages: Vec<PageDetails>,
    /// Schemes whose pages are fetched from another address: home pages of mirrors.
    mirrored: Vec<PageUrl>,
    /// `crawl.exclude` of the rules in force.
    exclude: Vec<String>,
}

/// Parses a host name as typed into a form or given in a link.
pub(super) fn parse_host(typed: &str) -> Option<SiteName> {
    let typed = typed.trim();
    let is_host = !typed.is_empty() && !typed.contains(['/', '?', '#', '@', ' ']);
    is_host.then(|| PageUrl::parse(&format!("http://{typed}/")).ok()).flatten().map(|url| url.site())
}

/// `GET /admin/site?name=…`.
pub(crate) async fn site(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let Some(site) = parse_host(visitor.param("name").unwrap_or_default()) else {
        let frame = DeskFrame::new(&app, &visitor, &operator);
        return Ok(crate::admin::frame::message_page(
            frame,
            &visitor,
            StatusCode::NOT_FOUND,
            m.sites_title,
            m.no_site,
            None,
        ));
    };
    let host = site.clone();
    let record = with_catalog(&app, move |_, catalog| {
        let mut robots = Vec::new();
        for scheme in ["https", "http"] {
            if let Ok(url) = PageUrl::parse(&format!("{scheme}://{host}/robots.txt")) {
                robots.extend(catalog.robots(&url)?);
            }
        }
        let (row, pages) = (catalog.site_row(host.id())?, catalog.pages(Some(host.id()), None, MAX_SHOWN)?);
        let exclude = catalog.rules()?.map(|rules| rules.exclude).unwrap_or_default();
        let mirrored = catalog.aliases()?.into_iter().map(|(home, _)| home);
        let mirrored = mirrored.filter(|home| home.site() == host).collect();
        Ok(SiteRecord { row, robots, pages, mirrored, exclude })
    })
    .await?;
    let config = app.service().settings.load().unwrap_or_default().config;
    let (crawl, messages) = (&config.crawl, visitor.messages());
    let row = record.row.as_ref();
    let count = |figure: fn(&SiteRow) -> u64| grouped(row.map_or(0, figure));
    let figures = vec![
        (m.known_pages, count(|row| row.pages)),
        (m.waiting, count(|row| row.waiting)),
        (m.stored, count(|row| row.stored)),
        (m.searchable, count(|row| row.indexable)),
        (m.failed, count(|row| row.failed)),
        (m.refused, count(|row| row.refused)),
    ];
    let mut facts = vec![
        (m.last_visit, format_time(row.and_then(|row| row.visited_at), m, visitor.lang)),
        (m.delay, delay(&config, &site, messages)),
    ];
    if let Some(until) = row.and_then(|row| row.not_before) {
        facts.push((m.left_alone_until, visitor.lang.date_time(until)));
    }
    facts.extend(crawl_window(&config, &site, m, visitor.lang));
    let boost = boost_of(&list_of(&config, "rank.boost"), &site);
    let name = site.to_string();
    let page = SitePage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        is_known: row.is_some(),
        marks: row.map(|row| badges(row, m)).unwrap_or_default(),
        figures,
        facts,
        robots: record.robots.into_iter().map(|file| RobotsView::new(file, m, visitor.lang)).collect(),
        settings: site_options(&crawl.site_settings, &site).unwrap_or_default(),
        is_hidden: config.rank.block.iter().any(|place| place.trim() == name),
        is_skipped: record.exclude.contains(&exclude_pattern(&site)),
        boosts: BOOSTS.into_iter().map(|one| (one, one == boost)).collect(),
        pages: record.pages.iter().map(|page| page_line(page, &record.mirrored, m)).collect(),
        trouble: link("/admin/trouble", [("site", name.as_str())]),
        name,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

fn page_line(
    page: &PageDetails,
    mirrored: &[PageUrl],
    m: &'static PageMessages,
) -> (String, String, &'static str) {
    let is_mirrored = page.state == PageState::Waiting && mirrored.contains(&page.url.home());
    let state = if is_mirrored { m.page_mirrored } else { m.state(page.state) };
    (page.url.to_string(), report_link(page.url.as_str()), state)
}

impl RobotsView {
    fn new(file: RobotsFile, m: &'static PageMessages, lang: crate::messages::Lang) -> Self {
        let (state, body) = match file.state {
            RobotsState::Missing => (m.robots_missing, Vec::new()),
            RobotsState::Unreachable => {
                (m.robots_unreachable, file.before.map(|(_, body)| body).unwrap_or_default())
            }
            RobotsState::Known(body) => (m.robots_known, body),
        };
        let body = &body[..body.len().min(ROBOTS_SHOWN)];
        Self {
            url: file.url.to_string(),
            state,
            at: lang.date_time(file.at),
            reason: file.reason.unwrap_or_default(),
            body: String::from_utf8_lossy(body).into_owned(),
        }
    }
}

/// Returns the delay between two requests that the settings give a site.
fn delay(config: &Config, site: &SiteName, messages: &Messages) -> String {
    let delay = request_delay(&config.crawl, site);
    let day = messages.duration(delay.day);
    if delay.day == delay.night { day } else { format!("{day} / {}", messages.duration(delay.night)) }
}

/// Describes the crawl windows of a site, if it has any.
fn crawl_window(
    config: &Config,
    site: &SiteName,
    m: &'static PageMessages,
    lang: Lang,
) -> Option<(&'static str, String)> {
    let (windows, closed_until) = crawl_windows(&config.crawl, site, SystemClock.now())?;
    let text = match closed_until {
        Some(until) => fill(m.window_closed, &[&windows, &lang.date_time(until)]),
        None => windows,
    };
    Some((m.crawl_window, text))
}

/// Returns the options that `crawl.site_settings` has for this site.
fn site_options(lines: &[String], site: &SiteName) -> Option<String> {
    let entries =
        lines.iter().map(|line| line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), "")));
    let own = entries.filter(|(host, _)| host.eq_ignore_ascii_case(site.as_str()));
    own.map(|(_, rest)| rest.trim().to_string()).next()
}

/// Returns the pattern of `crawl.exclude` that matches every URL of a site.
fn exclude_pattern(site: &SiteName) -> String {
    format!("*://{site}/*")
}

fn boost_of(lines: &[String], site: &SiteName) -> String {
    let rules = lines.iter().filter_map(|line| line.trim().rsplit_once(char::is_whitespace));
    let own = rules.filter(|(place, _)| place.trim() == site.as_str());
    own.map(|(_, by)| by.to_string()).next_back().unwrap_or_else(|| "0".into())
}

fn list_of(config: &Config, key: &str) -> Vec<String> {
    format_setting(config, key).lines().map(String::from).collect()
}

/// `POST /admin/site/{what}`: all actions on a site.
pub(crate) async fn act(axum::extract::Path(what): axum::extract::Path<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let Some(site) = parse_host(action.form.text("name")) else {
        return action.fail("/admin/sites", m.no_site);
    };
    let (name, back) = (site.to_string(), site_link(site.as_str()));
    let (action_name, good, done): (&'static str, &str, Result<String, String>) = match what.as_str() {
        "recrawl" => {
            let id = site.id();
            let row = with_catalog(&action.app, move |_, catalog| Ok(catalog.site_row(id)?)).await;
            let done = match row {
                Ok(Some(_)) => execute(&action.app, Order::RecrawlSite(site)).await,
                Ok(None) => Err(m.unknown_site.to_string()),
                Err(error) => Err(error.to_string()),
            };
            ("site.recrawl", m.did_recrawl, done.map(|()| String::new()))
        }
        "remove" if action.form.text("sure") != "yes" => {
            return action.fail(&back, m.not_sure);
        }
        "remove" => {
            let done = execute(&action.app, Order::Remove(vec![Removal::Site(site)])).await;
            ("site.remove", m.did_remove, done.map(|()| String::new()))
        }
        "hide" => {
            ("site.hide", m.did_hide, edit_list(&action, "rank.block", &name, Some(name.clone())).await)
        }
        "show" => ("site.show", m.did_show, edit_list(&action, "rank.block", &name, None).await),
        "skip" => {
            let pattern = exclude_pattern(&site);
            let mut done = edit_list(&action, "crawl.exclude", &pattern, Some(pattern.clone())).await;
            if done.is_ok() {
                let recorded = change_rules(&action.app, move |rules| {
                    rules.exclude.retain(|other| *other != pattern);
                    rules.exclude.push(pattern);
                });
                done = recorded.await.and(done);
            }
            ("site.skip", m.did_skip, done)
        }
        "follow" => {
            let pattern = exclude_pattern(&site);
            let mut done = edit_list(&action, "crawl.exclude", &pattern, None).await;
            if done.is_ok() {
                let recorded =
                    change_rules(&action.app, move |rules| rules.exclude.retain(|other| *other != pattern));
                done = recorded.await.and(done);
            }
            ("site.follow", m.did_follow, done)
        }
        "boost" => {
            let by = BOOSTS.into_iter().find(|by| *by == action.form.text("by")).unwrap_or("0");
            let line = (by != "0").then(|| format!("{name} {by}"));
            ("site.boost", m.did_boost, edit_list(&action, "rank.boost", &name, line).await)
        }
        "settings" => {
            let options = action.form.text("settings").trim();
            let line = (!options.is_empty()).then(|| format!("{name} {options}"));
            ("site.settings", m.did_change, edit_list(&action, "crawl.site_settings", &name, line).await)
        }
        _ => return axum::response::IntoResponse::into_response(StatusCode::NOT_FOUND),
    };
    let (detail, done) = match done {
        Ok(detail) => (detail, Ok(())),
        Err(why) => (String::new(), Err(why)),
    };
    record_and_redirect(&action, action_name, &name, &detail, done, &back, good).await
}

/// Replaces the line of a list setting that starts with `subject`, or removes it. A setting that is overridden outside
/// the file is not changed.
async fn edit_list(
    action: &Action,
    key: &'static str,
    subject: &str,
    line: Option<String>,
) -> Result<String, String> {
    let subject = subject.to_string();
    let edit = move |text: &str, decided: &dyn Fn(&str) -> Option<&'static str>| {
        if let Some(by) = decided(key) {
            return Err(format!("`{key}` is set by the {by}: change it there"));
        }
        let about = |line: &String| {
            line.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case(&subject))
        };
        let mut lines = list_of(&parse_settings(text)?, key);
        lines.retain(|line| !about(line));
        lines.extend(line);
        edit_setting(
            text,
            key,
            &if lines.is_empty() { SettingEdit::Reset } else { SettingEdit::Set(lines.join("\n")) },
        )
    };
    replace_settings(&action.app, None, edit).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_host_name() {
        assert_eq!(parse_host(" WWW.Example.org ").unwrap().as_str(), "www.example.org");
        assert_eq!(parse_host("localhost:8080").unwrap().as_str(), "localhost:8080");
        for wrong in ["", "http://a.example/", "a.example/b", "user@a.example", "a b", "a.example?x"] {
            assert_eq!(parse_host(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_about_one_site_are_found_among_others() {
        let site = parse_host("a.example").unwrap();
        let lines =
            ["b.example delay=1s", "A.example  delay=5s sorted", "*.example max_pages=1"].map(String::from);
        assert_eq!(site_options(&lines, &site).as_deref(), Some("delay=5s sorted"));
        assert_eq!(site_options(&lines[..1], &site), None);
        let boosts = ["a.example/x 0.1", "a.example 0.2"].map(String::from);
        assert_eq!((boost_of(&boosts, &site), boost_of(&[], &site)), ("0.2".into(), "0".into()));
    }
}
