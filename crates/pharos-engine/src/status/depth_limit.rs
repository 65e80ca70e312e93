//! Finds the page at the depth limit of a crawl whose link to another page is not followed.

use pharos_core::{PageId, PageUrl};
use pharos_store::catalog::PageDetails;
use pharos_store::interpret::status::is_success;
use pharos_store::{Catalog, Library, PageState};

use crate::{EngineError, Stores};

/// Maximum number of pages whose links are read.
const MAX_PAGES_READ: usize = 2_000;
/// Number of catalog entries read at once.
const CHUNK: usize = 1_000;

/// Returns a stored page of the same site with the maximum depth that links to an unknown page, if one is found among
/// the first pages of the site.
pub fn find_referrer_at_limit(
    stores: &Stores,
    url: &PageUrl,
    max_depth: u32,
    body_limit: usize,
) -> Result<Option<PageUrl>, EngineError> {
    let Some(catalog) = stores.catalog()? else { return Ok(None) };
    let library = stores.library()?;
    let mut after: Option<PageId> = None;
    let mut left = MAX_PAGES_READ;
    loop {
        let pages = read_chunk(&*catalog, url, after)?;
        let Some(last) = pages.last() else { return Ok(None) };
        after = Some(last.url.id());
        for page in pages.iter().filter(|page| may_refer(page, max_depth)) {
            if left == 0 {
                return Ok(None);
            }
            left -= 1;
            if links_to(&*library, page, url, body_limit) {
                return Ok(Some(page.url.clone()));
            }
        }
    }
}

fn read_chunk(
    catalog: &dyn Catalog,
    url: &PageUrl,
    after: Option<PageId>,
) -> Result<Vec<PageDetails>, EngineError> {
    Ok(catalog.pages(Some(url.site().id()), after, CHUNK)?)
}

fn may_refer(page: &PageDetails, max_depth: u32) -> bool {
    page.depth == max_depth && page.state == PageState::Stored && page.status.is_some_and(is_success)
}

/// Returns `true` if the current response of a page links to `url`. An unreadable response links to nothing.
fn links_to(library: &dyn Library, page: &PageDetails, url: &PageUrl, body_limit: usize) -> bool {
    let Some(Ok(response)) = page.position.map(|position| library.response(position)) else { return false };
    let body = response.content(body_limit);
    let budget = pharos_html::work_budget(body.len());
    let extracted = budget.run(|| pharos_html::skim(&page.url, response.header("Content-Type"), &body));
    extracted.is_ok_and(|page| page.followed_links().any(|link| link.url == *url))
}
