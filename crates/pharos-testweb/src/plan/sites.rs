//! Plans the pages of one host: home page, sections with their lists, and the listed pages.

use super::{Plan, Section, Site, stream};
use crate::clock::START;
use crate::model::{Body, Charset, Lang, Page, PageKind, PageNo};
use crate::rng::Rng;
use crate::urls::percent_encode;
use crate::words::{TOPICS, Topic};
use crate::writer::{Writer, capital};

/// Maximum number of pages in a list.
const PER_LIST: usize = 25;

/// Role of a page; every fifty pages have the same mixture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Article,
    Table,
    Picture,
    Redirect,
    Moved,
    Duplicate,
    NearDuplicate,
    Forbidden,
    Buried,
    Frameset,
    Framed,
    /// Below a forbidden directory, and yet allowed.
    Open,
}

fn role_of(slot: usize) -> Role {
    // 17 and 50 are coprime: the roles are scattered, and every fifty slots have all of them.
    match slot * 17 % 50 {
        0..=3 => Role::Table,
        4 | 5 => Role::Picture,
        6 | 7 => Role::Redirect,
        8 => Role::Moved,
        9 => Role::Duplicate,
        10 | 11 => Role::NearDuplicate,
        12 | 13 => Role::Forbidden,
        14 => Role::Buried,
        15 => Role::Frameset,
        16 => Role::Framed,
        17 => Role::Open,
        _ => Role::Article,
    }
}

/// Adds the pages of a host of this size to the plan, without their links.
pub(super) fn lay_out(plan: &mut Plan, host: usize, size: usize) {
    let mut rng = Rng::of(&[plan.spec.seed, stream::SITE, host as u64]);
    let first_slot = plan.pages.len();
    let mut site = Site { home: add_home(plan, host, &mut rng), ..Site::default() };

    let beyond_home = size - 1;
    let section_count = (beyond_home / 12).clamp(1, 10);
    let mut list_count = section_count;
    while list_count * PER_LIST < beyond_home - list_count {
        list_count += 1;
    }
    for number in 0..section_count {
        let section = new_section(plan, host, number);
        site.sections.push(section);
    }
    for number in 0..list_count {
        add_list(plan, host, &mut site.sections[number % section_count], &mut rng);
    }
    for slot in 0..beyond_home - list_count {
        add_content(plan, host, &mut site, slot % section_count, role_of(first_slot + slot), &mut rng);
    }
    plan.sites.push(site);
    if size > PER_LIST {
        for _ in 0..1 + size / 100 {
            add_missing(plan, host);
        }
    }
}

fn add_home(plan: &mut Plan, host: usize, rng: &mut Rng) -> PageNo {
    let (lang, topic, name) = (plan.hosts[host].lang, plan.hosts[host].topic, plan.hosts[host].title.clone());
    let writer = Writer::new(lang, topic);
    let title = plan.new_title(|| match lang {
        Lang::En => format!("{name}: {}", writer.title(rng)),
        Lang::Zh => format!("{name}：{}", writer.title(rng)),
    });
    plan.add(Page {
        published: past(rng),
        ..Page::new(host as u32, "/".into(), PageKind::Home, lang, title, Body::Generated(Vec::new()))
    })
}

fn new_section(plan: &Plan, host: usize, number: usize) -> Section {
    let Topic { en, zh } = &TOPICS[plan.hosts[host].topic];
    match plan.hosts[host].lang {
        Lang::En => Section::new(capital(en[number]), en[number].to_owned()),
        Lang::Zh if has_chinese_paths(host) => {
            Section::new(zh[number].to_owned(), percent_encode(zh[number]))
        }
        Lang::Zh => Section::new(zh[number].to_owned(), format!("c{number}")),
    }
}

impl Section {
    fn new(name: String, slug: String) -> Section {
        Section { name, slug, lists: Vec::new(), listed: Vec::new() }
    }
}

/// Returns `true` for hosts with Chinese paths, which URLs contain percent-encoded.
fn has_chinese_paths(host: usize) -> bool {
    host.is_multiple_of(3)
}

fn add_list(plan: &mut Plan, host: usize, section: &mut Section, rng: &mut Rng) {
    let number = section.lists.len() + 1;
    let path = match (number, host % 2) {
        (1, _) => format!("/{}/", section.slug),
        (_, 0) => format!("/{}/list-{number}.html", section.slug),
        _ => format!("/{}/?page={number}", section.slug),
    };
    let (lang, topic) = (plan.hosts[host].lang, plan.hosts[host].topic);
    let writer = Writer::new(lang, topic);
    let title = plan.new_title(|| match lang {
        Lang::En => format!("{}, list {number}: {}", section.name, writer.title(rng)),
        Lang::Zh => format!("{}目录{number}：{}", section.name, writer.title(rng)),
    });
    let list = plan.add(Page {
        published: past(rng),
        ..Page::new(host as u32, path, PageKind::Hub, lang, title, Body::Generated(Vec::new()))
    });
    section.lists.push(list);
}

fn add_content(plan: &mut Plan, host: usize, site: &mut Site, section: usize, role: Role, rng: &mut Rng) {
    let has_rules = plan.hosts[host].rules.is_some();
    // A role that needs pages which a small site does not have becomes an article.
    let role = match role {
        Role::Duplicate | Role::NearDuplicate | Role::Redirect if site.carriers.is_empty() => Role::Article,
        Role::Moved if site.redirects.len() <= site.moved.len() => Role::Article,
        Role::Framed if site.framesets.is_empty() => Role::Article,
        Role::Buried if site.forbidden.is_empty() || !has_rules => Role::Article,
        role => role,
    };
    let number = plan.pages.len();
    let near_duplicate_of = (role == Role::NearDuplicate).then(|| rng.pick(&site.carriers));
    let lang = match near_duplicate_of {
        Some(original) => plan.pages[original as usize].lang,
        None => page_lang(plan, host, rng),
    };
    let writer = Writer::new(lang, plan.hosts[host].topic);
    let title = match role {
        Role::Redirect | Role::Duplicate => String::new(),
        _ => plan.new_title(|| writer.title(rng)),
    };
    let slug = slug_of(&title, lang, number, has_chinese_paths(host));
    let folder = &site.sections[section].slug;
    let path = match role {
        Role::Redirect => format!("/go/{number}"),
        Role::Moved => format!("/archive/{slug}.html"),
        Role::Forbidden if number.is_multiple_of(2) => format!("/private/{slug}.html"),
        Role::Forbidden => format!("/cgi-bin/view?id={number}&lang=x"),
        Role::Open => format!("/private/open/{slug}.html"),
        Role::Frameset => format!("/frames/{number}.html"),
        Role::Duplicate if number.is_multiple_of(2) => format!("/print/{number}.html"),
        Role::Duplicate => format!("/{folder}/view?id={number}&print=1"),
        _ => format!("/{folder}/{slug}.html"),
    };
    let kind = match role {
        Role::Table => PageKind::Table,
        Role::Picture => PageKind::Picture,
        Role::Redirect => PageKind::Redirect,
        Role::Frameset => PageKind::Frameset,
        _ => PageKind::Article,
    };
    let published = past(rng);
    let mut page =
        Page { published, ..Page::new(host as u32, path, kind, lang, title, Body::Generated(Vec::new())) };
    match role {
        Role::Duplicate => make_duplicate(plan, host, site, &mut page, rng),
        Role::NearDuplicate => page.near_duplicate_of = near_duplicate_of,
        Role::Redirect => page.body = Body::Redirect { status: rng.pick(&[301, 302, 308]), to: site.home },
        _ => {}
    }
    let page = plan.add(page);
    match role {
        Role::Article | Role::Table | Role::Open => {
            site.sections[section].listed.push(page);
            site.carriers.push(page);
        }
        Role::Picture | Role::NearDuplicate => site.sections[section].listed.push(page),
        Role::Duplicate => site.loose.push(page),
        Role::Redirect => {
            site.redirects.push(page);
            site.loose.push(page);
        }
        Role::Moved => site.moved.push(page),
        Role::Frameset => {
            site.framesets.push(page);
            site.loose.push(page);
        }
        Role::Framed => site.framed.push(page),
        Role::Forbidden => {
            site.forbidden.push(page);
            site.loose.push(page);
        }
        Role::Buried => site.buried.push(page),
    }
}

/// Makes the page a duplicate of one of its host or, every third time, of another host.
fn make_duplicate(plan: &mut Plan, host: usize, site: &Site, page: &mut Page, rng: &mut Rng) {
    let mut original = rng.pick(&site.carriers);
    if let Some(other) = plan.sites.get(rng.below(host.max(1)))
        && rng.chance(0.34)
        && !other.carriers.is_empty()
    {
        original = rng.pick(&other.carriers);
    }
    let source = &mut plan.pages[original as usize];
    source.has_duplicates = true;
    page.title = source.title.clone();
    page.kind = source.kind;
    page.lang = source.lang;
    page.published = source.published;
    page.duplicate_of = Some(original);
    page.body = Body::Nothing;
}

fn add_missing(plan: &mut Plan, host: usize) {
    let number = plan.pages.len();
    let lang = plan.hosts[host].lang;
    let path = format!("/gone/{number}.html");
    let missing =
        plan.add(Page::new(host as u32, path, PageKind::Missing, lang, String::new(), Body::Nothing));
    if let Some(site) = plan.sites.last_mut() {
        site.loose.push(missing);
    }
}

/// Adds an article published after the start.
pub(super) fn add_newcomer(
    plan: &mut Plan,
    host: usize,
    section: usize,
    published: u64,
    rng: &mut Rng,
) -> PageNo {
    let lang = page_lang(plan, host, rng);
    let writer = Writer::new(lang, plan.hosts[host].topic);
    let title = plan.new_title(|| writer.title(rng));
    let path = article_path(plan, host, section, &title, lang);
    plan.add(Page {
        published,
        ..Page::new(host as u32, path, PageKind::Article, lang, title, Body::Generated(Vec::new()))
    })
}

/// Returns the path of the next article, once its host is laid out.
pub(super) fn article_path(plan: &Plan, host: usize, section: usize, title: &str, lang: Lang) -> String {
    let slug = slug_of(title, lang, plan.pages.len(), has_chinese_paths(host));
    format!("/{}/{slug}.html", plan.sites[host].sections[section].slug)
}

/// Returns the language of a page: one in ten is in the other language, if the encoding permits it.
fn page_lang(plan: &Plan, host: usize, rng: &mut Rng) -> Lang {
    let host = &plan.hosts[host];
    match (host.lang, host.charset) {
        (lang, Charset::Utf8) if rng.chance(0.9) => lang,
        (Lang::En, Charset::Utf8) => Lang::Zh,
        (Lang::Zh, Charset::Utf8) => Lang::En,
        (lang, Charset::Gbk) => lang,
    }
}

fn slug_of(title: &str, lang: Lang, number: usize, chinese_paths: bool) -> String {
    match lang {
        Lang::En => {
            let words =
                title.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() > 3);
            let slug: Vec<String> = words.take(3).map(str::to_lowercase).collect();
            format!("{}-{number}", slug.join("-"))
        }
        Lang::Zh if chinese_paths => {
            let start: String = title.chars().filter(|letter| letter.is_alphabetic()).take(5).collect();
            format!("{}-{number}", percent_encode(&start))
        }
        Lang::Zh => number.to_string(),
    }
}

/// Returns a publication time before the start: months ago, sometimes years.
pub(super) fn past(rng: &mut Rng) -> u64 {
    const DAY: f64 = 86_400.0;
    START - (rng.log_normal(120.0, 1.2).clamp(0.1, 3000.0) * DAY) as u64
}
