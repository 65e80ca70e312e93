//! A generated web, deterministic for a seed.
//!
//! Sizes of sites and out-degrees follow power laws. Three links in four stay within the site. A link to another site
//! copies the target of an earlier link (preferential attachment; Barabási & Albert 1999, in the form of copying, Kumar
//! et al. 2000) or, one time in ten, goes to a random page. This gives in-degrees the exponent 2.1 found on the web
//! (Broder et al. 2000).

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

/// Percentage of pages without links: never fetched, or without links to follow.
const PERCENT_DANGLING: u64 = 20;
/// Number of earlier targets kept, a uniform sample of all.
const REMEMBERED: usize = 1 << 22;
/// Maximum number of links per page.
const MOST_LINKS: f64 = 2_000.0;
/// Exponents of the tails, P(X > x) = x^−e: 1.2 for sites, 1.7 for out-degrees (Broder et al. 2000).
const SITE_TAIL: f64 = 1.2;
const SMALLEST_SITE: f64 = 20.0;
const LINK_TAIL: f64 = 1.7;

/// A web without its links, which are generated on demand.
pub struct Web {
    pub pages: u32,
    links_per_page: f64,
    seed: u64,
    /// First page of each site, and the number of pages.
    site_starts: Vec<u32>,
    pub site_of_page: Vec<u32>,
    /// Every fourth site is a subdomain of the previous one.
    pub domain_of_site: Vec<u32>,
}

impl Web {
    pub fn new(pages: u32, links: u64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let largest = f64::from(pages / 50).max(1.0);
        let (mut site_starts, mut site_of_page) = (vec![0], Vec::with_capacity(pages as usize));
        while site_of_page.len() < pages as usize {
            let size = power_law(&mut random, SMALLEST_SITE, SITE_TAIL).min(largest) as usize;
            let end = (site_of_page.len() + size).min(pages as usize);
            site_of_page.resize(end, site_starts.len() as u32 - 1);
            site_starts.push(end as u32);
        }
        let sites = site_starts.len() as u32 - 1;
        let domain_of_site = (0..sites).map(|site| if site % 4 == 3 { site - 1 } else { site }).collect();
        let linking = f64::from(pages) * (100 - PERCENT_DANGLING) as f64 / 100.0;
        let links_per_page = links as f64 / linking.max(1.0);
        Self { pages, links_per_page, seed, site_starts, site_of_page, domain_of_site }
    }

    pub fn sites(&self) -> usize {
        self.domain_of_site.len()
    }

    /// Returns the home page of a site.
    pub fn home(&self, site: u32) -> u32 {
        self.site_starts[site as usize]
    }

    /// Calls `each` with every link, page by page in crawl order, which differs from page order.
    pub fn links<E>(&self, mut each: impl FnMut(u32, u32) -> Result<(), E>) -> Result<(), E> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 0x5eed);
        let pages = u64::from(self.pages);
        let mut earlier = Sample::new(self.pages, &mut random);
        let stride = (pages * 5 / 8..).find(|stride| coprime(*stride, pages)).unwrap_or(1);
        // The mean of the power law with tail e and minimum b is b · e / (e − 1); the cap reduces it a little.
        let fewest = self.links_per_page * (LINK_TAIL - 1.0) / LINK_TAIL * 1.05;
        let mut targets = Vec::new();
        for step in 0..pages {
            let page = (step * stride % pages) as u32;
            if random.random_range(0..100) < PERCENT_DANGLING {
                continue;
            }
            let wanted = power_law(&mut random, fewest, LINK_TAIL).min(MOST_LINKS).round() as usize;
            self.targets(page, wanted, &mut random, &mut earlier, &mut targets);
            for &target in &targets {
                each(page, target)?;
            }
        }
        Ok(())
    }

    /// Returns distinct targets for the links of a page; slightly fewer than requested if the same ones are drawn
    /// repeatedly.
    fn targets(
        &self,
        page: u32,
        wanted: usize,
        random: &mut Xoshiro256PlusPlus,
        earlier: &mut Sample,
        targets: &mut Vec<u32>,
    ) {
        let site = self.site_of_page[page as usize] as usize;
        let (start, end) = (self.site_starts[site], self.site_starts[site + 1]);
        let size = f64::from(end - start);
        targets.clear();
        for _ in 0..4 {
            for _ in targets.len()..wanted {
                // A site of a few pages cannot hold many links.
                let stays = random.random_range(0..4) < 3 && targets.len() < 2 * (end - start) as usize;
                let target = if stays {
                    // The home page most often, then pages near it.
                    start + (size.powf(random.random::<f64>()) as u32 - 1)
                } else {
                    let target = earlier.draw(random, self.pages);
                    earlier.remember(target, random);
                    target
                };
                targets.push(target);
            }
            targets.sort_unstable();
            targets.dedup();
            targets.retain(|target| *target != page);
        }
    }
}

/// A uniform sample of earlier targets (reservoir sampling; Vitter 1985).
struct Sample {
    targets: Vec<u32>,
    seen: u64,
}

impl Sample {
    /// Starts with one page in fifty; otherwise the very first links would decide the most popular pages.
    fn new(pages: u32, random: &mut Xoshiro256PlusPlus) -> Self {
        let mut targets = Vec::with_capacity(REMEMBERED);
        targets.extend((0..pages / 50).take(REMEMBERED).map(|_| random.random_range(0..pages)));
        Self { seen: targets.len() as u64, targets }
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus, pages: u32) -> u32 {
        if self.targets.is_empty() || random.random_range(0..10) == 0 {
            random.random_range(0..pages)
        } else {
            self.targets[random.random_range(0..self.targets.len())]
        }
    }

    fn remember(&mut self, target: u32, random: &mut Xoshiro256PlusPlus) {
        self.seen += 1;
        if self.targets.len() < REMEMBERED {
            self.targets.push(target);
        } else if let Some(place) = self.targets.get_mut(random.random_range(0..self.seen) as usize) {
            *place = target;
        }
    }
}

/// Returns a number with the distribution P(X > x) = (x / least)^−tail.
fn power_law(random: &mut Xoshiro256PlusPlus, least: f64, tail: f64) -> f64 {
    least * (1.0 - random.random::<f64>()).powf(-1.0 / tail)
}

fn coprime(mut one: u64, mut other: u64) -> bool {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}
