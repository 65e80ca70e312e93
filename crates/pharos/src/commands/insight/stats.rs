//! `pharos stats`.

use pharos_engine::status::collection::StoredPages;
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
    if c.mirrored > 0 {
        console::out!("            {:>10} fetched from another address", c.mirrored);
    }
    console::out!("            {:>10} failed", c.failed);
    console::out!("            {:>10} refused", c.refused);
    console::out!("searchable  {:>10} pages", stats.searchable);
    console::out!("            {}", explain_stored(&stats.collection));
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

/// Describes stored pages as a sum, such as `12 stored = 10 searchable + 2 not found`.
fn explain_stored(pages: &StoredPages) -> String {
    let mut line = format!(
        "{} stored = {} searchable",
        console::grouped(pages.stored),
        console::grouped(pages.searchable)
    );
    for (reason, count) in &pages.others {
        line.push_str(&format!(" + {} {}", console::grouped(*count), reason.description()));
    }
    line
}

#[cfg(test)]
mod tests {
    use pharos_engine::status::collection::UnsearchableReason;

    use super::*;

    #[test]
    fn stored_pages_are_an_explained_sum() {
        let pages = StoredPages {
            stored: 6_435,
            searchable: 4_104,
            others: vec![(UnsearchableReason::NotFound, 2_331)],
        };
        assert_eq!(explain_stored(&pages), "6,435 stored = 4,104 searchable + 2,331 not found");
    }
}
