//! `.warc.gz`: gzip members (RFC 1952), one per record as the standard requires, or with several records.

use std::io::Read;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;
use memchr::memmem;

use super::WarcDamage;
use super::container::UnitStep;
use super::input::{CHUNK, WarcInput};

pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];
/// Maximum length of a member header.
const MAX_HEADER: usize = 128 << 10;
/// Length of the trailer: checksum and size.
const TRAILER: usize = 8;
/// Minimum size of a member: header, an empty block, trailer.
const MIN_MEMBER: usize = 20;
/// Maximum compressed and decompressed size of a member that is decompressed in one call.
const WHOLE_PACKED: usize = 4 << 20;
const WHOLE_UNPACKED: usize = 32 << 20;
/// Maximum compression ratio of deflate.
const MAX_RATIO: usize = 1032;

pub(super) struct Gzip {
    whole: Decompressor,
    stream: Decompress,
    checksum: Crc,
    stage: MemberStage,
    /// The last member was broken, so the input is not at the start of a member.
    lost: bool,
}

#[derive(Clone, Copy)]
enum MemberStage {
    Begin,
    Data,
    Trailer,
    Done,
}

impl Gzip {
    pub(super) fn new() -> Self {
        let (whole, stream) = (Decompressor::new(), Decompress::new(false));
        Self { whole, stream, checksum: Crc::new(), stage: MemberStage::Done, lost: false }
    }

    /// Advances to the next member and returns its offset.
    pub(super) fn next_unit<R: Read>(
        &mut self,
        source: &mut WarcInput<R>,
    ) -> Option<Result<u64, WarcDamage>> {
        if std::mem::take(&mut self.lost) {
            source.return_after_mark();
            self.search(source);
        }
        source.mark();
        let offset = source.offset();
        let bytes = source.fill(MIN_MEMBER);
        if bytes.is_empty() {
            return source.take_failure().map(|detail| Err(WarcDamage { offset, detail }));
        }
        if bytes.starts_with(MAGIC) {
            self.stage = MemberStage::Begin;
            return Some(Ok(offset));
        }
        self.search(source);
        Some(Err(WarcDamage { offset, detail: "no gzip member starts here".into() }))
    }

    /// Advances to the next member that holds WARC, or to the end.
    fn search<R: Read>(&mut self, source: &mut WarcInput<R>) {
        source.search(MAGIC, MAX_HEADER, |bytes| self.holds_warc(bytes));
    }

    /// Decompresses some more.
    pub(super) fn more<R: Read>(&mut self, source: &mut WarcInput<R>, out: &mut Vec<u8>) -> UnitStep {
        let step = self.decompress_next(source, out);
        self.lost = matches!(step, UnitStep::Broken(_));
        step
    }

    fn decompress_next<R: Read>(&mut self, source: &mut WarcInput<R>, out: &mut Vec<u8>) -> UnitStep {
        if let MemberStage::Begin = self.stage {
            if self.decompress_whole(source, out) {
                self.stage = MemberStage::Done;
                return UnitStep::More;
            }
            let Some(length) = header_length(source.fill(MAX_HEADER)) else {
                return UnitStep::Broken("invalid gzip header".into());
            };
            source.consume(length);
            self.stream.reset(false);
            self.checksum.reset();
            self.stage = MemberStage::Data;
        }
        match self.stage {
            MemberStage::Begin | MemberStage::Done => UnitStep::End,
            MemberStage::Trailer => self.check_trailer(source),
            MemberStage::Data => self.decompress_some(source, out),
        }
    }

    fn decompress_some<R: Read>(&mut self, source: &mut WarcInput<R>, out: &mut Vec<u8>) -> UnitStep {
        let start = out.len();
        out.reserve(CHUNK);
        let mut want = 1;
        loop {
            let bytes = source.fill(want);
            if bytes.len() < want {
                return UnitStep::Broken(source.torn());
            }
            let read_before = self.stream.total_in();
            let status = self.stream.decompress_vec(bytes, out, FlushDecompress::None);
            let read = usize::try_from(self.stream.total_in() - read_before).unwrap_or(usize::MAX);
            // Without progress the decoder needs more input at once.
            want = if read == 0 { bytes.len() + 1 } else { 1 };
            source.consume(read);
            self.checksum.update(&out[start..]);
            match status {
                Err(e) => return UnitStep::Broken(format!("invalid gzip data: {e}")),
                Ok(Status::StreamEnd) => self.stage = MemberStage::Trailer,
                Ok(_) if out.len() == start => continue,
                Ok(_) => {}
            }
            return if out.len() > start { UnitStep::More } else { self.check_trailer(source) };
        }
    }

    fn check_trailer<R: Read>(&mut self, source: &mut WarcInput<R>) -> UnitStep {
        let Some((trailer, _)) = source.fill(TRAILER).split_first_chunk::<TRAILER>() else {
            return UnitStep::Broken(source.torn());
        };
        let stated = u64::from_le_bytes(*trailer);
        let found = u64::from(self.checksum.sum()) | u64::from(self.checksum.amount()) << 32;
        if stated != found {
            return UnitStep::Broken("gzip checksum mismatch".into());
        }
        source.consume(TRAILER);
        self.stage = MemberStage::Done;
        UnitStep::End
    }

    /// Decompresses the member in one call, which is twice as fast, if its end is easily found: at the start of the
    /// next member or at the end of the file. Length and checksum confirm the end. Returns `false` without side
    /// effects otherwise.
    fn decompress_whole<R: Read>(&mut self, source: &mut WarcInput<R>, out: &mut Vec<u8>) -> bool {
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

    /// Returns `true` if a member starts here whose content starts as WARC.
    pub(super) fn holds_warc(&mut self, bytes: &[u8]) -> bool {
        let Some(data) = header_length(bytes).and_then(|length| bytes.get(length..)) else { return false };
        self.stream.reset(false);
        let mut beginning = [0; 5];
        // Later errors are detected when the member is read.
        let _ = self.stream.decompress(data, &mut beginning, FlushDecompress::None);
        beginning == *b"WARC/"
    }
}

/// Returns the length of a member header.
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
