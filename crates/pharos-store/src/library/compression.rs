//! Compression of single records: each record is a gzip member or zstd frame of its own and can be read alone.
//!
//! The gzip members contain their length in the header: the extra field `sl` (skip length), proposed in drafts of
//! the WARC standard, with four bytes each for the compressed and uncompressed length. Other readers ignore it. It
//! allows a member to be read with two reads and decompressed in one call, which is twice as fast as streaming.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use flate2::bufread::GzDecoder;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use pharos_core::config::LibraryFormat;

/// Maximum uncompressed size of a record.
pub(super) const MAX_RECORD: usize = 256 << 20;
pub(super) const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic, flags (extra field), no time, no level, unknown system, 12 bytes of extra field: `sl` with 8 bytes.
const GZIP_HEAD: [u8; 16] = [0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 12, 0, b's', b'l', 8, 0];
const GZIP_HEAD_LENGTH: usize = GZIP_HEAD.len() + 8;
/// Maximum compression ratio of deflate.
const MAX_RATIO: usize = 1032;

/// Returns the suffix of file names.
pub(super) fn file_suffix(format: LibraryFormat) -> &'static str {
    match format {
        LibraryFormat::Gzip => ".warc.gz",
        LibraryFormat::Zstd => ".warc.zst",
    }
}

/// Compresses records one by one.
pub(super) struct RecordCompressor {
    codec: Codec,
    /// Output buffer. It only grows, because clearing it for each record would take a tenth of the total time.
    buffer: Vec<u8>,
}

enum Codec {
    /// The second compressor stores incompressible records uncompressed.
    Gzip(Compressor, Compressor),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl RecordCompressor {
    pub(super) fn new(format: LibraryFormat, level: u32) -> io::Result<Self> {
        let level = i32::try_from(level).unwrap_or(1);
        let codec = match format {
            LibraryFormat::Gzip => {
                let at = |level| Compressor::new(CompressionLvl::new(level).unwrap_or_default());
                Codec::Gzip(at(level), at(0))
            }
            LibraryFormat::Zstd => {
                let mut codec = zstd::bulk::Compressor::new(level)?;
                codec.include_checksum(true)?;
                Codec::Zstd(codec)
            }
        };
        Ok(Self { codec, buffer: Vec::new() })
    }

    /// Appends a compressed record to `out`. `is_precompressed` marks a record that is compressed already.
    pub(super) fn compress(
        &mut self,
        record: &[u8],
        is_precompressed: bool,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let bound = match &mut self.codec {
            Codec::Gzip(codec, _) => codec.deflate_compress_bound(record.len()),
            Codec::Zstd(_) => zstd::zstd_safe::compress_bound(record.len()),
        };
        if self.buffer.len() < bound {
            self.buffer.resize(bound, 0);
        }
        match &mut self.codec {
            Codec::Gzip(codec, copier) => {
                let codec = if is_precompressed { copier } else { codec };
                let compressed = codec
                    .deflate_compress(record, &mut self.buffer)
                    .map_err(|e| io::Error::other(e.to_string()))?;
                out.reserve(GZIP_HEAD_LENGTH + compressed + 8);
                out.extend_from_slice(&GZIP_HEAD);
                out.extend_from_slice(&length_field(GZIP_HEAD_LENGTH + compressed + 8));
                out.extend_from_slice(&length_field(record.len()));
                out.extend_from_slice(&self.buffer[..compressed]);
                out.extend_from_slice(&libdeflater::crc32(record).to_le_bytes());
                out.extend_from_slice(&length_field(record.len()));
            }
            Codec::Zstd(codec) => {
                let compressed = codec.compress_to_buffer(record, &mut self.buffer[..])?;
                out.extend_from_slice(&self.buffer[..compressed]);
            }
        }
        Ok(())
    }
}

/// Encodes a length as in gzip. Records are far smaller than 4 GB.
fn length_field(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

/// The result of reading a record.
pub(super) enum Member {
    /// A complete record: its bytes and its compressed length.
    Good(Vec<u8>, u64),
    /// The end of the file.
    End,
    /// The file ends inside the record.
    Torn(String),
    /// No valid record.
    Damaged(String),
}

/// Decompresses records.
pub(super) struct RecordDecompressor {
    gzip: Decompressor,
    compressed: Vec<u8>,
}

impl RecordDecompressor {
    pub(super) fn new() -> Self {
        Self { gzip: Decompressor::new(), compressed: Vec::new() }
    }

    /// Returns the first bytes of the record at the current position of `input`, decompressing little of it. They
    /// are not verified, because the checksum is at the end of the record.
    pub(super) fn read_prefix(input: &mut BufReader<File>) -> io::Result<Vec<u8>> {
        /// Enough for the lines that contain the record type.
        const PREFIX: u64 = 512;
        let mut start = Vec::new();
        if input.fill_buf()?.starts_with(&ZSTD_MAGIC) {
            let frame = zstd::stream::read::Decoder::with_buffer(input)?.single_frame();
            frame.take(PREFIX).read_to_end(&mut start)?;
        } else {
            GzDecoder::new(input).take(PREFIX).read_to_end(&mut start)?;
        }
        Ok(start)
    }

    /// Reads the record at the current position of `input`, which is `start`.
    pub(super) fn read(&mut self, input: &mut BufReader<File>, start: u64) -> Member {
        self.try_read(input, start).unwrap_or_else(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Member::Torn("the file ends within a record".into()),
            _ => Member::Damaged(error.to_string()),
        })
    }

    fn try_read(&mut self, input: &mut BufReader<File>, start: u64) -> io::Result<Member> {
        self.compressed.clear();
        input.by_ref().take(GZIP_HEAD_LENGTH as u64).read_to_end(&mut self.compressed)?;
        if self.compressed.is_empty() {
            return Ok(Member::End);
        }
        if self.compressed.len() == GZIP_HEAD_LENGTH && self.compressed.starts_with(&GZIP_HEAD) {
            return self.read_with_length(input);
        }
        input.seek_relative(-(self.compressed.len() as i64))?;
        let mut record = Vec::new();
        if self.compressed.starts_with(&ZSTD_MAGIC) {
            let frame = zstd::stream::read::Decoder::with_buffer(&mut *input)?.single_frame();
            frame.take(MAX_RECORD as u64).read_to_end(&mut record)?;
        } else {
            GzDecoder::new(&mut *input).take(MAX_RECORD as u64).read_to_end(&mut record)?;
        }
        if record.len() == MAX_RECORD {
            return Ok(Member::Damaged("invalid record size".into()));
        }
        Ok(Member::Good(record, input.stream_position()?.saturating_sub(start)))
    }

    /// Reads a member with a length field. The lengths are not trusted before the checksum matches.
    fn read_with_length(&mut self, input: &mut BufReader<File>) -> io::Result<Member> {
        let field = |at: usize| {
            let bytes = self.compressed.get(at..at + 4).and_then(|b| b.try_into().ok()).unwrap_or_default();
            u32::from_le_bytes(bytes) as usize
        };
        let (compressed, length) = (field(16), field(20));
        if compressed < GZIP_HEAD_LENGTH + 8
            || compressed.max(length) > MAX_RECORD
            || length / MAX_RATIO > compressed
        {
            return Ok(Member::Damaged("invalid record size".into()));
        }
        let rest = (compressed - GZIP_HEAD_LENGTH) as u64;
        input.by_ref().take(rest).read_to_end(&mut self.compressed)?;
        if self.compressed.len() < compressed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut record = vec![0; length];
        match self.gzip.gzip_decompress(&self.compressed, &mut record) {
            Ok(n) if n == length => Ok(Member::Good(record, compressed as u64)),
            Ok(_) => Ok(Member::Damaged("the lengths of the record do not match".into())),
            Err(_) => Ok(Member::Damaged("the record cannot be decompressed".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{SeekFrom, Write};

    #[test]
    fn all_member_formats_are_read() {
        let records = [b"first".repeat(500), Vec::new(), b"last".to_vec()];
        let mut file = tempfile::tempfile().unwrap();
        let mut bytes = Vec::new();
        for record in &records {
            RecordCompressor::new(LibraryFormat::Gzip, 1)
                .unwrap()
                .compress(record, false, &mut bytes)
                .unwrap();
            RecordCompressor::new(LibraryFormat::Gzip, 1)
                .unwrap()
                .compress(record, true, &mut bytes)
                .unwrap();
            RecordCompressor::new(LibraryFormat::Zstd, 3)
                .unwrap()
                .compress(record, false, &mut bytes)
                .unwrap();
            let mut plain = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            plain.write_all(record).unwrap();
            bytes.extend(plain.finish().unwrap());
        }
        file.write_all(&bytes).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut input = BufReader::with_capacity(64, file);
        let (mut decompressor, mut at) = (RecordDecompressor::new(), 0);
        for record in records.iter().flat_map(|r| [r, r, r, r]) {
            let Member::Good(read, length) = decompressor.read(&mut input, at) else { panic!("at {at}") };
            assert_eq!(&read, record);
            at += length;
        }
        assert!(matches!(decompressor.read(&mut input, at), Member::End));
        assert_eq!(at, bytes.len() as u64);
        // Other programs see an ordinary gzip file.
        let mut first = Vec::new();
        GzDecoder::new(&bytes[..]).read_to_end(&mut first).unwrap();
        assert_eq!(first, records[0]);
    }
}
