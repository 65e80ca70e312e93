//! `.warc.zst`: zstd frames (RFC 8878), one record each or more, with the dictionary they share in front.

use std::io::{self, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::Damage;
use super::container::Step;
use super::source::{CHUNK, Source};

pub(super) const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The skippable frame that holds the dictionary, as the IIPC's "Zstandard for WARC" has it.
const DICTIONARY: u32 = 0x184d_2a5d;
const MAX_DICTIONARY: usize = 16 << 20;
/// A block has at most 128 KB, and none of it can be seen before it is whole.
pub(super) const PROBE: usize = 256 << 10;
/// Largest window of a frame that is granted memory: 128 MB, as the zstd tool has it.
const MAX_WINDOW_LOG: u32 = 27;

pub(super) struct Zstd {
    decoder: Decoder<'static>,
    in_frame: bool,
    /// The last frame was broken: what stands at the input is not the beginning of the next.
    lost: bool,
}

impl Zstd {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { decoder: decoder(&[])?, in_frame: false, lost: false })
    }

    /// Goes to the next frame. Gives its offset.
    pub(super) fn next_unit<R: Read>(&mut self, source: &mut Source<R>) -> Option<Result<u64, Damage>> {
        if std::mem::take(&mut self.lost) {
            source.back_behind_mark();
            self.search(source);
        }
        loop {
            source.mark();
            let offset = source.offset();
            let bytes = source.fill(8);
            if bytes.is_empty() {
                return source.take_failure().map(|detail| Err(Damage { offset, detail }));
            }
            if bytes.starts_with(MAGIC) {
                self.in_frame = true;
                return Some(match self.decoder.reinit() {
                    Ok(()) => Ok(offset),
                    Err(e) => Err(Damage { offset, detail: e.to_string() }),
                });
            }
            let passed = if skippable(bytes).is_some() {
                self.pass_over(source)
            } else {
                Err("no zstd frame begins here".into())
            };
            if let Err(detail) = passed {
                source.back_behind_mark();
                self.search(source);
                return Some(Err(Damage { offset, detail }));
            }
        }
    }

    /// Passes over a skippable frame; the first one of a file may be the dictionary.
    fn pass_over<R: Read>(&mut self, source: &mut Source<R>) -> Result<(), String> {
        let first = source.offset() == 0;
        let Some((magic, length)) = skippable(source.fill(8)) else { return Ok(()) };
        source.consume(8);
        if first && magic == DICTIONARY {
            let size = usize::try_from(length).ok().filter(|size| *size <= MAX_DICTIONARY);
            let size = size.ok_or_else(|| format!("a dictionary of {length} bytes"))?;
            let stored = source.fill(size).get(..size).ok_or("the file ends inside the dictionary")?;
            self.decoder = open_dictionary(stored).map_err(|e| format!("the dictionary is broken: {e}"))?;
            source.consume(size);
            return Ok(());
        }
        if !source.skip(u64::from(length)) {
            return Err("the file ends inside a skippable frame".into());
        }
        // A wrong length would lead astray.
        let next = source.fill(8);
        if next.is_empty() || next.starts_with(MAGIC) || skippable(next).is_some() {
            return Ok(());
        }
        Err("no zstd frame behind a skippable frame".into())
    }

    /// Goes to the next frame that holds WARC, or to the end.
    fn search<R: Read>(&mut self, source: &mut Source<R>) {
        source.search(MAGIC, PROBE, |bytes| self.holds_warc(bytes));
    }

    /// Unpacks on.
    pub(super) fn more<R: Read>(&mut self, source: &mut Source<R>, out: &mut Vec<u8>) -> Step {
        if !self.in_frame {
            return Step::End;
        }
        let start = out.len();
        out.reserve(CHUNK);
        loop {
            let bytes = source.fill(1);
            // Without input there may still be output.
            let at_end = bytes.is_empty();
            let mut input = InBuffer::around(bytes);
            let mut output = OutBuffer::around_pos(out, start);
            let result = self.decoder.run(&mut input, &mut output);
            let (read, written) = (input.pos(), output.pos() - start);
            source.consume(read);
            match result {
                Err(e) => {
                    self.lost = true;
                    return Step::Broken(format!("the zstd frame is broken: {e}"));
                }
                Ok(0) => self.in_frame = false,
                Ok(_) if written == 0 && (at_end || read == 0) => {
                    self.lost = true;
                    return Step::Broken(source.torn());
                }
                Ok(_) if written == 0 => continue,
                Ok(_) => {}
            }
            return if written > 0 { Step::More } else { Step::End };
        }
    }

    /// Does a frame begin here whose content begins as WARC?
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

/// Magic and length of a skippable frame.
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
