//! Peak memory of duplicate detection in a build: signatures and all other tables.

use std::fs;

use pharos_core::{LibraryPositions, PageUrl, Timestamp};
use pharos_graph::relations::{PageContent, RelationsOptions, RelationsBuilder};
use rayon::prelude::*;

use crate::Outcome;
use crate::pages::Pages;

/// Number of pages fingerprinted together.
const BATCH: usize = 512;
const PAGES_OF_A_SITE: usize = 500;

/// Builds relations without links and prints the peak memory per page.
pub fn print(pages: &Pages) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let few = relate(pages, 2 * BATCH, folder.path())?;
    let many = relate(pages, pages.count(), folder.path())?;
    let bytes = (many - few) / (pages.count() - 2 * BATCH) as f64;
    println!("\nA build of {} pages has a peak of {bytes:.0} bytes per page.", pages.count());
    Ok(())
}

/// Returns the peak memory while this number of pages is processed.
fn relate(pages: &Pages, count: usize, folder: &std::path::Path) -> Outcome<f64> {
    // "5" resets the peak memory to the current value (proc(5)).
    let _ = fs::write("/proc/self/clear_refs", "5");
    let mut builder = RelationsBuilder::begin(folder, RelationsOptions::default())?;
    for first in (0..count).step_by(BATCH) {
        let numbers = first..(first + BATCH).min(count);
        let words: Result<Vec<_>, _> = numbers.into_par_iter().map(|number| words(pages, number)).collect();
        builder.add_texts(words?)?;
    }
    builder.finish(LibraryPositions::START, 0)?;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak of memory")?;
    Ok(peak.trim().trim_end_matches(" kB").parse::<f64>()? * 1024.0)
}

fn words(pages: &Pages, number: usize) -> Result<PageContent, pharos_core::UrlError> {
    let address = format!("http://s{}.example/{number}", number / PAGES_OF_A_SITE);
    Ok(PageContent {
        url: PageUrl::parse(&address)?,
        first_seen: Timestamp::from_millis(number as i64),
        published: None,
        title: format!("page {number}"),
        body: pages.page(number).body,
        hash: 0,
        display_hash: 0,
        layout: 0,
        canonical: None,
    })
}
