//! The writing side of one folder: files of blocks, each block beginning where the one before it ended.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;
use tracing::warn;

use super::blocks::{Block, BlockMaker, FIRST, FORMAT, Found, Kind, Sections, block_at, first_block};
use crate::StoreError;

/// All files of one kind. Within a file blocks follow each other without a hole, or the file counts only up to
/// the hole: what stands behind it is cut off when the writer comes there, and made again.
pub(super) struct Chain {
    kind: Kind,
    library: PathBuf,
    analyser: u32,
    maker: BlockMaker,
    /// How far each file came. Files without a good block are not in it.
    ends: BTreeMap<u32, End>,
    /// Everything before it is in good blocks.
    cursor: LibraryPosition,
    /// The file that was written last.
    open: Option<(u32, File)>,
}

struct End {
    to: LibraryPosition,
    /// The good part of the file.
    bytes: u64,
}

impl Chain {
    /// Finds how far the blocks of this analyser came, and cuts off what is torn there.
    pub(super) fn open(library: &Path, kind: Kind, analyser: u32) -> Result<Self, StoreError> {
        let folder = kind.folder(library);
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        let maker = BlockMaker::new(kind, analyser).map_err(StoreError::io("compress for", &folder))?;
        let library = library.to_path_buf();
        let mut chain =
            Self { kind, library, analyser, maker, ends: BTreeMap::new(), cursor: FIRST, open: None };
        let mut last_blocks = BTreeMap::new();
        for number in kind.files(&chain.library)? {
            if let Some(block) = chain.last_good(number)? {
                chain.ends.insert(number, End { to: block.to, bytes: block.end() });
                last_blocks.insert(number, block);
            }
        }
        chain.cursor = chain.covered_from(FIRST);
        // The block before the cursor was written last, and may be torn though its header is good.
        if let Some((number, block)) = last_blocks.into_iter().find(|(_, block)| block.to == chain.cursor) {
            chain.prove(number, &block)?;
        }
        chain.cut_end()?;
        Ok(chain)
    }

    /// Follows the blocks of one file from its beginning, as far as their headers are good.
    fn last_good(&self, number: u32) -> Result<Option<Block>, StoreError> {
        let path = self.path(number);
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let length = file.metadata().map_err(StoreError::io("read", &path))?.len();
        let (mut at, mut to) = (0, LibraryPosition { file: number, offset: 0 });
        let mut last = None;
        while at < length && to.file == number {
            match block_at(&file, self.kind, number, at, length) {
                Found::Block(block) if block.is_fresh(self.analyser) && block.from == to => {
                    (at, to) = (block.end(), block.to);
                    last = Some(block);
                }
                Found::Newer(found) => return Err(StoreError::NewerFormat { path, found, known: FORMAT }),
                Found::Block(_) | Found::Damaged(_) => break,
            }
        }
        Ok(last)
    }

    /// Steps back before a block that is not as it was written, and cuts it off.
    fn prove(&mut self, number: u32, block: &Block) -> Result<(), StoreError> {
        let path = self.path(number);
        let file =
            File::options().read(true).write(true).open(&path).map_err(StoreError::io("open", &path))?;
        if let Err(damage) = block.prove(&file) {
            warn!(path = %path.display(), at = block.at, detail = damage.0, "a torn block is cut off");
            cut(&file, block.at).map_err(StoreError::io("cut the torn end of", &path))?;
            if block.at == 0 {
                self.ends.remove(&number);
            } else {
                self.ends.insert(number, End { to: block.from, bytes: block.at });
            }
            self.cursor = block.from;
        }
        Ok(())
    }

    /// Cuts off what is torn where the next block goes. If good blocks follow, those of another analyser or those
    /// behind a damaged one, then they may be read until that block is written.
    fn cut_end(&self) -> Result<(), StoreError> {
        let number = self.cursor.file;
        let path = self.path(number);
        let good = self.good_bytes(number);
        let cut_torn = |file: File| {
            let length = file.metadata()?.len();
            if first_block(&file, self.kind, number, good, length)?.is_none() {
                cut(&file, good)
            } else {
                Ok(())
            }
        };
        match File::options().read(true).write(true).open(&path).and_then(cut_torn) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(StoreError::io("cut the torn end of", &path)),
        }
    }

    /// Everything before it is in durable blocks of this kind.
    pub(super) fn cursor(&self) -> LibraryPosition {
        self.cursor
    }

    /// From a position on, the first that no block covers. Files are covered from their beginning or not at all.
    fn covered_from(&self, mut position: LibraryPosition) -> LibraryPosition {
        while position.offset == 0
            && let Some(end) = self.ends.get(&position.file)
        {
            position = end.to;
        }
        position
    }

    fn good_bytes(&self, number: u32) -> u64 {
        self.ends.get(&number).map_or(0, |end| end.bytes)
    }

    /// Writes and syncs the block from the cursor to `to`. On failure the file counts only as far as it did
    /// before, and the same block may be tried again.
    pub(super) fn write(
        &mut self,
        to: LibraryPosition,
        records: u32,
        sections: &Sections,
    ) -> Result<(), StoreError> {
        let (from, number) = (self.cursor, self.cursor.file);
        let path = self.path(number);
        if self.open.as_ref().is_none_or(|(open, _)| *open != number) {
            self.open = Some((number, self.create(&path)?));
        }
        let at = self.good_bytes(number);
        let Some((_, file)) = &self.open else { return Ok(()) };
        let bytes =
            self.maker.make(from, to, records, sections).map_err(StoreError::io("compress for", &path))?;
        let written =
            cut(file, at).and_then(|()| file.write_all_at(&bytes, at)).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // What remains of it is cut off before the next try, or when the file is opened again.
            let _ = cut(file, at);
            return Err(StoreError::io("write", &path)(error));
        }
        self.ends.insert(number, End { to, bytes: at + bytes.len() as u64 });
        self.cursor = if to.file == number { to } else { self.covered_from(to) };
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
        // The name of a new file is durable only once its folder is.
        self.sync_folder()?;
        Ok(file)
    }

    /// Throws the file of one library file away.
    pub(super) fn remove(&mut self, number: u32) -> Result<(), StoreError> {
        let path = self.path(number);
        match fs::remove_file(&path) {
            Ok(()) => self.sync_folder()?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("remove", &path)(e)),
        }
        self.open = None;
        self.ends.remove(&number);
        self.cursor = self.covered_from(FIRST);
        Ok(())
    }

    /// Throws every file away.
    pub(super) fn clear(&mut self) -> Result<(), StoreError> {
        for number in self.kind.files(&self.library)? {
            self.remove(number)?;
        }
        Ok(())
    }

    fn sync_folder(&self) -> Result<(), StoreError> {
        let folder = self.kind.folder(&self.library);
        File::open(&folder).and_then(|f| f.sync_all()).map_err(StoreError::io("sync", &folder))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.kind.path(&self.library, number)
    }
}

/// Cuts a file to a length, if it is longer.
fn cut(file: &File, length: u64) -> io::Result<()> {
    if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
}
