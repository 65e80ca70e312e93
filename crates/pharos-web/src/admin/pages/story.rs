//! `/admin/page`: explains why a page is not found. Shows everything known about a URL in the order of the processing
//! stages, with a button to fetch it now.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::PageUrl;
use pharos_engine::{Explanation, Kept, Order, Ruling, Story, explain, recent_story};
use pharos_query::{Card, Request};
use pharos_store::{PageState, Removal};

use super::charts::bytes;
use super::sites::{moment, site_link, story_link};
use super::words::PageWords;
use super::work::{aside, finish, order};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::known::{self, MAX_VERSIONS};
use crate::page::{Link, respond};
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{Lang, fill, grouped};

/// Maximum length of a URL.
const LONGEST: usize = 4_096;

#[derive(Template)]
#[template(path = "admin/story.html")]
struct StoryPage {
    frame: DeskFrame,
    w: &'static PageWords,
    typed: String,
    /// `None` if no URL was given.
    answer: Option<Answer>,
    wrong: bool,
}

struct Answer {
    url: String,
    /// The page can be found; otherwise `verdict` says why not.
    is_found: bool,
    verdict: String,
    steps: Vec<Step>,
    links: Vec<Link>,
}

/// The findings of one processing stage.
struct Step {
    title: &'static str,
    /// `good`, `bad` or `open`.
    mood: &'static str,
    lines: Vec<String>,
    links: Vec<Link>,
}

/// Everything known about a page.
struct Known {
    url: PageUrl,
    story: Option<Story>,
    card: Option<Card>,
    rules: Explanation,
    asks_not_to_be_found: bool,
    is_hidden: bool,
}

/// `GET /admin/page?url=…`.
pub(crate) async fn story(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let typed: String = visitor.param("url").unwrap_or_default().trim().chars().take(LONGEST).collect();
    let spellings = crate::bot::spellings(&typed);
    let mut known = None;
    for url in &spellings {
        let found = look_up(&rooms, url.clone()).await?;
        let is_known = found.story.is_some() || found.card.is_some();
        if is_known || known.is_none() {
            known = Some(found);
        }
        if is_known {
            break;
        }
    }
    let w = PageWords::of(visitor.lang);
    let page = StoryPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        wrong: !typed.is_empty() && spellings.is_empty(),
        answer: known.map(|known| answer(&known, w, visitor.lang)),
        typed,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

async fn look_up(rooms: &Rooms, url: PageUrl) -> Result<Known, ServiceError> {
    aside(rooms, move |service| {
        let config =
            service.settings.load().map(|loaded| loaded.config).unwrap_or_else(|_| (*service.config).clone());
        let story = recent_story(&service.data, &url, MAX_VERSIONS)?;
        let card = service.search.page(url.id())?;
        let asks_not_to_be_found = match &story {
            Some(story) if card.is_none() => known::asks_not_to_be_found(service, story)?,
            _ => false,
        };
        // The search itself decides reliably whether `rank.block` hides the page.
        let is_hidden = card.is_some() && !config.rank.block.is_empty() && {
            let request = Request::new(format!("url:\"{url}\""));
            service.search.run(&request)?.total == 0
        };
        Ok(Known {
            rules: explain(&service.data, &config, url.as_str())?,
            is_hidden,
            url,
            story,
            card,
            asks_not_to_be_found,
        })
    })
    .await
}

fn answer(known: &Known, w: &'static PageWords, lang: Lang) -> Answer {
    let is_found = known.card.is_some() && !known.is_hidden;
    let steps = vec![
        discovery(known, w, lang),
        rules(known, w),
        fetches(known, w, lang),
        copies(known, w),
        index(known, w, lang),
    ];
    let url = known.url.to_string();
    let mut links = vec![
        Link { href: site_link(known.url.site().as_str()), text: known.url.site().to_string() },
        Link { href: url.clone(), text: w.live_page.into() },
    ];
    if known.card.is_some() {
        links.push(Link { href: link("/clean", [("url", url.as_str())]), text: w.cleaned.into() });
        links.push(Link { href: format!("/snapshot/{}", known.url.id()), text: w.snapshot.into() });
    }
    Answer { is_found, verdict: verdict(known, w, lang), steps, links, url }
}

/// Explains in one sentence whether and why the page can be found.
fn verdict(known: &Known, w: &'static PageWords, lang: Lang) -> String {
    if known.is_hidden {
        return w.why_hidden.into();
    }
    if known.card.is_some() {
        return w.why_found.into();
    }
    let refusal = known.rules.refusal().map(|line| line.why.clone());
    let Some(story) = &known.story else {
        return match refusal {
            Some(why) => fill(w.why_unknown_refused, &[&why]),
            None => w.why_unknown.into(),
        };
    };
    let page = &story.page;
    let reason = page.reason.clone().unwrap_or_default();
    match page.state {
        PageState::Removed => w.why_removed.into(),
        PageState::Deleted => w.why_deleted.into(),
        PageState::Refused => fill(w.why_refused, &[&reason]),
        PageState::Failed => fill(w.why_failed, &[&reason]),
        PageState::Waiting if !reason.is_empty() => fill(w.why_waits_for, &[&reason]),
        PageState::Waiting => match refusal {
            Some(why) => fill(w.why_waits_for, &[&why]),
            None => w.why_waiting.into(),
        },
        // A stored page that a rule now forbids is no longer shown.
        PageState::Stored if !reason.is_empty() => fill(w.why_refused, &[&reason]),
        PageState::Stored if known.asks_not_to_be_found => w.why_noindex.into(),
        PageState::Stored => match page.status {
            Some(status) if !(200..300).contains(&status) => fill(w.why_status, &[&status.to_string()]),
            _ if !story.same.is_empty() => fill(w.why_copy, &[story.same[0].as_str()]),
            _ if !page.indexable => w.why_nothing_to_find.into(),
            _ => fill(w.why_soon, &[&moment(page.visited_at, w, lang)]),
        },
    }
}

fn discovery(known: &Known, w: &'static PageWords, lang: Lang) -> Step {
    let Some(story) = &known.story else {
        return Step {
            title: w.step_found,
            mood: "open",
            lines: vec![w.never_heard.into()],
            links: Vec::new(),
        };
    };
    let page = &story.page;
    let mut lines = vec![fill(w.heard_of, &[&lang.moment(page.found_at), &page.depth.to_string()])];
    if !page.anchor.is_empty() {
        lines.push(fill(w.called, &[&page.anchor]));
    }
    if let Some(origin) = &page.origin {
        lines.push(fill(w.redirected_from, &[origin]));
    }
    if page.linked_by > 0 {
        lines.push(fill(w.linked_by, &[&grouped(page.linked_by.into())]));
    }
    Step { title: w.step_found, mood: "good", lines, links: Vec::new() }
}

/// Lists the rulings of the crawl rules, including robots.txt.
fn rules(known: &Known, w: &'static PageWords) -> Step {
    let lines = known.rules.lines.iter().map(|line| {
        let ruling = match line.ruling {
            Ruling::Admits => w.admits,
            Ruling::Refuses => w.refuses,
            Ruling::Open => w.undecided,
        };
        format!("{}: {ruling} – {}", line.rule, line.why)
    });
    let mood = if known.rules.admitted { "good" } else { "bad" };
    Step { title: w.step_rules, mood, lines: lines.collect(), links: Vec::new() }
}

fn fetches(known: &Known, w: &'static PageWords, lang: Lang) -> Step {
    let Some(story) = &known.story else {
        return Step {
            title: w.step_fetched,
            mood: "open",
            lines: vec![w.never_asked.into()],
            links: Vec::new(),
        };
    };
    let page = &story.page;
    let mut lines = vec![fill(w.page_state, &[w.state(page.state)])];
    if let Some(reason) = &page.reason {
        lines.push(reason.clone());
    }
    if let Some(visited) = page.visited_at {
        lines.push(fill(
            w.visited,
            &[&lang.moment(visited), &page.visits.to_string(), &page.changes.to_string()],
        ));
    }
    if page.attempts > 0 {
        lines.push(fill(w.attempts, &[&page.attempts.to_string()]));
    }
    if let Some(due) = page.due {
        lines.push(fill(w.due, &[&lang.moment(due)]));
    }
    for stored in &story.versions {
        let kept = match stored.kept {
            Kept::Whole(size) => bytes(size as f64),
            Kept::Unchanged => w.unchanged.into(),
            Kept::Dropped => w.let_go.into(),
            Kept::Damaged => w.damaged.into(),
        };
        lines.push(format!("{} · {} · {kept}", lang.moment(stored.version.at), stored.version.status));
    }
    let mood = match page.state {
        PageState::Stored if page.status.is_some_and(|status| (200..300).contains(&status)) => "good",
        PageState::Waiting => "open",
        _ => "bad",
    };
    Step { title: w.step_fetched, mood, lines, links: Vec::new() }
}

fn copies(known: &Known, w: &'static PageWords) -> Step {
    let same = known.story.as_ref().map(|story| story.same.as_slice()).unwrap_or_default();
    let lines =
        vec![if same.is_empty() { w.no_copies.into() } else { fill(w.copies, &[&same.len().to_string()]) }];
    let links = same.iter().map(|url| Link { href: story_link(url.as_str()), text: url.to_string() });
    Step {
        title: w.step_copies,
        mood: if same.is_empty() { "good" } else { "open" },
        lines,
        links: links.collect(),
    }
}

fn index(known: &Known, w: &'static PageWords, lang: Lang) -> Step {
    let Some(card) = &known.card else {
        let lines =
            vec![if known.asks_not_to_be_found { w.asks_noindex.into() } else { w.not_indexed.into() }];
        return Step { title: w.step_index, mood: "bad", lines, links: Vec::new() };
    };
    let mut lines =
        vec![fill(w.indexed_as, &[&card.title]), fill(w.indexed_at, &[&lang.moment(card.fetched)])];
    if !card.lang.is_empty() {
        lines.push(fill(w.in_language, &[&card.lang]));
    }
    if !card.archive {
        lines.push(w.no_archive.into());
    }
    if known.is_hidden {
        lines.push(w.why_hidden.into());
    }
    let mood = if known.is_hidden { "bad" } else { "good" };
    Step { title: w.step_index, mood, lines, links: Vec::new() }
}

/// `POST /admin/page/{fetch,remove}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let Ok(url) = PageUrl::parse(action.form.text("url").trim()) else {
        return action.failed("/admin/page", w.no_address);
    };
    let here = story_link(url.as_str());
    let (name, good, wanted) = match what.as_str() {
        "fetch" => ("page.fetch", w.did_fetch, Order::Recrawl(vec![url.clone()])),
        "remove" if action.form.text("sure") != "yes" => return action.failed(&here, w.not_sure),
        "remove" => ("page.remove", w.did_remove, Order::Remove(vec![Removal::Page(url.clone())])),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let done = order(&action.rooms, wanted).await;
    finish(&action, name, url.as_str(), "", done, &here, good).await
}
