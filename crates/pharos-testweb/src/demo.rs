//! The demo web: eight small sites, in Chinese and English, around an imaginary harbour.
//!
//! Each site is a table of facts and a few templates; `markup` is the format of their texts. Towns, people and
//! lighthouses are fictitious, unless the page says otherwise.

mod campus;
mod cities;
mod handbook;
mod kitchen;
mod markup;
mod museum;
mod news;
mod stars;
mod stories;

use std::collections::HashMap;

use crate::clock::START;
use crate::model::{
    Behaviour, Body, Charset, CharsetDeclaration, ContentBlock, Host, Lang, Layout, PageDraft, PageKind,
    PageNo, PlannedPage, TextSpan, Web,
};
use crate::robots::RobotsTxt;
use crate::spec::WebSpec;
use crate::urls::percent_encode;
use markup::PageLookup;

/// A site of the demo.
struct DemoSite {
    host: &'static str,
    title: &'static str,
    lang: Lang,
    charset: Charset,
    declared: CharsetDeclaration,
    look: Layout,
    /// Path and name of each navigation entry.
    navigation: &'static [(&'static str, &'static str)],
    /// Hosts linked in the footer.
    friends: &'static [&'static str],
    entries: Vec<DemoPage>,
}

/// A page of the demo.
struct DemoPage {
    path: String,
    kind: PageKind,
    lang: Lang,
    title: String,
    author: &'static str,
    keywords: String,
    /// Days before the start.
    age: u64,
    text: String,
    /// References to related pages.
    related: Vec<String>,
}

impl DemoPage {
    fn new(
        kind: PageKind,
        lang: Lang,
        path: impl Into<String>,
        title: impl Into<String>,
        text: String,
    ) -> DemoPage {
        DemoPage {
            path: path.into(),
            kind,
            lang,
            title: title.into(),
            author: "",
            keywords: String::new(),
            age: 400,
            text,
            related: Vec::new(),
        }
    }

    fn article(lang: Lang, path: impl Into<String>, title: impl Into<String>, text: String) -> DemoPage {
        DemoPage::new(PageKind::Article, lang, path, title, text)
    }

    fn hub(lang: Lang, path: impl Into<String>, title: impl Into<String>, text: String) -> DemoPage {
        DemoPage::new(PageKind::Hub, lang, path, title, text)
    }

    fn by(mut self, author: &'static str, age: u64) -> DemoPage {
        self.author = author;
        self.age = age;
        self
    }

    fn keywords(mut self, keywords: impl Into<String>) -> DemoPage {
        self.keywords = keywords.into();
        self
    }

    fn related(mut self, places: impl IntoIterator<Item = String>) -> DemoPage {
        self.related.extend(places);
        self
    }
}

/// Returns a list of links, one per line, to all entries below a path.
fn list_of(entries: &[DemoPage], below: &str) -> String {
    let lines = entries.iter().filter(|entry| entry.path.starts_with(below) && entry.path != below);
    lines.map(|entry| format!("* {} | {}\n", entry.path, entry.keywords)).collect()
}

/// Returns references to the `count` entries after this one, cyclically.
fn neighbours(paths: &[String], place: usize, count: usize) -> Vec<String> {
    (1..=count.min(paths.len().saturating_sub(1)))
        .map(|step| paths[(place + step) % paths.len()].clone())
        .collect()
}

fn sites() -> Vec<DemoSite> {
    vec![
        museum::site(),
        news::site(),
        stories::site(),
        kitchen::site(),
        cities::site(),
        stars::site(),
        handbook::site(),
        campus::site(),
    ]
}

pub(crate) fn web() -> Web {
    let (web, lost) = build(sites());
    debug_assert!(lost.is_empty(), "links to nowhere: {lost:?}");
    web
}

/// Returns the web of these sites, and the references to pages that do not exist.
fn build(sites: Vec<DemoSite>) -> (Web, Vec<String>) {
    let mut by_place: HashMap<String, (PageNo, String)> = HashMap::new();
    for (number, (site, entry)) in
        sites.iter().flat_map(|site| site.entries.iter().map(move |e| (site, e))).enumerate()
    {
        by_place.insert(format!("{}{}", site.host, entry.path), (number as PageNo, entry.title.clone()));
    }
    let mut lost = Vec::new();
    let names: HashMap<&str, &str> = sites.iter().map(|site| (site.host, site.title)).collect();
    let mut hosts = Vec::new();
    let mut pages = Vec::new();
    for (number, site) in sites.into_iter().enumerate() {
        let places = PageLookup { pages: &by_place, host: site.host };
        hosts.push(host_of(&site, number, &places, &names, &mut lost));
        for entry in &site.entries {
            pages.push(page_of(entry, number as u32, &places, &mut lost));
        }
    }
    (
        Web::assemble(
            WebSpec { seed: 0, hosts: hosts.len(), pages: pages.len(), ..WebSpec::default() },
            hosts,
            pages,
        ),
        lost,
    )
}

fn host_of(
    site: &DemoSite,
    number: usize,
    places: &PageLookup,
    names: &HashMap<&str, &str>,
    lost: &mut Vec<String>,
) -> Host {
    let mut link = |place: &str, anchor: &str| {
        let link = places.link(place, Some(anchor));
        if link.is_none() {
            lost.push(format!("{}: {place}", site.host));
        }
        link
    };
    let navigation = site.navigation.iter().filter_map(|(path, name)| link(path, name)).collect();
    let mut friend = |host: &&str| link(&format!("{host}/"), names.get(host).unwrap_or(host));
    let footer = site.friends.iter().filter_map(&mut friend).collect();
    Host {
        name: site.host.to_owned(),
        address: crate::plan::address_of(number),
        title: site.title.to_owned(),
        lang: site.lang,
        charset: site.charset,
        declared: site.declared,
        behaviour: Behaviour::Good,
        mirror_of: None,
        rules: Some(RobotsTxt::disallow(&["/staff/"])),
        topic: 0,
        look: site.look,
        navigation,
        footer,
    }
}

fn page_of(entry: &DemoPage, host: u32, places: &PageLookup, lost: &mut Vec<String>) -> PlannedPage {
    const DAY: u64 = 86_400;
    let blocks = markup::parse(&entry.text, places).unwrap_or_else(|place| {
        lost.push(format!("{}{}: {place}", places.host, entry.path));
        Vec::new()
    });
    let related = entry.related.iter().filter_map(|place| {
        let link = places.link(place, None);
        if link.is_none() {
            lost.push(format!("{}{}: {place}", places.host, entry.path));
        }
        link
    });
    let draft = PageDraft {
        description: description(&blocks),
        keywords: entry.keywords.clone(),
        author: entry.author.to_owned(),
        related: related.collect(),
        blocks,
    };
    PlannedPage {
        published: START - entry.age * DAY + u64::from(host) * 3600,
        ..PlannedPage::new(
            host,
            percent_encode(&entry.path),
            entry.kind,
            entry.lang,
            entry.title.clone(),
            Body::Written(Box::new(draft)),
        )
    }
}

/// Returns the first sentences, for the description in the head.
fn description(blocks: &[ContentBlock]) -> String {
    let first = blocks.iter().find_map(|block| match block {
        ContentBlock::Paragraph(spans) => Some(spans),
        _ => None,
    });
    let text: String = first
        .into_iter()
        .flatten()
        .map(|span| match span {
            TextSpan::Text(text) => text.as_str(),
            TextSpan::Link(link) => link.anchor.as_str(),
        })
        .collect();
    text.chars().take(150).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_of_the_demo_leads_nowhere() {
        assert_eq!(build(sites()).1, Vec::<String>::new());
    }

    #[test]
    fn the_demo_is_small_bilingual_and_wholly_reachable() {
        let truth = web().truth(80);
        assert!((300..=500).contains(&truth.pages.len()), "{} pages", truth.pages.len());
        let chinese = truth.pages.iter().filter(|page| page.lang == Lang::Zh).count();
        assert!(
            chinese > 120 && truth.pages.len() - chinese > 120,
            "{chinese} of {} in Chinese",
            truth.pages.len()
        );
        let lost: Vec<&str> =
            truth.pages.iter().filter(|page| !page.reachable).map(|page| page.url.as_str()).collect();
        assert_eq!(lost, Vec::<&str>::new());
    }

    #[test]
    fn no_two_articles_start_alike() {
        let truth = web().truth(80);
        let (mut openings, mut short) = (std::collections::HashSet::new(), Vec::new());
        for page in truth.pages.iter().filter(|page| page.kind == PageKind::Article) {
            let least = if page.lang == Lang::Zh { 80 } else { 250 };
            if page.text.chars().count() < least {
                short.push(page.url.as_str());
            }
            let opening: String = page.text.chars().take(40).collect();
            assert!(openings.insert(opening), "{} begins like another", page.url);
        }
        assert_eq!(short, Vec::<&str>::new());
    }
}
