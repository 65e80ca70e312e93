//! `.warc.gz`: gzip members (RFC 1952), one record each as the standard wants, or more.

use std::io::Read;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;
use memchr::memmem;

use super::Damage;
use super::container::Step;
use super::source::{CHUNK, Source};

pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];
/// Longest header of a member that is read.
const MAX_HEADER: usize = 128 << 10;
/// Checksum and length behind the data.
const TRAILER: usize = 8;
/// The smallest member: header, an empty block, trailer.
const MIN_MEMBER: usize = 20;
/// Members up to this size, packed and unpacked, are unpacked in one go.
const WHOLE_PACKED: usize = 4 << 20;
const WHOLE_UNPACKED: usize = 32 << 20;
/// Deflate cannot do better.
const MAX_RATIO: usize = 1032;

pub(super) struct Gzip {
    whole: Decompressor,
    stream: Decompress,
    checksum: Crc,
    stage: Stage,
    /// The last member was broken: what stands at the input is not the beginning of the next.
    lost: bool,
}

#[derive(Clone, Copy)]
enum Stage {
    Begin,
    Data,
    Trailer,
    Done,
}

impl Gzip {
    pub(super) fn new() -> Self {
        let (whole, stream) = (Decompressor::new(), Decompress::new(false));
        Self { whole, stream, checksum: Crc::new(), stage: Stage::Done, lost: false }
    }

    /// Goes to the next member. Gives its offset.
    pub(super) fn next_unit<R: Read>(&mut self, source: &mut Source<R>) -> Option<Result<u64, Damage>> {
        if std::mem::take(&mut self.lost) {
            source.back_behind_mark();
            self.search(source);
        }
        source.mark();
        let offset = source.offset();
        let bytes = source.fill(MIN_MEMBER);
        if bytes.is_empty() {
            return source.take_failure().map(|detail| Err(Damage { offset, detail }));
        }
        if bytes.starts_with(MAGIC) {
            self.stage = Stage::Begin;
            return Some(Ok(offset));
        }
        self.search(source);
        Some(Err(Damage { offset, detail: "no gzip member begins here".into() }))
    }

    /// Goes to the next member that holds WARC, or to the end.
    fn search<R: Read>(&mut self, source: &mut Source<R>) {
        source.search(MAGIC, MAX_HEADER, |bytes| self.holds_warc(bytes));
    }

    /// Unpacks on.
    pub(super) fn more<R: Read>(&mut self, source: &mut Source<R>, out: &mut Vec<u8>) -> Step {
        let step = self.unpack(source, out);
        self.lost = matches!(step, Step::Broken(_));
        step
    }

    fn unpack<R: Read>(&mut self, source: &mut Source<R>, out: &mut Vec<u8>) -> Step {
        if let Stage::Begin = self.stage {
            if self.unpack_whole(source, out) {
                self.stage = Stage::Done;
                return Step::More;
            }
            let Some(length) = header_length(source.fill(MAX_HEADER)) else {
                return Step::Broken("the header of the gzip member is broken".into());
            };
            source.consume(length);
            self.stream.reset(false);
            self.checksum.reset();
            self.stage = Stage::Data;
        }
        match self.stage {
            Stage::Begin | Stage::Done => Step::End,
            Stage::Trailer => self.check_trailer(source),
            Stage::Data => self.unpack_some(source, out),
        }
    }

    fn unpack_some<R: Read>(&mut self, source: &mut Source<R>, out: &mut Vec<u8>) -> Step {
        let start = out.len();
        out.reserve(CHUNK);
        let mut want = 1;
        loop {
            let bytes = source.fill(want);
            if bytes.len() < want {
                return Step::Broken(source.torn());
            }
            let read_before = self.stream.total_in();
            let status = self.stream.decompress_vec(bytes, out, FlushDecompress::None);
            let read = usize::try_from(self.stream.total_in() - read_before).unwrap_or(usize::MAX);
            // No progress means that the decoder needs to see more at once.
            want = if read == 0 { bytes.len() + 1 } else { 1 };
            source.consume(read);
            self.checksum.update(&out[start..]);
            match status {
                Err(e) => return Step::Broken(format!("the gzip member is broken: {e}")),
                Ok(Status::StreamEnd) => self.stage = Stage::Trailer,
                Ok(_) if out.len() == start => continue,
                Ok(_) => {}
            }
            return if out.len() > start { Step::More } else { self.check_trailer(source) };
        }
    }

    fn check_trailer<R: Read>(&mut self, source: &mut Source<R>) -> Step {
        let Some((trailer, _)) = source.fill(TRAILER).split_first_chunk::<TRAILER>() else {
            return Step::Broken(source.torn());
        };
        let stated = u64::from_le_bytes(*trailer);
        let found = u64::from(self.checksum.sum()) | u64::from(self.checksum.amount()) << 32;
        if stated != found {
            return Step::Broken("the checksum of the gzip member does not match".into());
        }
        source.consume(TRAILER);
        self.stage = Stage::Done;
        Step::End
    }

    /// Unpacks the member in one go, which is twice as fast, if its end is easily found: the next member begins
    /// there, or the file ends. The length and the checksum say whether it was the end. If not, nothing has
    /// happened.
    fn unpack_whole<R: Read>(&mut self, source: &mut Source<R>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let mut from = MIN_MEMBER;
        let mut want = CHUNK / 4;
        let mut tries = 2;
        while tries > 0 {
            let bytes = source.fill(want);
            let found = bytes.get(from..).and_then(|rest| memmem::find(rest, MAGIC)).map(|at| from + at);
            let length = match found {
                Some(at) => at,
                None if bytes.len() < want => bytes.len(),
                None if want >= WHOLE_PACKED => return false,
                None => {
                    from = bytes.len() + 1 - MAGIC.len();
                    want = bytes.len() * 4;
                    continue;
                }
            };
            let Some((_, size)) = bytes[..length].split_last_chunk::<4>() else { return false };
            let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
            if size <= WHOLE_UNPACKED && size <= MAX_RATIO * length {
                out.resize(start + size, 0);
                if self.whole.gzip_decompress(&bytes[..length], &mut out[start..]) == Ok(size) {
                    source.consume(length);
                    return true;
                }
                out.truncate(start);
            }
            if found.is_none() {
                return false;
            }
            from = length + 1;
            tries -= 1;
        }
        false
    }

    /// Does a member begin here whose content begins as WARC?
    pub(super) fn holds_warc(&mut self, bytes: &[u8]) -> bool {
        let Some(data) = header_length(bytes).and_then(|length| bytes.get(length..)) else { return false };
        self.stream.reset(false);
        let mut beginning = [0; 5];
        // Errors behind the beginning are met when the member is read.
        let _ = self.stream.decompress(data, &mut beginning, FlushDecompress::None);
        beginning == *b"WARC/"
    }
}

/// Length of the header of a member.
fn header_length(bytes: &[u8]) -> Option<usize> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const CHECKSUM: u8 = 2;
    const RESERVED: u8 = 0xe0;
    let flags = *bytes.get(3).filter(|flags| *flags & RESERVED == 0)?;
    let mut at = 10;
    if flags & EXTRA != 0 {
        at += 2 + usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            at += 1 + memchr::memchr(0, bytes.get(at..)?)?;
        }
    }
    if flags & CHECKSUM != 0 {
        at += 2;
    }
    (bytes.starts_with(MAGIC) && at <= bytes.len()).then_some(at)
}
