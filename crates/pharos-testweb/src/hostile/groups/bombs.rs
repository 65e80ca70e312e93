//! Compression bombs: small on the wire, gigabytes inside.
//!
//! A compressor gets the same mebibyte of spaces until its output for one more repeats; that output is then copied.

use std::io::{self, Write};
use std::sync::LazyLock;

use bytes::Bytes;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::hostile::ExpectedOutcome::{AtMost, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, page};

/// Number of spaces compressed at a time.
const PIECE: usize = 1 << 20;
/// Number of repetitions: two gibibytes.
pub(super) const PIECES: usize = 2048;

pub(super) fn hosts() -> Vec<HostileHost> {
    let host = |label: &str, answer: fn(&HostileRequest) -> CannedResponse| {
        HostileHost::new(label, HostBehaviour::Http(answer))
            .expect("/", Stored { status: 200 }, "two gibibytes uncompressed: read up to the limit")
            .with_text("a page before the flood")
            .expect("/", AtMost(3), "requested once")
    };
    vec![
        host("bomb-gzip", |request| bomb(request, "gzip", &GZIP)),
        host("bomb-deflate", |request| bomb(request, "deflate", &ZLIB)),
        host("bomb-brotli", |request| bomb(request, "br", &BROTLI)),
        host("bomb-zstd", |request| bomb(request, "zstd", &ZSTD)),
        host("bomb-twice", |request| bomb(request, "gzip, gzip", &TWICE)),
        HostileHost::new("bomb-pdf", HostBehaviour::Http(pdf_bomb))
            .expect("/", Stored { status: 200 }, "a document that takes gigabytes to read: stored, not read")
            .expect("/", AtMost(3), "requested once"),
    ]
}

fn bomb(request: &HostileRequest, encoding: &str, bytes: &LazyLock<Bytes>) -> CannedResponse {
    match request.path.as_str() {
        "/" => CannedResponse::html(LazyLock::force(bytes).clone()).field("content-encoding", encoding),
        _ => CannedResponse::not_found(),
    }
}

fn pdf_bomb(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/" => CannedResponse::new(200, "application/pdf", PDF.clone()),
        _ => CannedResponse::not_found(),
    }
}

static GZIP: LazyLock<Bytes> = LazyLock::new(|| gzip(PIECES));
static ZLIB: LazyLock<Bytes> = LazyLock::new(|| zlib(PIECES));
static BROTLI: LazyLock<Bytes> = LazyLock::new(|| brotli(PIECES));
static ZSTD: LazyLock<Bytes> = LazyLock::new(|| zstd(PIECES));
static TWICE: LazyLock<Bytes> = LazyLock::new(|| {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(&GZIP);
    encoder.finish().unwrap_or_default().into()
});

static PDF: LazyLock<Bytes> = LazyLock::new(|| pdf_of_one_path(PATH_SEGMENTS).into());

/// Number of lines in the path of the PDF. A reader needs about 60 bytes of memory for each.
const PATH_SEGMENTS: usize = 20 << 20;

/// Returns a PDF whose only page draws one path. It is valid, and a few hundred kilobytes long.
fn pdf_of_one_path(segments: usize) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(b"0 0 m ");
    let lines = b"1 1 l ".repeat(1 << 16);
    for _ in 0..segments / (1 << 16) {
        let _ = encoder.write_all(&lines);
    }
    let _ = encoder.write_all(b"f");
    let content = encoder.finish().unwrap_or_default();
    let mut out = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
        2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        .to_vec();
    out.extend(format!("4 0 obj<</Length {}/Filter/FlateDecode>>\nstream\n", content.len()).bytes());
    out.extend(content);
    out.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    out
}

/// Returns the page before the spaces.
fn begin() -> Vec<u8> {
    page("a page before the flood", &[]).into_bytes()
}

/// Returns the compressed page with the first spaces, and the output for the same spaces every further time.
fn pieces<W: Write>(mut encoder: W, written: fn(&W) -> &Vec<u8>) -> io::Result<(Vec<u8>, Vec<u8>)> {
    encoder.write_all(&begin())?;
    encoder.flush()?;
    // The first time is different, because the page precedes it.
    let blanks = vec![b' '; PIECE];
    encoder.write_all(&blanks)?;
    encoder.flush()?;
    let start = written(&encoder).clone();
    encoder.write_all(&blanks)?;
    encoder.flush()?;
    let again = written(&encoder)[start.len()..].to_vec();
    Ok((start, again))
}

/// Returns a raw deflate stream with its last block.
fn deflate(count: usize) -> Vec<u8> {
    let encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let (mut out, again) = pieces(encoder, |encoder| encoder.get_ref()).unwrap_or_default();
    out.extend(again.repeat(count - 1));
    out.extend([0x03, 0x00]);
    out
}

fn gzip(count: usize) -> Bytes {
    let mut sum = Crc::new();
    sum.update(&begin());
    let mut piece = Crc::new();
    piece.update(&vec![b' '; PIECE]);
    for _ in 0..count {
        sum.combine(&piece);
    }
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(deflate(count));
    out.extend(sum.sum().to_le_bytes());
    // The length is modulo 2^32 by the standard.
    out.extend(sum.amount().to_le_bytes());
    out.into()
}

fn zlib(count: usize) -> Bytes {
    let mut out = vec![0x78, 0xda];
    out.extend(deflate(count));
    let (mut low, mut high) = (1u64, 0u64);
    let mut add = |byte: u8| {
        low = (low + u64::from(byte)) % 65_521;
        high = (high + low) % 65_521;
    };
    begin().into_iter().for_each(&mut add);
    // Adler-32 of n equal bytes b: low grows by n·b, high by n·low + b·n(n+1)/2.
    let (n, b) = ((count * PIECE) as u128, u128::from(b' '));
    let after = u128::from(high) + n * u128::from(low) + b * (n * (n + 1) / 2);
    let (low, high) = ((u128::from(low) + n * b) % 65_521, after % 65_521);
    out.extend(((high as u32) << 16 | low as u32).to_be_bytes());
    out.into()
}

fn brotli(count: usize) -> Bytes {
    let encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    // Writing to memory cannot fail.
    let (mut out, again) = pieces(encoder, |encoder| encoder.get_ref()).unwrap_or_default();
    out.extend(again.repeat(count - 1));
    // The last, empty block.
    out.push(0x03);
    out.into()
}

/// Writes the spaces as RLE blocks (RFC 8878), the cheapest block type.
fn zstd(count: usize) -> Bytes {
    const BLOCK: usize = 128 << 10;
    const REPEATED: usize = 1;
    // Writing to memory cannot fail. An unfinished frame has neither length nor checksum.
    let mut out = zstd_begin().unwrap_or_default();
    let blocks = count * PIECE / BLOCK;
    for number in 1..=blocks {
        let header = (BLOCK << 3 | REPEATED << 1 | usize::from(number == blocks)) as u32;
        out.extend(&header.to_le_bytes()[..3]);
        out.push(b' ');
    }
    out.into()
}

fn zstd_begin() -> io::Result<Vec<u8>> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 3)?;
    encoder.write_all(&begin())?;
    encoder.flush()?;
    Ok(encoder.get_ref().clone())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Reads to the end and returns the size; the beginning must be the page.
    fn size(mut reader: impl Read) -> usize {
        let mut start = vec![0; begin().len()];
        reader.read_exact(&mut start).unwrap();
        assert_eq!(start, begin());
        let rest = io::copy(&mut reader, &mut io::sink()).unwrap();
        start.len() + rest as usize
    }

    /// The decoders check the sums, so a client that reads everything sees a valid stream.
    #[test]
    fn each_bomb_is_small_outside_and_large_and_sound_inside() {
        const COUNT: usize = 40;
        let inside = begin().len() + COUNT * PIECE;
        assert_eq!(size(flate2::read::GzDecoder::new(&gzip(COUNT)[..])), inside);
        assert_eq!(size(flate2::read::ZlibDecoder::new(&zlib(COUNT)[..])), inside);
        assert_eq!(size(brotli::Decompressor::new(&brotli(COUNT)[..], 4096)), inside);
        assert_eq!(size(::zstd::Decoder::new(&zstd(COUNT)[..]).unwrap()), inside);
        let twice = flate2::read::GzDecoder::new(&TWICE[..]);
        let mut start = vec![0; begin().len()];
        flate2::read::GzDecoder::new(twice).read_exact(&mut start).unwrap();
        assert_eq!(start, begin());
        for bomb in [&GZIP, &ZLIB, &BROTLI, &ZSTD, &TWICE] {
            assert!(bomb.len() < 3 << 20, "{} bytes", bomb.len());
        }
    }
}
