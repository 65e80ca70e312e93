//! `pharos stats`.

use pharos_engine::stats;

use crate::cli::Global;
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let stats = stats(&data)?;
    if global.json {
        console::print_json(&stats)?;
        return Ok(Outcome::Good);
    }
    let c = &stats.catalog;
    println!("pages       {:>10} known on {} sites", c.pages, c.sites);
    println!("            {:>10} stored", c.stored);
    println!("            {:>10} waiting", c.waiting);
    println!("            {:>10} failed", c.failed);
    println!("            {:>10} refused", c.refused);
    println!("searchable  {:>10} pages", stats.searchable);
    println!("library     {:>10}", console::bytes(stats.library_bytes));
    println!("catalog     {:>10}", console::bytes(stats.catalog_bytes));
    println!("index       {:>10}", console::bytes(stats.index_bytes));
    if !stats.sites.is_empty() {
        println!("\nlargest sites");
        for site in &stats.sites {
            println!("  {:<40} {:>8} known {:>8} stored", site.site.as_str(), site.pages, site.stored);
        }
    }
    Ok(Outcome::Good)
}
