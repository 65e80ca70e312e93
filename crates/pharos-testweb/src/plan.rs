//! Plans a web from its parameters: hosts, then the pages of each, then links, then changes, then copies.

mod changes;
mod copies;
mod hosts;
mod links;
mod mirrors;
mod sites;

use std::collections::HashSet;

pub(crate) use hosts::address_of;

use crate::model::{Body, LinkPosition, PageNo, PlannedLink, PlannedPage, Spelling, Web};
use crate::rng::Rng;
use crate::spec::WebSpec;

/// Purposes of random streams, so that no two use the same numbers.
mod stream {
    pub(super) const HOST: u64 = 1;
    pub(super) const SITE: u64 = 2;
    pub(super) const LINKS: u64 = 3;
    pub(super) const CHANGES: u64 = 4;
    pub(super) const BIRTHS: u64 = 5;
    pub(super) const COPIES: u64 = 6;
}

/// A web during planning.
struct WebPlan<'a> {
    spec: &'a WebSpec,
    hosts: Vec<crate::model::Host>,
    pages: Vec<PlannedPage>,
    sites: Vec<SitePlan>,
    titles: HashSet<String>,
}

/// The pages of one host by role.
#[derive(Default)]
struct SitePlan {
    sections: Vec<SiteSection>,
    home: PageNo,
    /// Listed text pages: they contain links and are linked to.
    carriers: Vec<PageNo>,
    /// Must be linked from the text of a carrier, because no list contains them.
    loose: Vec<PageNo>,
    redirects: Vec<PageNo>,
    /// Only a redirect leads here.
    moved: Vec<PageNo>,
    framesets: Vec<PageNo>,
    /// Only a frameset shows these.
    framed: Vec<PageNo>,
    forbidden: Vec<PageNo>,
    /// Only forbidden pages link here.
    buried: Vec<PageNo>,
}

/// A section of a site: its lists, and the pages in them.
struct SiteSection {
    name: String,
    slug: String,
    lists: Vec<PageNo>,
    listed: Vec<PageNo>,
}

pub(crate) fn generate(spec: &WebSpec) -> Web {
    let mut spec = spec.clone();
    spec.hosts = spec.hosts.max(1);
    spec.pages = spec.pages.max(3 * spec.hosts);
    let mut plan = WebPlan {
        spec: &spec,
        hosts: hosts::make(&spec),
        pages: Vec::new(),
        sites: Vec::new(),
        titles: HashSet::new(),
    };
    for (host, size) in site_sizes(&spec).into_iter().enumerate() {
        sites::lay_out(&mut plan, host, size);
    }
    links::draw(&mut plan);
    changes::schedule(&mut plan);
    copies::plant(&mut plan);
    let WebPlan { hosts, pages, .. } = plan;
    Web::assemble(spec, hosts, pages)
}

/// Returns the site sizes: few large and many small ones; the i-th has a share of 1/√i.
fn site_sizes(spec: &WebSpec) -> Vec<usize> {
    const SMALLEST: usize = 3;
    let weights: Vec<f64> = (1..=spec.hosts).map(|place| 1.0 / (place as f64).sqrt()).collect();
    let total: f64 = weights.iter().sum();
    let to_share = spec.pages - SMALLEST * spec.hosts;
    let mut sizes: Vec<usize> =
        weights.iter().map(|weight| SMALLEST + (to_share as f64 * weight / total) as usize).collect();
    sizes[0] += spec.pages - sizes.iter().sum::<usize>();
    sizes
}

impl WebPlan<'_> {
    fn add(&mut self, page: PlannedPage) -> PageNo {
        self.pages.push(page);
        (self.pages.len() - 1) as PageNo
    }

    /// Draws titles until one is new.
    fn new_title(&mut self, mut draw: impl FnMut() -> String) -> String {
        loop {
            let title = draw();
            if self.titles.insert(title.clone()) {
                return title;
            }
        }
    }

    fn link(&mut self, from: PageNo, to: PageNo, place: LinkPosition, rng: &mut Rng) {
        let spelling = match rng.below(100) {
            0..60 => Spelling::FromRoot,
            60..70 => Spelling::Absolute,
            70..80 => Spelling::Relative,
            80..86 => Spelling::Fragment,
            86..90 => Spelling::Capitals,
            90..93 => Spelling::SchemeRelative,
            93..97 => Spelling::Unescaped,
            _ => Spelling::Padded,
        };
        if let Body::Generated(links) = &mut self.pages[from as usize].body
            && !links.iter().any(|link| link.to == to && link.place == place)
        {
            links.push(PlannedLink { to, place, spelling });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::START;
    use crate::render::render;

    /// Returns a hash of all bytes of a web at its start and ten days later (FNV-1a).
    fn digest(web: &Web) -> u64 {
        let moments = [START, START + 10 * 24 * 3600];
        let pages = (0..web.pages.len() as PageNo).flat_map(|page| moments.map(|moment| (page, moment)));
        pages
            .flat_map(|(page, moment)| render(web, page, moment, 80))
            .fold(0xCBF2_9CE4_8422_2325, |state, byte| {
                (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            })
    }

    #[test]
    fn webs_without_planted_copies_keep_their_very_bytes() {
        let spec = WebSpec {
            seed: 7,
            hosts: 8,
            pages: 300,
            change_rate: 0.5,
            birth_rate: 4.0,
            death_rate: 0.02,
            horizon: Duration::from_secs(20 * 24 * 3600),
            ..WebSpec::default()
        };
        assert_eq!(
            [digest(&generate(&spec)), digest(&Web::demo())],
            [17_304_612_677_764_009_752, 5_938_075_832_299_453_465]
        );
    }
}
