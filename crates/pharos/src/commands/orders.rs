//! `pharos add` and `pharos remove`: orders that a running engine carries out too.

use anyhow::{Context as _, bail};
use pharos_core::{PageUrl, SiteName};
use pharos_engine::{Order, carry_out};
use pharos_store::{Catalog as _, Removal, SqliteCatalog};

use crate::cli::{AddArgs, Global, RemoveArgs};
use crate::{Outcome, console, settings};

pub(crate) fn add(global: &Global, args: AddArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    if args.proposals {
        return proposals(global);
    }
    let mut urls = super::crawl::parse_seeds(&args.urls)?;
    if let Some(file) = &args.file {
        urls.extend(super::crawl::seeds_of_file(file)?);
    }
    let count = urls.len();
    let (order, what) = match (args.propose, args.accept, args.refuse) {
        (true, ..) => (Order::Propose(urls), "proposed: `pharos add --accept URL` fetches them"),
        (_, true, _) => (Order::Accept(urls), "accepted: the next crawl, or the one that runs, fetches them"),
        (.., true) => (Order::Refuse(urls), "refused"),
        _ => (Order::Add(urls), "added: the next crawl, or the one that runs, fetches them"),
    };
    carry_out(&data, &config, "add", &order)?;
    console::say(global.quiet, &format!("{count} {what}"));
    Ok(Outcome::Good)
}

fn proposals(global: &Global) -> anyhow::Result<Outcome> {
    let catalog = SqliteCatalog::open_reader(&settings::data_dir(global).catalog())?;
    let list = catalog.map_or(Ok(Vec::new()), |catalog| catalog.submissions())?;
    if global.json {
        console::print_json(&list)?;
    } else {
        for proposal in &list {
            let said = match proposal.accepted {
                None => "waits",
                Some(true) => "accepted",
                Some(false) => "refused",
            };
            console::out!("{said:<9} {}  {}", proposal.at.date(), proposal.url);
        }
    }
    Ok(if list.is_empty() { Outcome::NothingFound } else { Outcome::Good })
}

pub(crate) fn remove(global: &Global, args: RemoveArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let removals = args.what.iter().map(|what| removal(what)).collect::<anyhow::Result<Vec<_>>>()?;
    for removal in &removals {
        let what = match removal {
            Removal::Page(url) => url.as_str(),
            Removal::Site(site) => site.as_str(),
        };
        console::say(global.quiet, &format!("removing {what} for good"));
    }
    carry_out(&data, &config, "remove", &Order::Remove(removals))?;
    console::say(global.quiet, "done; `pharos compact` frees the space in the library");
    Ok(Outcome::Good)
}

/// An address with a scheme is a page, a bare host is a site.
fn removal(what: &str) -> anyhow::Result<Removal> {
    if what.contains("://") {
        return Ok(Removal::Page(PageUrl::parse(what).context("this is no address of a page")?));
    }
    if what.contains('/') {
        bail!("`{what}` is neither an address (http://…) nor a site (www.example.org)");
    }
    let url = PageUrl::parse(&format!("http://{what}/")).context("this is no site")?;
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
