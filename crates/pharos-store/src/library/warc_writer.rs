//! Export of WARC files: a sequence of records, each in a gzip member of its own.

use std::io::{self, Write};

use pharos_core::Timestamp;
use pharos_core::config::LibraryFormat;

use super::compression::RecordCompressor;
use super::{LibraryRecord, warc};

/// Compression level. Exported files are written once and read often.
const LEVEL: u32 = 6;

/// Writes a WARC file compressed with gzip.
pub struct WarcWriter<W> {
    out: W,
    compressor: RecordCompressor,
    /// Buffer for one compressed record.
    member: Vec<u8>,
}

impl<W: Write> WarcWriter<W> {
    /// Starts a file with its `warcinfo` record. `name` is the file name stored in that record.
    pub fn begin(out: W, name: &str, at: Timestamp) -> io::Result<Self> {
        let compressor = RecordCompressor::new(LibraryFormat::Gzip, LEVEL)?;
        let mut writer = Self { out, compressor, member: Vec::new() };
        writer.append(&warc::warcinfo(name, at))?;
        Ok(writer)
    }

    /// Appends a record, without its request.
    pub fn write(&mut self, record: &LibraryRecord) -> io::Result<()> {
        self.append(&warc::write_record(record))
    }

    /// Flushes and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn append(&mut self, record: &[u8]) -> io::Result<()> {
        self.member.clear();
        self.compressor.compress(record, false, &mut self.member)?;
        self.out.write_all(&self.member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::warc_file::WarcScan;
    use crate::library::{RawResponse, RecordContent};
    use pharos_core::PageUrl;

    #[test]
    fn written_files_are_valid_warc() {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let response = RawResponse { status: 200, body: b"hello".to_vec(), ..RawResponse::default() };
        let page = LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response));
        let mut writer = WarcWriter::begin(Vec::new(), "mine.warc.gz", Timestamp::EPOCH).unwrap();
        writer.write(&page).unwrap();
        let bytes = writer.finish().unwrap();
        let records: Vec<_> = WarcScan::new(bytes.as_slice()).map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].field("WARC-Filename"), Some("mine.warc.gz"));
        let read = records[1].to_record().unwrap().unwrap();
        assert!(matches!(read.content, RecordContent::Response(r) if r.body == b"hello"));
    }
}
