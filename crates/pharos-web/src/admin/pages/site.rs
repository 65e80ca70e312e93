//! `/admin/site`: one site and the actions on it.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Config, PageUrl, SiteName};
use pharos_engine::{Order, SiteTable};
use pharos_store::{PageStory, Removal, RobotsFile, RobotsState, SiteRow};

use super::settings_file::{Edit, check, edited, for_people};
use super::sites::{marks, moment, site_link, story_link};
use super::words::PageWords;
use super::work::{change_rules, finish, order, replace_settings, with_catalog};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{Words, grouped};

/// Maximum number of pages listed.
const SHOWN: usize = 50;
/// Longer robots.txt files are truncated, in bytes.
const ROBOTS_SHOWN: usize = 16 << 10;
/// Values that can be added to the score of a site's pages.
const BOOSTS: [&str; 5] = ["-0.2", "-0.1", "0", "0.1", "0.2"];

#[derive(Template)]
#[template(path = "admin/site.html")]
struct SitePage {
    frame: DeskFrame,
    w: &'static PageWords,
    name: String,
    is_known: bool,
    marks: Vec<&'static str>,
    figures: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
    robots: Vec<Robots>,
    /// Options of the host in `crawl.site_settings`.
    settings: String,
    is_hidden: bool,
    is_skipped: bool,
    boosts: Vec<(&'static str, bool)>,
    pages: Vec<(String, String, &'static str)>,
    trouble: String,
}

struct Robots {
    url: String,
    state: &'static str,
    at: String,
    reason: String,
    body: String,
}

#[derive(Default)]
struct Known {
    row: Option<SiteRow>,
    robots: Vec<RobotsFile>,
    pages: Vec<PageStory>,
    /// `crawl.exclude` of the rules in force.
    exclude: Vec<String>,
}

/// Parses a host name as typed into a form or given in a link.
pub(super) fn site_of(typed: &str) -> Option<SiteName> {
    let typed = typed.trim();
    let is_host = !typed.is_empty() && !typed.contains(['/', '?', '#', '@', ' ']);
    is_host.then(|| PageUrl::parse(&format!("http://{typed}/")).ok()).flatten().map(|url| url.site())
}

/// `GET /admin/site?name=…`.
pub(crate) async fn site(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let Some(site) = site_of(visitor.param("name").unwrap_or_default()) else {
        let frame = DeskFrame::new(&rooms, &visitor, &operator);
        return Ok(crate::admin::frame::message(
            frame,
            &visitor,
            StatusCode::NOT_FOUND,
            w.sites_title,
            w.no_site,
            None,
        ));
    };
    let asked = site.clone();
    let known = with_catalog(&rooms, move |_, catalog| {
        let mut robots = Vec::new();
        for scheme in ["https", "http"] {
            if let Ok(url) = PageUrl::parse(&format!("{scheme}://{asked}/robots.txt")) {
                robots.extend(catalog.robots(&url)?);
            }
        }
        let (row, pages) = (catalog.site_row(asked.id())?, catalog.pages(Some(asked.id()), None, SHOWN)?);
        let exclude = catalog.rules()?.map(|rules| rules.exclude).unwrap_or_default();
        Ok(Known { row, robots, pages, exclude })
    })
    .await?;
    let config = rooms.service().settings.load().unwrap_or_default().config;
    let (crawl, words) = (&config.crawl, visitor.words());
    let row = known.row.as_ref();
    let count = |figure: fn(&SiteRow) -> u64| grouped(row.map_or(0, figure));
    let figures = vec![
        (w.known_pages, count(|row| row.pages)),
        (w.waiting, count(|row| row.waiting)),
        (w.stored, count(|row| row.stored)),
        (w.searchable, count(|row| row.indexable)),
        (w.failed, count(|row| row.failed)),
        (w.refused, count(|row| row.refused)),
    ];
    let mut facts = vec![
        (w.last_visit, moment(row.and_then(|row| row.visited_at), w, visitor.lang)),
        (w.delay, delay(&config, &site, words)),
    ];
    if let Some(until) = row.and_then(|row| row.not_before) {
        facts.push((w.left_alone_until, visitor.lang.moment(until)));
    }
    let boost = boost_of(&list_of(&config, "rank.boost"), &site);
    let name = site.to_string();
    let page = SitePage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        is_known: row.is_some(),
        marks: row.map(|row| marks(row, w)).unwrap_or_default(),
        figures,
        facts,
        robots: known.robots.into_iter().map(|file| Robots::of(file, w, visitor.lang)).collect(),
        settings: own_line(&crawl.site_settings, &site).unwrap_or_default(),
        is_hidden: config.rank.block.iter().any(|place| place.trim() == name),
        is_skipped: known.exclude.contains(&all_of(&site)),
        boosts: BOOSTS.into_iter().map(|one| (one, one == boost)).collect(),
        pages: known.pages.iter().map(|page| listed(page, w)).collect(),
        trouble: link("/admin/trouble", [("site", name.as_str())]),
        name,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

fn listed(page: &PageStory, w: &'static PageWords) -> (String, String, &'static str) {
    (page.url.to_string(), story_link(page.url.as_str()), w.state(page.state))
}

impl Robots {
    fn of(file: RobotsFile, w: &'static PageWords, lang: crate::words::Lang) -> Self {
        let (state, body) = match file.state {
            RobotsState::Missing => (w.robots_missing, Vec::new()),
            RobotsState::Unreachable => {
                (w.robots_unreachable, file.before.map(|(_, body)| body).unwrap_or_default())
            }
            RobotsState::Known(body) => (w.robots_known, body),
        };
        let body = &body[..body.len().min(ROBOTS_SHOWN)];
        Self {
            url: file.url.to_string(),
            state,
            at: lang.moment(file.at),
            reason: file.reason.unwrap_or_default(),
            body: String::from_utf8_lossy(body).into_owned(),
        }
    }
}

/// Returns the delay between two requests that the settings give a site.
fn delay(config: &Config, site: &SiteName, words: &Words) -> String {
    let table = SiteTable::parse(&config.crawl.site_settings).unwrap_or_default();
    let own = table.of(site);
    let manners = config.crawl.manners_of(own.politeness.unwrap_or(config.crawl.politeness));
    match own.delay {
        Some(delay) => words.span(delay),
        None if manners.day_delay == manners.night_delay => words.span(manners.day_delay),
        None => format!("{} / {}", words.span(manners.day_delay), words.span(manners.night_delay)),
    }
}

/// Returns the options that `crawl.site_settings` has for this site.
fn own_line(lines: &[String], site: &SiteName) -> Option<String> {
    let words =
        lines.iter().map(|line| line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), "")));
    let own = words.filter(|(host, _)| host.eq_ignore_ascii_case(site.as_str()));
    own.map(|(_, rest)| rest.trim().to_string()).next()
}

/// Returns the pattern of `crawl.exclude` that matches every URL of a site.
fn all_of(site: &SiteName) -> String {
    format!("*://{site}/*")
}

fn boost_of(lines: &[String], site: &SiteName) -> String {
    let rules = lines.iter().filter_map(|line| line.trim().rsplit_once(char::is_whitespace));
    let own = rules.filter(|(place, _)| place.trim() == site.as_str());
    own.map(|(_, by)| by.to_string()).next_back().unwrap_or_else(|| "0".into())
}

fn list_of(config: &Config, key: &str) -> Vec<String> {
    for_people(config, key).lines().map(String::from).collect()
}

/// `POST /admin/site/{what}`: all actions on a site.
pub(crate) async fn act(axum::extract::Path(what): axum::extract::Path<String>, action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let Some(site) = site_of(action.form.text("name")) else {
        return action.failed("/admin/sites", w.no_site);
    };
    let (name, here) = (site.to_string(), site_link(site.as_str()));
    let (action_name, good, done): (&'static str, &str, Result<String, String>) = match what.as_str() {
        "recrawl" => {
            let id = site.id();
            let known = with_catalog(&action.rooms, move |_, catalog| Ok(catalog.site_row(id)?)).await;
            let done = match known {
                Ok(Some(_)) => order(&action.rooms, Order::RecrawlSite(site)).await,
                Ok(None) => Err(w.unknown_site.to_string()),
                Err(error) => Err(error.to_string()),
            };
            ("site.recrawl", w.did_recrawl, done.map(|()| String::new()))
        }
        "remove" if action.form.text("sure") != "yes" => {
            return action.failed(&here, w.not_sure);
        }
        "remove" => {
            let done = order(&action.rooms, Order::Remove(vec![Removal::Site(site)])).await;
            ("site.remove", w.did_remove, done.map(|()| String::new()))
        }
        "hide" => {
            ("site.hide", w.did_hide, edit_list(&action, "rank.block", &name, Some(name.clone())).await)
        }
        "show" => ("site.show", w.did_show, edit_list(&action, "rank.block", &name, None).await),
        "skip" => {
            let pattern = all_of(&site);
            let mut done = edit_list(&action, "crawl.exclude", &pattern, Some(pattern.clone())).await;
            if done.is_ok() {
                let recorded = change_rules(&action.rooms, move |rules| {
                    rules.exclude.retain(|known| *known != pattern);
                    rules.exclude.push(pattern);
                });
                done = recorded.await.and(done);
            }
            ("site.skip", w.did_skip, done)
        }
        "follow" => {
            let pattern = all_of(&site);
            let mut done = edit_list(&action, "crawl.exclude", &pattern, None).await;
            if done.is_ok() {
                let recorded =
                    change_rules(&action.rooms, move |rules| rules.exclude.retain(|known| *known != pattern));
                done = recorded.await.and(done);
            }
            ("site.follow", w.did_follow, done)
        }
        "boost" => {
            let by = BOOSTS.into_iter().find(|by| *by == action.form.text("by")).unwrap_or("0");
            let line = (by != "0").then(|| format!("{name} {by}"));
            ("site.boost", w.did_boost, edit_list(&action, "rank.boost", &name, line).await)
        }
        "settings" => {
            let said = action.form.text("settings").trim();
            let line = (!said.is_empty()).then(|| format!("{name} {said}"));
            ("site.settings", w.did_change, edit_list(&action, "crawl.site_settings", &name, line).await)
        }
        _ => return axum::response::IntoResponse::into_response(StatusCode::NOT_FOUND),
    };
    let (detail, done) = match done {
        Ok(detail) => (detail, Ok(())),
        Err(why) => (String::new(), Err(why)),
    };
    finish(&action, action_name, &name, &detail, done, &here, good).await
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
        let mut lines = list_of(&check(text)?, key);
        lines.retain(|line| !about(line));
        lines.extend(line);
        edited(text, key, &if lines.is_empty() { Edit::Forget } else { Edit::Set(lines.join("\n")) })
    };
    replace_settings(&action.rooms, None, edit).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_host_name() {
        assert_eq!(site_of(" WWW.Example.org ").unwrap().as_str(), "www.example.org");
        assert_eq!(site_of("localhost:8080").unwrap().as_str(), "localhost:8080");
        for wrong in ["", "http://a.example/", "a.example/b", "user@a.example", "a b", "a.example?x"] {
            assert_eq!(site_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_about_one_site_are_found_among_others() {
        let site = site_of("a.example").unwrap();
        let lines =
            ["b.example delay=1s", "A.example  delay=5s sorted", "*.example max_pages=1"].map(String::from);
        assert_eq!(own_line(&lines, &site).as_deref(), Some("delay=5s sorted"));
        assert_eq!(own_line(&lines[..1], &site), None);
        let boosts = ["a.example/x 0.1", "a.example 0.2"].map(String::from);
        assert_eq!((boost_of(&boosts, &site), boost_of(&[], &site)), ("0.2".into(), "0".into()));
    }
}
