//! How one record is compressed: a gzip member or a zstd frame of its own, so that it can be read alone.
//!
//! Our gzip members say in their header how long they are (the extra field `sl`, skip length, that drafts of the WARC
//! standard proposed): four bytes of compressed and four of uncompressed length. Other readers pass over it; we read a
//! member with two reads and unpack it in one go, which is twice as fast as a stream.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use flate2::bufread::GzDecoder;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use pharos_core::config::LibraryFormat;

/// A record larger than this, uncompressed, is not ours.
pub(super) const MAX_RECORD: usize = 256 << 20;
pub(super) const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic, flags (extra field), no time, no level, unknown system, 12 bytes of extra field: `sl` with 8 bytes.
const GZIP_HEAD: [u8; 16] = [0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 12, 0, b's', b'l', 8, 0];
const GZIP_HEAD_LENGTH: usize = GZIP_HEAD.len() + 8;
/// Deflate packs no more than this many bytes into one.
const MAX_RATIO: usize = 1032;

/// The ending of file names.
pub(super) fn suffix(format: LibraryFormat) -> &'static str {
    match format {
        LibraryFormat::Gzip => ".warc.gz",
        LibraryFormat::Zstd => ".warc.zst",
    }
}

/// Packs records, one after the other.
pub(super) struct Packer {
    codec: Codec,
    /// Where a packed record comes into being. It only grows: clearing it again and again would cost a tenth of the
    /// whole.
    room: Vec<u8>,
}

enum Codec {
    /// The second writes down as it is what would not become smaller.
    Gzip(Compressor, Compressor),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl Packer {
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
        Ok(Self { codec, room: Vec::new() })
    }

    /// Adds a packed record to `out`. `is_dense`: it is compressed already.
    pub(super) fn pack(&mut self, record: &[u8], is_dense: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let bound = match &mut self.codec {
            Codec::Gzip(codec, _) => codec.deflate_compress_bound(record.len()),
            Codec::Zstd(_) => zstd::zstd_safe::compress_bound(record.len()),
        };
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        match &mut self.codec {
            Codec::Gzip(codec, copier) => {
                let codec = if is_dense { copier } else { codec };
                let packed = codec
                    .deflate_compress(record, &mut self.room)
                    .map_err(|e| io::Error::other(e.to_string()))?;
                out.reserve(GZIP_HEAD_LENGTH + packed + 8);
                out.extend_from_slice(&GZIP_HEAD);
                out.extend_from_slice(&length_field(GZIP_HEAD_LENGTH + packed + 8));
                out.extend_from_slice(&length_field(record.len()));
                out.extend_from_slice(&self.room[..packed]);
                out.extend_from_slice(&libdeflater::crc32(record).to_le_bytes());
                out.extend_from_slice(&length_field(record.len()));
            }
            Codec::Zstd(codec) => {
                let packed = codec.compress_to_buffer(record, &mut self.room[..])?;
                out.extend_from_slice(&self.room[..packed]);
            }
        }
        Ok(())
    }
}

/// Lengths as gzip writes them. Records are far below 4 GB.
fn length_field(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

/// What stands where a record should begin.
pub(super) enum Member {
    /// A whole record: its bytes and its packed length.
    Good(Vec<u8>, u64),
    /// Nothing: the file ends here.
    End,
    /// The file ends inside the record.
    Torn(String),
    /// Something else.
    Bad(String),
}

/// Unpacks records.
pub(super) struct Unpacker {
    gzip: Decompressor,
    packed: Vec<u8>,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self { gzip: Decompressor::new(), packed: Vec::new() }
    }

    /// The first bytes of the record that begins where `input` stands, with little of it unpacked. Nothing says that
    /// they are as they were written: the checksum stands at the end.
    pub(super) fn beginning(input: &mut BufReader<File>) -> io::Result<Vec<u8>> {
        /// Enough for the lines that say what a record is.
        const ENOUGH: u64 = 512;
        let mut start = Vec::new();
        if input.fill_buf()?.starts_with(&ZSTD_MAGIC) {
            let frame = zstd::stream::read::Decoder::with_buffer(input)?.single_frame();
            frame.take(ENOUGH).read_to_end(&mut start)?;
        } else {
            GzDecoder::new(input).take(ENOUGH).read_to_end(&mut start)?;
        }
        Ok(start)
    }

    /// Reads the record that begins where `input` stands, which is at `start`.
    pub(super) fn read(&mut self, input: &mut BufReader<File>, start: u64) -> Member {
        self.try_read(input, start).unwrap_or_else(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Member::Torn("the file ends inside a record".into()),
            _ => Member::Bad(error.to_string()),
        })
    }

    fn try_read(&mut self, input: &mut BufReader<File>, start: u64) -> io::Result<Member> {
        self.packed.clear();
        input.by_ref().take(GZIP_HEAD_LENGTH as u64).read_to_end(&mut self.packed)?;
        if self.packed.is_empty() {
            return Ok(Member::End);
        }
        if self.packed.len() == GZIP_HEAD_LENGTH && self.packed.starts_with(&GZIP_HEAD) {
            return self.read_measured(input);
        }
        input.seek_relative(-(self.packed.len() as i64))?;
        let mut record = Vec::new();
        if self.packed.starts_with(&ZSTD_MAGIC) {
            let frame = zstd::stream::read::Decoder::with_buffer(&mut *input)?.single_frame();
            frame.take(MAX_RECORD as u64).read_to_end(&mut record)?;
        } else {
            GzDecoder::new(&mut *input).take(MAX_RECORD as u64).read_to_end(&mut record)?;
        }
        if record.len() == MAX_RECORD {
            return Ok(Member::Bad("a record of absurd size".into()));
        }
        Ok(Member::Good(record, input.stream_position()?.saturating_sub(start)))
    }

    /// A member that says how long it is. It may lie: nothing is believed before the checksum agrees.
    fn read_measured(&mut self, input: &mut BufReader<File>) -> io::Result<Member> {
        let field = |at: usize| {
            let bytes = self.packed.get(at..at + 4).and_then(|b| b.try_into().ok()).unwrap_or_default();
            u32::from_le_bytes(bytes) as usize
        };
        let (packed, length) = (field(16), field(20));
        if packed < GZIP_HEAD_LENGTH + 8 || packed.max(length) > MAX_RECORD || length / MAX_RATIO > packed {
            return Ok(Member::Bad("a record of absurd size".into()));
        }
        let rest = (packed - GZIP_HEAD_LENGTH) as u64;
        input.by_ref().take(rest).read_to_end(&mut self.packed)?;
        if self.packed.len() < packed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut record = vec![0; length];
        match self.gzip.gzip_decompress(&self.packed, &mut record) {
            Ok(n) if n == length => Ok(Member::Good(record, packed as u64)),
            Ok(_) => Ok(Member::Bad("the lengths of a record do not agree".into())),
            Err(_) => Ok(Member::Bad("a record that cannot be decompressed".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{SeekFrom, Write};

    #[test]
    fn every_kind_of_member_is_read_and_measured() {
        let records = [b"first".repeat(500), Vec::new(), b"last".to_vec()];
        let mut file = tempfile::tempfile().unwrap();
        let mut bytes = Vec::new();
        for record in &records {
            Packer::new(LibraryFormat::Gzip, 1).unwrap().pack(record, false, &mut bytes).unwrap();
            Packer::new(LibraryFormat::Gzip, 1).unwrap().pack(record, true, &mut bytes).unwrap();
            Packer::new(LibraryFormat::Zstd, 3).unwrap().pack(record, false, &mut bytes).unwrap();
            let mut plain = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            plain.write_all(record).unwrap();
            bytes.extend(plain.finish().unwrap());
        }
        file.write_all(&bytes).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut input = BufReader::with_capacity(64, file);
        let (mut unpacker, mut at) = (Unpacker::new(), 0);
        for record in records.iter().flat_map(|r| [r, r, r, r]) {
            let Member::Good(read, length) = unpacker.read(&mut input, at) else { panic!("at {at}") };
            assert_eq!(&read, record);
            at += length;
        }
        assert!(matches!(unpacker.read(&mut input, at), Member::End));
        assert_eq!(at, bytes.len() as u64);
        // Other programs see an ordinary gzip file.
        let mut first = Vec::new();
        GzDecoder::new(&bytes[..]).read_to_end(&mut first).unwrap();
        assert_eq!(first, records[0]);
    }
}
