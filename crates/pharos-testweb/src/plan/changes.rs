//! Schedules modifications, births and deaths of pages, each a Poisson process with a known rate.

use super::{WebPlan, links, sites, stream};
use crate::clock::START;
use crate::model::{Body, LinkPosition, PageKind, PageNo, PlannedLink, Spelling};
use crate::rng::Rng;

const DAY: f64 = 86_400.0;

/// Maximum number of changes of a page within the horizon.
const MOST_CHANGES: usize = 10_000;

/// Shares of pages and their multiples of the mean rate; together they keep the mean.
const RATES: &[(f64, f64)] = &[(0.3, 0.0), (0.4, 0.2), (0.2, 1.4), (0.1, 6.4)];

pub(super) fn schedule(plan: &mut WebPlan) {
    let end = START + plan.spec.horizon.as_secs();
    births(plan, end);
    modifications_and_deaths(plan, end);
    follow_lists(plan);
    follow_originals(plan);
}

fn births(plan: &mut WebPlan, end: u64) {
    let rate = plan.spec.birth_rate;
    if rate <= 0.0 {
        return;
    }
    let mut rng = Rng::from_parts(&[plan.spec.seed, stream::BIRTHS]);
    let mut moment = START as f64;
    loop {
        moment += rng.exponential(rate) * DAY;
        let published = moment as u64;
        if published >= end {
            return;
        }
        let host = rng.zipf(plan.hosts.len());
        let section = rng.below(plan.sites[host].sections.len());
        let page = sites::add_newcomer(plan, host, section, published.max(START + 1), &mut rng);
        links::text_links(plan, host, page, &mut rng);
        let list = plan.sites[host].sections[section].lists[0];
        if let Body::Generated(links) = &mut plan.pages[list as usize].body {
            links
                .insert(0, PlannedLink { to: page, place: LinkPosition::List, spelling: Spelling::FromRoot });
        }
    }
}

fn modifications_and_deaths(plan: &mut WebPlan, end: u64) {
    let listed: Vec<PageNo> = plan
        .sites
        .iter()
        .flat_map(|site| &site.sections)
        .flat_map(|section| &section.listed)
        .copied()
        .collect();
    let mut is_listed = vec![false; plan.pages.len()];
    for page in listed {
        is_listed[page as usize] = true;
    }
    let (seed, change_rate, death_rate) = (plan.spec.seed, plan.spec.change_rate, plan.spec.death_rate);
    for (number, page) in plan.pages.iter_mut().enumerate() {
        if !matches!(page.body, Body::Generated(_)) || page.kind == PageKind::Frameset {
            continue;
        }
        let mut rng = Rng::from_parts(&[seed, stream::CHANGES, number as u64]);
        page.change_rate = change_rate * multiple(rng.unit());
        let born = page.published.max(START);
        if death_rate > 0.0 && is_listed[number] {
            let death = (born as f64 + rng.exponential(death_rate) * DAY) as u64;
            page.deleted = (death < end).then_some(death.max(born + 1));
        }
        let until = page.deleted.unwrap_or(end);
        page.changes = moments(page.change_rate, born, until, &mut rng);
    }
}

fn multiple(mut draw: f64) -> f64 {
    for &(share, multiple) in RATES {
        if draw < share {
            return multiple;
        }
        draw -= share;
    }
    RATES[RATES.len() - 1].1
}

fn moments(rate: f64, from: u64, until: u64, rng: &mut Rng) -> Vec<u64> {
    let mut moments = Vec::new();
    let mut moment = from as f64;
    while rate > 0.0 && moments.len() < MOST_CHANGES {
        moment += rng.exponential(rate) * DAY;
        let second = moment as u64;
        if second >= until {
            break;
        }
        // The clock counts whole seconds: events within one second are one change.
        if second > from && moments.last() != Some(&second) {
            moments.push(second);
        }
    }
    moments
}

/// A list changes whenever one of its entries appears or disappears.
fn follow_lists(plan: &mut WebPlan) {
    for number in 0..plan.pages.len() {
        let Body::Generated(links) = &plan.pages[number].body else { continue };
        let listed =
            links.iter().filter(|link| link.place == LinkPosition::List).map(|link| link.to as usize);
        let events: Vec<u64> = listed
            .flat_map(|page| [Some(plan.pages[page].published), plan.pages[page].deleted])
            .flatten()
            .filter(|&moment| moment > START)
            .collect();
        let changes = &mut plan.pages[number].changes;
        changes.extend(events);
        changes.sort_unstable();
        changes.dedup();
    }
}

fn follow_originals(plan: &mut WebPlan) {
    for number in 0..plan.pages.len() {
        if let Some(original) = plan.pages[number].duplicate_of {
            let source = &plan.pages[original as usize];
            let (changes, rate) = (source.changes.clone(), source.change_rate);
            plan.pages[number].changes = changes;
            plan.pages[number].change_rate = rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_multiples_keep_the_mean() {
        let share: f64 = RATES.iter().map(|(share, _)| share).sum();
        let mean: f64 = RATES.iter().map(|(share, multiple)| share * multiple).sum();
        assert!((share - 1.0).abs() < 1e-9 && (mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn moments_come_at_their_rate() {
        let mut rng = Rng::from_parts(&[9]);
        let days = 2000;
        let count = moments(3.0, START, START + days * 86_400, &mut rng).len() as f64;
        assert!((count / days as f64 - 3.0).abs() < 0.15, "{count}");
    }
}
