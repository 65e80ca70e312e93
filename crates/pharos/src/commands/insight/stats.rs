//! `pharos stats`.

use pharos_engine::status::data_dir::data_dir_status;

use crate::cli::Global;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<CommandOutcome> {
    let stats = data_dir_status(&settings::stores(global)?)?;
    if global.json {
        console::print_json(&stats)?;
        return Ok(CommandOutcome::Good);
    }
    let c = &stats.catalog;
    console::out!("servers     {:>10} found", c.sites);
    console::out!("            {:>10} visited", c.sites_visited);
    console::out!("            {:>10} refused", c.sites_refused);
    console::out!("pages       {:>10} known", c.pages);
    console::out!("            {:>10} stored", c.stored);
    console::out!("            {:>10} waiting", c.waiting);
    console::out!("            {:>10} failed", c.failed);
    console::out!("            {:>10} refused", c.refused);
    console::out!("searchable  {:>10} pages", stats.searchable);
    console::out!("library     {:>10}", console::bytes(stats.library_bytes));
    console::out!("catalog     {:>10}", console::bytes(stats.catalog_bytes));
    console::out!("index       {:>10}", console::bytes(stats.index_bytes));
    if !stats.filtered.is_empty() {
        console::out!("\nlinks refused by");
        for (rule, links) in &stats.filtered {
            console::out!("  {:<40} {links:>8}", console::printable(rule));
        }
    }
    if !stats.sites.is_empty() {
        console::out!("\nlargest sites");
        for site in &stats.sites {
            console::out!("  {:<40} {:>8} known {:>8} stored", site.site.as_str(), site.pages, site.stored);
        }
    }
    Ok(CommandOutcome::Good)
}
