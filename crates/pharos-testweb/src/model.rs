//! The web as data: hosts, pages and links, before anything is written out.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use serde::Serialize;

use crate::clock::START;
use crate::copies::PlannedCopy;
use crate::robots::Rules;
use crate::spec::WebSpec;
use crate::truth::{TruePages, Truth};
use crate::{demo, plan, truth};

/// The language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    En,
    /// Chinese in simplified characters.
    Zh,
}

/// The encoding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Charset {
    /// UTF-8.
    Utf8,
    /// GBK, the encoding of most Chinese pages before UTF-8.
    Gbk,
}

/// Where a host says which encoding its pages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Declared {
    /// In the `Content-Type` header, and nowhere else.
    Header,
    /// In a `meta` element, and nowhere else.
    Meta,
}

/// What kind of page stands at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// The entrance of a host, `/`.
    Home,
    /// A list of links.
    Hub,
    /// Text in paragraphs.
    Article,
    /// Text in paragraphs, laid out with nested tables.
    Table,
    /// Mostly pictures.
    Picture,
    /// A frameset whose frames show other pages.
    Frameset,
    /// Answers 301, 302 or 308.
    Redirect,
    /// Linked, but not there: answers 404.
    Missing,
}

/// How a host treats its visitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Behaviour {
    /// Answers every request at once and truthfully.
    #[default]
    Good,
}

/// A host of the web.
#[derive(Debug)]
pub struct Host {
    /// Its name, as it stands in URLs.
    pub name: String,
    /// The loopback address it has when every host gets its own.
    pub address: Ipv4Addr,
    /// What it calls itself on its pages.
    pub title: String,
    /// The language of most of its pages.
    pub lang: Lang,
    /// The encoding of its pages.
    pub charset: Charset,
    /// Where the encoding is declared.
    pub declared: Declared,
    /// How it treats its visitors.
    pub behaviour: Behaviour,
    /// The name of the host whose pages it serves, if it is a mirror.
    pub mirror_of: Option<String>,
    pub(crate) rules: Option<Rules>,
    pub(crate) topic: usize,
    pub(crate) look: Look,
    pub(crate) navigation: Vec<Link>,
    pub(crate) footer: Vec<Link>,
}

/// How the pages of a host are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// `header`, `main`, `article`, `footer`.
    Semantic,
    /// `div` with telling classes.
    Divisions,
    /// Nested tables with widths.
    Tables,
}

/// The number of a page in its web.
pub(crate) type PageNo = u32;

/// A page before it is written: what it is, when, and where its words come from.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) host: u32,
    /// Path and query, normalised.
    pub(crate) path: Box<str>,
    pub(crate) kind: PageKind,
    pub(crate) lang: Lang,
    /// The headline; empty for redirects and missing pages.
    pub(crate) title: Box<str>,
    pub(crate) published: u64,
    pub(crate) change_rate: f64,
    /// Every moment after publication at which the page reads differently than before, ascending.
    pub(crate) changes: Vec<u64>,
    pub(crate) deleted: Option<u64>,
    /// Serves the very bytes of this page.
    pub(crate) duplicate_of: Option<PageNo>,
    /// Says nearly the same as this page.
    pub(crate) near_duplicate_of: Option<PageNo>,
    /// Other URLs serve the same bytes, so links must not depend on where the page stands.
    pub(crate) has_duplicates: bool,
    /// Says what another page says, but is not served from its bytes.
    pub(crate) copy: Option<PlannedCopy>,
    /// The page that the canonical link in the head names.
    pub(crate) canonical: Option<PageNo>,
    /// Shares its first and last paragraph with the others of this series.
    pub(crate) series: Option<u32>,
    pub(crate) body: Body,
}

impl Page {
    /// A page that was there before the start.
    pub(crate) fn new(
        host: u32,
        path: String,
        kind: PageKind,
        lang: Lang,
        title: String,
        body: Body,
    ) -> Page {
        Page {
            host,
            path: path.into_boxed_str(),
            kind,
            lang,
            title: title.into_boxed_str(),
            published: START,
            change_rate: 0.0,
            changes: Vec::new(),
            deleted: None,
            duplicate_of: None,
            near_duplicate_of: None,
            has_duplicates: false,
            copy: None,
            canonical: None,
            series: None,
            body,
        }
    }

    /// Pages of the start exist even before it; others from their publication until they are deleted.
    pub(crate) fn is_there(&self, moment: u64) -> bool {
        (self.published <= START || self.published <= moment)
            && self.deleted.is_none_or(|deleted| moment < deleted)
            && self.kind != PageKind::Missing
    }

    /// The page that this one was copied from, whichever way.
    pub(crate) fn original(&self) -> Option<PageNo> {
        self.duplicate_of.or(self.near_duplicate_of).or(self.copy.map(|copy| copy.of))
    }

    /// How many changes have happened, and when the last one did.
    pub(crate) fn version(&self, moment: u64) -> (usize, u64) {
        let count = self.changes.partition_point(|&change| change <= moment);
        (count, if count == 0 { self.published } else { self.changes[count - 1] })
    }

    /// 404 or, for every second deleted page, 410.
    pub(crate) fn status_when_absent(&self, page: PageNo) -> u16 {
        if self.deleted.is_some() && page % 2 == 1 { 410 } else { 404 }
    }
}

/// Where the words of a page come from.
#[derive(Debug)]
pub(crate) enum Body {
    /// Composed from the seed when asked for.
    Generated(Vec<PlannedLink>),
    /// Written down.
    Written(Box<Draft>),
    /// Nothing but a direction.
    Redirect {
        status: u16,
        to: PageNo,
    },
    Nothing,
}

/// A link of a generated page, before its anchor is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedLink {
    pub(crate) to: PageNo,
    pub(crate) place: Place,
    pub(crate) spelling: Spelling,
}

/// Where on the page a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Within the text.
    Text,
    /// In a list of what there is: shown only while the target is there.
    List,
    /// Previous and next page of a list.
    Pager,
    /// Beside or below the text.
    Related,
    /// As a frame.
    Frame,
    /// Within the text, to a host outside this web; `to` is just a number.
    Outside,
}

/// How a link spells the URL of its target; all spellings mean the same URL to a WHATWG parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `/a/b.html`
    FromRoot,
    /// `http://host:port/a/b.html`
    Absolute,
    /// `../a/b.html`
    Relative,
    /// `/a/b.html#part-2`
    Fragment,
    /// `HTTP://HOST:port/a/b.html`
    Capitals,
    /// `//host:port/a/b.html`
    SchemeRelative,
    /// `/文章/b.html` where the URL has `%E6%96%87…`
    Unescaped,
    /// ` /a/b.html `
    Padded,
}

/// Where a link leads.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Page(PageNo),
    Outside(String),
}

/// A link with everything that is written on the page.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) to: Target,
    pub(crate) anchor: String,
    pub(crate) spelling: Spelling,
}

/// What a page says at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) description: String,
    pub(crate) keywords: String,
    pub(crate) author: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) related: Vec<Link>,
}

/// A part of a page, from top to bottom.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Heading(String),
    Paragraph(Vec<Span>),
    /// A short table of what and how much.
    Facts(Vec<(String, String)>),
    /// Steps in order.
    Steps(Vec<String>),
    Quote(String),
    Picture {
        name: String,
        caption: String,
    },
    /// Links, each with a few words about its target.
    Links(Vec<(Link, String)>),
    Pager(Vec<Link>),
    Frames(Vec<Link>),
}

/// A piece of a paragraph.
#[derive(Clone, Debug)]
pub(crate) enum Span {
    Text(String),
    Link(Link),
}

/// A whole web and its truth; it never changes, only the moment one looks at it does.
#[derive(Debug)]
pub struct Web {
    pub(crate) seed: u64,
    pub(crate) spec: WebSpec,
    pub(crate) hosts: Vec<Host>,
    pub(crate) pages: Vec<Page>,
    by_name: HashMap<String, u32>,
    by_path: Vec<HashMap<Box<str>, PageNo>>,
}

impl Web {
    /// Makes a web from a recipe.
    pub fn generate(spec: &WebSpec) -> Web {
        plan::generate(spec)
    }

    /// The small web of `pharos demo`: some hundreds of pages in Chinese and English, worth reading.
    pub fn demo() -> Web {
        demo::web()
    }

    pub(crate) fn assemble(spec: WebSpec, hosts: Vec<Host>, pages: Vec<Page>) -> Web {
        let by_name =
            hosts.iter().enumerate().map(|(number, host)| (host.name.clone(), number as u32)).collect();
        let mut by_path = vec![HashMap::new(); hosts.len()];
        for (number, page) in pages.iter().enumerate() {
            by_path[page.host as usize].insert(page.path.clone(), number as PageNo);
        }
        Web { seed: spec.seed, spec, hosts, pages, by_name, by_path }
    }

    /// The hosts of the web.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The home page of every host: where a crawl begins.
    pub fn seeds(&self, port: u16) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{}:{port}/", host.name)).collect()
    }

    /// What is true at the start, when the web is served on this port.
    pub fn truth(&self, port: u16) -> Truth {
        self.truth_at(port, START)
    }

    /// What is true at a moment (Unix seconds), when the web is served on this port.
    pub fn truth_at(&self, port: u16, moment: u64) -> Truth {
        truth::truth(self, port, moment)
    }

    /// The pages of [`truth`](Self::truth), one after the other.
    pub fn true_pages(&self, port: u16) -> TruePages<'_> {
        truth::true_pages(self, port, START)
    }

    pub(crate) fn page(&self, number: PageNo) -> &Page {
        &self.pages[number as usize]
    }

    pub(crate) fn host_of(&self, page: &Page) -> &Host {
        &self.hosts[page.host as usize]
    }

    pub(crate) fn host_named(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn page_at(&self, host: u32, path: &str) -> Option<PageNo> {
        self.by_path[host as usize].get(path).copied()
    }
}
