//! Content codings (RFC 9110 §8.4.1): bodies are stored as received and decoded when they are read.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;
use memchr::memmem;

use super::RawResponse;

/// Maximum number of nested codings to decode; more than two indicates an attack.
const MAX_CODINGS: usize = 3;
/// First bytes of a gzip stream.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// First bytes of a gzip member: the magic, and the only compression method.
const GZIP_MEMBER: [u8; 3] = [0x1f, 0x8b, 8];
/// Maximum window of a zstd response, as a power of two (RFC 9659: 8 MB). Without a limit, a few bytes could claim
/// far more memory.
const MAX_ZSTD_WINDOW: u32 = 23;

impl RawResponse {
    /// Returns the decoded body, at most `limit` bytes of it. If decoding fails, the part before the error is
    /// returned.
    pub fn content(&self, limit: usize) -> Cow<'_, [u8]> {
        self.decode(limit).0
    }

    /// Returns the decoded body like [`content`](Self::content), or `None` if a compressed body ends too early or is
    /// damaged before the limit.
    pub fn intact_content(&self, limit: usize) -> Option<Cow<'_, [u8]>> {
        let (content, is_intact) = self.decode(limit);
        is_intact.then_some(content)
    }

    /// Decodes the body. The second value is `false` if decoding failed before the end or the limit.
    fn decode(&self, limit: usize) -> (Cow<'_, [u8]>, bool) {
        let mut content: Option<Vec<u8>> = None;
        let (mut is_intact, mut is_limited) = (true, false);
        for coding in self.codings().iter().rev().take(MAX_CODINGS) {
            let encoded: &[u8] = content.as_deref().unwrap_or(&self.body);
            let (decoded, is_whole) = match coding.as_str() {
                // Some servers declare the coding of a page that they send uncompressed.
                "gzip" | "x-gzip" if !encoded.starts_with(&GZIP_MAGIC) => {
                    is_intact &= encoded.is_empty() || !GZIP_MAGIC.starts_with(encoded);
                    continue;
                }
                "gzip" | "x-gzip" => match decompress_single_member(encoded, limit) {
                    Some(decoded) => (decoded, true),
                    None => read_up_to(MultiGzDecoder::new(encoded), limit),
                },
                // RFC 9110 specifies zlib; some servers send a raw deflate stream.
                "deflate" => inflate(encoded, is_zlib(encoded), limit),
                "br" => read_up_to(brotli::Decompressor::new(encoded, 16 << 10), limit),
                "zstd" => zstd_decoder(encoded)
                    .map_or_else(|_| (Vec::new(), false), |decoder| read_up_to(decoder, limit)),
                _ => continue,
            };
            // The next coding cannot be whole if this one reached the limit.
            is_intact &= is_whole || is_limited;
            is_limited |= decoded.len() >= limit;
            content = Some(decoded);
        }
        let content =
            content.map_or_else(|| Cow::Borrowed(&self.body[..self.body.len().min(limit)]), Cow::Owned);
        (content, is_intact)
    }

    /// Returns `true` if the body was received compressed, so that compressing it again would not reduce the size.
    pub(super) fn is_precompressed(&self) -> bool {
        /// Below this size, compressing the header fields is worthwhile.
        const LARGE: usize = 2 << 10;
        self.body.len() >= LARGE && self.codings().iter().any(|coding| coding != "identity")
    }

    /// Returns all codings in the order of application, from any number of header fields.
    fn codings(&self) -> Vec<String> {
        let fields = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Content-Encoding"));
        fields.flat_map(|(_, list)| list.split(',')).map(|c| c.trim().to_ascii_lowercase()).collect()
    }
}

/// Returns `true` for a zlib header (RFC 1950): the method is deflate and the first two bytes are a multiple of 31.
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..] if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// Decompresses a gzip stream of one member in one call, using the length at its end. This is twice as fast as
/// streaming.
fn decompress_single_member(encoded: &[u8], limit: usize) -> Option<Vec<u8>> {
    let is_one_member = memmem::find(encoded.get(1..)?, &GZIP_MEMBER).is_none();
    if !is_one_member {
        return None;
    }
    let length = usize::try_from(u32::from_le_bytes(*encoded.last_chunk::<4>()?)).ok()?;
    let mut content = vec![0; length.min(limit)];
    let length_read = Decompressor::new().gzip_decompress(encoded, &mut content).ok()?;
    (length_read == length).then_some(content)
}

fn zstd_decoder(encoded: &[u8]) -> io::Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(encoded)?;
    decoder.window_log_max(MAX_ZSTD_WINDOW)?;
    Ok(decoder)
}

/// Reads up to `limit` bytes. The second value is `false` after an error.
fn read_up_to(decoder: impl Read, limit: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut input = decoder.take(limit as u64);
    let mut chunk = [0; 16 << 10];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return (out, true),
            Ok(n) => out.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return (out, false),
        }
    }
}

/// Decompresses a zlib or raw deflate stream up to `limit` bytes. The second value is `false` if the stream is damaged
/// or ends too early, which flate2's readers do not report.
fn inflate(encoded: &[u8], has_header: bool, limit: usize) -> (Vec<u8>, bool) {
    let mut stream = Decompress::new(has_header);
    let (mut out, mut rest) = (Vec::new(), encoded);
    let mut chunk = [0; 16 << 10];
    loop {
        let room = chunk.len().min(limit - out.len());
        let (read_before, written_before) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(rest, &mut chunk[..room], FlushDecompress::None);
        let read = (stream.total_in() - read_before) as usize;
        let written = (stream.total_out() - written_before) as usize;
        out.extend_from_slice(&chunk[..written]);
        rest = &rest[read..];
        match status {
            Ok(Status::StreamEnd) => return (out, true),
            Ok(_) if out.len() >= limit => return (out, true),
            Ok(_) if read + written > 0 => {}
            Ok(_) | Err(_) => return (out, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    fn response(coding: &str, body: Vec<u8>) -> RawResponse {
        let headers = vec![("content-encoding".to_string(), coding.to_string())];
        RawResponse { status: 200, headers, body, ..RawResponse::default() }
    }

    fn packed(mut encoder: impl Read) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn all_codings_are_decoded() {
        let text = "灯塔 lighthouse ".repeat(100).into_bytes();
        let level = Compression::default();
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut text.as_slice(), &mut brotli, &Default::default()).unwrap();
        let gzip = packed(GzEncoder::new(&text[..], level));
        for (coding, body) in [
            ("gzip", gzip.clone()),
            ("X-GZIP", gzip.clone()),
            ("deflate", packed(ZlibEncoder::new(&text[..], level))),
            ("deflate", packed(DeflateEncoder::new(&text[..], level))),
            ("br", brotli),
            ("zstd", zstd::encode_all(&text[..], 3).unwrap()),
            ("gzip, zstd", zstd::encode_all(&gzip[..], 3).unwrap()),
            ("gzip", text.clone()),
            ("gzip, gzip", packed(GzEncoder::new(&gzip[..], level))),
            ("identity", text.clone()),
            ("unheard-of", text.clone()),
        ] {
            assert_eq!(response(coding, body).content(1 << 20), text, "{coding}");
        }
    }

    #[test]
    fn a_bomb_stops_at_the_limit_and_a_torn_body_gives_its_beginning() {
        let bomb = packed(GzEncoder::new(io::repeat(0).take(50 << 20), Compression::best()));
        assert_eq!(response("gzip", bomb.clone()).content(1000).len(), 1000);
        let nested = packed(GzEncoder::new(&bomb[..], Compression::best()));
        assert_eq!(response("gzip, gzip", nested).content(100_000).len(), 100_000);
        let zstd_bomb = zstd::encode_all(io::repeat(0).take(50 << 20), 3).unwrap();
        assert_eq!(response("zstd", zstd_bomb).content(1000).len(), 1000);
        let mut torn = packed(GzEncoder::new("lighthouse ".repeat(9000).as_bytes(), Compression::default()));
        torn.truncate(torn.len() / 2);
        assert!(response("gzip", torn).content(1 << 20).starts_with(b"lighthouse"));
    }

    #[test]
    fn a_body_that_breaks_off_is_not_intact() {
        // Text that hardly compresses, so that half of the stream is half of the text.
        let text: Vec<u8> =
            (0..2000u64).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
        let level = Compression::default();
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut text.as_slice(), &mut brotli, &Default::default()).unwrap();
        for (coding, body) in [
            ("gzip", packed(GzEncoder::new(&text[..], level))),
            ("deflate", packed(ZlibEncoder::new(&text[..], level))),
            ("deflate", packed(DeflateEncoder::new(&text[..], level))),
            ("br", brotli),
            ("zstd", zstd::encode_all(&text[..], 3).unwrap()),
        ] {
            assert_eq!(response(coding, body.clone()).intact_content(1 << 20).unwrap(), text, "{coding}");
            for cut in [1, body.len() / 2, body.len() - 1] {
                let torn = response(coding, body[..cut].to_vec());
                assert_eq!(torn.intact_content(1 << 20), None, "{coding} {cut}");
            }
            let begun = response(coding, body[..body.len() / 2].to_vec());
            assert_eq!(*begun.intact_content(1000).unwrap(), text[..1000], "{coding}: up to the limit");
        }
        assert_eq!(*response("identity", text.clone()).intact_content(10).unwrap(), text[..10]);
        assert_eq!(*response("gzip", Vec::new()).intact_content(10).unwrap(), *b"");
    }

    #[test]
    fn codings_may_be_split_over_several_fields() {
        let packed =
            zstd::encode_all(&packed(GzEncoder::new(&b"page"[..], Compression::default()))[..], 3).unwrap();
        let fields = [("Content-Encoding", "gzip"), ("content-encoding", "zstd")];
        let headers = fields.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        let answer = RawResponse { status: 200, headers, body: packed, ..RawResponse::default() };
        assert_eq!(*answer.content(100), *b"page");
    }

    #[test]
    fn gzip_of_several_members_is_read_whole() {
        let member = |text: &str| packed(GzEncoder::new(text.as_bytes(), Compression::default()));
        let both = [member("one, "), member("two. ")].concat();
        assert_eq!(*response("gzip", both).content(1000), *b"one, two. ");
        let mut cut = member(&"a long page. ".repeat(100));
        cut.truncate(cut.len() - 9);
        assert!(response("gzip", cut).content(10_000).starts_with(b"a long page. a long"));
    }

    #[test]
    fn only_compressed_bodies_are_precompressed() {
        assert!(
            response("gzip", vec![0; 4096]).is_precompressed()
                && !response("gzip", vec![0; 100]).is_precompressed()
        );
        assert!(!response("identity", vec![0; 4096]).is_precompressed());
    }

    #[test]
    fn a_zstd_window_has_a_limit() {
        // A window of 64 MB exceeds the limit of 8 MB and is rejected before it takes any memory.
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(26).unwrap();
        io::copy(&mut io::repeat(1).take(9 << 20), &mut encoder).unwrap();
        assert_eq!(*response("zstd", encoder.finish().unwrap()).content(1000), *b"");
    }

    proptest! {
        #[test]
        fn any_body_is_decoded_or_truncated(body in proptest::collection::vec(any::<u8>(), 0..200), coding in 0..5usize) {
            let coding = ["gzip", "deflate", "br", "zstd", "gzip,br,deflate,gzip,gzip"][coding];
            prop_assert!(response(coding, body).content(100).len() <= 100);
        }
    }
}
