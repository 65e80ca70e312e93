//! Buffered input from a file or pipe that can return to the start of a record.

use std::io::{self, Read};

use memchr::memmem;

/// Number of bytes per read.
pub(super) const CHUNK: usize = 256 << 10;
/// Maximum distance back to the mark. A damaged member is detected long before that.
const RETAIN: usize = 32 << 20;
/// Limit on reading bytes again, as a multiple of the bytes read. It keeps the time linear even for hostile files.
const REREAD_FACTOR: u64 = 16;
/// Maximum number of seeks in the input.
const MAX_REWINDS: u32 = 16;

/// Seeks an input to an offset.
pub(super) type Rewind<R> = fn(&mut R, u64) -> io::Result<()>;

/// A window over the input: `mark <= pos <= end`.
pub(super) struct WarcInput<R> {
    input: R,
    rewind: Option<Rewind<R>>,
    rewinds: u32,
    bytes: Vec<u8>,
    mark: usize,
    pos: usize,
    end: usize,
    /// Offset of the window in the input.
    base: u64,
    read_again: u64,
    ended: bool,
    failure: Option<String>,
}

impl<R: Read> WarcInput<R> {
    pub(super) fn new(input: R, rewind: Option<Rewind<R>>) -> Self {
        let (bytes, failure) = (Vec::new(), None);
        let (mark, pos, end) = (0, 0, 0);
        Self {
            input,
            rewind,
            rewinds: 0,
            bytes,
            mark,
            pos,
            end,
            base: 0,
            read_again: 0,
            ended: false,
            failure,
        }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Returns `true` if the input has no bytes beyond the buffered ones.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Returns the buffered bytes, at least `want` unless the input ends before.
    pub(super) fn fill(&mut self, want: usize) -> &[u8] {
        while self.end - self.pos < want && !self.ended {
            self.grow_window(want);
            match self.input.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.failure = Some(format!("read error: {e}"));
                    self.ended = true;
                }
            }
        }
        &self.bytes[self.pos..self.end]
    }

    fn grow_window(&mut self, want: usize) {
        self.mark = self.mark.max(self.pos.saturating_sub(RETAIN));
        if self.mark > self.end / 2 {
            self.bytes.copy_within(self.mark..self.end, 0);
            self.base += self.mark as u64;
            self.pos -= self.mark;
            self.end -= self.mark;
            self.mark = 0;
        }
        let needed = (self.pos + want).max(self.end) + CHUNK;
        if self.end + CHUNK / 2 > self.bytes.len() || self.pos + want > self.bytes.len() {
            self.bytes.resize(needed, 0);
        }
    }

    /// Consumes `n` buffered bytes.
    pub(super) fn consume(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.end);
    }

    /// Skips `n` bytes. Returns `false` if the input ends before.
    pub(super) fn skip(&mut self, mut n: u64) -> bool {
        while n > 0 {
            let buffered = self.fill(1).len();
            if buffered == 0 {
                return false;
            }
            let step = usize::try_from(n).unwrap_or(usize::MAX).min(buffered);
            self.consume(step);
            n -= step as u64;
        }
        true
    }

    /// Advances to the next occurrence of `magic` for which `accept` accepts the following `window` bytes, or to the
    /// end.
    pub(super) fn search(&mut self, magic: &[u8], window: usize, mut accept: impl FnMut(&[u8]) -> bool) {
        loop {
            self.mark();
            let bytes = self.fill(window);
            let found = memmem::find(bytes, magic);
            let step = found.unwrap_or((bytes.len() + 1).saturating_sub(magic.len()));
            self.consume(step);
            let rest = self.fill(window);
            if rest.len() < magic.len() {
                self.consume(magic.len());
                return;
            }
            if found.is_some() {
                if accept(rest) {
                    return;
                }
                self.consume(1);
            }
        }
    }

    /// Sets the mark. Bytes from here on are retained up to the maximum distance.
    pub(super) fn mark(&mut self) {
        self.mark = self.pos;
    }

    /// Returns to one byte after the mark, or as near to it as the limits on time and memory allow.
    pub(super) fn return_after_mark(&mut self) {
        let again = (self.pos - self.mark) as u64;
        if self.read_again + again <= REREAD_FACTOR * (self.base + self.end as u64) {
            self.read_again += again;
            self.pos = self.mark;
        }
        self.consume(1);
        self.mark();
    }

    /// Seeks the input to an offset. Returns `false` if it cannot seek.
    pub(super) fn rewind(&mut self, offset: u64) -> bool {
        let Some(rewind) = self.rewind.filter(|_| self.rewinds < MAX_REWINDS) else { return false };
        self.rewinds += 1;
        if rewind(&mut self.input, offset).is_err() {
            return false;
        }
        (self.mark, self.pos, self.end, self.base, self.ended) = (0, 0, 0, offset, false);
        true
    }

    /// Returns the read error that ended the input, if any, once.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Returns the description of a premature end of the input.
    pub(super) fn torn(&mut self) -> String {
        self.take_failure().unwrap_or_else(|| "the file ends within a record".into())
    }
}
