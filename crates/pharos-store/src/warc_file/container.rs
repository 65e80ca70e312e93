//! What the records of a file are packed in: nothing, gzip or zstd, told by its first bytes.
//!
//! Whatever it is, it is read as *units*, each a stream of unpacked bytes: a gzip member, a zstd frame, or the
//! whole of a plain file. A broken unit ends with [`Step::Broken`], and the next one is searched for.

use std::io::Read;

use memchr::memmem;

use super::Damage;
use super::gzip::{self, Gzip};
use super::source::{CHUNK, Source};
use super::zstd::{self, Zstd};

/// How unpacking went on.
pub(super) enum Step {
    /// There are more bytes.
    More,
    /// The unit is at its end and whole.
    End,
    /// The unit ends here, because it cannot be unpacked further.
    Broken(String),
}

pub(super) struct Container<R> {
    source: Source<R>,
    packing: Option<Packing>,
}

enum Packing {
    Plain { begun: bool },
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

impl<R: Read> Container<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { source, packing: None }
    }

    /// Are the units more than one stretch of the input as it is?
    pub(super) fn is_packed(&self) -> bool {
        !matches!(self.packing, Some(Packing::Plain { .. }))
    }

    /// Goes to the next unit. Gives its offset, or the damaged stretch in front of it.
    pub(super) fn next_unit(&mut self) -> Option<Result<u64, Damage>> {
        let source = &mut self.source;
        if self.packing.is_none() {
            let offset = source.offset();
            match recognise(source) {
                Ok(packing) => self.packing = Some(packing),
                Err(detail) => {
                    self.packing = Some(Packing::Plain { begun: true });
                    return Some(Err(Damage { offset, detail }));
                }
            }
            if source.offset() > offset {
                return Some(Err(Damage { offset, detail: "no WARC record begins here".into() }));
            }
        }
        match self.packing.as_mut()? {
            Packing::Plain { begun: true } => None,
            Packing::Plain { begun } => {
                *begun = true;
                if source.fill(1).is_empty() {
                    let offset = source.offset();
                    return source.take_failure().map(|detail| Err(Damage { offset, detail }));
                }
                Some(Ok(source.offset()))
            }
            Packing::Gzip(gzip) => gzip.next_unit(source),
            Packing::Zstd(zstd) => zstd.next_unit(source),
        }
    }

    /// Unpacks some more of the unit onto `out`.
    pub(super) fn more(&mut self, out: &mut Vec<u8>) -> Step {
        let source = &mut self.source;
        match &mut self.packing {
            None => Step::End,
            Some(Packing::Plain { .. }) => {
                source.mark();
                let bytes = source.fill(1);
                let length = bytes.len().min(CHUNK);
                out.extend_from_slice(&bytes[..length]);
                source.consume(length);
                match length {
                    0 => source.take_failure().map_or(Step::End, Step::Broken),
                    _ => Step::More,
                }
            }
            Some(Packing::Gzip(gzip)) => gzip.more(source, out),
            Some(Packing::Zstd(zstd)) => zstd.more(source, out),
        }
    }

    /// Back to an offset of a plain file, if the input can do that.
    pub(super) fn rewind(&mut self, offset: u64) -> bool {
        !self.is_packed() && self.source.rewind(offset)
    }
}

/// Tells the packing by the first bytes. If they are damaged, goes on to the first thing that can be told.
fn recognise<R: Read>(source: &mut Source<R>) -> Result<Packing, String> {
    let plain = Packing::Plain { begun: false };
    let mut gzip = Box::new(Gzip::new());
    let mut zstd = Box::new(Zstd::new().map_err(|e| e.to_string())?);
    let bytes = source.fill(8);
    if bytes.starts_with(gzip::MAGIC) {
        return Ok(Packing::Gzip(gzip));
    }
    if bytes.starts_with(zstd::MAGIC) || zstd::skippable(bytes).is_some() {
        return Ok(Packing::Zstd(zstd));
    }
    if bytes.is_empty() || bytes.trim_ascii_start().starts_with(b"WARC/") {
        return Ok(plain);
    }
    loop {
        source.mark();
        let length = source.fill(2 * zstd::PROBE).len();
        if length < 8 {
            // Nothing can be told any more: the end.
            source.consume(length);
            return Ok(plain);
        }
        // So that a marker at the end of the window is looked at with what stands behind it.
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
            () if Some(first) == member => Packing::Gzip(gzip),
            () if Some(first) == frame => Packing::Zstd(zstd),
            () => plain,
        });
    }
}
