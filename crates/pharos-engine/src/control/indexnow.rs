//! Verification of IndexNow notices (indexnow.org): a webmaster proves with a key file on the site that a notice about its
//! pages is genuine.

use std::time::Duration;

use pharos_core::PageUrl;
use pharos_core::config::CrawlConfig;
use pharos_crawl::{FetchRequest, Fetcher};
use tracing::debug;

/// Maximum size of a key file in bytes.
const MAX_KEY_FILE: usize = 1 << 10;
/// Time after which the verification of a key file fails.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns `true` if a key is well-formed: 8 to 128 letters, digits and hyphens.
pub fn is_key(key: &str) -> bool {
    (8..=128).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Returns the URL of the key file of a site: the given location, or the key as a file at the root. `None` if the location is
/// on another site.
pub fn key_file(site: &PageUrl, key: &str, location: Option<&str>) -> Option<PageUrl> {
    let file = match location {
        None => site.join(&format!("/{key}.txt")).ok()?,
        Some(location) => PageUrl::parse(location).ok()?,
    };
    (file.site() == site.site()).then_some(file)
}

/// Returns `true` if a key file covers a page: it is on the same site, in the directory of the page or above.
pub fn covers(file: &PageUrl, page: &PageUrl) -> bool {
    let path = file.path_and_query();
    let path = path.split('?').next().unwrap_or_default();
    let directory = path.rfind('/').map_or("/", |slash| &path[..=slash]);
    file.site() == page.site() && page.path_and_query().starts_with(directory)
}

/// Fetches a key file and compares its content with the key. Any failure counts as a wrong key.
pub async fn verify_key(crawl: &CrawlConfig, file: &PageUrl, key: &str) -> bool {
    let Ok(fetcher) = Fetcher::new(crawl) else { return false };
    let request = FetchRequest { body_limit: Some(MAX_KEY_FILE), ..FetchRequest::new(file) };
    match tokio::time::timeout(TIMEOUT, fetcher.fetch(request)).await {
        Ok(Ok(response)) => {
            let body = String::from_utf8_lossy(&response.body);
            response.status == 200 && body.trim_start_matches('\u{feff}').trim() == key
        }
        Ok(Err(error)) => {
            debug!(%file, %error, "cannot fetch the key file of a notice");
            false
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(url: &str) -> PageUrl {
        PageUrl::parse(url).unwrap()
    }

    #[test]
    fn keys_and_their_files_follow_the_protocol() {
        for key in ["abcdefgh", "0f3-A9zz", &"k".repeat(128)] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "short", "with space", "../../../x", "naïve-key", &"k".repeat(129)] {
            assert!(!is_key(key), "{key}");
        }
        let page = url("https://a.example/x/y");
        assert_eq!(key_file(&page, "abcdefgh", None), Some(url("https://a.example/abcdefgh.txt")));
        let given = |location| key_file(&page, "abcdefgh", Some(location));
        assert_eq!(given("https://a.example/x/key.txt"), Some(url("https://a.example/x/key.txt")));
        assert_eq!((given("https://b.example/key.txt"), given("key.txt")), (None, None));
    }

    #[test]
    fn a_key_file_covers_its_directory() {
        let covered = |file, page| covers(&url(file), &url(page));
        assert!(covered("https://a.example/k.txt", "https://a.example/x/y?z"));
        assert!(covered("https://a.example/x/k.txt?a=/b", "https://a.example/x/y"));
        assert!(!covered("https://a.example/x/k.txt", "https://a.example/y"));
        assert!(!covered("https://a.example/k.txt", "https://b.example/"));
    }
}
