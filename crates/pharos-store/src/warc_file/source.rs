//! The bytes of a file or pipe, with a way back to where a record began.

use std::io::{self, Read};

use memchr::memmem;

/// Bytes asked for at a time.
pub(super) const CHUNK: usize = 256 << 10;
/// How far the way back reaches. A damaged member is noticed long before it has led so far astray.
const RETAIN: usize = 32 << 20;
/// Going back costs reading again. What is read again may be this many times what was read at all, so that a
/// file made of traps is still read in linear time.
const PATIENCE: u64 = 16;
/// How often the input itself is set back.
const MAX_REWINDS: u32 = 16;

/// Sets an input back to an offset.
pub(super) type Rewind<R> = fn(&mut R, u64) -> io::Result<()>;

/// A window over the input: `mark <= pos <= end`.
pub(super) struct Source<R> {
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

impl<R: Read> Source<R> {
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

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Will no more bytes come than are at hand?
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The bytes at hand, at least `want` unless the input ends before.
    pub(super) fn fill(&mut self, want: usize) -> &[u8] {
        while self.end - self.pos < want && !self.ended {
            self.make_room(want);
            match self.input.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.failure = Some(format!("cannot read on: {e}"));
                    self.ended = true;
                }
            }
        }
        &self.bytes[self.pos..self.end]
    }

    fn make_room(&mut self, want: usize) {
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

    /// Goes on by `n` bytes of those at hand.
    pub(super) fn consume(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.end);
    }

    /// Goes on by `n` bytes, at hand or not. False when the input ends before.
    pub(super) fn skip(&mut self, mut n: u64) -> bool {
        while n > 0 {
            let at_hand = self.fill(1).len();
            if at_hand == 0 {
                return false;
            }
            let step = usize::try_from(n).unwrap_or(usize::MAX).min(at_hand);
            self.consume(step);
            n -= step as u64;
        }
        true
    }

    /// Goes to the next place where `magic` stands and `is_it` says yes to the `window` bytes from there, or to the end.
    pub(super) fn search(&mut self, magic: &[u8], window: usize, mut is_it: impl FnMut(&[u8]) -> bool) {
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
                if is_it(rest) {
                    return;
                }
                self.consume(1);
            }
        }
    }

    /// From here on nothing is forgotten, as far as the way back reaches.
    pub(super) fn mark(&mut self) {
        self.mark = self.pos;
    }

    /// Back to one byte behind the mark, or as near to it as patience and memory allow.
    pub(super) fn back_behind_mark(&mut self) {
        let again = (self.pos - self.mark) as u64;
        if self.read_again + again <= PATIENCE * (self.base + self.end as u64) {
            self.read_again += again;
            self.pos = self.mark;
        }
        self.consume(1);
        self.mark();
    }

    /// Sets the input itself back, where it can be.
    pub(super) fn rewind(&mut self, offset: u64) -> bool {
        let Some(rewind) = self.rewind.filter(|_| self.rewinds < MAX_REWINDS) else { return false };
        self.rewinds += 1;
        if rewind(&mut self.input, offset).is_err() {
            return false;
        }
        (self.mark, self.pos, self.end, self.base, self.ended) = (0, 0, 0, offset, false);
        true
    }

    /// Why the input ended, unless it simply did. Told once.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// What to say when the input ended too early.
    pub(super) fn torn(&mut self) -> String {
        self.take_failure().unwrap_or_else(|| "the file ends inside a record".into())
    }
}
