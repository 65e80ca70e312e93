//! Reader of foreign WARC files (ISO 28500, versions 0.17 to 1.1), including damaged ones.
//!
//! A file is read in three layers: `input` buffers the bytes, `container` decompresses gzip and zstd, and
//! [`WarcScan`] splits the decompressed bytes into records. Each layer resynchronises on its own after damage: the
//! container at the next member or frame that holds WARC, the scan at the next line that starts a record.
//!
//! # Invariants
//! * Memory is bounded by the limit on blocks, and time by the length of the decompressed file, for any input.
//! * A record is returned only if no available check contradicts it: its digest, and the checksum of its member if
//!   the record has a member of its own.

mod container;
mod gzip;
mod header;
mod http;
mod input;
mod read_ahead;
mod record;
#[cfg(test)]
mod tests;
mod zstd;

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem;

use crate::StoreError;
use container::{Container, UnitStep};
use header::MAX_HEADER;
use input::{CHUNK, WarcInput};
pub use read_ahead::ReadAhead;
pub use record::WarcRecord;

/// Default maximum size of a block; larger blocks are skipped.
const MAX_BLOCK: usize = 256 << 20;
/// Number of bytes after a block that are checked to confirm its end.
const LOOKAHEAD: usize = 12;
/// Budget of a whole scan for re-examining suspicious data, in bytes.
const DOUBT_BUDGET: usize = 256 << 20;
/// Buffer capacity above which an empty buffer is released.
const MAX_IDLE: usize = 16 << 20;

/// An unreadable range of a WARC file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarcDamage {
    /// Start: the offset of the gzip member or zstd frame, or of the record in an uncompressed file.
    pub offset: u64,
    /// Human-readable description of the damage.
    pub detail: String,
}

/// Opens a WARC file, compressed or not.
pub fn open_warc(path: &Path) -> Result<WarcScan, StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let metadata = file.metadata().map_err(StoreError::io("read", path))?;
    if metadata.is_dir() {
        let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(StoreError::io("read", path)(error));
    }
    let rewind: input::Rewind<File> = |file, offset| file.seek(SeekFrom::Start(offset)).map(drop);
    Ok(WarcScan::from_input(WarcInput::new(file, metadata.is_file().then_some(rewind))))
}

/// Iterator over the records of a WARC file, with the damaged ranges between them.
///
/// A record without a checksum of its own (in an uncompressed file, or one of several in a gzip member) is verified
/// by its digests only. If the input is a pipe, an uncompressed record that wrongly claims to exceed the size limit
/// hides the records up to its claimed end, because the scan cannot seek back.
pub struct WarcScan<R = File> {
    container: Container<R>,
    max_block: usize,
    unit: Option<UnitState>,
    /// Decompressed bytes of the unit, consumed up to `pos`.
    window: Vec<u8>,
    pos: usize,
    doubt_budget: usize,
    /// The caller verifies the digests of compressed records.
    defer_digests: bool,
}

/// Position within a gzip member, a zstd frame or an uncompressed file.
struct UnitState {
    offset: u64,
    /// Number of decompressed bytes before the window.
    passed: u64,
    /// Number of records read from the unit.
    records: u64,
    /// Damage was reported and the next record has not been found yet.
    lost: bool,
    end: UnitEnd,
}

enum UnitEnd {
    Ahead,
    Whole,
    Broken(String),
}

/// Header fields that occur at most once per record.
const UNIQUE: [&str; 5] = ["WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "Content-Length"];

type ScanItem = Result<WarcRecord, WarcDamage>;

impl<R: Read> WarcScan<R> {
    /// Creates a scan over any reader, including a pipe.
    pub fn new(input: R) -> Self {
        Self::from_input(WarcInput::new(input, None))
    }

    fn from_input(source: WarcInput<R>) -> Self {
        let container = Container::new(source);
        Self {
            container,
            max_block: MAX_BLOCK,
            unit: None,
            window: Vec::new(),
            pos: 0,
            doubt_budget: DOUBT_BUDGET,
            defer_digests: false,
        }
    }

    /// Skips blocks larger than `bytes` bytes and reports them.
    #[must_use]
    pub fn with_max_block(mut self, bytes: usize) -> Self {
        self.max_block = bytes;
        self
    }

    /// Fills the window with at least `want` bytes of the unit, or with all that remain.
    fn fill(&mut self, unit: &mut UnitState, want: usize) -> &[u8] {
        while self.window.len() - self.pos < want && matches!(unit.end, UnitEnd::Ahead) {
            if self.pos > self.window.len() / 2 {
                self.window.drain(..self.pos);
                unit.passed += self.pos as u64;
                self.pos = 0;
            }
            match self.container.more(&mut self.window) {
                UnitStep::More => {}
                UnitStep::End => unit.end = UnitEnd::Whole,
                UnitStep::Broken(detail) => unit.end = UnitEnd::Broken(detail),
            }
        }
        &self.window[self.pos..]
    }

    /// Returns the next record or damage of the unit, or `None` if this step produced none or the unit has ended.
    fn step(&mut self, unit: &mut UnitState) -> Option<ScanItem> {
        if unit.lost {
            self.find_record(unit);
        }
        while self.fill(unit, 1).first().is_some_and(|b| *b == b'\r' || *b == b'\n') {
            self.pos += 1;
        }
        if self.pos < self.window.len() {
            return self.record(unit);
        }
        // Damage that was reported for a record is not reported again for its unit.
        match std::mem::replace(&mut unit.end, UnitEnd::Whole) {
            UnitEnd::Broken(detail) if !unit.lost => {
                Some(Err(WarcDamage { offset: self.offset(unit), detail }))
            }
            _ => None,
        }
    }

    /// Returns the offset of a record that starts at `pos`.
    fn offset(&self, unit: &UnitState) -> u64 {
        if self.container.is_compressed() { unit.offset } else { unit.offset + unit.passed + self.pos as u64 }
    }

    /// Advances to the next apparent start of a record, or to the end of the unit. After a loss of bytes a record
    /// may start within a line; in that case its header must be complete.
    fn find_record(&mut self, unit: &mut UnitState) {
        const MAGIC: &[u8] = b"WARC/";
        loop {
            let rest = self.fill(unit, CHUNK);
            let length = rest.len();
            let Some(at) = memmem::find(rest, MAGIC) else {
                self.pos += if length < CHUNK { length } else { length + 1 - MAGIC.len() };
                if length < CHUNK {
                    return;
                }
                continue;
            };
            let in_line = at.checked_sub(1).is_none_or(|before| rest[before] != b'\n');
            self.pos += at;
            if version(self.fill(unit, 32)).is_some() && (!in_line || self.has_complete_header(unit)) {
                return;
            }
            self.pos += 1;
        }
    }

    fn has_complete_header(&mut self, unit: &mut UnitState) -> bool {
        if self.doubt_budget == 0 {
            return false;
        }
        let bytes = self.fill(unit, MAX_HEADER);
        let window = &bytes[..bytes.len().min(MAX_HEADER)];
        let length = header::length(window);
        let complete = length
            .is_some_and(|length| RecordHeader::parse(&window[..length]).is_ok_and(|h| h.is_complete()));
        let examined = length.unwrap_or(window.len());
        self.doubt_budget = self.doubt_budget.saturating_sub(examined);
        complete
    }

    /// Abandons the record at `pos`. The search for the next one starts `skip` bytes later.
    fn abandon(&mut self, unit: &mut UnitState, skip: usize, detail: String) -> Option<ScanItem> {
        let offset = self.offset(unit);
        self.pos += skip.max(1);
        let known = std::mem::replace(&mut unit.lost, true);
        (!known).then_some(Err(WarcDamage { offset, detail }))
    }

    fn record(&mut self, unit: &mut UnitState) -> Option<ScanItem> {
        let (head_length, head) = match self.head(unit) {
            Ok(found) => found,
            Err(detail) => return self.abandon(unit, 1, detail),
        };
        // After damage, an apparent record may be part of a block, so it must have a complete header.
        if unit.lost && !head.is_complete() {
            return self.abandon(unit, 1, String::new());
        }
        unit.lost = false;
        let Some(length) = usize::try_from(head.length).ok().filter(|length| *length <= self.max_block)
        else {
            return self.skip_oversized(unit, head_length, head.length);
        };
        let offset = self.offset(unit);
        let size = head_length + length;
        let doubt_budget = self.doubt_budget;
        let defer_digests = self.defer_digests && self.container.is_compressed();
        let bytes = self.fill(unit, size + LOOKAHEAD);
        let Some((whole, behind)) = bytes.split_at_checked(size) else {
            let detail = match &unit.end {
                UnitEnd::Broken(detail) => detail.clone(),
                _ => "the record is shorter than its Content-Length".into(),
            };
            // The line end before the block, where the next record may already start.
            return self.abandon(unit, head_length - 1, detail);
        };
        let block = &whole[head_length..];
        if !ends_here(behind) {
            if length > doubt_budget || record::block_matches(&head.fields, block) != Some(true) {
                self.doubt_budget = doubt_budget.saturating_sub(length);
                return self.abandon(
                    unit,
                    head_length - 1,
                    "the record is longer than its Content-Length".into(),
                );
            }
        } else if !defer_digests && record::contradicts_digest(&head.fields, block) {
            let detail = "the digest does not match";
            if !self.container.is_compressed() && length <= doubt_budget {
                // After a loss of bytes, the next record may start inside the apparent block.
                self.doubt_budget = doubt_budget - length;
                return self.abandon(unit, head_length - 1, detail.into());
            }
            self.pos += size;
            unit.lost = self.unit_damage(unit).is_some();
            return Some(Err(WarcDamage { offset, detail: detail.into() }));
        }
        let record = WarcRecord { offset, version: head.version, fields: head.fields, block: block.to_vec() };
        self.pos += size;
        if let Some(detail) = self.unit_damage(unit) {
            unit.lost = true;
            return Some(Err(WarcDamage { offset, detail }));
        }
        unit.records += 1;
        Some(Ok(record))
    }

    /// Returns the damage of the unit if the record just read is its only one.
    fn unit_damage(&mut self, unit: &mut UnitState) -> Option<String> {
        if unit.records > 0 || !self.container.is_compressed() {
            return None;
        }
        let mut rest = self.fill(unit, LOOKAHEAD);
        if rest.trim_ascii_start().starts_with(b"WARC/") {
            return None;
        }
        rest = self.fill(unit, CHUNK);
        let alone = memmem::find(rest, b"\nWARC/").is_none();
        match &unit.end {
            UnitEnd::Broken(detail) if alone => Some(detail.clone()),
            _ => None,
        }
    }

    /// Skips a record whose block exceeds the limit.
    fn skip_oversized(&mut self, unit: &mut UnitState, head_length: usize, length: u64) -> Option<ScanItem> {
        let offset = self.offset(unit);
        let limit = self.max_block;
        let detail = format!("block of {length} bytes exceeds the limit of {limit}");
        self.pos += head_length;
        let block = self.offset(unit);
        let mut left = length;
        while left > 0 {
            let buffered = self.fill(unit, 1).len();
            if buffered == 0 {
                break;
            }
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(buffered);
            self.pos += step;
            left -= step as u64;
        }
        if left > 0 || !ends_here(self.fill(unit, LOOKAHEAD)) {
            unit.lost = true;
            // The line end before the block, where the next record may already start.
            let from = block.saturating_sub(1);
            if self.container.rewind(from) {
                *unit = UnitState { offset: from, passed: 0, end: UnitEnd::Ahead, ..*unit };
                self.window.clear();
                self.pos = 0;
            }
        }
        Some(Err(WarcDamage { offset, detail }))
    }

    /// Returns the header of the record at `pos`, and its length.
    fn head(&mut self, unit: &mut UnitState) -> Result<(usize, RecordHeader), String> {
        let mut want = 4 << 10;
        loop {
            let bytes = self.fill(unit, want);
            let window = &bytes[..bytes.len().min(MAX_HEADER)];
            let mut lines = header::lines(window);
            let first = lines.next().unwrap_or(window);
            if version(first).is_none() {
                return Err("no WARC record starts here".into());
            }
            // An apparent start of a record is one: the current record lost the end of its header.
            match lines.find(|line| line.is_empty() || version(line).is_some()) {
                Some([]) => return Ok((lines.at, RecordHeader::parse(&window[..lines.at])?)),
                Some(_) => return Err("incomplete WARC header".into()),
                None if want >= MAX_HEADER && window.len() == MAX_HEADER => {
                    return Err(format!("WARC header longer than {MAX_HEADER} bytes"));
                }
                None if bytes.len() < want => {
                    return Err(match &unit.end {
                        UnitEnd::Broken(detail) => detail.clone(),
                        _ => "unterminated WARC header".into(),
                    });
                }
                None => want = (want * 4).min(MAX_HEADER),
            }
        }
    }
}

impl<R: Read> Iterator for WarcScan<R> {
    type Item = ScanItem;

    fn next(&mut self) -> Option<ScanItem> {
        loop {
            let mut unit = match self.unit.take() {
                Some(unit) => unit,
                None => match self.container.next_unit()? {
                    Ok(offset) => {
                        UnitState { offset, passed: 0, records: 0, lost: false, end: UnitEnd::Ahead }
                    }
                    Err(damage) => return Some(Err(damage)),
                },
            };
            let item = self.step(&mut unit);
            if self.pos < self.window.len() || !matches!(unit.end, UnitEnd::Whole) {
                self.unit = Some(unit);
            } else {
                self.pos = 0;
                self.window.clear();
                if self.window.capacity() > MAX_IDLE {
                    self.window = Vec::new();
                }
            }
            if item.is_some() {
                return item;
            }
        }
    }
}

struct RecordHeader {
    version: String,
    fields: Vec<(String, String)>,
    /// Length of the block.
    length: u64,
}

impl RecordHeader {
    fn parse(head: &[u8]) -> Result<Self, String> {
        let mut lines = header::lines(head);
        let version = lines.next().and_then(version).ok_or("no WARC record starts here")?;
        let fields = header::fields(&head[lines.at..]);
        // Different values of a unique field indicate that the headers of two records were merged.
        for name in UNIQUE {
            let mut values =
                fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value);
            let first = values.next();
            if values.any(|other| Some(other) != first) {
                return Err(format!("more than one {name} in the WARC header"));
            }
        }
        let stated =
            header::field(&fields, "Content-Length").ok_or("no Content-Length in the WARC header")?;
        let digits = Some(stated).filter(|s| s.bytes().all(|b| b.is_ascii_digit()));
        let length = digits.and_then(|s| s.parse().ok()).ok_or("invalid Content-Length")?;
        Ok(Self { version: version.to_string(), fields, length })
    }

    /// Returns `true` if all mandatory fields are present.
    fn is_complete(&self) -> bool {
        ["WARC-Type", "WARC-Record-ID"].iter().all(|name| header::field(&self.fields, name).is_some())
    }
}

/// Returns the version in a line such as `WARC/1.1`, the first line of every record.
fn version(line: &[u8]) -> Option<&str> {
    let line = line.split(|b| *b == b'\n').next()?.trim_ascii_end();
    let version = std::str::from_utf8(line.strip_prefix(b"WARC/")?).ok()?;
    let (major, minor) = version.split_once('.')?;
    let number = |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    (number(major) && number(minor)).then_some(version)
}

/// Returns `true` if a block plausibly ends before these bytes. It should be followed by two line ends. One or both
/// may be missing or damaged if another record or the end of the unit follows.
fn ends_here(behind: &[u8]) -> bool {
    let behind = &behind[..behind.len().min(LOOKAHEAD)];
    behind.len() <= 4
        || [&b"\r\n\r\n"[..], b"\n\n", b"WARC/"].iter().any(|end| behind.starts_with(end))
        || memmem::find(behind, b"\nWARC/").is_some()
}
