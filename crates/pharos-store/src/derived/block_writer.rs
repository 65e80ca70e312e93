//! Writing of one directory: files of consecutive blocks.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use tracing::warn;

use super::blocks::{
    Block, BlockEncoder, BlockRead, DerivedKind, FIRST_POSITION, FORMAT, Sections, block_at, find_next_block,
};
use crate::StoreError;

/// Appends blocks to the files of one kind. Within a file, blocks follow each other without a gap; a file counts
/// only up to its first gap. Data after the gap is truncated and rebuilt when the writer reaches it.
pub(super) struct BlockWriter {
    kind: DerivedKind,
    library: PathBuf,
    analyser: u32,
    encoder: BlockEncoder,
    /// Valid end of each file. Files without a valid block are not included.
    ends: BTreeMap<u32, FileEnd>,
    /// All records before this position are in valid blocks.
    cursor: LibraryPosition,
    /// The file written last.
    open: Option<(u32, File)>,
}

struct FileEnd {
    to: LibraryPosition,
    /// Length of the valid part of the file.
    bytes: u64,
}

impl BlockWriter {
    /// Finds the last valid block of this analyser and truncates torn data after it.
    pub(super) fn open(library: &Path, kind: DerivedKind, analyser: u32) -> Result<Self, StoreError> {
        let folder = kind.folder(library);
        pharos_files::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        let encoder = BlockEncoder::new(kind, analyser).map_err(StoreError::io("compress for", &folder))?;
        let library = library.to_path_buf();
        let mut chain = Self {
            kind,
            library,
            analyser,
            encoder,
            ends: BTreeMap::new(),
            cursor: FIRST_POSITION,
            open: None,
        };
        let mut last_blocks = BTreeMap::new();
        for number in kind.files(&chain.library)? {
            if let Some(block) = chain.last_valid_block(number)? {
                chain.ends.insert(number, FileEnd { to: block.to, bytes: block.end() });
                last_blocks.insert(number, block);
            }
        }
        chain.cursor = chain.covered_from(FIRST_POSITION);
        // The block before the cursor was written last and may be torn although its header is valid.
        if let Some((number, block)) = last_blocks.into_iter().find(|(_, block)| block.to == chain.cursor) {
            chain.verify(number, &block)?;
        }
        chain.truncate_torn_end()?;
        Ok(chain)
    }

    /// Follows the blocks of one file from its beginning as far as their headers are valid.
    fn last_valid_block(&self, number: u32) -> Result<Option<Block>, StoreError> {
        let path = self.path(number);
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let length = file.metadata().map_err(StoreError::io("read", &path))?.len();
        let (mut at, mut to) = (0, LibraryPosition::new(number, 0));
        let mut last = None;
        while at < length && to.volume == number {
            match block_at(&file, self.kind, number, at, length) {
                BlockRead::Block(block) if block.is_fresh(self.analyser) && block.from == to => {
                    (at, to) = (block.end(), block.to);
                    last = Some(block);
                }
                BlockRead::Newer(found) => {
                    return Err(StoreError::NewerFormat { path, found, known: FORMAT });
                }
                BlockRead::Block(_) | BlockRead::Damaged(_) => break,
            }
        }
        Ok(last)
    }

    /// Verifies a block. If it is damaged, truncates it and moves the cursor before it.
    fn verify(&mut self, number: u32, block: &Block) -> Result<(), StoreError> {
        let path = self.path(number);
        let file =
            File::options().read(true).write(true).open(&path).map_err(StoreError::io("open", &path))?;
        if let Err(damage) = block.verify(&file) {
            warn!(path = %path.display(), at = block.at, detail = damage.0, "truncating a torn block");
            truncate_to(&file, block.at).map_err(StoreError::io("truncate the torn end of", &path))?;
            if block.at == 0 {
                self.ends.remove(&number);
            } else {
                self.ends.insert(number, FileEnd { to: block.from, bytes: block.at });
            }
            self.cursor = block.from;
        }
        Ok(())
    }

    /// Truncates torn data at the position of the next block. Valid blocks after it (of another analyser, or after a
    /// damaged one) remain readable until the next block is written.
    fn truncate_torn_end(&self) -> Result<(), StoreError> {
        let number = self.cursor.volume;
        let path = self.path(number);
        let good = self.valid_bytes(number);
        let truncate_if_torn = |file: File| {
            let length = file.metadata()?.len();
            if find_next_block(&file, self.kind, number, good, length)?.is_none() {
                truncate_to(&file, good)
            } else {
                Ok(())
            }
        };
        match File::options().read(true).write(true).open(&path).and_then(truncate_if_torn) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(StoreError::io("truncate the torn end of", &path)),
        }
    }

    /// Returns the position up to which all records are in durable blocks of this kind.
    pub(super) fn cursor(&self) -> LibraryPosition {
        self.cursor
    }

    /// Returns the first position from `position` on that no block covers. Files are covered from their beginning or
    /// not at all.
    fn covered_from(&self, mut position: LibraryPosition) -> LibraryPosition {
        while position.offset == 0
            && let Some(end) = self.ends.get(&position.volume)
        {
            position = end.to;
        }
        position
    }

    fn valid_bytes(&self, number: u32) -> u64 {
        self.ends.get(&number).map_or(0, |end| end.bytes)
    }

    /// Writes and syncs the block from the cursor to `to`. After a failure the file counts only up to its previous
    /// end, and the same block can be written again.
    pub(super) fn write(
        &mut self,
        to: LibraryPosition,
        records: u32,
        sections: &Sections,
    ) -> Result<(), StoreError> {
        let (from, number) = (self.cursor, self.cursor.volume);
        let path = self.path(number);
        if self.open.as_ref().is_none_or(|(open, _)| *open != number) {
            self.open = Some((number, self.create(&path)?));
        }
        let at = self.valid_bytes(number);
        let Some((_, file)) = &self.open else { return Ok(()) };
        let bytes = self
            .encoder
            .encode(from, to, records, sections)
            .map_err(StoreError::io("compress for", &path))?;
        let written = truncate_to(file, at)
            .and_then(|()| file.write_all_at(&bytes, at))
            .and_then(|()| file.sync_data());
        if let Err(error) = written {
            // A partial block is truncated before the next attempt, or when the file is opened again.
            let _ = truncate_to(file, at);
            return Err(StoreError::io("write", &path)(error));
        }
        self.ends.insert(number, FileEnd { to, bytes: at + bytes.len() as u64 });
        self.cursor = if to.volume == number { to } else { self.covered_from(to) };
        Ok(())
    }

    fn create(&self, path: &Path) -> Result<File, StoreError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(StoreError::io("create", path))?;
        // The name of a new file is durable only after its directory is synced.
        self.sync_folder()?;
        Ok(file)
    }

    /// Removes the file that belongs to one library volume.
    pub(super) fn remove(&mut self, number: u32) -> Result<(), StoreError> {
        let path = self.path(number);
        match fs::remove_file(&path) {
            Ok(()) => self.sync_folder()?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("remove", &path)(e)),
        }
        self.open = None;
        self.ends.remove(&number);
        self.cursor = self.covered_from(FIRST_POSITION);
        Ok(())
    }

    /// Removes all files.
    pub(super) fn clear(&mut self) -> Result<(), StoreError> {
        for number in self.kind.files(&self.library)? {
            self.remove(number)?;
        }
        Ok(())
    }

    fn sync_folder(&self) -> Result<(), StoreError> {
        let folder = self.kind.folder(&self.library);
        pharos_files::sync_directory(&folder).map_err(StoreError::io("sync", &folder))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.kind.path(&self.library, number)
    }
}

/// Truncates a file to a length if it is longer.
fn truncate_to(file: &File, length: u64) -> io::Result<()> {
    if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
}
