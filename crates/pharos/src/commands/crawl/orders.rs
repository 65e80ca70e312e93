//! `pharos add` and `pharos remove`: orders, executed by the running engine if there is one.

use anyhow::{Context as _, bail};
use pharos_core::{PageUrl, SiteName};
use pharos_engine::{Order, Stores, execute_order};
use pharos_store::catalog::Removal;

use crate::cli::{AddArgs, Global, RemoveArgs};
use crate::{CommandOutcome, console, settings};

pub(crate) fn add(global: &Global, args: AddArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    if args.proposals {
        return proposals(global);
    }
    let mut urls = super::run::parse_seeds(&args.urls)?;
    if let Some(file) = &args.file {
        urls.extend(super::run::seeds_of_file(file)?);
    }
    let count = urls.len();
    let (order, what) = match (args.propose, args.accept, args.refuse) {
        (true, ..) => (Order::Propose(urls), "pages submitted: approve them with `pharos add --accept URL`"),
        (_, true, _) => (Order::Accept(urls), "pages approved: the running or next crawl fetches them"),
        (.., true) => (Order::Refuse(urls), "pages rejected"),
        _ => (Order::Add(urls), "pages added: the running or next crawl fetches them"),
    };
    execute_order(&data, &config, "add", &order)?;
    console::print_message(global.quiet, &format!("{count} {what}"));
    Ok(CommandOutcome::Good)
}

fn proposals(global: &Global) -> anyhow::Result<CommandOutcome> {
    let stores = Stores::open(&settings::data_dir(global), &settings::load(global)?)?;
    let list = stores.catalog()?.map_or(Ok(Vec::new()), |catalog| catalog.submissions())?;
    if global.json {
        console::print_json(&list)?;
    } else {
        for proposal in &list {
            let state = match proposal.accepted {
                None => "pending",
                Some(true) => "approved",
                Some(false) => "rejected",
            };
            console::out!("{state:<9} {}  {}", proposal.at.date(), proposal.url);
        }
    }
    Ok(if list.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

pub(crate) fn remove(global: &Global, args: RemoveArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let removals = args.what.iter().map(|what| removal(what)).collect::<anyhow::Result<Vec<_>>>()?;
    for removal in &removals {
        let what = match removal {
            Removal::Page(url) => url.as_str(),
            Removal::Site(site) => site.as_str(),
        };
        console::print_message(global.quiet, &format!("removing {what} permanently"));
    }
    execute_order(&data, &config, "remove", &Order::Remove(removals))?;
    console::print_message(global.quiet, "done; run `pharos compact` to reclaim space in the library");
    Ok(CommandOutcome::Good)
}

/// Parses a URL as a page and a bare host as a site.
fn removal(what: &str) -> anyhow::Result<Removal> {
    if what.contains("://") {
        return Ok(Removal::Page(PageUrl::parse(what).context("invalid URL")?));
    }
    if what.contains('/') {
        bail!("`{what}` is neither a URL (http://…) nor a site (www.example.org)");
    }
    let url = PageUrl::parse(&format!("http://{what}/")).context("invalid site")?;
    let site: SiteName = url.site();
    Ok(Removal::Site(site))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_a_scheme_and_sites_have_none() {
        assert!(matches!(removal("http://example.org/a").unwrap(), Removal::Page(_)));
        assert!(matches!(removal("Example.org").unwrap(), Removal::Site(s) if s.as_str() == "example.org"));
        assert!(
            matches!(removal("localhost:8080").unwrap(), Removal::Site(s) if s.as_str() == "localhost:8080")
        );
        for bad in ["example.org/a", "", "http://", "ftp://example.org/"] {
            assert!(removal(bad).is_err(), "{bad}");
        }
    }
}
