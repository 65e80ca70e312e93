//! Reading a raw file from end to end, past whatever is damaged.

use std::io::{self, Read, Seek, SeekFrom};

use super::{Damage, Head, MAX_RECORD, TianwangRecord, VERSION_LINE, begins_head};

/// Longest head that is read.
const MAX_HEAD: usize = 64 << 10;
/// What is read to see a head; nearly all are shorter.
const PROBE: usize = 1 << 10;
/// Bytes looked through at a time behind damage.
const WINDOW: usize = 1 << 20;
/// Records in a row that prove that the first begins where it seems to.
const PROOF: usize = 3;

/// All records of a raw file in order, with their offsets, and the damaged stretches between them. No more than one
/// record is in memory at a time.
///
/// Two cases go beyond the authors' recovery, so that damage costs nobody else's page: where fewer than three
/// records stand between two damages, one is trusted that has address, date and an HTTP header; and `version:` is
/// looked for in the middle of lines too, because the line feed before it may be what is damaged. When a record is
/// not followed by another, its `length` is in doubt, and records inside its data are looked for first.
///
/// An I/O error is reported as damage to the end of the file.
pub struct TianwangScan<R> {
    source: R,
    size: u64,
    at: u64,
}

/// A record that keeps the rules.
struct Extent {
    head: Head,
    /// Where DATA begins.
    data: u64,
    /// Where the next record begins.
    next: u64,
    /// Whether it does, or the file ends there.
    followed: bool,
}

enum Fault {
    Io(io::Error),
    Format(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<&str> for Fault {
    fn from(detail: &str) -> Self {
        Self::Format(detail.into())
    }
}

impl<R: Read + Seek> TianwangScan<R> {
    /// Reads `source` from its beginning. A plain file is best: the scan reads in large pieces itself.
    pub fn new(mut source: R) -> io::Result<Self> {
        let size = source.seek(SeekFrom::End(0))?;
        Ok(Self { source, size, at: 0 })
    }

    /// Up to `length` bytes; fewer only at the end of the file.
    fn bytes_at(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.seek(SeekFrom::Start(offset))?;
        (&mut self.source).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The record at `offset`, if there is one that keeps the rules.
    fn sound_at(&mut self, offset: u64) -> Result<Extent, Fault> {
        let window = self.bytes_at(offset, PROBE as u64)?;
        let mut head = Head::parse(&window)?;
        if head.is_none() && window.len() == PROBE {
            head = Head::parse(&self.bytes_at(offset, MAX_HEAD as u64)?)?;
        }
        let head = head.ok_or("the head has no end")?;
        if head.length > MAX_RECORD {
            return Err(Fault::Format(format!("data of {} bytes, more than {MAX_RECORD}", head.length)));
        }
        let data = offset + head.size as u64;
        let end = data + head.length;
        if end >= self.size {
            return Err("the record is cut off".into());
        }
        let behind = self.bytes_at(end, 1 + VERSION_LINE as u64)?;
        if behind.first() != Some(&b'\n') {
            return Err("no blank line behind the data".into());
        }
        let next = end + 1;
        Ok(Extent { head, data, next, followed: next == self.size || begins_head(&behind[1..]) })
    }

    /// Is this the beginning of a record? Yes if three in a row are sound (or fewer, up to the end of the file); with
    /// `lone`, also if one is complete.
    fn proven(&mut self, offset: u64, lone: bool) -> io::Result<bool> {
        let mut next = offset;
        let mut first_is_complete = false;
        for count in 0..PROOF {
            if count > 0 && next == self.size {
                return Ok(true);
            }
            let extent = match self.sound_at(next) {
                Ok(extent) => extent,
                Err(Fault::Io(error)) => return Err(error),
                Err(Fault::Format(_)) => return Ok(first_is_complete),
            };
            if count == 0 && lone && extent.head.url.is_some() && extent.head.date.is_some() {
                first_is_complete =
                    extent.head.unzip_length.is_some() || self.bytes_at(extent.data, 5)? == b"HTTP/";
            }
            next = extent.next;
        }
        Ok(true)
    }

    /// The first proven beginning of a record in `from..until`.
    fn search(&mut self, from: u64, until: u64, lone: bool) -> io::Result<Option<u64>> {
        let mut at = from;
        while at < until {
            let wanted = (until - at + VERSION_LINE as u64).min(WINDOW as u64);
            let window = self.bytes_at(at, wanted)?;
            for (i, _) in window.iter().enumerate().filter(|(_, b)| **b == b'v') {
                let candidate = at + i as u64;
                // What can be seen to be no head needs no reading.
                let head = Head::parse(&window[i..window.len().min(i + MAX_HEAD)]);
                if candidate < until && head.is_ok() && self.proven(candidate, lone)? {
                    return Ok(Some(candidate));
                }
            }
            if (window.len() as u64) < WINDOW as u64 {
                break;
            }
            // A version line across the border is seen whole the next time.
            at += (WINDOW - VERSION_LINE) as u64;
        }
        Ok(None)
    }

    /// Reads what is at `self.at` and moves behind it.
    fn step(&mut self) -> Result<TianwangRecord, Fault> {
        let start = self.at;
        let extent = match self.sound_at(start) {
            Ok(extent) => extent,
            Err(Fault::Format(detail)) => {
                self.at = self.search(start + 1, self.size, true)?.unwrap_or(self.size);
                return Err(Fault::Format(detail));
            }
            Err(error) => return Err(error),
        };
        if !extent.followed
            && let Some(inside) = self.search(start + 1, extent.next, false)?
        {
            self.at = inside;
            return Err("`length` leads into a later record".into());
        }
        let data = self.bytes_at(extent.data, extent.head.length)?;
        self.at = extent.next;
        extent.head.with_data(data).map_err(Fault::Format)
    }
}

impl<R: Read + Seek> Iterator for TianwangScan<R> {
    type Item = Result<(u64, TianwangRecord), Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.at;
        if offset >= self.size {
            return None;
        }
        let detail = match self.step() {
            Ok(record) => return Some(Ok((offset, record))),
            Err(Fault::Format(detail)) => detail,
            Err(Fault::Io(error)) => {
                self.at = self.size;
                format!("cannot read on: {error}")
            }
        };
        Some(Err(Damage { offset, length: self.at - offset, detail }))
    }
}
