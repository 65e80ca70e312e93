//! Cache of rendered pages, bounded in bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::HeaderValue;
use libdeflater::{CompressionLvl, Compressor};
use parking_lot::Mutex;

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

const SHARDS: usize = 16;

/// The newest rendering of each page; the oldest entries are evicted first.
pub(super) struct PageCache {
    shards: [Mutex<Shard>; SHARDS],
    bytes_per_shard: usize,
}

#[derive(Default)]
struct Shard {
    pages: HashMap<PageNo, Arc<RenderedPage>>,
    order: VecDeque<PageNo>,
    bytes: usize,
}

impl PageCache {
    pub(super) fn new(bytes: usize) -> PageCache {
        PageCache { shards: Default::default(), bytes_per_shard: bytes / SHARDS }
    }

    /// Returns the rendering of the version that began at `since`, from the cache or from `make`.
    pub(super) fn get(
        &self,
        page: PageNo,
        since: u64,
        make: impl FnOnce() -> RenderedPage,
    ) -> Arc<RenderedPage> {
        let shard = &self.shards[page as usize % SHARDS];
        let lock = || shard.lock();
        if let Some(found) = lock().pages.get(&page)
            && found.since == since
        {
            return found.clone();
        }
        let made = Arc::new(make());
        let mut shard = lock();
        shard.bytes += made.weight();
        match shard.pages.insert(page, made.clone()) {
            Some(stale) => shard.bytes -= stale.weight(),
            None => shard.order.push_back(page),
        }
        while shard.bytes > self.bytes_per_shard
            && let Some(oldest) = shard.order.pop_front()
        {
            if let Some(gone) = shard.pages.remove(&oldest) {
                shard.bytes -= gone.weight();
            }
        }
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
        let cache = PageCache::new(SHARDS * 10_000);
        assert_eq!(cache.get(1, 5, || rendered(5, 10)).since, 5);
        assert_eq!(cache.get(1, 5, || unreachable!("must be cached")).since, 5);
        assert_eq!(cache.get(1, 6, || rendered(6, 10)).since, 6);
        for page in 0..1000 {
            cache.get(page, 0, || rendered(0, 3000));
        }
        for shard in &cache.shards {
            let shard = shard.lock();
            assert!(shard.bytes <= 10_000 && shard.pages.len() == shard.order.len());
        }
    }
}
