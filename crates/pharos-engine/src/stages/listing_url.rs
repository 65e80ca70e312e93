//! Listings by their URLs: pages of tags, categories and archives, and further pages of a list (列表页).

use pharos_core::PageUrl;

/// Path segments that are followed by the name of a list.
const LISTS: [&str; 8] = ["tag", "tags", "label", "labels", "category", "categories", "author", "authors"];

/// Path segments of archives, which a year, month and day may follow.
const ARCHIVES: [&str; 4] = ["archive", "archives", "posts", "blog"];

/// Query parameters that carry the number of a page of a list.
const PAGE_NUMBERS: [&str; 2] = ["page", "paged"];

/// Returns `true` if the URL has the form of a listing in common publishing systems (WordPress, Hexo, Hugo, Jekyll).
///
/// Only the whole path counts: `/tag/sea/` and `/2020/05/` are listings, `/category/sea/storm.html` and
/// `/2020/05/storm/` are articles.
pub(crate) fn is_listing_url(url: &PageUrl) -> bool {
    let url = url.as_url();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if url.query_pairs().any(|(name, value)| PAGE_NUMBERS.contains(&&*name) && is_number(&value)) {
        return true;
    }
    let path = url.path().to_lowercase();
    let mut steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    if let Some(last @ ("index.html" | "index.php")) = steps.last().copied() {
        steps.retain(|step| *step != last);
    }
    if let [.., before, number] = steps.as_slice()
        && *before == "page"
        && is_number(number)
    {
        return true;
    }
    if steps.last().is_some_and(|last| last.strip_prefix("page-").is_some_and(is_number)) {
        return true;
    }
    let is_date = |steps: &[&str]| match steps {
        [year, rest @ ..] => {
            let is_part = |part: &&str| is_number(part) && part.len() <= 2;
            let is_year = is_number(year) && year.len() == 4 && ["19", "20"].contains(&&year[..2]);
            is_year && rest.len() <= 2 && rest.iter().all(is_part)
        }
        [] => true,
    };
    match steps.as_slice() {
        [] => false,
        [list] if LISTS.contains(list) || ARCHIVES[..2].contains(list) => true,
        [.., list, name] if LISTS.contains(list) && !name.contains('.') => true,
        [archive, date @ ..] if ARCHIVES.contains(archive) && !date.is_empty() => is_date(date),
        date => is_date(date),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_recognised_and_articles_are_not() {
        let is_listing =
            |path: &str| is_listing_url(&PageUrl::parse(&format!("http://a.example{path}")).unwrap());
        for listing in [
            "/tag/sea/",
            "/tags/",
            "/blog/tags/%E7%81%AF%E5%A1%94",
            "/category/sea",
            "/archives/",
            "/archives/2020/05/",
            "/2020/",
            "/2020/05/01/",
            "/page/2/",
            "/blog/page/3/",
            "/news/page-4",
            "/?paged=2",
            "/list?page=7",
            "/category/sea/page/2/index.html",
            "/blog/2021/12/",
        ] {
            assert!(is_listing(listing), "{listing}");
        }
        for article in [
            "/",
            "/index.html",
            "/category/sea/storm.html",
            "/2020/05/storm/",
            "/2020/05/01/storm.html",
            "/archives/4711",
            "/archive/storm",
            "/blog/",
            "/library/tag.html",
            "/page/about",
            "/12345/",
            "/2020/123456",
            "/?p=12",
            "/storm?page=sea",
        ] {
            assert!(!is_listing(article), "{article}");
        }
    }
}
