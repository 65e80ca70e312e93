//! Sequential scan of a raw file that continues after damaged records.

use std::io::{self, Read, Seek, SeekFrom};

use super::{DamagedRange, MAX_RECORD, RecordHead, TianwangRecord, VERSION_LINE, is_head_start};

/// Maximum length of a head.
const MAX_HEAD: usize = 64 << 10;
/// Number of bytes read to parse a head; nearly all heads are shorter.
const PROBE: usize = 1 << 10;
/// Number of bytes searched at a time after damage.
const WINDOW: usize = 1 << 20;
/// Number of consecutive valid records that confirm the start of the first.
const CONFIRMING_RECORDS: usize = 3;

/// Iterator over all records of a raw file with their offsets, and the damaged ranges between them. At most one
/// record is in memory.
///
/// Two extensions of the authors' recovery procedure keep damage local. Between two damaged ranges with fewer than
/// three records, a single record with URL, date and HTTP header is accepted. `version:` is also searched in the
/// middle of lines, because the line feed before it may be damaged. If a record is not followed by another, its
/// `length` is doubtful, and records inside its data are searched first.
///
/// An I/O error is reported as damage up to the end of the file.
pub struct TianwangScan<R> {
    source: R,
    size: u64,
    at: u64,
}

/// A record that satisfies the rules of the format.
struct RecordExtent {
    head: RecordHead,
    /// Offset of DATA.
    data: u64,
    /// Offset of the next record.
    next: u64,
    /// `true` if a record starts there or the file ends.
    followed: bool,
}

enum ScanFault {
    Io(io::Error),
    Format(String),
}

impl From<io::Error> for ScanFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<&str> for ScanFault {
    fn from(detail: &str) -> Self {
        Self::Format(detail.into())
    }
}

impl<R: Read + Seek> TianwangScan<R> {
    /// Scans `source` from its beginning. No buffering is needed, because the scan reads in large chunks.
    pub fn new(mut source: R) -> io::Result<Self> {
        let size = source.seek(SeekFrom::End(0))?;
        Ok(Self { source, size, at: 0 })
    }

    /// Reads up to `length` bytes; fewer only at the end of the file.
    fn bytes_at(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.seek(SeekFrom::Start(offset))?;
        (&mut self.source).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the record at `offset` if it satisfies the rules.
    fn valid_at(&mut self, offset: u64) -> Result<RecordExtent, ScanFault> {
        let window = self.bytes_at(offset, PROBE as u64)?;
        let mut head = RecordHead::parse(&window)?;
        if head.is_none() && window.len() == PROBE {
            head = RecordHead::parse(&self.bytes_at(offset, MAX_HEAD as u64)?)?;
        }
        let head = head.ok_or("unterminated head")?;
        if head.length > MAX_RECORD {
            return Err(ScanFault::Format(format!(
                "data of {} bytes exceeds the limit of {MAX_RECORD}",
                head.length
            )));
        }
        let data = offset + head.size as u64;
        let end = data + head.length;
        if end >= self.size {
            return Err("truncated record".into());
        }
        let behind = self.bytes_at(end, 1 + VERSION_LINE as u64)?;
        if behind.first() != Some(&b'\n') {
            return Err("no blank line after the data".into());
        }
        let next = end + 1;
        Ok(RecordExtent { head, data, next, followed: next == self.size || is_head_start(&behind[1..]) })
    }

    /// Returns `true` if a record starts here: three consecutive records are valid (or fewer up to the end of the
    /// file). With `lone`, one complete record is enough.
    fn is_confirmed(&mut self, offset: u64, lone: bool) -> io::Result<bool> {
        let mut next = offset;
        let mut first_is_complete = false;
        for count in 0..CONFIRMING_RECORDS {
            if count > 0 && next == self.size {
                return Ok(true);
            }
            let extent = match self.valid_at(next) {
                Ok(extent) => extent,
                Err(ScanFault::Io(error)) => return Err(error),
                Err(ScanFault::Format(_)) => return Ok(first_is_complete),
            };
            if count == 0 && lone && extent.head.url.is_some() && extent.head.date.is_some() {
                first_is_complete =
                    extent.head.unzip_length.is_some() || self.bytes_at(extent.data, 5)? == b"HTTP/";
            }
            next = extent.next;
        }
        Ok(true)
    }

    /// Returns the first confirmed start of a record in `from..until`.
    fn search(&mut self, from: u64, until: u64, lone: bool) -> io::Result<Option<u64>> {
        let mut at = from;
        while at < until {
            let wanted = (until - at + VERSION_LINE as u64).min(WINDOW as u64);
            let window = self.bytes_at(at, wanted)?;
            for (i, _) in window.iter().enumerate().filter(|(_, b)| **b == b'v') {
                let candidate = at + i as u64;
                // An invalid head is rejected without further reads.
                let head = RecordHead::parse(&window[i..window.len().min(i + MAX_HEAD)]);
                if candidate < until && head.is_ok() && self.is_confirmed(candidate, lone)? {
                    return Ok(Some(candidate));
                }
            }
            if (window.len() as u64) < WINDOW as u64 {
                break;
            }
            // A version line across the border is seen completely in the next window.
            at += (WINDOW - VERSION_LINE) as u64;
        }
        Ok(None)
    }

    /// Reads the record at `self.at` and advances after it.
    fn step(&mut self) -> Result<TianwangRecord, ScanFault> {
        let start = self.at;
        let extent = match self.valid_at(start) {
            Ok(extent) => extent,
            Err(ScanFault::Format(detail)) => {
                self.at = self.search(start + 1, self.size, true)?.unwrap_or(self.size);
                return Err(ScanFault::Format(detail));
            }
            Err(error) => return Err(error),
        };
        if !extent.followed
            && let Some(inside) = self.search(start + 1, extent.next, false)?
        {
            self.at = inside;
            return Err("`length` extends into a later record".into());
        }
        let data = self.bytes_at(extent.data, extent.head.length)?;
        self.at = extent.next;
        extent.head.with_data(data).map_err(ScanFault::Format)
    }
}

impl<R: Read + Seek> Iterator for TianwangScan<R> {
    type Item = Result<(u64, TianwangRecord), DamagedRange>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        if offset >= self.size {
            return None;
        }
        let detail = match self.step() {
            Ok(record) => return Some(Ok((offset, record))),
            Err(ScanFault::Format(detail)) => detail,
            Err(ScanFault::Io(error)) => {
                self.at = self.size;
                format!("read error: {error}")
            }
        };
        Some(Err(DamagedRange { offset, length: self.at - offset, detail }))
    }
}
