//! Cache of rendered pages, bounded in bytes.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::HeaderValue;
use libdeflater::{CompressionLvl, Compressor};
use moka::sync::Cache;

use crate::model::PageNo;

/// A rendered page, independent of the encoding the client accepts.
pub(super) struct RenderedPage {
    /// Start of this version of the page.
    pub(super) since: u64,
    pub(super) body: Bytes,
    pub(super) content_type: HeaderValue,
    pub(super) etag: HeaderValue,
    pub(super) last_modified: HeaderValue,
    zipped: OnceLock<Bytes>,
}

impl RenderedPage {
    pub(super) fn new(
        since: u64,
        body: Vec<u8>,
        content_type: HeaderValue,
        etag: HeaderValue,
        last_modified: HeaderValue,
    ) -> RenderedPage {
        RenderedPage { since, body: body.into(), content_type, etag, last_modified, zipped: OnceLock::new() }
    }

    /// Returns the gzip body, compressed once, or the plain body if compression fails.
    pub(super) fn zipped(&self) -> (Bytes, bool) {
        let zipped = self.zipped.get_or_init(|| gzip(&self.body).unwrap_or_default());
        if zipped.is_empty() { (self.body.clone(), false) } else { (zipped.clone(), true) }
    }

    /// Returns the approximate size in memory, including the compressed copy.
    fn weight(&self) -> usize {
        self.body.len() * 3 / 2 + 300
    }
}

fn gzip(body: &[u8]) -> Option<Bytes> {
    // Level 0, which the crate calls the fastest, does not compress at all.
    let mut compressor = Compressor::new(CompressionLvl::new(1).unwrap_or_default());
    let mut out = vec![0; compressor.gzip_compress_bound(body.len())];
    let length = compressor.gzip_compress(body, &mut out).ok()?;
    out.truncate(length);
    out.shrink_to_fit();
    Some(out.into())
}

/// The newest rendering of each page.
pub(super) struct PageCache(Cache<PageNo, Arc<RenderedPage>>);

impl PageCache {
    pub(super) fn new(bytes: usize) -> PageCache {
        let weight = |_: &PageNo, page: &Arc<RenderedPage>| u32::try_from(page.weight()).unwrap_or(u32::MAX);
        PageCache(Cache::builder().max_capacity(bytes as u64).weigher(weight).build())
    }

    /// Returns the rendering of the version that began at `since`, from the cache or from `make`.
    pub(super) fn get(
        &self,
        page: PageNo,
        since: u64,
        make: impl FnOnce() -> RenderedPage,
    ) -> Arc<RenderedPage> {
        if let Some(found) = self.0.get(&page).filter(|found| found.since == since) {
            return found;
        }
        let made = Arc::new(make());
        self.0.insert(page, made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(since: u64, size: usize) -> RenderedPage {
        let header = HeaderValue::from_static("x");
        RenderedPage::new(since, vec![b'a'; size], header.clone(), header.clone(), header)
    }

    #[test]
    fn a_page_is_rendered_once_per_version_and_the_cache_is_bounded() {
        let cache = PageCache::new(160_000);
        assert_eq!(cache.get(1, 5, || rendered(5, 10)).since, 5);
        assert_eq!(cache.get(1, 5, || unreachable!("must be cached")).since, 5);
        assert_eq!(cache.get(1, 6, || rendered(6, 10)).since, 6);
        for page in 0..1000 {
            cache.get(page, 0, || rendered(0, 3000));
        }
        cache.0.run_pending_tasks();
        assert!(cache.0.weighted_size() <= 160_000, "{}", cache.0.weighted_size());
    }
}
