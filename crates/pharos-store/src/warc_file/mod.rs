//! WARC files of others (ISO 28500, versions 0.17 to 1.1), whatever wrote them and whatever befell them since.
//!
//! A file is read in three layers: [`source`] holds the bytes, [`container`] unpacks gzip and zstd, and
//! [`WarcScan`] cuts the unpacked bytes into records. Each layer finds its own way on behind what is damaged: the
//! container to the next member or frame that holds WARC, the scan to the next line that begins a record.
//!
//! # Invariants
//! * Memory is bounded by the limit on blocks, time by the length of the unpacked file, whatever the bytes are.
//! * A record comes out only if nothing that could tell says that it is damaged: its digest, and the checksum of
//!   its member if it has one of its own.

mod ahead;
mod container;
mod gzip;
mod head;
mod http;
mod record;
mod source;
#[cfg(test)]
mod tests;
mod zstd;

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem;

use crate::StoreError;
pub use ahead::ReadAhead;
use container::{Container, Step};
use head::MAX_HEAD;
pub use record::WarcRecord;
use source::{CHUNK, Source};

/// Blocks larger than this are passed over, unless told otherwise.
const MAX_BLOCK: usize = 256 << 20;
/// Bytes behind a block by which one sees that it ends there.
const BEHIND: usize = 12;
/// Bytes that are looked at, over a whole scan, only to see whether what looks wrong is right after all.
const DOUBT: usize = 256 << 20;
/// A window that has grown past this is given back when it is empty.
const MAX_IDLE: usize = 16 << 20;

/// A stretch of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where it begins: the offset of the gzip member or zstd frame, or of the record in a plain file.
    pub offset: u64,
    /// What is wrong, for a person.
    pub detail: String,
}

/// Opens a WARC file, packed or plain.
pub fn open_warc(path: &Path) -> Result<WarcScan, StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let metadata = file.metadata().map_err(StoreError::io("read", path))?;
    if metadata.is_dir() {
        let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(StoreError::io("read", path)(error));
    }
    let rewind: source::Rewind<File> = |file, offset| file.seek(SeekFrom::Start(offset)).map(drop);
    Ok(WarcScan::over(Source::new(file, metadata.is_file().then_some(rewind))))
}

/// The records of a WARC file in order, with the damaged stretches between them.
///
/// A record without a checksum of its own (in a plain file, or one of many in a gzip member) is checked by its
/// digests only. A plain record that claims to be over the limit but is not hides the records up to where it
/// claims to end, if the file is a pipe and one cannot go back.
pub struct WarcScan<R = File> {
    container: Container<R>,
    max_block: usize,
    unit: Option<Unit>,
    /// Unpacked bytes of the unit, read up to `pos`.
    window: Vec<u8>,
    pos: usize,
    doubt: usize,
    /// Somebody else looks at the digests of packed records.
    trusting: bool,
}

/// Where we are in a gzip member, a zstd frame or a plain file.
struct Unit {
    offset: u64,
    /// Unpacked bytes in front of the window.
    passed: u64,
    /// Records that came out of it.
    records: u64,
    /// A damage has been reported, and the next record behind it is not found yet.
    lost: bool,
    end: End,
}

enum End {
    Ahead,
    Whole,
    Broken(String),
}

/// Fields of which a record has but one.
const UNIQUE: [&str; 5] = ["WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "Content-Length"];

type Item = Result<WarcRecord, Damage>;

impl<R: Read> WarcScan<R> {
    /// Reads from anything, also from a pipe.
    pub fn new(input: R) -> Self {
        Self::over(Source::new(input, None))
    }

    fn over(source: Source<R>) -> Self {
        let container = Container::new(source);
        Self {
            container,
            max_block: MAX_BLOCK,
            unit: None,
            window: Vec::new(),
            pos: 0,
            doubt: DOUBT,
            trusting: false,
        }
    }

    /// Passes over blocks of more than `bytes` bytes, and says so.
    #[must_use]
    pub fn with_max_block(mut self, bytes: usize) -> Self {
        self.max_block = bytes;
        self
    }

    /// Has `want` bytes of the unit in the window, or all there are.
    fn fill(&mut self, unit: &mut Unit, want: usize) -> &[u8] {
        while self.window.len() - self.pos < want && matches!(unit.end, End::Ahead) {
            if self.pos > self.window.len() / 2 {
                self.window.drain(..self.pos);
                unit.passed += self.pos as u64;
                self.pos = 0;
            }
            match self.container.more(&mut self.window) {
                Step::More => {}
                Step::End => unit.end = End::Whole,
                Step::Broken(detail) => unit.end = End::Broken(detail),
            }
        }
        &self.window[self.pos..]
    }

    /// The next thing the unit has to say. `None` means that there was nothing, or the unit is at its end.
    fn step(&mut self, unit: &mut Unit) -> Option<Item> {
        if unit.lost {
            self.find_record(unit);
        }
        while self.fill(unit, 1).first().is_some_and(|b| *b == b'\r' || *b == b'\n') {
            self.pos += 1;
        }
        if self.pos < self.window.len() {
            return self.record(unit);
        }
        // What has been reported as the damage of a record is not reported again as that of its unit.
        match std::mem::replace(&mut unit.end, End::Whole) {
            End::Broken(detail) if !unit.lost => Some(Err(Damage { offset: self.offset(unit), detail })),
            _ => None,
        }
    }

    /// Where a record that begins at `pos` stands.
    fn offset(&self, unit: &Unit) -> u64 {
        if self.container.is_packed() { unit.offset } else { unit.offset + unit.passed + self.pos as u64 }
    }

    /// Goes to where the next record seems to begin, or to the end of the unit. Where bytes have been lost, that
    /// need not be the beginning of a line; then all of its header must be there.
    fn find_record(&mut self, unit: &mut Unit) {
        const BEGINNING: &[u8] = b"WARC/";
        loop {
            let rest = self.fill(unit, CHUNK);
            let length = rest.len();
            let Some(at) = memmem::find(rest, BEGINNING) else {
                self.pos += if length < CHUNK { length } else { length + 1 - BEGINNING.len() };
                if length < CHUNK {
                    return;
                }
                continue;
            };
            let in_line = at.checked_sub(1).is_none_or(|before| rest[before] != b'\n');
            self.pos += at;
            if version(self.fill(unit, 32)).is_some() && (!in_line || self.is_complete_head(unit)) {
                return;
            }
            self.pos += 1;
        }
    }

    fn is_complete_head(&mut self, unit: &mut Unit) -> bool {
        if self.doubt == 0 {
            return false;
        }
        let bytes = self.fill(unit, MAX_HEAD);
        let window = &bytes[..bytes.len().min(MAX_HEAD)];
        let length = head::length(window);
        let complete =
            length.is_some_and(|length| Head::parse(&window[..length]).is_ok_and(|h| h.is_complete()));
        let looked_through = length.unwrap_or(window.len());
        self.doubt = self.doubt.saturating_sub(looked_through);
        complete
    }

    /// Gives the record at `pos` up: the next one is searched for `skip` bytes further on.
    fn give_up(&mut self, unit: &mut Unit, skip: usize, detail: String) -> Option<Item> {
        let offset = self.offset(unit);
        self.pos += skip.max(1);
        let known = std::mem::replace(&mut unit.lost, true);
        (!known).then_some(Err(Damage { offset, detail }))
    }

    fn record(&mut self, unit: &mut Unit) -> Option<Item> {
        let (head_length, head) = match self.head(unit) {
            Ok(found) => found,
            Err(detail) => return self.give_up(unit, 1, detail),
        };
        // Behind a damage, what looks like a record may be part of a block: it must be complete to be one.
        if unit.lost && !head.is_complete() {
            return self.give_up(unit, 1, String::new());
        }
        unit.lost = false;
        let Some(length) = usize::try_from(head.length).ok().filter(|length| *length <= self.max_block)
        else {
            return self.pass_over(unit, head_length, head.length);
        };
        let offset = self.offset(unit);
        let size = head_length + length;
        let doubt = self.doubt;
        let trusting = self.trusting && self.container.is_packed();
        let bytes = self.fill(unit, size + BEHIND);
        let Some((whole, behind)) = bytes.split_at_checked(size) else {
            let detail = match &unit.end {
                End::Broken(detail) => detail.clone(),
                _ => "the record is shorter than it says".into(),
            };
            // The line end in front of the block, which may be where the next record already begins.
            return self.give_up(unit, head_length - 1, detail);
        };
        let block = &whole[head_length..];
        if !ends_here(behind) {
            if length > doubt || record::block_matches(&head.fields, block) != Some(true) {
                self.doubt = doubt.saturating_sub(length);
                return self.give_up(unit, head_length - 1, "the record is longer than it says".into());
            }
        } else if !trusting && record::is_contradicted(&head.fields, block) {
            let detail = "the digest does not match";
            if !self.container.is_packed() && length <= doubt {
                // Where bytes have been lost, the next record may stand inside of what looks like the block.
                self.doubt = doubt - length;
                return self.give_up(unit, head_length - 1, detail.into());
            }
            self.pos += size;
            unit.lost = self.own_damage(unit).is_some();
            return Some(Err(Damage { offset, detail: detail.into() }));
        }
        let record = WarcRecord { offset, version: head.version, fields: head.fields, block: block.to_vec() };
        self.pos += size;
        if let Some(detail) = self.own_damage(unit) {
            unit.lost = true;
            return Some(Err(Damage { offset, detail }));
        }
        unit.records += 1;
        Some(Ok(record))
    }

    /// The damage of the unit, if the record that was just read is all there is in it.
    fn own_damage(&mut self, unit: &mut Unit) -> Option<String> {
        if unit.records > 0 || !self.container.is_packed() {
            return None;
        }
        let mut rest = self.fill(unit, BEHIND);
        if rest.trim_ascii_start().starts_with(b"WARC/") {
            return None;
        }
        rest = self.fill(unit, CHUNK);
        let alone = memmem::find(rest, b"\nWARC/").is_none();
        match &unit.end {
            End::Broken(detail) if alone => Some(detail.clone()),
            _ => None,
        }
    }

    /// Passes over a record whose block is over the limit.
    fn pass_over(&mut self, unit: &mut Unit, head_length: usize, length: u64) -> Option<Item> {
        let offset = self.offset(unit);
        let limit = self.max_block;
        let detail = format!("a block of {length} bytes, which is over the limit of {limit}");
        self.pos += head_length;
        let block = self.offset(unit);
        let mut left = length;
        while left > 0 {
            let at_hand = self.fill(unit, 1).len();
            if at_hand == 0 {
                break;
            }
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(at_hand);
            self.pos += step;
            left -= step as u64;
        }
        if left > 0 || !ends_here(self.fill(unit, BEHIND)) {
            unit.lost = true;
            // The line end in front of the block, which may be where the next record already begins.
            let from = block.saturating_sub(1);
            if self.container.rewind(from) {
                *unit = Unit { offset: from, passed: 0, end: End::Ahead, ..*unit };
                self.window.clear();
                self.pos = 0;
            }
        }
        Some(Err(Damage { offset, detail }))
    }

    /// The header of the record at `pos` and its length.
    fn head(&mut self, unit: &mut Unit) -> Result<(usize, Head), String> {
        let mut want = 4 << 10;
        loop {
            let bytes = self.fill(unit, want);
            let window = &bytes[..bytes.len().min(MAX_HEAD)];
            let mut lines = head::lines(window);
            let first = lines.next().unwrap_or(window);
            if version(first).is_none() {
                return Err("no WARC record begins here".into());
            }
            // What looks like the next record is the next record: this one lost the end of its header.
            match lines.find(|line| line.is_empty() || version(line).is_some()) {
                Some([]) => return Ok((lines.at, Head::parse(&window[..lines.at])?)),
                Some(_) => return Err("the WARC header breaks off".into()),
                None if want >= MAX_HEAD && window.len() == MAX_HEAD => {
                    return Err(format!("a WARC header of more than {MAX_HEAD} bytes"));
                }
                None if bytes.len() < want => {
                    return Err(match &unit.end {
                        End::Broken(detail) => detail.clone(),
                        _ => "no end of the WARC header".into(),
                    });
                }
                None => want = (want * 4).min(MAX_HEAD),
            }
        }
    }
}

impl<R: Read> Iterator for WarcScan<R> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let mut unit = match self.unit.take() {
                Some(unit) => unit,
                None => match self.container.next_unit()? {
                    Ok(offset) => Unit { offset, passed: 0, records: 0, lost: false, end: End::Ahead },
                    Err(damage) => return Some(Err(damage)),
                },
            };
            let item = self.step(&mut unit);
            if self.pos < self.window.len() || !matches!(unit.end, End::Whole) {
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

struct Head {
    version: String,
    fields: Vec<(String, String)>,
    /// Of the block.
    length: u64,
}

impl Head {
    fn parse(head: &[u8]) -> Result<Self, String> {
        let mut lines = head::lines(head);
        let version = lines.next().and_then(version).ok_or("no WARC record begins here")?;
        let fields = head::fields(&head[lines.at..]);
        // Two of what there can be but one: the headers of two records that ran into each other.
        for name in UNIQUE {
            let mut values =
                fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value);
            let first = values.next();
            if values.any(|other| Some(other) != first) {
                return Err(format!("more than one {name} in the WARC header"));
            }
        }
        let stated = head::field(&fields, "Content-Length").ok_or("no Content-Length in the WARC header")?;
        let digits = Some(stated).filter(|s| s.bytes().all(|b| b.is_ascii_digit()));
        let length = digits.and_then(|s| s.parse().ok()).ok_or("a Content-Length that is no length")?;
        Ok(Self { version: version.to_string(), fields, length })
    }

    /// Are all fields there that every record has?
    fn is_complete(&self) -> bool {
        ["WARC-Type", "WARC-Record-ID"].iter().all(|name| head::field(&self.fields, name).is_some())
    }
}

/// The version in a line such as `WARC/1.1`, the first of every record.
fn version(line: &[u8]) -> Option<&str> {
    let line = line.split(|b| *b == b'\n').next()?.trim_ascii_end();
    let version = std::str::from_utf8(line.strip_prefix(b"WARC/")?).ok()?;
    let (major, minor) = version.split_once('.')?;
    let number = |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    (number(major) && number(minor)).then_some(version)
}

/// Does a block end where these bytes follow it? It should be followed by two line ends. One of them, or both, may
/// be missing, or damaged, if then another record begins or the unit is at its end.
fn ends_here(behind: &[u8]) -> bool {
    let behind = &behind[..behind.len().min(BEHIND)];
    behind.len() <= 4
        || [&b"\r\n\r\n"[..], b"\n\n", b"WARC/"].iter().any(|end| behind.starts_with(end))
        || memmem::find(behind, b"\nWARC/").is_some()
}
