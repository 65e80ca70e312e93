//! What a scan does not tell: files that are missing or left over, a torn end, tables that are wrong.

use std::fs::{self, File};
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;

use super::DiskLibrary;
use super::compact::write_synced;
use super::packing::{Member, Unpacker};
use super::scan::next_good;
use super::volumes::{Offsets, files, offsets_path, remove};
use crate::StoreError;

/// Something a look at the files of the library found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFlaw {
    /// The file, or the one that is missing.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: FileProblem,
}

/// What can be wrong with the files of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileProblem {
    /// A file between two others, or before the first, is gone.
    Missing(u32),
    /// The last file ends with something that is no record.
    Torn {
        /// Where the last whole record ends.
        offset: u64,
        /// How much stands behind it.
        bytes: u64,
    },
    /// The table of offsets of a compacted file is missing, or not what its records say.
    Offsets(&'static str),
    /// A compaction that was cut short left it behind.
    Leftover,
    /// A torn end that was set aside: nothing is wrong, a person may look at it.
    SetAside,
}

impl DiskLibrary {
    /// Looks at the files, without reading every record of all of them. `whole_up_to` is a position up to which the
    /// last file is known to be good. Beside an owner, what it is writing at this moment looks torn or left over.
    pub fn check_files(&self, whole_up_to: LibraryPosition) -> Result<Vec<FileFlaw>, StoreError> {
        let volumes = self.volumes.list()?;
        let mut flaws = Vec::new();
        let mut expected = 1;
        for volume in &volumes {
            for number in expected..volume.number {
                let path = self.dir.join(format!("{number:08}.warc"));
                flaws.push(FileFlaw { path, problem: FileProblem::Missing(number) });
            }
            expected = volume.number.saturating_add(1);
            if volume.revision > 0
                && let Some(detail) = table_flaw(&volume.path)?
            {
                let path = offsets_path(&volume.path);
                flaws.push(FileFlaw { path, problem: FileProblem::Offsets(detail) });
            }
        }
        if let Some(last) = volumes.last().filter(|last| last.revision == 0) {
            let length = fs::metadata(&last.path).map_err(StoreError::io("read", &last.path))?.len();
            let offset = self.whole_end(whole_up_to)?.offset;
            if offset < length {
                let problem = FileProblem::Torn { offset, bytes: length - offset };
                flaws.push(FileFlaw { path: last.path.clone(), problem });
            }
        }
        for path in self.leftovers()? {
            flaws.push(FileFlaw { path, problem: FileProblem::Leftover });
        }
        for (path, _) in files(&self.dir)? {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if name.contains(".torn-") {
                flaws.push(FileFlaw { path, problem: FileProblem::SetAside });
            }
        }
        Ok(flaws)
    }

    /// The position after the last whole record: what a copy may take. `known_good` is a position up to which the
    /// last file need not be read again.
    pub fn whole_end(&self, known_good: LibraryPosition) -> Result<LibraryPosition, StoreError> {
        let Some(last) = self.volumes.list()?.pop() else { return Ok(LibraryPosition::START) };
        if last.revision > 0 {
            return Ok(LibraryPosition { file: last.number.saturating_add(1), offset: 0 });
        }
        let failed = || StoreError::io("read", &last.path);
        let file = File::open(&last.path).map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        let is_known = known_good.file == last.number && known_good.offset <= length;
        let mut at = if is_known { known_good.offset } else { 0 };
        let (mut input, mut unpacker) = (BufReader::with_capacity(256 << 10, file), Unpacker::new());
        input.seek(SeekFrom::Start(at)).map_err(failed())?;
        loop {
            match unpacker.read(&mut input, at) {
                Member::Good(_, length) => at += length,
                Member::End => break,
                Member::Bad(_) | Member::Torn(_) => {
                    let Some(good) = next_good(&last.path, at + 1, u64::MAX)? else { break };
                    at = good;
                    input.seek(SeekFrom::Start(at)).map_err(failed())?;
                }
            }
        }
        Ok(LibraryPosition { file: last.number, offset: at })
    }

    /// Writes the tables of offsets again that are missing or wrong, and removes what was left over. The caller owns
    /// the data directory.
    pub fn mend_files(&self) -> Result<(), StoreError> {
        for volume in self.volumes.list()?.iter().filter(|volume| volume.revision > 0) {
            if table_flaw(&volume.path)?.is_some() {
                write_synced(&offsets_path(&volume.path), &Offsets::of(&volume.path)?.to_bytes())?;
            }
        }
        self.leftovers()?.iter().try_for_each(|path| remove(path))
    }

    /// Older revisions, unfinished files and tables without a file.
    fn leftovers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let current: Vec<PathBuf> = self.volumes.list()?.iter().map(|volume| volume.path.clone()).collect();
        let mut leftovers = Vec::new();
        for (path, parsed) in files(&self.dir)? {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            let is_left = match parsed {
                Some(_) => !current.contains(&path),
                None if extension == "offsets" => !current.iter().any(|file| offsets_path(file) == path),
                None => extension == "new",
            };
            if is_left {
                leftovers.push(path);
            }
        }
        leftovers.sort();
        Ok(leftovers)
    }
}

/// What is wrong with the table of a compacted file. Behind a damaged record the file itself does not tell any more
/// what the table should be, and the table is believed.
fn table_flaw(path: &Path) -> Result<Option<&'static str>, StoreError> {
    let Ok(bytes) = fs::read(offsets_path(path)) else { return Ok(Some("it is missing")) };
    let Some(stored) = Offsets::from_bytes(&bytes) else { return Ok(Some("its checksum is wrong")) };
    let found = Offsets::of(path)?;
    Ok((!stored.0.starts_with(&found.0)).then_some("it does not say where the records stand"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Fate, Library as _, Record, Response, Writing};
    use pharos_core::{PageUrl, Timestamp};

    fn filled(dir: &Path) -> DiskLibrary {
        let writing = Writing { file_size: 500, ..Writing::default() };
        let library =
            DiskLibrary::open_writer(dir, writing, LibraryPosition::START, Timestamp::EPOCH).unwrap();
        for n in 0..12 {
            let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
            let response = Response { status: 200, body: format!("page {n}").into(), ..Response::default() };
            library.append(&[Record::new(url, Timestamp::EPOCH, Content::Response(response))]).unwrap();
        }
        library
    }

    fn problems(library: &DiskLibrary) -> Vec<FileProblem> {
        let flaws = library.check_files(LibraryPosition::START).unwrap();
        flaws.into_iter().map(|flaw| flaw.problem).collect()
    }

    #[test]
    fn a_healthy_library_has_no_flaws() {
        let dir = tempfile::tempdir().unwrap();
        let library = filled(dir.path());
        assert_eq!(problems(&library), []);
        assert_eq!(library.whole_end(LibraryPosition::START).unwrap(), library.end().unwrap());
        let empty = DiskLibrary::open_reader(&dir.path().join("none")).unwrap();
        assert_eq!(problems(&empty), []);
        assert_eq!(empty.whole_end(LibraryPosition::START).unwrap(), LibraryPosition::START);
    }

    #[test]
    fn missing_files_torn_ends_and_leftovers_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let end = filled(dir.path()).end().unwrap();
        let last = dir.path().join(format!("{:08}.warc.gz", end.file));
        let mut bytes = fs::read(&last).unwrap();
        bytes.extend(b"\x1f\x8b\x08 half a record");
        fs::write(&last, &bytes).unwrap();
        fs::remove_file(dir.path().join("00000002.warc.gz")).unwrap();
        fs::write(dir.path().join("00000001-1.warc.new"), "half").unwrap();
        fs::write(dir.path().join("00000003-1.offsets"), "of nothing").unwrap();
        fs::write(dir.path().join("00000001.warc.gz.torn-99"), "kept").unwrap();
        let library = DiskLibrary::open_reader(dir.path()).unwrap();
        let torn = FileProblem::Torn { offset: end.offset, bytes: bytes.len() as u64 - end.offset };
        let leftover = FileProblem::Leftover;
        assert_eq!(
            problems(&library),
            [FileProblem::Missing(2), torn.clone(), leftover.clone(), leftover, FileProblem::SetAside]
        );
        assert_eq!(library.whole_end(end).unwrap(), end);
        library.mend_files().unwrap();
        assert_eq!(problems(&library), [FileProblem::Missing(2), torn, FileProblem::SetAside]);
    }

    #[test]
    fn tables_are_compared_with_their_records_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let library = filled(dir.path());
        library.compact(1, &mut |_| Ok(Fate::Drop(7)), &mut || Ok(())).unwrap();
        assert_eq!(problems(&library), []);
        let table = dir.path().join("00000001-1.offsets");
        let whole = fs::read(&table).unwrap();
        for wrong in [b"rubbish".to_vec(), Offsets(vec![(1, 2)]).to_bytes(), Vec::new()] {
            fs::write(&table, wrong).unwrap();
            assert!(matches!(problems(&library)[..], [FileProblem::Offsets(_)]));
            library.mend_files().unwrap();
            assert_eq!(fs::read(&table).unwrap(), whole);
        }
    }
}
