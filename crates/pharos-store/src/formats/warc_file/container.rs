//! Compression container of a WARC file: none, gzip or zstd, detected from the first bytes.
//!
//! The file is read as a sequence of *units*, each a stream of decompressed bytes: a gzip member, a zstd frame, or a
//! whole uncompressed file. A broken unit ends with [`UnitStep::Broken`], and the next one is searched.

use std::io::Read;

use memchr::memmem;

use super::WarcDamage;
use super::gzip::{self, Gzip};
use super::input::{CHUNK, WarcInput};
use super::zstd::{self, Zstd};

/// The result of a decompression step.
pub(super) enum UnitStep {
    /// More bytes were produced.
    More,
    /// The unit has ended and is intact.
    End,
    /// The unit cannot be decompressed further.
    Broken(String),
}

pub(super) struct Container<R> {
    source: WarcInput<R>,
    compression: Option<Compression>,
}

enum Compression {
    Plain { begun: bool },
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

impl<R: Read> Container<R> {
    pub(super) fn new(source: WarcInput<R>) -> Self {
        Self { source, compression: None }
    }

    /// Returns `true` if the file is compressed.
    pub(super) fn is_compressed(&self) -> bool {
        !matches!(self.compression, Some(Compression::Plain { .. }))
    }

    /// Advances to the next unit. Returns its offset, or the damaged range before it.
    pub(super) fn next_unit(&mut self) -> Option<Result<u64, WarcDamage>> {
        let source = &mut self.source;
        if self.compression.is_none() {
            let offset = source.offset();
            match detect(source) {
                Ok(compression) => self.compression = Some(compression),
                Err(detail) => {
                    self.compression = Some(Compression::Plain { begun: true });
                    return Some(Err(WarcDamage { offset, detail }));
                }
            }
            if source.offset() > offset {
                return Some(Err(WarcDamage { offset, detail: "no WARC record starts here".into() }));
            }
        }
        match self.compression.as_mut()? {
            Compression::Plain { begun: true } => None,
            Compression::Plain { begun } => {
                *begun = true;
                if source.fill(1).is_empty() {
                    let offset = source.offset();
                    return source.take_failure().map(|detail| Err(WarcDamage { offset, detail }));
                }
                Some(Ok(source.offset()))
            }
            Compression::Gzip(gzip) => gzip.next_unit(source),
            Compression::Zstd(zstd) => zstd.next_unit(source),
        }
    }

    /// Decompresses some more of the unit to `out`.
    pub(super) fn more(&mut self, out: &mut Vec<u8>) -> UnitStep {
        let source = &mut self.source;
        match &mut self.compression {
            None => UnitStep::End,
            Some(Compression::Plain { .. }) => {
                source.mark();
                let bytes = source.fill(1);
                let length = bytes.len().min(CHUNK);
                out.extend_from_slice(&bytes[..length]);
                source.consume(length);
                match length {
                    0 => source.take_failure().map_or(UnitStep::End, UnitStep::Broken),
                    _ => UnitStep::More,
                }
            }
            Some(Compression::Gzip(gzip)) => gzip.more(source, out),
            Some(Compression::Zstd(zstd)) => zstd.more(source, out),
        }
    }

    /// Seeks to an offset of an uncompressed file, if the input supports it.
    pub(super) fn rewind(&mut self, offset: u64) -> bool {
        !self.is_compressed() && self.source.rewind(offset)
    }
}

/// Detects the compression from the first bytes. If they are damaged, advances to the first recognisable unit.
fn detect<R: Read>(source: &mut WarcInput<R>) -> Result<Compression, String> {
    let plain = Compression::Plain { begun: false };
    let mut gzip = Box::new(Gzip::new());
    let mut zstd = Box::new(Zstd::new().map_err(|e| e.to_string())?);
    let bytes = source.fill(8);
    if bytes.starts_with(gzip::MAGIC) {
        return Ok(Compression::Gzip(gzip));
    }
    if bytes.starts_with(zstd::MAGIC) || zstd::skippable(bytes).is_some() {
        return Ok(Compression::Zstd(zstd));
    }
    if bytes.is_empty() || bytes.trim_ascii_start().starts_with(b"WARC/") {
        return Ok(plain);
    }
    loop {
        source.mark();
        let length = source.fill(2 * zstd::PROBE).len();
        if length < 8 {
            // End of the input.
            source.consume(length);
            return Ok(plain);
        }
        // Ensures that a magic at the end of the window is examined with the bytes after it.
        let ended = source.ended();
        let window = if ended { length } else { zstd::PROBE };
        let bytes = source.fill(1);
        let mut members = memmem::find_iter(&bytes[..window], gzip::MAGIC);
        let mut frames = memmem::find_iter(&bytes[..window], zstd::MAGIC);
        let member = members.find(|at| gzip.holds_warc(&bytes[*at..]));
        let frame = frames.find(|at| zstd.holds_warc(&bytes[*at..]));
        let text = memmem::find(&bytes[..window], b"WARC/");
        let Some(first) = [member, frame, text].into_iter().flatten().min() else {
            let step = if ended { window } else { window - 8 };
            source.consume(step);
            continue;
        };
        source.consume(first);
        return Ok(match () {
            () if Some(first) == member => Compression::Gzip(gzip),
            () if Some(first) == frame => Compression::Zstd(zstd),
            () => plain,
        });
    }
}
