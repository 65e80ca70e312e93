//! `.warc.zst`: zstd frames (RFC 8878) with one or more records each, after the optional shared dictionary.

use std::io::{self, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::WarcDamage;
use super::container::UnitStep;
use super::input::{CHUNK, WarcInput};

pub(super) const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Skippable frame with the dictionary, as defined by the IIPC's "Zstandard for WARC".
const DICTIONARY: u32 = 0x184d_2a5d;
const MAX_DICTIONARY: usize = 16 << 20;
/// Number of bytes needed to recognise a frame. A block has at most 128 KB and is decoded as a whole.
pub(super) const PROBE: usize = 256 << 10;
/// Maximum window size: 128 MB, as in the zstd tool.
const MAX_WINDOW_LOG: u32 = 27;

pub(super) struct Zstd {
    decoder: Decoder<'static>,
    in_frame: bool,
    /// The last frame was broken, so the input is not at the start of a frame.
    lost: bool,
}

impl Zstd {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { decoder: decoder(&[])?, in_frame: false, lost: false })
    }

    /// Advances to the next frame and returns its offset.
    pub(super) fn next_unit<R: Read>(
        &mut self,
        source: &mut WarcInput<R>,
    ) -> Option<Result<u64, WarcDamage>> {
        if std::mem::take(&mut self.lost) {
            source.return_after_mark();
            self.search(source);
        }
        loop {
            source.mark();
            let offset = source.offset();
            let bytes = source.fill(8);
            if bytes.is_empty() {
                return source.take_failure().map(|detail| Err(WarcDamage { offset, detail }));
            }
            if bytes.starts_with(MAGIC) {
                self.in_frame = true;
                return Some(match self.decoder.reinit() {
                    Ok(()) => Ok(offset),
                    Err(e) => Err(WarcDamage { offset, detail: e.to_string() }),
                });
            }
            let passed = if skippable(bytes).is_some() {
                self.skip_frame(source)
            } else {
                Err("no zstd frame starts here".into())
            };
            if let Err(detail) = passed {
                source.return_after_mark();
                self.search(source);
                return Some(Err(WarcDamage { offset, detail }));
            }
        }
    }

    /// Skips a skippable frame. The first one of a file may hold the dictionary.
    fn skip_frame<R: Read>(&mut self, source: &mut WarcInput<R>) -> Result<(), String> {
        let first = source.offset() == 0;
        let Some((magic, length)) = skippable(source.fill(8)) else { return Ok(()) };
        source.consume(8);
        if first && magic == DICTIONARY {
            let size = usize::try_from(length).ok().filter(|size| *size <= MAX_DICTIONARY);
            let size = size.ok_or_else(|| format!("dictionary of {length} bytes exceeds the limit"))?;
            let stored = source.fill(size).get(..size).ok_or("the file ends within the dictionary")?;
            self.decoder = open_dictionary(stored).map_err(|e| format!("invalid dictionary: {e}"))?;
            source.consume(size);
            return Ok(());
        }
        if !source.skip(u64::from(length)) {
            return Err("the file ends within a skippable frame".into());
        }
        // Detects a wrong length.
        let next = source.fill(8);
        if next.is_empty() || next.starts_with(MAGIC) || skippable(next).is_some() {
            return Ok(());
        }
        Err("no zstd frame after a skippable frame".into())
    }

    /// Advances to the next frame that holds WARC, or to the end.
    fn search<R: Read>(&mut self, source: &mut WarcInput<R>) {
        source.search(MAGIC, PROBE, |bytes| self.holds_warc(bytes));
    }

    /// Decompresses some more.
    pub(super) fn more<R: Read>(&mut self, source: &mut WarcInput<R>, out: &mut Vec<u8>) -> UnitStep {
        if !self.in_frame {
            return UnitStep::End;
        }
        let start = out.len();
        out.reserve(CHUNK);
        loop {
            let bytes = source.fill(1);
            // Output may remain even at the end of the input.
            let at_end = bytes.is_empty();
            let mut input = InBuffer::around(bytes);
            let mut output = OutBuffer::around_pos(out, start);
            let result = self.decoder.run(&mut input, &mut output);
            let (read, written) = (input.pos(), output.pos() - start);
            source.consume(read);
            match result {
                Err(e) => {
                    self.lost = true;
                    return UnitStep::Broken(format!("invalid zstd data: {e}"));
                }
                Ok(0) => self.in_frame = false,
                Ok(_) if written == 0 && (at_end || read == 0) => {
                    self.lost = true;
                    return UnitStep::Broken(source.torn());
                }
                Ok(_) if written == 0 => continue,
                Ok(_) => {}
            }
            return if written > 0 { UnitStep::More } else { UnitStep::End };
        }
    }

    /// Returns `true` if a frame starts here whose content starts as WARC.
    pub(super) fn holds_warc(&mut self, bytes: &[u8]) -> bool {
        let mut beginning = [0; 5];
        let mut input = InBuffer::around(bytes);
        let mut output = OutBuffer::around(&mut beginning[..]);
        let mut sane = self.decoder.reinit().is_ok();
        while sane && output.pos() < 5 && input.pos() < bytes.len() {
            let before = input.pos();
            let result = self.decoder.run(&mut input, &mut output);
            sane = result.is_ok_and(|more| more > 0) && input.pos() > before;
        }
        beginning == *b"WARC/"
    }
}

/// Returns magic and length of a skippable frame.
pub(super) fn skippable(bytes: &[u8]) -> Option<(u32, u32)> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let magic = u32::from_le_bytes(*magic);
    (magic & !0xf == 0x184d_2a50).then_some((magic, u32::from_le_bytes(*rest.first_chunk()?)))
}

fn open_dictionary(stored: &[u8]) -> io::Result<Decoder<'static>> {
    if !stored.starts_with(MAGIC) {
        return decoder(stored);
    }
    let mut dictionary = Vec::new();
    let packed = zstd::stream::read::Decoder::new(stored)?;
    packed.take(MAX_DICTIONARY as u64).read_to_end(&mut dictionary)?;
    decoder(&dictionary)
}

fn decoder(dictionary: &[u8]) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
    Ok(decoder)
}
