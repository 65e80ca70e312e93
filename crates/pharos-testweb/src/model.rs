//! The model of a web: hosts, pages and links.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use serde::Serialize;

use crate::clock::START;
use crate::copies::PlannedCopy;
use crate::robots::RobotsTxt;
use crate::spec::WebSpec;
use crate::truth::{TruePages, Truth};
use crate::{demo, plan, truth};

/// Language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    En,
    /// Simplified Chinese.
    Zh,
}

/// Character encoding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Charset {
    Utf8,
    /// GBK, the encoding of most Chinese pages before UTF-8.
    Gbk,
}

/// Place of the charset declaration of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CharsetDeclaration {
    /// Only in the `Content-Type` header.
    Header,
    /// Only in a `meta` element.
    Meta,
}

/// Kind of page at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// The home page of a host, `/`.
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
    /// Responds with 301, 302 or 308.
    Redirect,
    /// Linked, but absent: responds with 404.
    Missing,
}

/// Behaviour of a host towards clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Behaviour {
    /// Responds to every request immediately and truthfully.
    #[default]
    Good,
}

/// A host of the web.
#[derive(Debug)]
pub struct Host {
    pub name: String,
    /// Loopback address, used if every host has its own.
    pub address: Ipv4Addr,
    /// Name of the site on its pages.
    pub title: String,
    /// Language of most pages.
    pub lang: Lang,
    pub charset: Charset,
    pub declared: CharsetDeclaration,
    pub behaviour: Behaviour,
    /// Name of the mirrored host, for a mirror.
    pub mirror_of: Option<String>,
    pub(crate) rules: Option<RobotsTxt>,
    pub(crate) topic: usize,
    pub(crate) look: Layout,
    pub(crate) navigation: Vec<PageLink>,
    pub(crate) footer: Vec<PageLink>,
}

/// Layout of the pages of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `header`, `main`, `article`, `footer`.
    Semantic,
    /// `div` with descriptive classes.
    Divisions,
    /// Nested tables with widths.
    Tables,
}

/// Number of a page in its web.
pub(crate) type PageNo = u32;

/// A page of the model.
#[derive(Debug)]
pub(crate) struct PlannedPage {
    pub(crate) host: u32,
    /// Path and query, normalised.
    pub(crate) path: Box<str>,
    pub(crate) kind: PageKind,
    pub(crate) lang: Lang,
    /// The headline; empty for redirects and missing pages.
    pub(crate) title: Box<str>,
    pub(crate) published: u64,
    pub(crate) change_rate: f64,
    /// Times of all content changes after publication, ascending.
    pub(crate) changes: Vec<u64>,
    pub(crate) deleted: Option<u64>,
    /// Serves the same bytes as this page.
    pub(crate) duplicate_of: Option<PageNo>,
    /// Has nearly the same text as this page.
    pub(crate) near_duplicate_of: Option<PageNo>,
    /// Other URLs serve the same bytes, so links must not depend on the URL of the page.
    pub(crate) has_duplicates: bool,
    /// Has the text of another page, but not its bytes.
    pub(crate) copy: Option<PlannedCopy>,
    /// Target of the canonical link.
    pub(crate) canonical: Option<PageNo>,
    /// Shares its first and last paragraph with the other articles of this series.
    pub(crate) series: Option<u32>,
    pub(crate) body: Body,
}

impl PlannedPage {
    /// Creates a page that exists before the start.
    pub(crate) fn new(
        host: u32,
        path: String,
        kind: PageKind,
        lang: Lang,
        title: String,
        body: Body,
    ) -> PlannedPage {
        PlannedPage {
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

    /// Returns `true` if the page exists at a given time. Initial pages exist even before the start.
    pub(crate) fn exists_at(&self, moment: u64) -> bool {
        (self.published <= START || self.published <= moment)
            && self.deleted.is_none_or(|deleted| moment < deleted)
            && self.kind != PageKind::Missing
    }

    /// Returns the page this one was copied from, by any kind of copy.
    pub(crate) fn original(&self) -> Option<PageNo> {
        self.duplicate_of.or(self.near_duplicate_of).or(self.copy.map(|copy| copy.of))
    }

    /// Returns the number of changes so far, and the time of the last one.
    pub(crate) fn version(&self, moment: u64) -> (usize, u64) {
        let count = self.changes.partition_point(|&change| change <= moment);
        (count, if count == 0 { self.published } else { self.changes[count - 1] })
    }

    /// Returns 404 or, for every second deleted page, 410.
    pub(crate) fn status_when_absent(&self, page: PageNo) -> u16 {
        if self.deleted.is_some() && page % 2 == 1 { 410 } else { 404 }
    }
}

/// Source of the text of a page.
#[derive(Debug)]
pub(crate) enum Body {
    /// Generated from the seed on demand.
    Generated(Vec<PlannedLink>),
    /// Written by hand.
    Written(Box<PageDraft>),
    Redirect {
        status: u16,
        to: PageNo,
    },
    Nothing,
}

/// A link of a generated page, without its anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedLink {
    pub(crate) to: PageNo,
    pub(crate) place: LinkPosition,
    pub(crate) spelling: Spelling,
}

/// Position of a link on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkPosition {
    /// Within the text.
    Text,
    /// In a list; shown only while the target exists.
    List,
    /// Previous and next page of a list.
    Pager,
    /// Beside or below the text.
    Related,
    /// As a frame.
    Frame,
    /// Within the text, to a host outside this web; `to` is only a number.
    Outside,
}

/// Spelling of the target URL in a link; all spellings are the same URL to a WHATWG parser.
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

/// Target of a link.
#[derive(Clone, Debug)]
pub(crate) enum LinkTarget {
    Page(PageNo),
    Outside(String),
}

/// A link as written on the page.
#[derive(Clone, Debug)]
pub(crate) struct PageLink {
    pub(crate) to: LinkTarget,
    pub(crate) anchor: String,
    pub(crate) spelling: Spelling,
}

/// Content of a page at one point in time.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageDraft {
    pub(crate) description: String,
    pub(crate) keywords: String,
    pub(crate) author: String,
    pub(crate) blocks: Vec<ContentBlock>,
    pub(crate) related: Vec<PageLink>,
}

/// A block of a page, from top to bottom.
#[derive(Clone, Debug)]
pub(crate) enum ContentBlock {
    Heading(String),
    Paragraph(Vec<TextSpan>),
    /// A short table of names and values.
    Facts(Vec<(String, String)>),
    /// Steps in order.
    Steps(Vec<String>),
    Quote(String),
    Picture {
        name: String,
        caption: String,
    },
    /// Links, each with a short note about its target.
    Links(Vec<(PageLink, String)>),
    Pager(Vec<PageLink>),
    Frames(Vec<PageLink>),
}

/// A part of a paragraph.
#[derive(Clone, Debug)]
pub(crate) enum TextSpan {
    Text(String),
    Link(PageLink),
}

/// A complete web. It is immutable; only the time of observation changes.
#[derive(Debug)]
pub struct Web {
    pub(crate) seed: u64,
    pub(crate) spec: WebSpec,
    pub(crate) hosts: Vec<Host>,
    pub(crate) pages: Vec<PlannedPage>,
    by_name: HashMap<String, u32>,
    by_path: Vec<HashMap<Box<str>, PageNo>>,
}

impl Web {
    /// Generates a web.
    pub fn generate(spec: &WebSpec) -> Web {
        plan::generate(spec)
    }

    /// Returns the small web of `pharos demo`: some hundreds of readable pages in Chinese and English.
    pub fn demo() -> Web {
        demo::web()
    }

    pub(crate) fn assemble(spec: WebSpec, hosts: Vec<Host>, pages: Vec<PlannedPage>) -> Web {
        let by_name =
            hosts.iter().enumerate().map(|(number, host)| (host.name.clone(), number as u32)).collect();
        let mut by_path = vec![HashMap::new(); hosts.len()];
        for (number, page) in pages.iter().enumerate() {
            by_path[page.host as usize].insert(page.path.clone(), number as PageNo);
        }
        Web { seed: spec.seed, spec, hosts, pages, by_name, by_path }
    }

    /// Returns the hosts of the web.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the home page of every host.
    pub fn seeds(&self, port: u16) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{}:{port}/", host.name)).collect()
    }

    /// Returns the truth at the start, for a web served on this port.
    pub fn truth(&self, port: u16) -> Truth {
        self.truth_at(port, START)
    }

    /// Returns the truth at a given time (Unix seconds), for a web served on this port.
    pub fn truth_at(&self, port: u16, moment: u64) -> Truth {
        truth::truth(self, port, moment)
    }

    /// Returns an iterator over the pages of [`truth`](Self::truth).
    pub fn true_pages(&self, port: u16) -> TruePages<'_> {
        truth::true_pages(self, port, START)
    }

    pub(crate) fn page(&self, number: PageNo) -> &PlannedPage {
        &self.pages[number as usize]
    }

    pub(crate) fn host_of(&self, page: &PlannedPage) -> &Host {
        &self.hosts[page.host as usize]
    }

    pub(crate) fn host_named(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn page_at(&self, host: u32, path: &str) -> Option<PageNo> {
        self.by_path[host as usize].get(path).copied()
    }
}
