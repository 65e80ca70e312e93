//! Response compression (`Content-Encoding`) as negotiated with the client.
//!
//! Most responses are complete before the first byte is sent. They are compressed in one step, with a compressor per thread,
//! and sent with their length. Static files are compressed once with the best level (`assets.rs`). Only long and streamed
//! bodies are left to the framework.

use std::cell::RefCell;
use std::io::{self, Write as _};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use http_body_util::BodyExt as _;
use tower_http::compression::Predicate as _;
use tower_http::compression::predicate::DefaultPredicate;

/// Minimum length of a body worth compressing.
const MIN_LENGTH: u64 = 256;

/// Bodies from this length on are streamed.
pub(crate) const STREAM_FROM: u64 = 256 << 10;

/// Level 2: a sixth smaller than level 1 for a few microseconds more. Hardly any response is sent twice.
const FAST_LEVEL: Compression = Compression::new(2);

/// Gzip header without file name and time (RFC 1952).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Gzip,
    Brotli,
}

impl ContentCoding {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    /// Returns the coding that the client prefers, the first one on a tie; `None` if it prefers no coding.
    pub(crate) fn preferred(headers: &HeaderMap, ours: &[Self]) -> Option<Self> {
        let weight = |name: &str| weight_of(headers, name);
        let best = ours.iter().map(|coding| (weight(coding.name()).unwrap_or(0.0), *coding));
        let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.filter(|(preferred, _)| {
            *preferred > 0.0 && *preferred >= listed_weight(headers, "identity").unwrap_or(0.0)
        })
        .map(|(_, coding)| coding)
    }

    /// Compresses with the best level.
    pub(crate) fn compress_best(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut compressor = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
                compressor.write_all(bytes)?;
                compressor.finish()
            }
            Self::Brotli => {
                let mut compressed = Vec::new();
                let params = brotli::enc::BrotliEncoderParams { quality: 9, ..Default::default() };
                brotli::BrotliCompress(&mut &*bytes, &mut compressed, &params)?;
                Ok(compressed)
            }
        }
    }
}

/// Returns the weight that the client gives a coding, by name or by `*` (RFC 9110 §12.5.3).
fn weight_of(headers: &HeaderMap, name: &str) -> Option<f32> {
    listed_weight(headers, name).or_else(|| listed_weight(headers, "*"))
}

fn listed_weight(headers: &HeaderMap, name: &str) -> Option<f32> {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).find_map(|part| {
        let mut fields = part.split(';').map(str::trim);
        fields.next().filter(|coding| coding.eq_ignore_ascii_case(name))?;
        let weight = fields.find_map(|field| field.strip_prefix("q=").or_else(|| field.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    })
}

thread_local! {
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(FAST_LEVEL, false));
}

/// Compresses with gzip at a fast level.
fn gzip_fast(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut compressed = Vec::with_capacity(bytes.len() / 3 + 64);
    compressed.extend_from_slice(&GZIP_HEADER);
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.reset();
        loop {
            let done = usize::try_from(compressor.total_in()).ok()?;
            match compressor.compress_vec(bytes.get(done..)?, &mut compressed, FlushCompress::Finish).ok()? {
                Status::StreamEnd => return Some(()),
                Status::Ok | Status::BufError => compressed.reserve(compressed.len()),
            }
        }
    })?;
    let mut sum = Crc::new();
    sum.update(bytes);
    compressed.extend_from_slice(&sum.sum().to_le_bytes());
    compressed.extend_from_slice(&sum.amount().to_le_bytes());
    Some(compressed)
}

/// Middleware that compresses complete bodies, if the client accepts gzip at least as well as other codings.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let is_preferred =
        ContentCoding::preferred(request.headers(), &[ContentCoding::Gzip, ContentCoding::Brotli])
            == Some(ContentCoding::Gzip);
    let response = next.run(request).await;
    let is_whole =
        response.body().size_hint().exact().is_some_and(|length| (MIN_LENGTH..STREAM_FROM).contains(&length));
    let is_compressed = response.headers().contains_key(CONTENT_ENCODING);
    if !is_preferred || !is_whole || is_compressed || !DefaultPredicate::new().should_compress(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let plain = match body.collect().await {
        Ok(plain) => plain.to_bytes(),
        // A body in memory cannot fail.
        Err(_) => Bytes::new(),
    };
    let Some(compressed) = gzip_fast(&plain) else { return Response::from_parts(head, Body::from(plain)) };
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(ContentCoding::Gzip.name()));
    head.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    Response::from_parts(head, Body::from(compressed))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get, get_with};

    fn preferred(line: &str) -> Option<ContentCoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, line.parse().unwrap());
        ContentCoding::preferred(&headers, &[ContentCoding::Brotli, ContentCoding::Gzip])
    }

    fn decompressed(bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        plain
    }

    #[test]
    fn codings_are_negotiated() {
        for (line, coding) in [
            ("gzip, deflate, br, zstd", Some(ContentCoding::Brotli)),
            ("gzip", Some(ContentCoding::Gzip)),
            ("GZIP;q=0.5, br;q=0.4", Some(ContentCoding::Gzip)),
            ("gzip; q=1.0, *;q=0", Some(ContentCoding::Gzip)),
            ("*", Some(ContentCoding::Brotli)),
            ("br;q=0, *", Some(ContentCoding::Gzip)),
            ("identity, gzip;q=0.5", None),
            ("gzip;q=0, br;q=0", None),
            ("gzip;q=nonsense", None),
            ("deflate, zstd", None),
            ("", None),
        ] {
            assert_eq!(preferred(line), coding, "{line}");
        }
        assert_eq!(ContentCoding::preferred(&HeaderMap::new(), &[ContentCoding::Gzip]), None);
    }

    #[test]
    fn compressed_data_can_be_decompressed() {
        let noise: Vec<u8> =
            (0..300_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for plain in [b"".as_slice(), b"a", "灯塔".repeat(5_000).as_bytes(), &noise] {
            assert_eq!(decompressed(&gzip_fast(plain).unwrap()), plain);
            assert_eq!(decompressed(&ContentCoding::Gzip.compress_best(plain).unwrap()), plain);
        }
    }

    #[tokio::test]
    async fn pages_are_compressed_if_accepted() {
        let page = TestPage::new("https://www.example.org/a", "Lighthouse", "The lighthouse stands.");
        let (_dir, service) = engine(&[page], Config::default());
        let router = router(service).unwrap();
        let plain = get(&router, "/help").await;
        assert_eq!(plain.header("content-encoding"), "");
        let compressed = get_with(&router, "/help", &[("accept-encoding", "gzip, deflate, br")]).await;
        assert_eq!(compressed.header("content-encoding"), "gzip");
        assert_eq!(decompressed(&compressed.bytes), plain.bytes);
        for reply in [&plain, &compressed] {
            let vary: Vec<_> =
                reply.headers.get_all(VARY).iter().map(|line| line.to_str().unwrap()).collect();
            assert!(vary.join(", ").to_ascii_lowercase().contains("accept-encoding"), "{vary:?}");
        }
        let other = get_with(&router, "/help", &[("accept-encoding", "gzip;q=0.1, br")]).await;
        assert_eq!(other.header("content-encoding"), "br");
        let icon = get_with(&router, "/favicon.ico", &[("accept-encoding", "gzip")]).await;
        assert_eq!(icon.header("content-encoding"), "", "images are compressed already");
    }
}
