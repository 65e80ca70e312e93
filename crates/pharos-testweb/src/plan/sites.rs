//! Plans the pages of one host: home page, sections with their lists, and the listed pages.

use super::{SitePlan, SiteSection, WebPlan, stream};
use crate::clock::START;
use crate::model::{Body, Charset, Lang, PageKind, PageNo, PlannedPage};
use crate::rng::Rng;
use crate::urls::percent_encode;
use crate::words::{TOPICS, Topic};
use crate::writer::{TextWriter, capital};

/// Maximum number of pages in a list.
const PER_LIST: usize = 25;

/// Role of a page; every fifty pages have the same mixture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageRole {
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

fn role_of(slot: usize) -> PageRole {
    // 17 and 50 are coprime: the roles are scattered, and every fifty slots have all of them.
    match slot * 17 % 50 {
        0..=3 => PageRole::Table,
        4 | 5 => PageRole::Picture,
        6 | 7 => PageRole::Redirect,
        8 => PageRole::Moved,
        9 => PageRole::Duplicate,
        10 | 11 => PageRole::NearDuplicate,
        12 | 13 => PageRole::Forbidden,
        14 => PageRole::Buried,
        15 => PageRole::Frameset,
        16 => PageRole::Framed,
        17 => PageRole::Open,
        _ => PageRole::Article,
    }
}

/// Adds the pages of a host of this size to the plan, without their links.
pub(super) fn lay_out(plan: &mut WebPlan, host: usize, size: usize) {
    let mut rng = Rng::from_parts(&[plan.spec.seed, stream::SITE, host as u64]);
    let first_slot = plan.pages.len();
    let mut site = SitePlan { home: add_home(plan, host, &mut rng), ..SitePlan::default() };

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

fn add_home(plan: &mut WebPlan, host: usize, rng: &mut Rng) -> PageNo {
    let (lang, topic, name) = (plan.hosts[host].lang, plan.hosts[host].topic, plan.hosts[host].title.clone());
    let writer = TextWriter::new(lang, topic);
    let title = plan.new_title(|| match lang {
        Lang::En => format!("{name}: {}", writer.title(rng)),
        Lang::Zh => format!("{name}：{}", writer.title(rng)),
    });
    plan.add(PlannedPage {
        published: past(rng),
        ..PlannedPage::new(host as u32, "/".into(), PageKind::Home, lang, title, Body::Generated(Vec::new()))
    })
}

fn new_section(plan: &WebPlan, host: usize, number: usize) -> SiteSection {
    let Topic { en, zh } = &TOPICS[plan.hosts[host].topic];
    match plan.hosts[host].lang {
        Lang::En => SiteSection::new(capital(en[number]), en[number].to_owned()),
        Lang::Zh if has_chinese_paths(host) => {
            SiteSection::new(zh[number].to_owned(), percent_encode(zh[number]))
        }
        Lang::Zh => SiteSection::new(zh[number].to_owned(), format!("c{number}")),
    }
}

impl SiteSection {
    fn new(name: String, slug: String) -> SiteSection {
        SiteSection { name, slug, lists: Vec::new(), listed: Vec::new() }
    }
}

/// Returns `true` for hosts with Chinese paths, which URLs contain percent-encoded.
fn has_chinese_paths(host: usize) -> bool {
    host.is_multiple_of(3)
}

fn add_list(plan: &mut WebPlan, host: usize, section: &mut SiteSection, rng: &mut Rng) {
    let number = section.lists.len() + 1;
    let path = match (number, host % 2) {
        (1, _) => format!("/{}/", section.slug),
        (_, 0) => format!("/{}/list-{number}.html", section.slug),
        _ => format!("/{}/?page={number}", section.slug),
    };
    let (lang, topic) = (plan.hosts[host].lang, plan.hosts[host].topic);
    let writer = TextWriter::new(lang, topic);
    let title = plan.new_title(|| match lang {
        Lang::En => format!("{}, list {number}: {}", section.name, writer.title(rng)),
        Lang::Zh => format!("{}目录{number}：{}", section.name, writer.title(rng)),
    });
    let list = plan.add(PlannedPage {
        published: past(rng),
        ..PlannedPage::new(host as u32, path, PageKind::Hub, lang, title, Body::Generated(Vec::new()))
    });
    section.lists.push(list);
}

fn add_content(
    plan: &mut WebPlan,
    host: usize,
    site: &mut SitePlan,
    section: usize,
    role: PageRole,
    rng: &mut Rng,
) {
    let has_rules = plan.hosts[host].rules.is_some();
    // A role that needs pages which a small site does not have becomes an article.
    let role = match role {
        PageRole::Duplicate | PageRole::NearDuplicate | PageRole::Redirect if site.carriers.is_empty() => {
            PageRole::Article
        }
        PageRole::Moved if site.redirects.len() <= site.moved.len() => PageRole::Article,
        PageRole::Framed if site.framesets.is_empty() => PageRole::Article,
        PageRole::Buried if site.forbidden.is_empty() || !has_rules => PageRole::Article,
        role => role,
    };
    let number = plan.pages.len();
    let near_duplicate_of = (role == PageRole::NearDuplicate).then(|| rng.pick(&site.carriers));
    let lang = match near_duplicate_of {
        Some(original) => plan.pages[original as usize].lang,
        None => page_lang(plan, host, rng),
    };
    let writer = TextWriter::new(lang, plan.hosts[host].topic);
    let title = match role {
        PageRole::Redirect | PageRole::Duplicate => String::new(),
        _ => plan.new_title(|| writer.title(rng)),
    };
    let slug = slug_of(&title, lang, number, has_chinese_paths(host));
    let folder = &site.sections[section].slug;
    let path = match role {
        PageRole::Redirect => format!("/go/{number}"),
        PageRole::Moved => format!("/archive/{slug}.html"),
        PageRole::Forbidden if number.is_multiple_of(2) => format!("/private/{slug}.html"),
        PageRole::Forbidden => format!("/cgi-bin/view?id={number}&lang=x"),
        PageRole::Open => format!("/private/open/{slug}.html"),
        PageRole::Frameset => format!("/frames/{number}.html"),
        PageRole::Duplicate if number.is_multiple_of(2) => format!("/print/{number}.html"),
        PageRole::Duplicate => format!("/{folder}/view?id={number}&print=1"),
        _ => format!("/{folder}/{slug}.html"),
    };
    let kind = match role {
        PageRole::Table => PageKind::Table,
        PageRole::Picture => PageKind::Picture,
        PageRole::Redirect => PageKind::Redirect,
        PageRole::Frameset => PageKind::Frameset,
        _ => PageKind::Article,
    };
    let published = past(rng);
    let mut page = PlannedPage {
        published,
        ..PlannedPage::new(host as u32, path, kind, lang, title, Body::Generated(Vec::new()))
    };
    match role {
        PageRole::Duplicate => make_duplicate(plan, host, site, &mut page, rng),
        PageRole::NearDuplicate => page.near_duplicate_of = near_duplicate_of,
        PageRole::Redirect => {
            page.body = Body::Redirect { status: rng.pick(&[301, 302, 308]), to: site.home }
        }
        _ => {}
    }
    let page = plan.add(page);
    match role {
        PageRole::Article | PageRole::Table | PageRole::Open => {
            site.sections[section].listed.push(page);
            site.carriers.push(page);
        }
        PageRole::Picture | PageRole::NearDuplicate => site.sections[section].listed.push(page),
        PageRole::Duplicate => site.loose.push(page),
        PageRole::Redirect => {
            site.redirects.push(page);
            site.loose.push(page);
        }
        PageRole::Moved => site.moved.push(page),
        PageRole::Frameset => {
            site.framesets.push(page);
            site.loose.push(page);
        }
        PageRole::Framed => site.framed.push(page),
        PageRole::Forbidden => {
            site.forbidden.push(page);
            site.loose.push(page);
        }
        PageRole::Buried => site.buried.push(page),
    }
}

/// Makes the page a duplicate of one of its host or, every third time, of another host.
fn make_duplicate(plan: &mut WebPlan, host: usize, site: &SitePlan, page: &mut PlannedPage, rng: &mut Rng) {
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

fn add_missing(plan: &mut WebPlan, host: usize) {
    let number = plan.pages.len();
    let lang = plan.hosts[host].lang;
    let path = format!("/gone/{number}.html");
    let missing =
        plan.add(PlannedPage::new(host as u32, path, PageKind::Missing, lang, String::new(), Body::Nothing));
    if let Some(site) = plan.sites.last_mut() {
        site.loose.push(missing);
    }
}

/// Adds an article published after the start.
pub(super) fn add_newcomer(
    plan: &mut WebPlan,
    host: usize,
    section: usize,
    published: u64,
    rng: &mut Rng,
) -> PageNo {
    let lang = page_lang(plan, host, rng);
    let writer = TextWriter::new(lang, plan.hosts[host].topic);
    let title = plan.new_title(|| writer.title(rng));
    let path = article_path(plan, host, section, &title, lang);
    plan.add(PlannedPage {
        published,
        ..PlannedPage::new(host as u32, path, PageKind::Article, lang, title, Body::Generated(Vec::new()))
    })
}

/// Returns the path of the next article, once its host is laid out.
pub(super) fn article_path(plan: &WebPlan, host: usize, section: usize, title: &str, lang: Lang) -> String {
    let slug = slug_of(title, lang, plan.pages.len(), has_chinese_paths(host));
    format!("/{}/{slug}.html", plan.sites[host].sections[section].slug)
}

/// Returns the language of a page: one in ten is in the other language, if the encoding permits it.
fn page_lang(plan: &WebPlan, host: usize, rng: &mut Rng) -> Lang {
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
