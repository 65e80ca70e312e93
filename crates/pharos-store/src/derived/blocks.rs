//! Format of derived files: sequences of blocks.
//!
//! A block is one zstd *skippable frame* that holds the header, followed by one ordinary zstd frame per section.
//! `zstdcat` skips the header and prints the sections.
//!
//! ```text
//! skippable frame   5B 2A 4D 18, length of the rest of the frame (u32)
//!   name            8 bytes: "PHAROSpg" or "PHAROSlk"
//!   format          u32, [`FORMAT`]
//!   analyser        u32, version of the code that produced the page objects
//!   normaliser      u32, version of the code that produced URLs and ids
//!   from, to        file u32 and offset u64 each: the library range that the block covers
//!   records         u32, number of pages in the block
//!   sections        u32, and for each: stored length u32, plain length u32, xxh3 of the stored bytes u64,
//!                   a note u64 (its meaning depends on the section)
//!   checksum        u64, xxh3 of the frame up to here
//! section …         a zstd frame
//! ```
//!
//! Numbers are little-endian. `from` is in the library volume that the file is named after. `to` is in the same
//! volume, or at the beginning of a later one if the block is the last of its file. A block without pages has no
//! sections and states that its range contains no page.
//!
//! The sections of a pages block are parts of about 256 KiB of JSON Lines, so that one page can be read without its
//! two thousand neighbours. The note is the library offset at which the section starts. The five sections of a links
//! block are described in `links.rs`; there, the note is the number of items in the section.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, NORMALISER_VERSION};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;

use super::encoding::{DecodeError, SectionReader};
use crate::StoreError;

/// Version of the format described here.
pub(super) const FORMAT: u32 = 1;
/// Maximum uncompressed size of a section.
pub(super) const MAX_PLAIN: usize = 256 << 20;
/// Maximum number of sections of a block.
pub(super) const MAX_SECTIONS: usize = 256;
/// Compression level. On prose about 7% smaller than level 1, for a quarter more time.
const LEVEL: i32 = 3;

/// Magic of a skippable frame type without an assigned meaning.
const FRAME: [u8; 4] = 0x184D_2A5B_u32.to_le_bytes();
const FRAME_HEAD: usize = 8;
const NAME: usize = 8;
const FIXED: usize = NAME + 3 * 4 + 2 * 12 + 2 * 4;
const SECTION: usize = 24;
const CHECKSUM: usize = 8;
/// Size of the first read, enough for nearly every header, and of the search window after a damaged block.
const FIRST_READ: usize = 2 << 10;
const WINDOW: usize = 1 << 20;

/// Start of the first library volume.
pub(super) const FIRST_POSITION: LibraryPosition = LibraryPosition::new(1, 0);

/// The kind of a derived file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DerivedKind {
    Pages,
    Links,
}

impl DerivedKind {
    fn magic(self) -> &'static [u8; NAME] {
        match self {
            DerivedKind::Pages => b"PHAROSpg",
            DerivedKind::Links => b"PHAROSlk",
        }
    }

    pub(super) fn folder(self, library: &Path) -> PathBuf {
        library.join(self.name_part())
    }

    pub(super) fn path(self, library: &Path, file: u32) -> PathBuf {
        library.join(self.name_part()).join(format!("{file:08}.{}.zst", self.name_part()))
    }

    fn name_part(self) -> &'static str {
        match self {
            DerivedKind::Pages => "pages",
            DerivedKind::Links => "links",
        }
    }

    /// Returns the numbers of the existing files in ascending order.
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
            let number =
                number.and_then(|n| n.strip_suffix(self.name_part())).and_then(|n| n.strip_suffix('.'));
            numbers.extend(number.filter(|n| n.len() == 8).and_then(|n| n.parse::<u32>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// A section as described in the block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectionHeader {
    pub(super) stored: u32,
    pub(super) plain: u32,
    sum: u64,
    pub(super) note: u64,
}

/// A block header with its location in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) at: u64,
    header_length: usize,
    pub(super) analyser: u32,
    normaliser: u32,
    pub(super) from: LibraryPosition,
    pub(super) to: LibraryPosition,
    pub(super) records: u32,
    pub(super) sections: Vec<SectionHeader>,
}

impl Block {
    /// Returns the byte offset after the last section.
    pub(super) fn end(&self) -> u64 {
        self.at
            + self.header_length as u64
            + self.sections.iter().map(|section| u64::from(section.stored)).sum::<u64>()
    }

    /// Returns `true` if the block was written by this analyser version with the current URL normalisation.
    pub(super) fn is_fresh(&self, analyser: u32) -> bool {
        self.analyser == analyser && self.normaliser == NORMALISER_VERSION
    }

    /// Returns the contents of a section after verifying its checksum.
    pub(super) fn section(&self, file: &File, index: usize) -> Result<Vec<u8>, DecodeError> {
        let section = self.sections.get(index).ok_or(DecodeError("missing section"))?;
        let before: u64 = self.sections[..index].iter().map(|s| u64::from(s.stored)).sum();
        let mut stored = vec![0; section.stored as usize];
        file.read_exact_at(&mut stored, self.at + self.header_length as u64 + before)
            .map_err(|_| DecodeError("unreadable section"))?;
        if xxh3_64(&stored) != section.sum {
            return Err(DecodeError("section checksum mismatch"));
        }
        let plain = zstd::bulk::decompress(&stored, section.plain as usize)
            .map_err(|_| DecodeError("section cannot be decompressed"))?;
        if plain.len() != section.plain as usize {
            return Err(DecodeError("section length mismatch"));
        }
        Ok(plain)
    }

    /// Verifies all sections.
    pub(super) fn verify(&self, file: &File) -> Result<(), DecodeError> {
        (0..self.sections.len()).try_for_each(|index| self.section(file, index).map(drop))
    }
}

/// Contents of a block: the uncompressed bytes of each section, with its note.
pub(super) type Sections = Vec<(Vec<u8>, u64)>;

/// Encodes blocks of one kind.
pub(super) struct BlockEncoder {
    kind: DerivedKind,
    analyser: u32,
    compressor: Compressor<'static>,
}

impl BlockEncoder {
    pub(super) fn new(kind: DerivedKind, analyser: u32) -> io::Result<Self> {
        Ok(Self { kind, analyser, compressor: Compressor::new(LEVEL)? })
    }

    /// Returns the encoded block.
    pub(super) fn encode(
        &mut self,
        from: LibraryPosition,
        to: LibraryPosition,
        records: u32,
        sections: &[(Vec<u8>, u64)],
    ) -> io::Result<Vec<u8>> {
        let too_large = |_| io::Error::other("section too large");
        let header_length = FRAME_HEAD + FIXED + sections.len() * SECTION + CHECKSUM;
        let mut header = Vec::with_capacity(header_length);
        header.extend(FRAME);
        header.extend(u32::try_from(header_length - FRAME_HEAD).map_err(too_large)?.to_le_bytes());
        header.extend(self.kind.magic());
        for number in [FORMAT, self.analyser, NORMALISER_VERSION] {
            header.extend(number.to_le_bytes());
        }
        for position in [from, to] {
            header.extend(position.volume.to_le_bytes());
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

/// The result of reading a block header.
#[derive(Debug)]
pub(super) enum BlockRead {
    /// A block with a valid header that fits into the file.
    Block(Block),
    /// A block in a newer format.
    Newer(u32),
    /// No valid block.
    Damaged(DecodeError),
}

/// Reads the block at `at` in a file of that length which belongs to library volume `number`.
pub(super) fn block_at(file: &File, kind: DerivedKind, number: u32, at: u64, length: u64) -> BlockRead {
    parse(file, kind, number, at, length).unwrap_or_else(BlockRead::Damaged)
}

fn parse(
    file: &File,
    kind: DerivedKind,
    number: u32,
    at: u64,
    length: u64,
) -> Result<BlockRead, DecodeError> {
    let unreadable = |_| DecodeError("unreadable header");
    let left = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; FIRST_READ.min(left)];
    file.read_exact_at(&mut bytes, at).map_err(unreadable)?;
    let mut input = SectionReader(&bytes);
    if input.take(FRAME.len())? != FRAME {
        return Err(DecodeError("no block starts here"));
    }
    let header_length = FRAME_HEAD + input.fixed_u32()? as usize;
    if !(FRAME_HEAD + NAME + 4 + CHECKSUM..=FRAME_HEAD + FIXED + MAX_SECTIONS * SECTION + CHECKSUM)
        .contains(&header_length)
    {
        return Err(DecodeError("invalid header length"));
    }
    if header_length > left {
        return Err(DecodeError("the file ends within a header"));
    }
    bytes.resize(header_length, 0);
    if header_length > FIRST_READ {
        file.read_exact_at(&mut bytes, at).map_err(unreadable)?;
    }
    let (signed, checksum) = bytes.split_at(header_length - CHECKSUM);
    if SectionReader(checksum).fixed_u64()? != xxh3_64(signed) {
        return Err(DecodeError("header checksum mismatch"));
    }
    let mut input = SectionReader(&signed[FRAME_HEAD..]);
    if input.take(NAME)? != kind.magic() {
        return Err(DecodeError("block of another kind"));
    }
    let format = input.fixed_u32()?;
    if format > FORMAT {
        return Ok(BlockRead::Newer(format));
    }
    let (analyser, normaliser) = (input.fixed_u32()?, input.fixed_u32()?);
    let mut position = || -> Result<LibraryPosition, DecodeError> {
        Ok(LibraryPosition::new(input.fixed_u32()?, input.fixed_u64()?))
    };
    let (from, to) = (position()?, position()?);
    let records = input.fixed_u32()?;
    let count = input.fixed_u32()? as usize;
    let mut sections = Vec::with_capacity(count.min(MAX_SECTIONS));
    for _ in 0..count {
        let (stored, plain) = (input.fixed_u32()?, input.fixed_u32()?);
        let section = SectionHeader { stored, plain, sum: input.fixed_u64()?, note: input.fixed_u64()? };
        if section.stored as usize > MAX_PLAIN || section.plain as usize > MAX_PLAIN {
            return Err(DecodeError("invalid section length"));
        }
        sections.push(section);
    }
    input.end()?;
    let block = Block { at, header_length, analyser, normaliser, from, to, records, sections };
    if from.volume != number || from >= to || (to.volume != number && to.offset != 0) {
        return Err(DecodeError("block of another library range"));
    }
    if (records == 0) != block.sections.is_empty() {
        return Err(DecodeError("wrong number of pages"));
    }
    if block.end() > length {
        return Err(DecodeError("the file ends within a block"));
    }
    Ok(BlockRead::Block(block))
}

/// Scans all blocks of a file that belongs to library volume `number`. After damage the next valid header is
/// searched, so that damage hides no other block.
pub(super) fn scan_blocks(file: &File, kind: DerivedKind, number: u32) -> io::Result<Vec<(u64, BlockRead)>> {
    let length = file.metadata()?.len();
    let mut found = Vec::new();
    let mut at = 0;
    while at < length {
        let here = block_at(file, kind, number, at, length);
        let next = match &here {
            BlockRead::Block(block) => Some(block.end()),
            BlockRead::Newer(_) | BlockRead::Damaged(_) => {
                find_next_block(file, kind, number, at + 1, length)?
            }
        };
        found.push((at, here));
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(found)
}

/// Returns the first offset from `from` on at which a valid block starts.
pub(super) fn find_next_block(
    file: &File,
    kind: DerivedKind,
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
                && bytes.ends_with(kind.magic())
                && matches!(block_at(file, kind, number, at, length), BlockRead::Block(_))
            {
                return Ok(Some(at));
            }
        }
        // A header may cross the border of two windows.
        start += (size - (FRAME_HEAD + NAME) + 1) as u64;
    }
    Ok(None)
}
