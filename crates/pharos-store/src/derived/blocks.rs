//! The form of a block, and of the files that blocks stand in.
//!
//! A file is a row of blocks and nothing else. A block is one zstd *skippable frame*, which holds the header,
//! and then one ordinary zstd frame for each section: `zstdcat` steps over the header and prints the sections.
//!
//! ```text
//! skippable frame   5B 2A 4D 18, length of what follows in the frame (u32)
//!   name            8 bytes: "PHAROSpg" or "PHAROSlk"
//!   format          u32, [`FORMAT`]
//!   analyser        u32, of the code that made the page objects
//!   normaliser      u32, of the code that made URLs and ids
//!   from, to        file u32 and offset u64 each: the stretch of the library that the block covers
//!   records         u32, pages in the block
//!   sections        u32, and for each: stored length u32, plain length u32, xxh3 of the stored bytes u64,
//!                   a note u64 (what it means is the section's business)
//!   checksum        u64, xxh3 of the frame up to here
//! section …         a zstd frame
//! ```
//!
//! Numbers are little-endian. `from` lies in the library file that the file is named after. `to` lies there too,
//! or at the beginning of a later one: then the block is the last of its file. A block without pages has no
//! sections; it says that there was nothing to keep.
//!
//! The sections of a pages block are pieces of some 256 KiB of JSON lines, so that one page can be read without
//! its two thousand neighbours; the note is the offset in the library from which the piece covers it. The five
//! sections of a links block stand in `links.rs`; there the note is the number of things in the section.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, NORMALISER_VERSION};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;

use super::coding::{Damage, Input};
use crate::StoreError;

/// Version of the form described here.
pub(super) const FORMAT: u32 = 1;
/// A section larger than this, uncompressed, is not ours.
pub(super) const MAX_PLAIN: usize = 256 << 20;
/// A block with more sections than this is not ours.
pub(super) const MAX_SECTIONS: usize = 256;
/// On prose some 7% smaller than level 1, for a quarter more time.
const LEVEL: i32 = 3;

/// A skippable frame of the kind that nobody has given a meaning to.
const FRAME: [u8; 4] = 0x184D_2A5B_u32.to_le_bytes();
const FRAME_HEAD: usize = 8;
const NAME: usize = 8;
const FIXED: usize = NAME + 3 * 4 + 2 * 12 + 2 * 4;
const SECTION: usize = 24;
const CHECKSUM: usize = 8;
/// Bytes read at once: enough for nearly every header, or looked through at a time behind a damaged one.
const FIRST_READ: usize = 2 << 10;
const WINDOW: usize = 1 << 20;

/// Where the library's first file begins.
pub(super) const FIRST: LibraryPosition = LibraryPosition { file: 1, offset: 0 };

/// The two kinds of derived files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pages,
    Links,
}

impl Kind {
    fn name(self) -> &'static [u8; NAME] {
        match self {
            Kind::Pages => b"PHAROSpg",
            Kind::Links => b"PHAROSlk",
        }
    }

    pub(super) fn folder(self, library: &Path) -> PathBuf {
        library.join(self.word())
    }

    pub(super) fn path(self, library: &Path, file: u32) -> PathBuf {
        library.join(self.word()).join(format!("{file:08}.{}.zst", self.word()))
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Pages => "pages",
            Kind::Links => "links",
        }
    }

    /// Numbers of the files there are, rising.
    pub(super) fn files(self, library: &Path) -> Result<Vec<u32>, StoreError> {
        let folder = self.folder(library);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(StoreError::io("read", &folder)(e)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(StoreError::io("read", &folder))?.file_name();
            let number = name.to_str().and_then(|n| n.strip_suffix(".zst"));
            let number = number.and_then(|n| n.strip_suffix(self.word())).and_then(|n| n.strip_suffix('.'));
            numbers.extend(number.filter(|n| n.len() == 8).and_then(|n| n.parse::<u32>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// One section as the header tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) stored: u32,
    pub(super) plain: u32,
    sum: u64,
    pub(super) note: u64,
}

/// A block in a file: its header, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Byte offset of the header.
    pub(super) at: u64,
    header_length: usize,
    pub(super) analyser: u32,
    normaliser: u32,
    pub(super) from: LibraryPosition,
    pub(super) to: LibraryPosition,
    pub(super) records: u32,
    pub(super) sections: Vec<Section>,
}

impl Block {
    /// Byte offset after the last section.
    pub(super) fn end(&self) -> u64 {
        self.at
            + self.header_length as u64
            + self.sections.iter().map(|section| u64::from(section.stored)).sum::<u64>()
    }

    /// Was it made by this analyser, with today's URLs?
    pub(super) fn is_fresh(&self, analyser: u32) -> bool {
        self.analyser == analyser && self.normaliser == NORMALISER_VERSION
    }

    /// The contents of a section, its checksum proved first.
    pub(super) fn section(&self, file: &File, index: usize) -> Result<Vec<u8>, Damage> {
        let section = self.sections.get(index).ok_or(Damage("a section is missing"))?;
        let before: u64 = self.sections[..index].iter().map(|s| u64::from(s.stored)).sum();
        let mut stored = vec![0; section.stored as usize];
        file.read_exact_at(&mut stored, self.at + self.header_length as u64 + before)
            .map_err(|_| Damage("a section cannot be read"))?;
        if xxh3_64(&stored) != section.sum {
            return Err(Damage("a section has the wrong checksum"));
        }
        let plain = zstd::bulk::decompress(&stored, section.plain as usize)
            .map_err(|_| Damage("a section cannot be decompressed"))?;
        if plain.len() != section.plain as usize {
            return Err(Damage("a section has the wrong length"));
        }
        Ok(plain)
    }

    /// Are all sections as they were written?
    pub(super) fn prove(&self, file: &File) -> Result<(), Damage> {
        (0..self.sections.len()).try_for_each(|index| self.section(file, index).map(drop))
    }
}

/// What a block is made of: the plain bytes of each section, with its note.
pub(super) type Sections = Vec<(Vec<u8>, u64)>;

/// Writes blocks of one kind.
pub(super) struct BlockMaker {
    kind: Kind,
    analyser: u32,
    compressor: Compressor<'static>,
}

impl BlockMaker {
    pub(super) fn new(kind: Kind, analyser: u32) -> io::Result<Self> {
        Ok(Self { kind, analyser, compressor: Compressor::new(LEVEL)? })
    }

    /// The bytes of a block.
    pub(super) fn make(
        &mut self,
        from: LibraryPosition,
        to: LibraryPosition,
        records: u32,
        sections: &[(Vec<u8>, u64)],
    ) -> io::Result<Vec<u8>> {
        let too_large = |_| io::Error::other("a section is too large");
        let header_length = FRAME_HEAD + FIXED + sections.len() * SECTION + CHECKSUM;
        let mut header = Vec::with_capacity(header_length);
        header.extend(FRAME);
        header.extend(u32::try_from(header_length - FRAME_HEAD).map_err(too_large)?.to_le_bytes());
        header.extend(self.kind.name());
        for number in [FORMAT, self.analyser, NORMALISER_VERSION] {
            header.extend(number.to_le_bytes());
        }
        for position in [from, to] {
            header.extend(position.file.to_le_bytes());
            header.extend(position.offset.to_le_bytes());
        }
        header.extend(records.to_le_bytes());
        header.extend(u32::try_from(sections.len()).map_err(too_large)?.to_le_bytes());
        let mut body = Vec::new();
        for (plain, note) in sections {
            let stored = self.compressor.compress(plain)?;
            header.extend(u32::try_from(stored.len()).map_err(too_large)?.to_le_bytes());
            header.extend(u32::try_from(plain.len()).map_err(too_large)?.to_le_bytes());
            header.extend(xxh3_64(&stored).to_le_bytes());
            header.extend(note.to_le_bytes());
            body.extend(stored);
        }
        header.extend(xxh3_64(&header).to_le_bytes());
        header.extend(body);
        Ok(header)
    }
}

/// What stands in a file.
#[derive(Debug)]
pub(super) enum Found {
    /// A block with a good header, whole as far as its length tells.
    Block(Block),
    /// A block whose form only a newer version knows.
    Newer(u32),
    /// Something else.
    Damaged(Damage),
}

/// What stands at `at` in a file of that length which belongs to library file `number`.
pub(super) fn block_at(file: &File, kind: Kind, number: u32, at: u64, length: u64) -> Found {
    parse(file, kind, number, at, length).unwrap_or_else(Found::Damaged)
}

fn parse(file: &File, kind: Kind, number: u32, at: u64, length: u64) -> Result<Found, Damage> {
    let unreadable = |_| Damage("a header cannot be read");
    let left = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; FIRST_READ.min(left)];
    file.read_exact_at(&mut bytes, at).map_err(unreadable)?;
    let mut input = Input(&bytes);
    if input.take(FRAME.len())? != FRAME {
        return Err(Damage("no block begins here"));
    }
    let header_length = FRAME_HEAD + input.fixed_u32()? as usize;
    if !(FRAME_HEAD + NAME + 4 + CHECKSUM..=FRAME_HEAD + FIXED + MAX_SECTIONS * SECTION + CHECKSUM)
        .contains(&header_length)
    {
        return Err(Damage("a header of absurd length"));
    }
    if header_length > left {
        return Err(Damage("the file ends inside a header"));
    }
    bytes.resize(header_length, 0);
    if header_length > FIRST_READ {
        file.read_exact_at(&mut bytes, at).map_err(unreadable)?;
    }
    let (signed, checksum) = bytes.split_at(header_length - CHECKSUM);
    if Input(checksum).fixed_u64()? != xxh3_64(signed) {
        return Err(Damage("a header has the wrong checksum"));
    }
    let mut input = Input(&signed[FRAME_HEAD..]);
    if input.take(NAME)? != kind.name() {
        return Err(Damage("a block of another kind"));
    }
    let format = input.fixed_u32()?;
    if format > FORMAT {
        return Ok(Found::Newer(format));
    }
    let (analyser, normaliser) = (input.fixed_u32()?, input.fixed_u32()?);
    let mut position = || -> Result<LibraryPosition, Damage> {
        Ok(LibraryPosition { file: input.fixed_u32()?, offset: input.fixed_u64()? })
    };
    let (from, to) = (position()?, position()?);
    let records = input.fixed_u32()?;
    let count = input.fixed_u32()? as usize;
    let mut sections = Vec::with_capacity(count.min(MAX_SECTIONS));
    for _ in 0..count {
        let (stored, plain) = (input.fixed_u32()?, input.fixed_u32()?);
        let section = Section { stored, plain, sum: input.fixed_u64()?, note: input.fixed_u64()? };
        if section.stored as usize > MAX_PLAIN || section.plain as usize > MAX_PLAIN {
            return Err(Damage("a section of absurd length"));
        }
        sections.push(section);
    }
    input.end()?;
    let block = Block { at, header_length, analyser, normaliser, from, to, records, sections };
    if from.file != number || from >= to || (to.file != number && to.offset != 0) {
        return Err(Damage("a block of another stretch of the library"));
    }
    if (records == 0) != block.sections.is_empty() {
        return Err(Damage("a block with another number of pages"));
    }
    if block.end() > length {
        return Err(Damage("the file ends inside a block"));
    }
    Ok(Found::Block(block))
}

/// Everything in a file that belongs to library file `number`, in the order it stands there. Behind something
/// damaged the next good header is looked for, so that damage hides no other block.
pub(super) fn walk(file: &File, kind: Kind, number: u32) -> io::Result<Vec<(u64, Found)>> {
    let length = file.metadata()?.len();
    let mut found = Vec::new();
    let mut at = 0;
    while at < length {
        let here = block_at(file, kind, number, at, length);
        let next = match &here {
            Found::Block(block) => Some(block.end()),
            Found::Newer(_) | Found::Damaged(_) => first_block(file, kind, number, at + 1, length)?,
        };
        found.push((at, here));
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(found)
}

/// The first offset from `from` on at which a good block stands.
pub(super) fn first_block(
    file: &File,
    kind: Kind,
    number: u32,
    from: u64,
    length: u64,
) -> io::Result<Option<u64>> {
    let mut window = vec![0; WINDOW];
    let mut start = from;
    while start + ((FRAME_HEAD + NAME) as u64) <= length {
        let size = WINDOW.min(usize::try_from(length - start).unwrap_or(WINDOW));
        file.read_exact_at(&mut window[..size], start)?;
        for (at, bytes) in (start..).zip(window[..size].windows(FRAME_HEAD + NAME)) {
            if bytes.starts_with(&FRAME)
                && bytes.ends_with(kind.name())
                && matches!(block_at(file, kind, number, at, length), Found::Block(_))
            {
                return Ok(Some(at));
            }
        }
        // A header may lie across the border of two windows.
        start += (size - (FRAME_HEAD + NAME) + 1) as u64;
    }
    Ok(None)
}
