//! Generates the link graph.

use super::{WebPlan, stream};
use crate::model::{Body, Lang, LinkPosition, LinkTarget, PageLink, PageNo, PlannedLink, Spelling};
use crate::rng::Rng;

/// Generates all links of the planned pages, and the navigation and footer of every host.
pub(super) fn draw(plan: &mut WebPlan) {
    for host in 0..plan.hosts.len() {
        let mut rng = Rng::from_parts(&[plan.spec.seed, stream::LINKS, host as u64]);
        frame_of_host(plan, host, &mut rng);
        home_and_lists(plan, host, &mut rng);
        texts(plan, host, &mut rng);
        odd_parts(plan, host, &mut rng);
    }
}

/// Generates navigation and footer, which are the same on every page of the host.
fn frame_of_host(plan: &mut WebPlan, host: usize, rng: &mut Rng) {
    let site = &plan.sites[host];
    let home_name = match plan.hosts[host].lang {
        Lang::En => "Home",
        Lang::Zh => "首页",
    };
    let link = |to: PageNo, anchor: &str| PageLink {
        to: LinkTarget::Page(to),
        anchor: anchor.to_owned(),
        spelling: Spelling::FromRoot,
    };
    let mut navigation = vec![link(site.home, home_name)];
    navigation.extend(site.sections.iter().map(|section| link(section.lists[0], &section.name)));
    let mut footer = Vec::new();
    for _ in 0..2 {
        let other = rng.zipf(plan.hosts.len());
        if other != host {
            footer.push(link(plan.sites[other].home, &plan.hosts[other].title));
        }
    }
    plan.hosts[host].navigation = navigation;
    plan.hosts[host].footer = footer;
}

fn home_and_lists(plan: &mut WebPlan, host: usize, rng: &mut Rng) {
    const LATEST: usize = 8;
    let home = plan.sites[host].home;
    let mut latest = plan.sites[host].carriers.clone();
    latest.sort_by_key(|&page| std::cmp::Reverse(plan.pages[page as usize].published));
    for &page in latest.iter().take(LATEST) {
        plan.link(home, page, LinkPosition::List, rng);
    }
    for _ in 0..2 {
        let other = plan.sites[rng.zipf(plan.hosts.len())].home;
        if other != home {
            plan.link(home, other, LinkPosition::Related, rng);
        }
    }
    for section in 0..plan.sites[host].sections.len() {
        let lists = plan.sites[host].sections[section].lists.clone();
        let listed = plan.sites[host].sections[section].listed.clone();
        let per_list = listed.len().div_ceil(lists.len()).max(1);
        for (number, pages) in listed.chunks(per_list).enumerate() {
            for &page in pages {
                plan.link(lists[number], page, LinkPosition::List, rng);
            }
        }
        for number in 0..lists.len() {
            for neighbour in [number.wrapping_sub(1), number + 1, number + 10, 0] {
                if neighbour != number && neighbour < lists.len() {
                    plan.link(lists[number], lists[neighbour], LinkPosition::Pager, rng);
                }
            }
        }
    }
}

fn texts(plan: &mut WebPlan, host: usize, rng: &mut Rng) {
    for section in 0..plan.sites[host].sections.len() {
        let listed = plan.sites[host].sections[section].listed.clone();
        for &page in &listed {
            text_links(plan, host, page, rng);
            for _ in 0..rng.between(2, 5) {
                let neighbour = rng.pick(&listed);
                if neighbour != page {
                    plan.link(page, neighbour, LinkPosition::Related, rng);
                }
            }
        }
    }
    let site = &plan.sites[host];
    let unlisted: Vec<PageNo> =
        [&site.moved, &site.framed, &site.forbidden, &site.buried].into_iter().flatten().copied().collect();
    for page in unlisted {
        text_links(plan, host, page, rng);
    }
}

/// Adds a few links to popular pages of the same host, and fewer to other hosts.
pub(super) fn text_links(plan: &mut WebPlan, host: usize, page: PageNo, rng: &mut Rng) {
    for _ in 0..rng.between(1, 4) {
        let carriers = &plan.sites[host].carriers;
        if let Some(&to) = carriers.get(rng.zipf(carriers.len()))
            && to != page
        {
            plan.link(page, to, LinkPosition::Text, rng);
        }
    }
    for _ in 0..rng.below(3) {
        let other = &plan.sites[rng.zipf(plan.sites.len())];
        let popular = other.carriers.get(rng.zipf(other.carriers.len())).copied().unwrap_or(other.home);
        let to = if rng.chance(0.4) { other.home } else { popular };
        if to != page {
            plan.link(page, to, LinkPosition::Text, rng);
        }
    }
    if rng.chance(0.02)
        && let Body::Generated(links) = &mut plan.pages[page as usize].body
    {
        links.push(PlannedLink { to: page, place: LinkPosition::Outside, spelling: Spelling::Absolute });
    }
}

/// Sets the targets of redirects and the frames of framesets, and links every page that is in no list.
fn odd_parts(plan: &mut WebPlan, host: usize, rng: &mut Rng) {
    let site = &plan.sites[host];
    let (home, carriers, redirects) = (site.home, site.carriers.clone(), site.redirects.clone());
    let (moved, framesets, framed) = (site.moved.clone(), site.framesets.clone(), site.framed.clone());
    let (forbidden, buried, loose) = (site.forbidden.clone(), site.buried.clone(), site.loose.clone());
    let first_list = site.sections[0].lists[0];

    // There are never more moved pages than redirects.
    let mut moved = moved.into_iter();
    for (number, &redirect) in redirects.iter().enumerate() {
        let target = match moved.next() {
            Some(page) => page,
            // Every fourth leads to the redirect before it: a chain.
            None if number % 4 == 3 => redirects[number - 1],
            None => {
                let other = &plan.sites[rng.below(plan.sites.len())];
                if other.carriers.is_empty() { other.home } else { rng.pick(&other.carriers) }
            }
        };
        if let Body::Redirect { to, .. } = &mut plan.pages[redirect as usize].body {
            *to = target;
        }
    }
    for (number, &frameset) in framesets.iter().enumerate() {
        let shown = framed.get(number).copied().or(carriers.first().copied()).unwrap_or(home);
        plan.link(frameset, first_list, LinkPosition::Frame, rng);
        plan.link(frameset, shown, LinkPosition::Frame, rng);
    }
    for &page in framed.iter().skip(framesets.len()) {
        plan.link(framesets[0], page, LinkPosition::Frame, rng);
    }
    for page in buried {
        let keeper = rng.pick(&forbidden);
        plan.link(keeper, page, LinkPosition::Text, rng);
    }
    for page in loose {
        let carrier = if carriers.is_empty() { home } else { rng.pick(&carriers) };
        plan.link(carrier, page, LinkPosition::Text, rng);
    }
}
