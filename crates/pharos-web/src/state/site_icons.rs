//! Icons of sites, as the crawler stored them in the library (`crawl.icons`).
//!
//! Icons are foreign files: only small pictures of known formats are returned, with a media type derived from their first
//! bytes. SVG is not among them, because it may contain scripts.

use std::time::Duration;

use axum::body::Bytes;
use moka::sync::Cache;
use pharos_core::PageId;
use pharos_store::interpret::status::is_success;
use pharos_store::{PageState, RecordKind};

use super::cached_copy::read_response;
use super::{AppState, Service, ServiceError};

/// Maximum size of an icon.
const MAX_BYTES: usize = 64 << 10;
/// Memory for icons.
const CACHE_BYTES: u64 = 4 << 20;
/// Memory of a cache entry besides its icon.
const ENTRY_BYTES: usize = 256;
/// Time for which an icon, or the fact that there is none, is cached.
const LIFETIME: Duration = Duration::from_secs(600);

/// The icon of a site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SiteIcon {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Bytes,
}

/// The cache of icons; `None` for sites without one.
pub(super) struct SiteIcons(Cache<PageId, Option<SiteIcon>>);

impl Default for SiteIcons {
    fn default() -> Self {
        let cache = Cache::builder().max_capacity(CACHE_BYTES).weigher(weigh).time_to_live(LIFETIME);
        Self(cache.build())
    }
}

fn weigh(_: &PageId, icon: &Option<SiteIcon>) -> u32 {
    let bytes = icon.as_ref().map_or(0, |icon| icon.bytes.len());
    u32::try_from(ENTRY_BYTES + bytes).unwrap_or(u32::MAX)
}

impl AppState {
    /// Returns the icon with this id, if it is stored and can be shown.
    pub(crate) async fn site_icon(&self, id: PageId) -> Result<Option<SiteIcon>, ServiceError> {
        let cache = &self.0.icons.0;
        if let Some(icon) = cache.get(&id) {
            return Ok(icon);
        }
        let icon = self.run_blocking(move |service| find_icon(service, id)).await?;
        cache.insert(id, icon.clone());
        Ok(icon)
    }
}

fn find_icon(service: &Service, id: PageId) -> Result<Option<SiteIcon>, ServiceError> {
    let Some(catalog) = service.stores.catalog()? else { return Ok(None) };
    let Some(page) = catalog.page(id)? else { return Ok(None) };
    let is_icon = RecordKind::of_url(&page.url) == RecordKind::Icon
        && page.state == PageState::Stored
        && page.problem.is_none()
        && page.status.is_some_and(is_success);
    let Some(position) = page.position.filter(|_| is_icon) else { return Ok(None) };
    let Some(response) = read_response(&*service.library, position)? else { return Ok(None) };
    let content = response.intact_content(MAX_BYTES + 1).filter(|_| response.truncated.is_none());
    let content = content.filter(|content| content.len() <= MAX_BYTES);
    Ok(content.and_then(|content| {
        let media_type = media_type(&content)?;
        Some(SiteIcon { media_type, bytes: Bytes::copy_from_slice(&content) })
    }))
}

/// Returns the media type of a picture by its first bytes (WHATWG MIME Sniffing, §6.1).
fn media_type(content: &[u8]) -> Option<&'static str> {
    match content {
        [0, 0, 1, 0, ..] => Some("image/x-icon"),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_without_scripts_are_shown() {
        for (content, expected) in [
            (&b"\x00\x00\x01\x00\x01\x00"[..], Some("image/x-icon")),
            (b"\x89PNG\r\n\x1a\n....", Some("image/png")),
            (b"GIF89a...", Some("image/gif")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"RIFF\x10\x00\x00\x00WEBPVP8 ", Some("image/webp")),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x()</script></svg>", None),
            (b"<!doctype html><title>Not found</title>", None),
            (b"GIF88a", None),
            (b"", None),
        ] {
            assert_eq!(media_type(content), expected, "{content:?}");
        }
    }
}
