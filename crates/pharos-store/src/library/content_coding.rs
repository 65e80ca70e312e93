//! Content codings (RFC 9110 §8.4.1): bodies are stored as received and decoded when they are read.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::Response;

/// Codings in a row that are undone; more than two is an attack.
const MAX_CODINGS: usize = 3;

impl Response {
    /// The body with its content codings undone, at most `limit` bytes of it. What decodes before an error is kept:
    /// half a page is better than none.
    pub fn content(&self, limit: usize) -> Vec<u8> {
        let codings = self.header("Content-Encoding").unwrap_or_default();
        let mut content = None;
        for coding in codings.rsplit(',').map(|c| c.trim().to_ascii_lowercase()).take(MAX_CODINGS) {
            let encoded: &[u8] = content.as_deref().unwrap_or(&self.body);
            let decoded = match coding.as_str() {
                "gzip" | "x-gzip" => read_up_to(MultiGzDecoder::new(encoded), limit),
                // RFC 9110 means zlib; some servers send the bare stream.
                "deflate" if encoded.first().is_some_and(|b| b & 0x0f == 8) => {
                    read_up_to(ZlibDecoder::new(encoded), limit)
                }
                "deflate" => read_up_to(DeflateDecoder::new(encoded), limit),
                "br" => read_up_to(brotli::Decompressor::new(encoded, 16 << 10), limit),
                "zstd" => zstd::stream::read::Decoder::with_buffer(encoded)
                    .map_or_else(|_| Vec::new(), |decoder| read_up_to(decoder, limit)),
                _ => continue,
            };
            content = Some(decoded);
        }
        content.unwrap_or_else(|| self.body[..self.body.len().min(limit)].to_vec())
    }
}

fn read_up_to(decoder: impl Read, limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut input = decoder.take(limit as u64);
    let mut chunk = [0; 16 << 10];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return out,
            Ok(n) => out.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    fn response(coding: &str, body: Vec<u8>) -> Response {
        let headers = vec![("content-encoding".to_string(), coding.to_string())];
        Response { status: 200, headers, body, ..Response::default() }
    }

    fn packed(mut encoder: impl Read) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn every_coding_is_undone() {
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
        assert_eq!(response("gzip", bomb).content(1000).len(), 1000);
        let mut torn = packed(GzEncoder::new("lighthouse ".repeat(9000).as_bytes(), Compression::default()));
        torn.truncate(torn.len() / 2);
        assert!(response("gzip", torn).content(1 << 20).starts_with(b"lighthouse"));
    }

    proptest! {
        #[test]
        fn any_body_is_decoded_or_cut(body in proptest::collection::vec(any::<u8>(), 0..200), coding in 0..4usize) {
            let coding = ["gzip", "deflate", "br", "gzip,br,deflate,gzip,gzip"][coding];
            prop_assert!(response(coding, body).content(100).len() <= 100);
        }
    }
}
