//! WARC files for others: the records one after the other, each a gzip member of its own.

use std::io::{self, Write};

use pharos_core::Timestamp;
use pharos_core::config::LibraryFormat;

use super::packing::Packer;
use super::{Record, warc};

/// How hard records are compressed: files for others are written once and read often.
const LEVEL: u32 = 6;

/// Writes a WARC file, packed with gzip.
pub struct WarcWriter<W> {
    out: W,
    packer: Packer,
    /// A record on its way out.
    member: Vec<u8>,
}

impl<W: Write> WarcWriter<W> {
    /// Begins a file with its `warcinfo` record. `name` is what the file calls itself.
    pub fn begin(out: W, name: &str, at: Timestamp) -> io::Result<Self> {
        let packer = Packer::new(LibraryFormat::Gzip, LEVEL)?;
        let mut writer = Self { out, packer, member: Vec::new() };
        writer.pack(&warc::warcinfo(name, at))?;
        Ok(writer)
    }

    /// Adds a record. The request that it answers is left out.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.pack(&warc::write(record))
    }

    /// Gives back what was written to, flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn pack(&mut self, record: &[u8]) -> io::Result<()> {
        self.member.clear();
        self.packer.pack(record, false, &mut self.member)?;
        self.out.write_all(&self.member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Response, WarcScan};
    use pharos_core::PageUrl;

    #[test]
    fn what_is_written_is_a_warc_file() {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let response = Response { status: 200, body: b"hello".to_vec(), ..Response::default() };
        let page = Record::new(url, Timestamp::EPOCH, Content::Response(response));
        let mut writer = WarcWriter::begin(Vec::new(), "mine.warc.gz", Timestamp::EPOCH).unwrap();
        writer.write(&page).unwrap();
        let bytes = writer.finish().unwrap();
        let records: Vec<_> = WarcScan::new(bytes.as_slice()).map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].field("WARC-Filename"), Some("mine.warc.gz"));
        let read = records[1].to_record().unwrap().unwrap();
        assert!(matches!(read.content, Content::Response(r) if r.body == b"hello"));
    }
}
