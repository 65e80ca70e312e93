//! Plants mirrors: hosts that serve the pages of another under their own name.

use std::collections::{HashMap, HashSet};

use super::{WebPlan, hosts};
use crate::copies::{CopyKind, PlannedCopy, TextEdit};
use crate::model::{Body, Host, LinkTarget, PageKind, PageLink, PageNo, PlannedPage};
use crate::rng::Rng;

/// Adds the mirrors; every second one has a banner that says so.
pub(super) fn plant(plan: &mut WebPlan, rng: &mut Rng) {
    let mirrored_first = rng.below(plan.sites.len());
    for number in 0..plan.spec.copies.mirrors {
        let edit = if number % 2 == 1 { TextEdit::Banner } else { TextEdit::Nothing };
        mirror(plan, (mirrored_first + number) % plan.sites.len(), edit, rng);
    }
}

fn mirror(plan: &mut WebPlan, mirrored: usize, edit: TextEdit, rng: &mut Rng) {
    let host = plan.hosts.len();
    let sources: Vec<PageNo> = (0..plan.pages.len() as PageNo)
        .filter(|&page| plan.pages[page as usize].host as usize == mirrored)
        .collect();
    let first = plan.pages.len() as PageNo;
    let own: HashMap<PageNo, PageNo> = sources.iter().copied().zip(first..).collect();
    let own_or_same = |page: PageNo| own.get(&page).copied().unwrap_or(page);
    for source in sources {
        let page = &plan.pages[source as usize];
        let body = match page.body {
            Body::Redirect { status, to } => Body::Redirect { status, to: own_or_same(to) },
            Body::Generated(_) | Body::Written(_) => Body::Generated(Vec::new()),
            Body::Nothing => Body::Nothing,
        };
        let duplicate_of = page.duplicate_of.map(own_or_same);
        // Frames cannot contain a banner, and neither can a page with the bytes of another host.
        let is_plain =
            page.kind == PageKind::Frameset || duplicate_of.is_some_and(|original| original < first);
        let edit = if is_plain { TextEdit::Nothing } else { edit };
        let mirrored_page = PlannedPage {
            host: host as u32,
            path: page.path.clone(),
            kind: page.kind,
            lang: page.lang,
            title: page.title.clone(),
            published: page.published,
            change_rate: page.change_rate,
            changes: page.changes.clone(),
            deleted: page.deleted,
            duplicate_of,
            near_duplicate_of: None,
            has_duplicates: page.has_duplicates,
            copy: Some(PlannedCopy { of: source, kind: CopyKind::Mirror, edit }),
            // The head is copied unchanged: the second URLs of a mirror still name the original.
            canonical: page.canonical,
            series: page.series,
            body,
        };
        plan.add(mirrored_page);
    }
    let retarget = |link: &PageLink| {
        let to = match &link.to {
            LinkTarget::Page(page) => LinkTarget::Page(own_or_same(*page)),
            LinkTarget::Outside(url) => LinkTarget::Outside(url.clone()),
        };
        PageLink { to, ..link.clone() }
    };
    let original = &plan.hosts[mirrored];
    let (name, address) = (name_of(plan, original, host, rng), hosts::address_of(host));
    let mirror = Host {
        name,
        address,
        title: original.title.clone(),
        mirror_of: Some(original.name.clone()),
        rules: original.rules.clone(),
        navigation: original.navigation.iter().map(retarget).collect(),
        footer: original.footer.iter().map(retarget).collect(),
        ..*original
    };
    plan.hosts.push(mirror);
}

/// Returns a name in the domain of the original (`mirror.example.test`) or under another domain.
fn name_of(plan: &WebPlan, original: &Host, number: usize, rng: &mut Rng) -> String {
    if plan.spec.addresses_as_names {
        return hosts::address_of(number).to_string();
    }
    let taken: HashSet<&str> = plan.hosts.iter().map(|host| host.name.as_str()).collect();
    let domain = original.name.split_once('.').map_or(original.name.as_str(), |(_, domain)| domain);
    let elsewhere = |rng: &mut Rng| format!("www.{}", hosts::domain_name(original.lang, original.topic, rng));
    let mut name = if rng.chance(0.5) { format!("mirror.{domain}") } else { elsewhere(rng) };
    while taken.contains(name.as_str()) {
        name = elsewhere(rng);
    }
    name
}
