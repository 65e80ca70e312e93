//! `pharos add` and `pharos remove`: orders that a running engine carries out too.

use anyhow::{Context as _, bail};
use pharos_core::{PageUrl, SiteName};
use pharos_engine::{Order, carry_out};
use pharos_store::Removal;

use crate::cli::{AddArgs, Global, RemoveArgs};
use crate::{Outcome, console, settings};

pub(crate) fn add(global: &Global, args: AddArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let urls = super::crawl::parse_seeds(&args.urls)?;
    let count = urls.len();
    carry_out(&settings::data_dir(global), &config, "add", &Order::Add(urls))?;
    console::say(global.quiet, &format!("{count} added: the next crawl, or the one that runs, fetches them"));
    Ok(Outcome::Good)
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
