//! The library on the local disk: volumes `00000001.warc.gz`, `00000002.warc.gz`, …, with each record compressed on
//! its own.

use std::fs;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pharos_core::{LibraryPosition, LibraryPositions, Timestamp};

use super::compression::{Member, RecordDecompressor};
use super::scan::DiskScan;
use super::volumes::{Volume, Volumes};
use super::write_queue::{LibraryWriteOptions, WriteQueue};
use super::{
    CompactionStats, Library, LibraryRecord, LocalLibrary, RecordScan, RetentionAction, StoredRecord, warc,
};
use crate::StoreError;

/// The log of a library on the local disk, which has one writer.
pub(super) const LOG: u16 = 0;

/// A [`Library`] stored on the local disk.
pub struct DiskLibrary {
    pub(super) dir: PathBuf,
    pub(super) volumes: Arc<Volumes>,
    queue: Option<WriteQueue>,
}

impl DiskLibrary {
    /// Opens the library for reading, concurrently with a writer.
    pub fn open_reader(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { dir: dir.to_path_buf(), volumes: Arc::new(Volumes::at(dir)), queue: None })
    }

    /// Opens the library for appending. The caller must own the data directory. A torn tail of the last volume is
    /// moved to a separate file. `known_good` is a position up to which the library is known to be intact and is not
    /// read again.
    pub fn open_writer(
        dir: &Path,
        options: LibraryWriteOptions,
        known_good: LibraryPosition,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let volumes = Arc::new(Volumes::at(dir));
        let queue = Some(WriteQueue::open(dir, &volumes, options, known_good, now)?);
        Ok(Self { dir: dir.to_path_buf(), volumes, queue })
    }

    /// Returns the position after the last record.
    pub(super) fn end_position(&self) -> Result<LibraryPosition, StoreError> {
        if let Some(queue) = &self.queue {
            return Ok(queue.end());
        }
        match self.volumes.list()?.last() {
            None => Ok(LibraryPosition::START),
            Some(volume) if volume.revision > 0 => Ok(LibraryPosition::new(volume.number, 0).next_volume()),
            Some(volume) => {
                let offset = fs::metadata(&volume.path).map_err(StoreError::io("read", &volume.path))?.len();
                Ok(LibraryPosition::new(volume.number, offset))
            }
        }
    }

    fn queue(&self) -> Result<&WriteQueue, StoreError> {
        self.queue.as_ref().ok_or_else(|| {
            let denied =
                io::Error::new(io::ErrorKind::PermissionDenied, "the library is open for reading only");
            StoreError::io("write", &self.dir)(denied)
        })
    }

    /// Opens the volume of a record at the start of the record. Returns the reader and the offset in the file.
    fn open_at(
        &self,
        position: LibraryPosition,
        buffer: usize,
    ) -> Result<(BufReader<fs::File>, u64), StoreError> {
        if position.log != LOG {
            return Err(StoreError::NoRecord(position));
        }
        let (mut file, volume) = self.volumes.open(position.volume)?;
        let (_, offset) = volume
            .locate(position.offset)?
            .filter(|(first, _)| *first == position.offset)
            .ok_or(StoreError::NoRecord(position))?;
        file.seek(SeekFrom::Start(offset)).map_err(StoreError::io("seek in", &volume.path))?;
        Ok((BufReader::with_capacity(buffer, file), offset))
    }
}

impl Library for DiskLibrary {
    fn append(
        &self,
        records: &[LibraryRecord],
    ) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError> {
        self.queue()?.append(records)
    }

    fn seal(&self) -> Result<(), StoreError> {
        self.queue()?.seal()
    }

    fn end(&self) -> Result<LibraryPositions, StoreError> {
        Ok(self.end_position()?.into())
    }

    fn read(&self, position: LibraryPosition) -> Result<StoredRecord, StoreError> {
        let missing = || StoreError::NoRecord(position);
        let (mut input, offset) = self.open_at(position, 16 << 10)?;
        match RecordDecompressor::new().read(&mut input, offset) {
            Member::Good(bytes, length) => match warc::read_record(&bytes) {
                Ok(parsed) => {
                    let end = parsed.span.map_or(offset + length, |(_, end)| end);
                    let next = LibraryPosition::new(position.volume, end);
                    let record = parsed.record.ok_or_else(missing)?;
                    Ok(StoredRecord { position, next, record: *record })
                }
                Err(detail) => Err(StoreError::Damaged { position, detail }),
            },
            Member::End => Err(missing()),
            Member::Damaged(detail) | Member::Torn(detail) => Err(StoreError::Damaged { position, detail }),
        }
    }

    fn has_response(&self, position: LibraryPosition) -> bool {
        let Ok((mut input, _)) = self.open_at(position, 4 << 10) else { return false };
        RecordDecompressor::read_prefix(&mut input).is_ok_and(|start| warc::is_response_prefix(&start))
    }

    fn scan(&self, from: LibraryPosition, to: Option<LibraryPosition>) -> Result<RecordScan, StoreError> {
        Ok(Box::new(DiskScan::new(Arc::clone(&self.volumes), from, to)?))
    }

    fn volumes(&self) -> Result<Vec<LibraryPosition>, StoreError> {
        let starts = |volume: &Arc<Volume>| LibraryPosition::new(volume.number, 0);
        Ok(self.volumes.list()?.iter().map(starts).collect())
    }

    fn compact(
        &self,
        volume: LibraryPosition,
        decide: &mut dyn FnMut(&StoredRecord) -> Result<RetentionAction, StoreError>,
        before_replace: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<CompactionStats, StoreError> {
        self.compact_volume(volume.volume, decide, before_replace)
    }

    fn local(&self) -> Option<&dyn LocalLibrary> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{LibraryEvent, RawResponse, RecordContent};
    use pharos_core::PageUrl;
    use pharos_core::config::LibraryFormat;
    use proptest::prelude::*;
    use std::fs::File;

    fn page(n: usize) -> LibraryRecord {
        let response = RawResponse {
            status: 200,
            headers: vec![("Content-Type".into(), "text/html".into())],
            body: format!("<title>{n}</title>").repeat(1 + n % 7).into_bytes(),
            request: Some(format!("GET /{n} HTTP/1.1\r\n\r\n")),
            ..RawResponse::default()
        };
        let url = PageUrl::parse(&format!("http://example.org/{n}")).unwrap();
        LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))
    }

    fn open(dir: &Path) -> DiskLibrary {
        rotating(dir, 1 << 30)
    }

    fn rotating(dir: &Path, file_size: u64) -> DiskLibrary {
        let options = LibraryWriteOptions { file_size, ..LibraryWriteOptions::default() };
        DiskLibrary::open_writer(dir, options, LibraryPosition::START, Timestamp::EPOCH).unwrap()
    }

    fn urls(library: &DiskLibrary) -> Vec<String> {
        library
            .scan(LibraryPosition::START, None)
            .unwrap()
            .flatten()
            .map(|s| s.record.url.path_and_query()[1..].to_string())
            .collect()
    }

    #[test]
    fn appended_records_are_read_in_order_and_at_random() {
        let dir = tempfile::tempdir().unwrap();
        let library = open(dir.path());
        let positions = library.append(&(0..10).map(page).collect::<Vec<_>>()).unwrap();
        assert_eq!(urls(&library), (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
        let stored = library.read(positions[7].0).unwrap();
        assert_eq!(stored.record.url, page(7).url);
        assert_eq!((stored.position, stored.next), positions[7]);
        assert_eq!(library.scan(positions[8].0, None).unwrap().count(), 2);
        assert_eq!(library.end().unwrap(), positions[9].1.into());
        assert_eq!(DiskLibrary::open_reader(dir.path()).unwrap().end().unwrap(), positions[9].1.into());
        let nowhere = LibraryPosition::new(9, 0);
        assert!(matches!(library.read(nowhere), Err(StoreError::NoRecord(_))));
        assert!(library.has_response(positions[7].0) && !library.has_response(nowhere));
    }

    #[test]
    fn files_rotate_and_scans_cross_them() {
        let dir = tempfile::tempdir().unwrap();
        let library = rotating(dir.path(), 500);
        for n in 0..20 {
            library.append(&[page(n)]).unwrap();
        }
        assert!(library.files().unwrap().len() > 3);
        assert_eq!(urls(&library).len(), 20);
    }

    #[test]
    fn a_torn_tail_is_set_aside_and_appending_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let positions = open(dir.path()).append(&(0..5).map(page).collect::<Vec<_>>()).unwrap();
        let path = dir.path().join("00000001.warc.gz");
        let mut last = positions[4];
        for cut in [1, 9, 30] {
            File::options().write(true).open(&path).unwrap().set_len(last.1.offset - cut).unwrap();
            let library = open(dir.path());
            assert_eq!(library.end().unwrap(), last.0.into(), "cut {cut}");
            last = library.append(&[page(4)]).unwrap()[0];
            assert_eq!(urls(&library), ["0", "1", "2", "3", "4"]);
        }
    }

    #[test]
    fn compaction_and_repair_survive_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let library = rotating(dir.path(), 500);
        (0..6).for_each(|n| drop(library.append(&[page(n)]).unwrap()));
        let drop_all = |_: &StoredRecord| Ok(RetentionAction::Drop(7));
        let compact = || {
            let stats =
                library.compact(LibraryPosition::new(1, 0), &mut { drop_all }, &mut || Ok(())).unwrap();
            assert_eq!(stats.files, 1);
        };
        let has_volume = |files: &pharos_files::power_cut::Files| {
            ["00000001.warc.gz", "00000001-1.warc.gz"].iter().any(|name| files.contains_key(Path::new(name)))
        };
        pharos_files::power_cut::check_with(dir.path(), compact, has_volume).unwrap();

        let dir = tempfile::tempdir().unwrap();
        let end = open(dir.path()).append(&[page(1)]).unwrap()[0].1;
        let path = dir.path().join("00000001.warc.gz");
        let whole = fs::read(&path).unwrap();
        let torn = [&whole[..], &whole[..20]].concat();
        fs::write(&path, &torn).unwrap();
        let repair = || assert_eq!(super::super::scan::repair_tail(&path, 0).unwrap(), end.offset);
        // The torn bytes are in the volume or in the file beside it.
        let keeps_all = |files: &pharos_files::power_cut::Files| {
            files[Path::new("00000001.warc.gz")].len() == torn.len()
                || files.values().any(|content| *content == whole[..20])
        };
        pharos_files::power_cut::check_with(dir.path(), repair, keeps_all).unwrap();
    }

    #[test]
    fn a_damaged_record_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let positions = open(dir.path()).append(&(0..5).map(page).collect::<Vec<_>>()).unwrap();
        let path = dir.path().join("00000001.warc.gz");
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(positions[2].0.offset).unwrap() + 30] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let library = open(dir.path());
        assert_eq!(urls(&library), ["0", "1", "3", "4"]);
        let errors: Vec<_> =
            library.scan(LibraryPosition::START, None).unwrap().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains(&positions[2].0.to_string()), "{}", errors[0]);
    }

    #[test]
    fn concurrent_appends_get_their_own_positions() {
        let dir = tempfile::tempdir().unwrap();
        let library = rotating(dir.path(), 2000);
        std::thread::scope(|threads| {
            for worker in 0..4 {
                let library = &library;
                threads.spawn(move || {
                    for n in (worker * 100)..(worker * 100 + 25) {
                        let positions = library.append(&[page(n), page(n + 1)]).unwrap();
                        assert!(library.end().unwrap().covers(positions[1].1));
                        assert_eq!(library.read(positions[1].0).unwrap().record.url, page(n + 1).url);
                        assert_eq!(positions[0].0.volume, positions[1].0.volume);
                    }
                });
            }
        });
        assert_eq!(urls(&library).len(), 200);
        assert_eq!(urls(&open(dir.path())).len(), 200);
    }

    #[test]
    fn formats_may_change_between_files() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path()).append(&[page(1)]).unwrap();
        let zstd =
            LibraryWriteOptions { format: LibraryFormat::Zstd, level: 3, ..LibraryWriteOptions::default() };
        let start = LibraryPosition::START;
        let library = DiskLibrary::open_writer(dir.path(), zstd, start, Timestamp::EPOCH).unwrap();
        let (position, _) = library.append(&[page(2), page(3)]).unwrap()[1];
        assert_eq!(urls(&library), ["1", "2", "3"]);
        assert_eq!(library.read(position).unwrap().record.url, page(3).url);
        assert!(library.has_response(position));
        assert!(dir.path().join("00000002.warc.zst").exists());
        drop(library);
        assert_eq!(open(dir.path()).append(&[page(4)]).unwrap()[0].0.volume, 3);
    }

    #[test]
    fn compaction_keeps_positions_and_readers_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let library = rotating(dir.path(), 1000);
        let mut positions = Vec::new();
        for n in 0..40 {
            positions.push(library.append(&[page(n)]).unwrap()[0]);
        }
        let start = LibraryPosition::START;
        let mut reader = library.scan(start, None).unwrap();
        assert!(reader.next().unwrap().is_ok());
        let fate = |stored: &StoredRecord| match stored.record.url.path_and_query()[1..].parse() {
            Ok(n) if n % 3 == 0 => RetentionAction::Erase,
            Ok(n) if n % 3 == 1 => RetentionAction::Drop(n),
            _ => RetentionAction::Keep,
        };
        let mut done = CompactionStats::default();
        for volume in library.volumes().unwrap() {
            done += library.compact(volume, &mut |s| Ok(fate(s)), &mut || Ok(())).unwrap();
        }
        assert!(
            done.files >= 3 && done.dropped > 5 && done.erased > 5 && done.after < done.before,
            "{done:?}"
        );
        assert_eq!(reader.filter(|r| r.is_ok()).count() + 1, {
            // The scan had the first file open; it sees the current revisions of the others.
            let in_first = positions.iter().filter(|p| p.0.volume == 1).count();
            in_first + urls(&library).len()
                - positions.iter().zip(0..).filter(|(p, n)| p.0.volume == 1 && n % 3 > 0).count()
        });
        for (n, (position, next)) in positions.iter().enumerate() {
            if position.volume == library.end().unwrap().get(0).volume {
                continue;
            }
            let fresh = DiskLibrary::open_reader(dir.path()).unwrap();
            let read = fresh.read(*position);
            assert_eq!(fresh.has_response(*position), n % 3 == 2, "{n}");
            match n % 3 {
                0 => assert!(matches!(read, Err(StoreError::NoRecord(_))), "{n}"),
                1 => {
                    let event = LibraryEvent::Dropped { status: 200, digest: n as u64 };
                    assert_eq!(read.unwrap().record.content, RecordContent::Event(event));
                }
                _ => assert_eq!((read.unwrap().next, n), (*next, n)),
            }
            let from_here = fresh.scan(*position, None).unwrap().next().unwrap().unwrap();
            assert!(from_here.position >= *position);
        }
        // A second run changes nothing, even without the offset tables.
        for (number, path) in library.files().unwrap() {
            let _ = fs::remove_file(super::super::volumes::offsets_path(&path));
            let once_more = library
                .compact(LibraryPosition::new(number, 0), &mut |s| Ok(fate(s)), &mut || Ok(()))
                .unwrap();
            assert_eq!(once_more.files, 0);
        }
        assert!(DiskLibrary::open_reader(dir.path()).unwrap().read(positions[2].0).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Any flipped byte or truncation costs at most the record it hits, and after a truncation those behind it.
        #[test]
        fn no_damage_costs_more_than_it_hits(at in 0.0..1.0f64, mask in 1u8..=255, cut in any::<bool>()) {
            let dir = tempfile::tempdir().unwrap();
            open(dir.path()).append(&(0..6).map(page).collect::<Vec<_>>()).unwrap();
            let path = dir.path().join("00000001.warc.gz");
            let mut bytes = fs::read(&path).unwrap();
            let index = ((bytes.len() - 1) as f64 * at) as usize;
            if cut { bytes.truncate(index) } else { bytes[index] ^= mask }
            fs::write(&path, bytes).unwrap();
            let library = open(dir.path());
            let left = urls(&library);
            if !cut { prop_assert!(left.len() >= 5, "{left:?}"); }
            library.append(&[page(99)]).unwrap();
            let now = urls(&library);
            prop_assert_eq!(now.last().map(String::as_str), Some("99"));
        }
    }
}
