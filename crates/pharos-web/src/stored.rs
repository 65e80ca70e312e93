//! The stored copy of a page: which version, whether it may be shown, and what of it.
//!
//! The author's last word counts for all versions, and that of each version for itself.

use std::fs;

use pharos_core::{LibraryPosition, PageId, PageObject, PageUrl, Timestamp};
use pharos_engine::{PageVersion, PageVersions};
use pharos_html::snapshot::{COLOURS, Marking, Shown, is_showable, safe_cleaned, safe_html};
use pharos_html::{RuleSet, Weighing, Wish, robots_tag};
use pharos_query::Card;
use pharos_store::{DerivedReader, Library, Response, StoreError};

use crate::service::{Service, ServiceError};

/// Which copy of a page, and how.
pub(crate) struct Wanted {
    pub(crate) id: PageId,
    /// As it was at this moment; as it is now without.
    pub(crate) at: Option<Timestamp>,
    pub(crate) view: View,
    /// Its words are marked.
    pub(crate) query: String,
    /// What the arrows to the next occurrence are called.
    pub(crate) next: &'static str,
    /// So many versions are listed.
    pub(crate) versions: usize,
}

/// How a page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// In its own layout, as far as that is safe.
    Layout,
    /// What is left of it after cleaning: what is searched.
    Text,
}

/// What the library has of a page as it was wanted.
pub(crate) enum Lookup {
    /// Nothing.
    Missing,
    /// The page, but nothing of it from that time.
    NoVersion(Card),
    /// A copy that the page's author does not want to be shown.
    Withheld(Card),
    /// A copy.
    Copy(Box<StoredCopy>),
}

/// A stored page made harmless.
pub(crate) struct StoredCopy {
    pub(crate) found: Card,
    /// The title of this version.
    pub(crate) title: String,
    /// The words of the query, at most as many as there are colours.
    pub(crate) words: Vec<String>,
    /// The content of `<body>` with those words marked, and how often each is.
    pub(crate) shown: Shown,
    /// How it is shown: a file without a layout is text.
    pub(crate) view: View,
    /// Can it be shown in its own layout, too?
    pub(crate) has_layout: bool,
    /// When it was stored, and when it was last seen unchanged.
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The newest versions of the page, newest first.
    pub(crate) versions: Vec<Listed>,
    /// How many there are.
    pub(crate) of_versions: usize,
}

/// A version in a list.
pub(crate) struct Listed {
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// Can it be opened?
    pub(crate) is_kept: bool,
    /// Is it the one that is shown?
    pub(crate) is_shown: bool,
}

/// Looks a copy up and makes it harmless.
pub(crate) fn look_up(service: &Service, wanted: &Wanted) -> Result<Lookup, ServiceError> {
    let Some(found) = service.search.page(wanted.id)? else { return Ok(Lookup::Missing) };
    if !found.archive {
        return Ok(Lookup::Withheld(found));
    }
    let url = PageUrl::parse(&found.url).map_err(|_| ServiceError::Address(found.url.clone()))?;
    let versions = PageVersions::of(&service.data, &url).unwrap_or_else(|error| {
        tracing::warn!(%error, %url, "the versions of a page are not known");
        PageVersions::default()
    });
    let library = &*service.library;
    let current = answer(library, found.position)?.filter(|_| !versions.is_removed);
    let Some(current) = current else { return Ok(Lookup::Missing) };
    let agent = &service.config.crawl.agent;
    if !allows_copies(&current, agent) {
        return Ok(Lookup::Withheld(found));
    }
    let Some(chosen) = Chosen::of(&versions, &found, wanted.at, library) else {
        return Ok(Lookup::NoVersion(found));
    };
    let is_current = chosen.position == found.position;
    let response = if is_current { Some(current) } else { answer(library, chosen.position)? };
    let Some(response) = response else { return Ok(Lookup::NoVersion(found)) };
    let body = response.content(service.config.crawl.body_limit.bytes());
    let content_type = response.header("content-type");
    let mut title = found.title.clone();
    if !is_current {
        let is_html = pharos_html::is_html_like(content_type, &body);
        let said = if is_html { pharos_html::skim(&url, content_type, &body) } else { PageObject::default() };
        if said.no_archive() || !allows_copies(&response, agent) {
            return Ok(Lookup::Withheld(found));
        }
        title = if said.title.trim().is_empty() { title } else { said.title };
    }
    let words = words(service, &wanted.query);
    let marking = Marking { terms: &words, next: wanted.next };
    let has_layout = is_showable(content_type, &body);
    let text = match wanted.view {
        View::Layout if has_layout => None,
        _ => text(service, &url, content_type, &body, is_current.then_some(wanted.id), chosen.position)?,
    };
    let (view, shown) = match text {
        Some(page) => (View::Text, safe_cleaned(&url, &page, &marking)),
        None => (View::Layout, safe_html(&url, content_type, &body, &marking)),
    };
    let (listed, of_versions) = list(&versions, chosen.since, wanted.versions, library);
    Ok(Lookup::Copy(Box::new(StoredCopy {
        found,
        title,
        words,
        shown,
        view,
        has_layout,
        since: chosen.since,
        until: chosen.until,
        versions: listed,
        of_versions,
    })))
}

/// The version that is shown.
struct Chosen {
    position: LibraryPosition,
    since: Timestamp,
    until: Timestamp,
}

impl Chosen {
    /// The version of a moment, or the one that is searched.
    fn of(
        versions: &PageVersions,
        found: &Card,
        at: Option<Timestamp>,
        library: &dyn Library,
    ) -> Option<Self> {
        let current = versions.holding(found.position);
        let (version, position) = match at {
            None => (current, found.position),
            Some(at) => match versions.at(at, library) {
                // Its answers are the same: what is known of the page is known of this one.
                Some((version, _)) if Some(version) == current => (current, found.position),
                Some((version, position)) => (Some(version), position),
                None if current.is_none() && found.fetched.seconds() <= at.seconds() => {
                    (None, found.position)
                }
                None => return None,
            },
        };
        let (since, until) =
            version.map_or((found.fetched, found.fetched), |version| (version.since, version.until));
        Some(Self { position, since, until })
    }
}

/// The newest versions, and how many there are. Of those that began in the same second only the newest can be asked for.
fn list(
    versions: &PageVersions,
    shown: Timestamp,
    most: usize,
    library: &dyn Library,
) -> (Vec<Listed>, usize) {
    let mut distinct: Vec<&PageVersion> = versions.iter().collect();
    distinct.dedup_by_key(|version| version.since.seconds());
    let listed = distinct.iter().take(most).map(|version| Listed {
        since: version.since,
        until: version.until,
        is_kept: version.position(library).is_some(),
        is_shown: version.since == shown,
    });
    (listed.collect(), distinct.len())
}

/// The answer at a position; nothing where there is none any more, or none that can be read.
fn answer(library: &dyn Library, position: LibraryPosition) -> Result<Option<Response>, ServiceError> {
    match library.response(position) {
        Ok(response) => Ok(Some(response)),
        Err(StoreError::NoRecord(_)) => Ok(None),
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::warn!(%error, "a stored page cannot be shown");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Does the header of an answer let `agent` show copies of it?
pub(crate) fn allows_copies(response: &Response, agent: &str) -> bool {
    let tags = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let robots = robots_tag(tags.map(|(_, value)| value.as_str()), agent);
    !PageObject { robots, ..PageObject::default() }.no_archive()
}

fn words(service: &Service, query: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in service.search.words(query) {
        if words.len() < COLOURS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// What cleaning left of a page. HTML is cleaned here; of other documents there is what was understood when they came
/// in, or what the index has of the page `searched`: their readers are not for a process that serves visitors.
fn text(
    service: &Service,
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    searched: Option<PageId>,
    position: LibraryPosition,
) -> Result<Option<PageObject>, ServiceError> {
    if pharos_html::is_html_like(content_type, body) {
        let config = &service.config.clean;
        let rules = RuleSet::named(&config.rules, |path| fs::read_to_string(path))?;
        let wish = Wish { rules: &rules, weighing: Weighing::from(config), html: true, ..Wish::default() };
        return Ok(Some(pharos_html::understand_as(url, content_type, body, &wish)));
    }
    let derived = DerivedReader::open(&service.data.library(), pharos_html::VERSION);
    if let Some(stored) = derived.page_without_links(position)?.filter(|stored| stored.url == *url) {
        return Ok(Some(stored.page));
    }
    let Some(id) = searched else { return Ok(None) };
    let page = service.search.snapshot()?.page(id).map_err(pharos_query::QueryError::from)?;
    Ok(page.map(|page| PageObject { title: page.card.title, text: page.text.body, ..PageObject::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_tags_speak_to_everyone_or_to_whom_they_name() {
        let allowed = |tags: &[&str]| {
            let headers = tags.iter().map(|tag| ("X-Robots-Tag".to_string(), tag.to_string())).collect();
            allows_copies(&Response { headers, ..Response::default() }, "Pharos")
        };
        assert!(allowed(&[]));
        assert!(allowed(&["noindex, nofollow", "unavailable_after: 25 Jun 2030 15:00:00 PST"]));
        assert!(!allowed(&["noindex, NOARCHIVE"]));
        assert!(!allowed(&["all", "none"]));
        assert!(!allowed(&["pharos: noarchive"]));
        assert!(!allowed(&["pharos: nofollow, noarchive"]));
        assert!(allowed(&["otherbot: nofollow, noarchive"]));
        assert!(!allowed(&["otherbot: noarchive", "noarchive"]));
        assert!(!allowed(&["max-snippet: 20, noarchive"]));
    }
}
