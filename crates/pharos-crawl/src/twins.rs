//! Mirror detection (站点别名): the same site under two names.
//!
//! The names may differ in `www.`, in the scheme, or altogether. Two names are one site if their home pages and the
//! first pages linked from them have the same text. A shared IP address is no evidence: one machine serves many sites
//! (《搜索引擎——原理、技术与系统》§3.5). Until the comparison is finished, only those first pages of the younger site are
//! fetched.

use std::collections::{HashMap, HashSet};

use pharos_core::{PageUrl, Timestamp};
use pharos_store::{Catalog, DueOrder, PageState, StoreError};

/// Number of linked pages compared besides the home pages.
const COMPARED: usize = 3;
/// Requests needed to compare two sites: robots.txt, the home page, the sample pages.
const TO_TELL_APART: u64 = 2 + COMPARED as u64;
/// Number of identical sample pages required if the names are not variants of each other.
const PROOF: usize = 2;
/// Maximum number of sites with the same home page considered.
const LOOKED_AT: usize = 8;
/// Time after which an undecided suspect counts as distinct, in seconds.
const PATIENCE: i64 = 600;
const END_OF_TIME: Timestamp = Timestamp::from_millis(i64::MAX / 2);
/// Maximum number of sites remembered as distinct.
const MAX_TOLD_APART: usize = 16_384;
/// Maximum number of suspects; further ones are ignored for now.
const MAX_SUSPECTS: usize = 1_024;

/// A site that may be a mirror of another.
#[derive(Clone, Debug)]
struct Suspect {
    of: PageUrl,
    /// Pages compared with their counterparts.
    compared: Vec<PageUrl>,
    since: Timestamp,
}

/// Suspected mirrors by home page.
#[derive(Default)]
pub(crate) struct Twins {
    suspects: HashMap<PageUrl, Suspect>,
    /// Home pages of sites found to be distinct.
    told_apart: HashSet<PageUrl>,
}

/// Result of a mirror comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// The first site mirrors the second.
    Same(PageUrl, PageUrl),
    /// The site is no mirror.
    Different(PageUrl),
}

impl Twins {
    /// Returns other sites with the same home page text that are not known mirrors. Reads the catalog.
    pub(crate) fn lookalikes(catalog: &dyn Catalog, home: &PageUrl) -> Result<Vec<PageUrl>, StoreError> {
        let story = catalog.page(home.id())?.filter(|story| story.state == PageState::Stored);
        let Some(text) = story.and_then(|story| story.text) else { return Ok(Vec::new()) };
        let same = catalog.pages_with_text(text, LOOKED_AT)?.into_iter().map(|(page, _)| page);
        let mut others: Vec<PageUrl> = same.filter(|page| page != home && *page == page.home()).collect();
        if !others.is_empty() {
            let copies = catalog.aliases()?;
            others.retain(|other| copies.iter().all(|(copy, _)| copy != other));
        }
        Ok(others)
    }

    /// Pairs sites with the same home page: the highest ranked is the original, so that mirrors never refer to
    /// mirrors.
    pub(crate) fn meetings(
        catalog: &dyn Catalog,
        lookalikes: Vec<Lookalike>,
    ) -> Result<Vec<Meeting>, StoreError> {
        let ranked = lookalikes.iter().map(|site| Ok((site.rank(catalog)?, &site.home)));
        let mut homes = ranked.collect::<Result<Vec<_>, StoreError>>()?;
        homes.sort();
        let Some(((_, eldest), copies)) = homes.split_first() else { return Ok(Vec::new()) };
        copies.iter().map(|(_, copy)| Meeting::of(catalog, (*copy).clone(), (*eldest).clone())).collect()
    }

    /// Adds a suspected mirror.
    pub(crate) fn suspect(&mut self, meeting: Meeting, now: Timestamp) {
        let Meeting { copy, of, compared } = meeting;
        if self.suspects.len() < MAX_SUSPECTS && !self.told_apart.contains(&copy) {
            // If the original is itself suspected, not all of its pages are fetched: compare with its original.
            let of = self.suspects.get(&of).map_or(of, |elder| elder.of.clone());
            self.retarget(&copy, &of);
            if copy != of {
                self.suspects.entry(copy).or_insert(Suspect { of, compared, since: now });
            }
        }
    }

    /// Returns `true` if the page is held back until its site is known to be distinct.
    pub(crate) fn is_held(&self, page: &PageUrl) -> bool {
        !self.suspects.is_empty()
            && self.suspects.get(&page.home()).is_some_and(|suspect| !suspect.compared.contains(page))
    }

    /// Returns `true` if any site is suspected.
    pub(crate) fn is_suspicious(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Drops suspects that were undecided for too long.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        self.suspects.retain(|_, suspect| suspect.since.millis() + PATIENCE * 1000 >= now.millis());
    }

    /// Returns the comparisons in progress.
    pub(crate) fn open(&self) -> Vec<Meeting> {
        let meeting = |(copy, suspect): (&PageUrl, &Suspect)| Meeting {
            copy: copy.clone(),
            of: suspect.of.clone(),
            compared: suspect.compared.clone(),
        };
        self.suspects.iter().map(meeting).collect()
    }

    /// Applies the result of a comparison. Returns the verdict once it is certain.
    pub(crate) fn conclude(
        &mut self,
        meeting: &Meeting,
        likeness: Likeness,
        now: Timestamp,
    ) -> Option<Finding> {
        let too_long = self.suspects.get(&meeting.copy)?.since.millis() + PATIENCE * 1000 < now.millis();
        let finding = match likeness {
            Likeness::Same => Finding::Same(meeting.copy.clone(), meeting.of.clone()),
            Likeness::Different => Finding::Different(meeting.copy.clone()),
            Likeness::Unknown if too_long => Finding::Different(meeting.copy.clone()),
            Likeness::Unknown => return None,
        };
        self.suspects.remove(&meeting.copy);
        match &finding {
            Finding::Same(copy, of) => self.retarget(copy, of),
            Finding::Different(copy) => {
                if self.told_apart.len() >= MAX_TOLD_APART {
                    self.told_apart.clear();
                }
                self.told_apart.insert(copy.clone());
            }
        }
        Some(finding)
    }

    /// Redirects comparisons with a mirror to its original.
    fn retarget(&mut self, copy: &PageUrl, of: &PageUrl) {
        for suspect in self.suspects.values_mut().filter(|suspect| suspect.of == *copy) {
            suspect.of = of.clone();
        }
    }
}

/// A site whose home page equals that of another site.
pub(crate) struct Lookalike {
    pub(crate) home: PageUrl,
    /// Number of recent requests, which the catalog may not contain yet.
    pub(crate) asked: u64,
}

/// Sort key; the smallest is the original.
type Rank = (bool, bool, Timestamp, String, Option<Timestamp>, bool, String);

impl Lookalike {
    /// Ranks the candidates for the original.
    ///
    /// A name precedes an IP address, then a site with stored pages precedes a new one, then the name known first
    /// under any spelling (a new site does not become the original by having a certificate). Among its spellings,
    /// https precedes http, unless it appeared late: then the spelling that responded first is the original.
    fn rank(&self, catalog: &dyn Catalog) -> Result<Rank, StoreError> {
        let home = &self.home;
        let is_address = home.host().trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
        let stored = catalog.site(home.site().id())?.map_or(0, |story| story.stored);
        let is_new = stored.max(self.asked) <= TO_TELL_APART;
        let name = bare_name(home);
        let since = known_since(catalog, &name)?;
        // Requests and stored pages are counted by host, not by scheme.
        let answered = catalog.page(home.id())?.filter(|_| !is_new).and_then(|story| story.visited_at);
        Ok((is_address, is_new, since, name, answered, !home.is_https(), home.as_str().to_string()))
    }
}

/// A possible mirror, its original, and the sample pages to compare.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meeting {
    pub(crate) copy: PageUrl,
    pub(crate) of: PageUrl,
    pub(crate) compared: Vec<PageUrl>,
}

/// Result of comparing two sites, as far as the catalog knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    Same,
    Different,
    Unknown,
}

impl Meeting {
    /// Selects the first pages of the mirror as samples.
    fn of(catalog: &dyn Catalog, copy: PageUrl, of: PageUrl) -> Result<Self, StoreError> {
        // Pages nearest to the home page are known on both sites first.
        let due = catalog.due_pages(copy.id().site(), END_OF_TIME, DueOrder::Nearest, 64)?;
        let compared = due
            .into_iter()
            .map(|page| page.url)
            .filter(|url| *url != copy && url.home() == copy && of.join(url.path_and_query()).is_ok())
            .take(COMPARED)
            .collect();
        Ok(Self { copy, of, compared })
    }

    /// Compares the texts of the sample pages. Reads the catalog.
    pub(crate) fn compare(&self, catalog: &dyn Catalog) -> Result<Likeness, StoreError> {
        let mut same = 0;
        for page in &self.compared {
            let Ok(counterpart) = self.of.join(page.path_and_query()) else { continue };
            match (said(catalog, page)?, said(catalog, &counterpart)?) {
                (Said::Text(one), Said::Text(other)) if one == other => same += 1,
                (Said::Nothing, Said::Nothing) => {}
                (Said::Waiting, _) | (_, Said::Waiting) => return Ok(Likeness::Unknown),
                _ => return Ok(Likeness::Different),
            }
        }
        // Default pages that many servers show prove nothing.
        let enough = if are_spellings(&self.copy, &self.of) { 1.min(self.compared.len()) } else { PROOF };
        let proven = same >= enough;
        Ok(if proven { Likeness::Same } else { Likeness::Different })
    }
}

/// Text of a page, as far as known.
enum Said {
    Waiting,
    Nothing,
    Text(u64),
}

fn said(catalog: &dyn Catalog, page: &PageUrl) -> Result<Said, StoreError> {
    let story = catalog.page(page.id())?;
    Ok(match story {
        Some(story) if story.state == PageState::Waiting => Said::Waiting,
        Some(story) => story.text.map_or(Said::Nothing, Said::Text),
        // Unknown on the other site: its home page links elsewhere.
        None => Said::Nothing,
    })
}

/// Returns `true` if two names differ only in `www.` or the scheme.
fn are_spellings(one: &PageUrl, other: &PageUrl) -> bool {
    bare_name(one) == bare_name(other)
}

/// Returns the site name without `www.`. Default ports are omitted, so http and https have the same name.
fn bare_name(url: &PageUrl) -> String {
    let site = url.site();
    site.as_str().strip_prefix("www.").unwrap_or(site.as_str()).to_string()
}

fn known_since(catalog: &dyn Catalog, bare_name: &str) -> Result<Timestamp, StoreError> {
    let mut since = END_OF_TIME;
    for spelling in ["http://", "https://", "http://www.", "https://www."] {
        if let Ok(home) = PageUrl::parse(&format!("{spelling}{bare_name}/"))
            && let Some(story) = catalog.page(home.id())?
        {
            since = since.min(story.found_at);
        }
    }
    Ok(since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_store::{Answered, Change, Found, LibraryPosition, Outcome, SqliteCatalog};

    struct World {
        catalog: SqliteCatalog,
        end: u64,
        /// Time of responses.
        at: i64,
        _dir: tempfile::TempDir,
    }

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn now(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
            Self { catalog, end: 0, at: 1, _dir: dir }
        }

        fn apply(&mut self, change: Change) {
            self.end += 1;
            self.catalog.apply(&[change], LibraryPosition { file: 1, offset: self.end }).unwrap();
        }

        fn found(&mut self, page: &str) {
            self.apply(Change::Found(Found::new(url(page), 1, now(self.end as i64))));
        }

        fn answered(&mut self, page: &str, text: u64) {
            let position = LibraryPosition { file: 1, offset: self.end };
            let outcome = Outcome::Answered(Answered { status: 200, position, text, ..Answered::default() });
            self.apply(Change::Visited { url: url(page), at: now(self.at), outcome, next_due: None });
        }

        /// Returns the first pair of this site and one with the same home page.
        fn meeting(&self, home: &str) -> Meeting {
            let mut homes = Twins::lookalikes(&self.catalog, &url(home)).unwrap();
            homes.push(url(home));
            let sites = homes.into_iter().map(|home| Lookalike { home, asked: 0 }).collect();
            Twins::meetings(&self.catalog, sites).unwrap().remove(0)
        }

        /// Adds a home page and two pages it links to.
        fn site(&mut self, origin: &str, texts: [u64; 3]) {
            self.found(&format!("{origin}/"));
            self.answered(&format!("{origin}/"), texts[0]);
            self.found(&format!("{origin}/a"));
            self.found(&format!("{origin}/b"));
        }
    }

    #[test]
    fn two_names_of_one_site_are_found_out_by_what_they_say() {
        let mut world = World::new();
        world.site("http://example.org", [7, 1, 2]);
        world.site("http://www.example.org", [7, 1, 2]);
        let home = url("http://www.example.org/");
        let meeting = world.meeting("http://www.example.org/");
        assert_eq!((&meeting.copy, &meeting.of), (&home, &url("http://example.org/")));
        let mut twins = Twins::default();
        twins.suspect(meeting.clone(), now(2));
        world.found("http://www.example.org/c");
        assert!(twins.is_held(&url("http://www.example.org/c")), "only what is compared is asked for");
        assert!(
            !twins.is_held(&url("http://www.example.org/a")) && !twins.is_held(&url("http://example.org/c"))
        );
        assert!(twins.is_suspicious());
        assert_eq!(meeting.compare(&world.catalog).unwrap(), Likeness::Unknown);
        for origin in ["http://example.org", "http://www.example.org"] {
            world.answered(&format!("{origin}/a"), 1);
            world.answered(&format!("{origin}/b"), 2);
        }
        let likeness = twins.open()[0].compare(&world.catalog).unwrap();
        let finding = twins.conclude(&meeting, likeness, now(3));
        assert_eq!(finding, Some(Finding::Same(home.clone(), url("http://example.org/"))));
        assert!(!twins.is_held(&url("http://www.example.org/c")));
    }

    #[test]
    fn the_same_home_page_alone_makes_no_twins() {
        let mut world = World::new();
        world.site("http://one.example", [7, 1, 2]);
        world.site("http://two.example", [7, 1, 2]);
        let meeting = world.meeting("http://two.example/");
        world.answered("http://one.example/a", 1);
        world.answered("http://two.example/a", 3);
        assert_eq!(meeting.compare(&world.catalog).unwrap(), Likeness::Different);
        let bare = Meeting { compared: Vec::new(), ..meeting };
        assert_eq!(
            bare.compare(&world.catalog).unwrap(),
            Likeness::Different,
            "an empty server proves nothing"
        );
        assert_eq!(Twins::lookalikes(&world.catalog, &url("http://three.example/")).unwrap(), []);
        let first = world.meeting("http://one.example/");
        assert_eq!(first.copy, url("http://two.example/"), "whichever came last tells");
    }

    #[test]
    fn https_is_the_original_and_a_name_before_an_address() {
        let mut world = World::new();
        for origin in ["http://example.org", "https://example.org", "http://192.0.2.7"] {
            world.site(origin, [7, 1, 2]);
        }
        let originals = |homes: [&str; 2]| {
            let sites = homes.map(|home| Lookalike { home: url(home), asked: 0 });
            Twins::meetings(&world.catalog, sites.into()).unwrap().remove(0).of
        };
        let https = url("https://example.org/");
        assert_eq!(originals(["https://example.org/", "http://example.org/"]), https);
        assert_eq!(originals(["http://192.0.2.7/", "https://example.org/"]), https);
        assert!(are_spellings(&url("https://www.example.org/"), &url("http://example.org/")));
        assert!(!are_spellings(&url("http://a.example/"), &url("http://b.example/")));
    }

    #[test]
    fn what_we_have_already_is_the_original() {
        let mut world = World::new();
        world.site("http://late.example", [7, 1, 2]);
        world.site("http://early.example", [7, 1, 2]);
        for number in 0..TO_TELL_APART {
            let page = format!("http://early.example/{number}");
            world.found(&page);
            world.answered(&page, 10 + number);
        }
        let meeting = world.meeting("http://late.example/");
        assert_eq!((meeting.copy, meeting.of), (url("http://late.example/"), url("http://early.example/")));
    }

    #[test]
    fn https_that_comes_late_is_a_copy() {
        let mut world = World::new();
        world.site("http://example.org", [7, 1, 2]);
        for number in 0..TO_TELL_APART {
            let page = format!("http://example.org/{number}");
            world.found(&page);
            world.answered(&page, 10 + number);
        }
        world.at = 60;
        world.site("https://example.org", [7, 1, 2]);
        assert_eq!(world.meeting("https://example.org/").of, url("http://example.org/"));
    }

    #[test]
    fn a_copy_is_not_compared_again() {
        let mut world = World::new();
        world.site("http://one.example", [7, 1, 2]);
        world.site("http://two.example", [7, 1, 2]);
        let (home, of) = (url("http://two.example/"), url("http://one.example/"));
        world.apply(Change::Alias { home, of: of.clone() });
        assert_eq!(Twins::lookalikes(&world.catalog, &of).unwrap(), []);
    }

    #[test]
    fn suspicion_does_not_last_for_ever() {
        let meeting = Meeting {
            copy: url("http://www.a.example/"),
            of: url("http://a.example/"),
            compared: Vec::new(),
        };
        let mut twins = Twins::default();
        twins.suspect(meeting.clone(), now(0));
        assert_eq!(twins.conclude(&meeting, Likeness::Unknown, now(60)), None);
        let finding = twins.conclude(&meeting, Likeness::Unknown, now(PATIENCE + 1));
        assert_eq!(finding, Some(Finding::Different(meeting.copy)));
    }
}
