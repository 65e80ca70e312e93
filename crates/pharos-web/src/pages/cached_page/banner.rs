//! The banner above a cached page: source, versions, views and the legend of highlighted words.

use askama::Template;

use super::version_time::format_version_time;
use super::{requested_time, title};
use crate::messages::{fill, grouped};
use crate::pages::frame::PageFrame;
use crate::server::visitor::{Visitor, link};
use crate::state::cached_copy::{CachedCopy, ListedVersion, PageView};

/// Number of versions listed directly; the others are behind "all versions".
pub(super) const LISTED_VERSIONS: usize = 10;

/// Identifies a version and a view of a cached page, for building links.
pub(super) struct CachedPageLink<'a> {
    id: &'a str,
    query: &'a str,
    /// Version, if one was requested.
    at: Option<String>,
    view: PageView,
}

impl<'a> CachedPageLink<'a> {
    pub(super) fn new(id: &'a str, query: &'a str, visitor: &Visitor, copy: &CachedCopy) -> Self {
        let at = requested_time(visitor).map(|_| format_version_time(copy.since));
        Self { id, query, at, view: copy.shown.view }
    }

    fn query_param(&self) -> Option<(&'a str, &'a str)> {
        (!self.query.is_empty()).then_some(("q", self.query))
    }

    /// Returns the link to a version and view, or to a path below it.
    fn href(&self, below: &str, at: Option<&str>, view: PageView) -> String {
        let at = at.map(|at| ("at", at));
        let view = (view == PageView::Text).then_some(("view", "text"));
        link(&format!("/snapshot/{}{below}", self.id), self.query_param().into_iter().chain(at).chain(view))
    }
}

/// The page around the frame.
#[derive(Template)]
#[template(path = "cached_page.html")]
pub(super) struct BannerPage {
    frame: PageFrame,
    title: String,
    lang: String,
    stored_on: String,
    /// Time at which the page was last seen unchanged.
    unchanged: Option<String>,
    /// Notice that the site no longer has the page.
    gone: Option<String>,
    url: String,
    /// Available views; empty if there is only one.
    views: Vec<ViewLink>,
    /// The newest versions, and the full list if there are more.
    versions: Vec<VersionLink>,
    all_versions: Vec<VersionLink>,
    of_versions: String,
    /// Number of versions not listed.
    more_versions: Option<String>,
    legend: Vec<LegendWord>,
    /// Query words that the page does not contain.
    absent: String,
    /// URL of the frame's document.
    content: String,
    /// URL of the cleaned view.
    clean: String,
    /// Link back to the results.
    back: String,
}

/// A link to a view.
struct ViewLink {
    name: &'static str,
    href: String,
    is_shown: bool,
}

/// A link to a version.
struct VersionLink {
    name: String,
    datetime: String,
    remark: Option<String>,
    /// `None` if the content is no longer stored.
    href: Option<String>,
    is_shown: bool,
}

impl VersionLink {
    fn new(frame: &PageFrame, location: &CachedPageLink, listed: &ListedVersion) -> Self {
        let messages = frame.messages;
        let remark = if !listed.is_kept {
            Some(messages.snapshot_dropped.to_string())
        } else if listed.until.seconds() > listed.since.seconds() {
            Some(fill(messages.snapshot_same_until, &[&frame.lang.date_time(listed.until)]))
        } else {
            None
        };
        let href = listed
            .is_kept
            .then(|| location.href("", Some(&format_version_time(listed.since)), location.view));
        Self {
            name: frame.lang.date_time(listed.since),
            datetime: listed.since.to_string(),
            remark,
            href,
            is_shown: listed.is_shown,
        }
    }
}

/// A query word with its colour and number of occurrences.
struct LegendWord {
    text: String,
    class: String,
    /// Link that scrolls the frame to the first occurrence.
    href: String,
    count: usize,
}

impl BannerPage {
    pub(super) fn new(frame: PageFrame, location: &CachedPageLink, copy: &CachedCopy) -> Self {
        let (indexed, messages) = (&copy.indexed, frame.messages);
        let at = location.at.as_deref();
        let content = location.href("/content", at, location.view);
        let words = || copy.words.iter().zip(copy.shown.counts).enumerate();
        let present = words().filter(|(_, (_, count))| *count > 0);
        let legend = present.map(|(number, (text, count))| LegendWord {
            text: text.clone(),
            class: format!("w{number}"),
            href: format!("{content}#w{number}-1"),
            count,
        });
        let absent = words().filter(|(_, (_, count))| *count == 0).map(|(_, (text, _))| text.as_str());
        let absent = absent.collect::<Vec<_>>().join(", ");
        let views = [(messages.snapshot_layout, PageView::Layout), (messages.snapshot_text, PageView::Text)];
        let views = views.map(|(name, view)| ViewLink {
            name,
            href: location.href("", at, view),
            is_shown: view == copy.shown.view,
        });
        let versions = || copy.versions.iter().map(|listed| VersionLink::new(&frame, location, listed));
        // A single version is the one that is shown.
        let listed = if copy.of_versions > 1 { LISTED_VERSIONS } else { 0 };
        let all_versions = if copy.of_versions > LISTED_VERSIONS { versions().collect() } else { Vec::new() };
        let unlisted = copy.of_versions - copy.versions.len();
        let unchanged = (copy.until.seconds() > copy.since.seconds())
            .then(|| fill(messages.snapshot_unchanged, &[&frame.lang.date_time(copy.until)]));
        let clean = [("url", indexed.url.as_str())].into_iter().chain(location.query_param());
        Self {
            title: title(&copy.shown.title, indexed),
            lang: indexed.lang.clone(),
            stored_on: fill(messages.snapshot_stored, &[&frame.lang.date_time(copy.since)]),
            unchanged,
            gone: copy.gone_since.map(|at| fill(messages.snapshot_gone, &[&frame.lang.date_time(at)])),
            url: indexed.url.to_string(),
            views: if copy.shown.has_layout { views.into() } else { Vec::new() },
            versions: versions().take(listed).collect(),
            all_versions,
            of_versions: fill(messages.snapshot_all_versions, &[&grouped(copy.of_versions as u64)]),
            more_versions: (unlisted > 0)
                .then(|| fill(messages.snapshot_more_versions, &[&grouped(unlisted as u64)])),
            legend: legend.collect(),
            absent,
            clean: link("/clean", clean),
            back: if location.query.is_empty() {
                "/".into()
            } else {
                link("/search", location.query_param())
            },
            content,
            frame,
        }
    }
}
