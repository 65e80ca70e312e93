//! Integrity check of the library files, beyond the records: missing and leftover files, a torn end, invalid offset
//! tables.

use std::fs::{self, File};
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use pharos_core::LibraryPosition;

use super::compaction::{DAMAGED_INFIX, write_offsets};
use super::compression::{Member, RecordDecompressor};
use super::scan::find_next_record;
use super::volumes::{OffsetTable, list_files, offsets_path, remove_if_exists};
use super::{DiskLibrary, LibraryRecord, LocalLibrary};
use crate::StoreError;

/// A defect of a library file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryFileDefect {
    /// The affected or missing file.
    pub path: PathBuf,
    pub problem: LibraryFileDefectKind,
}

/// The kind of a library file defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryFileDefectKind {
    /// A volume before the last one is missing.
    Missing(u32),
    /// The last volume ends with bytes that are not a record.
    Torn {
        /// End of the last complete record.
        offset: u64,
        /// Number of bytes after it.
        bytes: u64,
    },
    /// The offset table of a compacted volume is missing or does not match its records.
    Offsets(&'static str),
    /// A leftover of an interrupted compaction.
    Leftover,
    /// A torn end or damaged range that was moved to a separate file. It is no defect; an operator may inspect it.
    SetAside,
}

impl LocalLibrary for DiskLibrary {
    fn files(&self) -> Result<Vec<(u32, PathBuf)>, StoreError> {
        Ok(self.volumes.list()?.iter().map(|volume| (volume.number, volume.path.clone())).collect())
    }

    fn check_files(&self, whole_up_to: LibraryPosition) -> Result<Vec<LibraryFileDefect>, StoreError> {
        let volumes = self.volumes.list()?;
        let mut defects = Vec::new();
        let mut expected = 1;
        for volume in &volumes {
            for number in expected..volume.number {
                let path = self.dir.join(format!("{number:08}.warc"));
                defects.push(LibraryFileDefect { path, problem: LibraryFileDefectKind::Missing(number) });
            }
            expected = volume.number.saturating_add(1);
            if volume.revision > 0
                && let Some(detail) = check_offset_table(&volume.path)?
            {
                let path = offsets_path(&volume.path);
                defects.push(LibraryFileDefect { path, problem: LibraryFileDefectKind::Offsets(detail) });
            }
        }
        if let Some(last) = volumes.last().filter(|last| last.revision == 0) {
            let length = fs::metadata(&last.path).map_err(StoreError::io("read", &last.path))?.len();
            let offset = self.intact_end(whole_up_to)?.offset;
            if offset < length {
                let problem = LibraryFileDefectKind::Torn { offset, bytes: length - offset };
                defects.push(LibraryFileDefect { path: last.path.clone(), problem });
            }
        }
        for path in self.leftovers()? {
            defects.push(LibraryFileDefect { path, problem: LibraryFileDefectKind::Leftover });
        }
        for (path, _) in list_files(&self.dir)? {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if name.contains(".torn-") || name.contains(DAMAGED_INFIX) {
                defects.push(LibraryFileDefect { path, problem: LibraryFileDefectKind::SetAside });
            }
        }
        Ok(defects)
    }

    fn intact_end(&self, known_good: LibraryPosition) -> Result<LibraryPosition, StoreError> {
        let Some(last) = self.volumes.list()?.pop() else { return Ok(LibraryPosition::START) };
        if last.revision > 0 {
            return Ok(LibraryPosition::new(last.number.saturating_add(1), 0));
        }
        let failed = || StoreError::io("read", &last.path);
        let file = File::open(&last.path).map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        let is_known = known_good.volume == last.number && known_good.offset <= length;
        let mut at = if is_known { known_good.offset } else { 0 };
        let (mut input, mut decompressor) =
            (BufReader::with_capacity(256 << 10, file), RecordDecompressor::new());
        input.seek(SeekFrom::Start(at)).map_err(failed())?;
        loop {
            match decompressor.read(&mut input, at) {
                Member::Good(_, length) => at += length,
                Member::End => break,
                Member::Damaged(_) | Member::Torn(_) => {
                    let Some(good) = find_next_record(&last.path, at + 1, u64::MAX)? else { break };
                    at = good;
                    input.seek(SeekFrom::Start(at)).map_err(failed())?;
                }
            }
        }
        Ok(LibraryPosition::new(last.number, at))
    }

    fn repair_files(&self) -> Result<(), StoreError> {
        for volume in self.volumes.list()?.iter().filter(|volume| volume.revision > 0) {
            if check_offset_table(&volume.path)?.is_some() {
                write_offsets(&volume.path, &OffsetTable::rebuild(&volume.path)?)?;
            }
        }
        self.leftovers()?.iter().try_for_each(|path| remove_if_exists(path))
    }

    fn replace_damaged(
        &self,
        volume: u32,
        placeholders: &[(LibraryPosition, LibraryRecord)],
    ) -> Result<(), StoreError> {
        self.replace_damaged_ranges(volume, placeholders)
    }
}

impl DiskLibrary {
    /// Returns older revisions, unfinished files and tables without a volume.
    fn leftovers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let current: Vec<PathBuf> = self.volumes.list()?.iter().map(|volume| volume.path.clone()).collect();
        let mut leftovers = Vec::new();
        for (path, parsed) in list_files(&self.dir)? {
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

/// Checks the offset table of a compacted volume. After a damaged record, the correct offsets cannot be
/// determined from the volume, and the table is trusted.
fn check_offset_table(path: &Path) -> Result<Option<&'static str>, StoreError> {
    let Ok(bytes) = fs::read(offsets_path(path)) else { return Ok(Some("the file is missing")) };
    let Some(stored) = OffsetTable::from_bytes(&bytes) else {
        return Ok(Some("the checksum does not match"));
    };
    let found = OffsetTable::rebuild(path)?;
    Ok((!stored.0.starts_with(&found.0)).then_some("the offsets do not match the records"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{
        Library as _, LibraryEvent, LibraryWriteOptions, RawResponse, RecordContent, RetentionAction,
    };
    use pharos_core::{PageUrl, Timestamp};

    fn filled(dir: &Path) -> DiskLibrary {
        filled_with(dir, 500)
    }

    /// Creates a library of twelve pages in volumes of about `file_size` bytes.
    fn filled_with(dir: &Path, file_size: u64) -> DiskLibrary {
        let options = LibraryWriteOptions { file_size, ..LibraryWriteOptions::default() };
        let library =
            DiskLibrary::open_writer(dir, options, LibraryPosition::START, Timestamp::EPOCH).unwrap();
        for n in 0..12 {
            let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
            let response =
                RawResponse { status: 200, body: format!("page {n}").into(), ..RawResponse::default() };
            library
                .append(&[LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))])
                .unwrap();
        }
        library
    }

    fn problems(library: &DiskLibrary) -> Vec<LibraryFileDefectKind> {
        let defects = library.check_files(LibraryPosition::START).unwrap();
        defects.into_iter().map(|defect| defect.problem).collect()
    }

    #[test]
    fn a_healthy_library_has_no_flaws() {
        let dir = tempfile::tempdir().unwrap();
        let library = filled(dir.path());
        assert_eq!(problems(&library), []);
        assert_eq!(library.intact_end(LibraryPosition::START).unwrap(), library.end().unwrap().get(0));
        let empty = DiskLibrary::open_reader(&dir.path().join("none")).unwrap();
        assert_eq!(problems(&empty), []);
        assert_eq!(empty.intact_end(LibraryPosition::START).unwrap(), LibraryPosition::START);
    }

    #[test]
    fn missing_files_torn_ends_and_leftovers_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let end = filled(dir.path()).end().unwrap().get(0);
        let last = dir.path().join(format!("{:08}.warc.gz", end.volume));
        let mut bytes = fs::read(&last).unwrap();
        bytes.extend(b"\x1f\x8b\x08 half a record");
        fs::write(&last, &bytes).unwrap();
        fs::remove_file(dir.path().join("00000002.warc.gz")).unwrap();
        fs::write(dir.path().join("00000001-1.warc.new"), "half").unwrap();
        fs::write(dir.path().join("00000003-1.offsets"), "of nothing").unwrap();
        fs::write(dir.path().join("00000001.warc.gz.torn-99"), "kept").unwrap();
        let library = DiskLibrary::open_reader(dir.path()).unwrap();
        let torn = LibraryFileDefectKind::Torn { offset: end.offset, bytes: bytes.len() as u64 - end.offset };
        let leftover = LibraryFileDefectKind::Leftover;
        assert_eq!(
            problems(&library),
            [
                LibraryFileDefectKind::Missing(2),
                torn.clone(),
                leftover.clone(),
                leftover,
                LibraryFileDefectKind::SetAside
            ]
        );
        assert_eq!(library.intact_end(end).unwrap(), end);
        library.repair_files().unwrap();
        assert_eq!(
            problems(&library),
            [LibraryFileDefectKind::Missing(2), torn, LibraryFileDefectKind::SetAside]
        );
    }

    #[test]
    fn offset_tables_are_checked_and_rebuilt() {
        let dir = tempfile::tempdir().unwrap();
        let library = filled(dir.path());
        library
            .compact(LibraryPosition::new(1, 0), &mut |_| Ok(RetentionAction::Drop(7)), &mut || Ok(()))
            .unwrap();
        assert_eq!(problems(&library), []);
        let table = dir.path().join("00000001-1.offsets");
        let whole = fs::read(&table).unwrap();
        for wrong in [b"rubbish".to_vec(), OffsetTable(vec![(1, 2)]).to_bytes(), Vec::new()] {
            fs::write(&table, wrong).unwrap();
            assert!(matches!(problems(&library)[..], [LibraryFileDefectKind::Offsets(_)]));
            library.repair_files().unwrap();
            assert_eq!(fs::read(&table).unwrap(), whole);
        }
    }

    #[test]
    fn a_damaged_record_is_replaced_by_its_placeholder() {
        let dir = tempfile::tempdir().unwrap();
        let library = filled_with(dir.path(), 2000);
        let all: Vec<_> = library.scan(LibraryPosition::START, None).unwrap().map(Result::unwrap).collect();
        let in_first: Vec<_> = all.iter().filter(|stored| stored.position.volume == 1).collect();
        let (before, victim) = (in_first.len(), in_first[1]);
        let path = dir.path().join("00000001.warc.gz");
        let mut bytes = fs::read(&path).unwrap();
        bytes[victim.position.offset as usize + 40] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        assert!(library.read(victim.position).is_err());
        let event = LibraryEvent::Dropped { status: 200, digest: 7 };
        let placeholder = LibraryRecord { content: RecordContent::Event(event), ..victim.record.clone() };
        library.replace_damaged(1, &[(victim.position, placeholder.clone())]).unwrap();

        let library = DiskLibrary::open_reader(dir.path()).unwrap();
        let now: Vec<_> = library.scan(LibraryPosition::START, None).unwrap().map(Result::unwrap).collect();
        assert_eq!(now.len(), all.len());
        for (now, then) in now.iter().zip(&all) {
            assert_eq!(now.position, then.position);
            let expected = if then.position == victim.position { &placeholder } else { &then.record };
            assert_eq!(now.record.content, expected.content);
        }
        assert_eq!(library.read(victim.position).unwrap().record.content, placeholder.content);
        assert_eq!(problems(&library), [LibraryFileDefectKind::SetAside], "its bytes are kept");

        // Without a placeholder, the record is gone, and a revision can be rewritten, too.
        let path = dir.path().join("00000001-1.warc.gz");
        let mut bytes = fs::read(&path).unwrap();
        let mut members = bytes.windows(3).enumerate().filter(|(_, start)| **start == [0x1f, 0x8b, 8]);
        let (start, _) = members.nth(before / 2).unwrap();
        bytes[start + 40] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        library.replace_damaged(1, &[]).unwrap();
        let left = library.scan(LibraryPosition::START, None).unwrap();
        let left = left.map(Result::unwrap).filter(|stored| stored.position.volume == 1).count();
        assert_eq!(left, before - 1);
    }
}
